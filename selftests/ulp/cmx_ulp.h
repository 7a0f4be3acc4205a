/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TEST_ULP_H
#define CMX_TEST_ULP_H

#include <linux/completion.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <rdma/cmx.h>

extern unsigned int ulp_timeout_ms;

/**
 * struct res - what an end has on its device
 * @pd: protection domain
 * @cq: of the QP of the id
 * @buf: memory of BUF_SIZE bytes
 * @dma: its address for the device
 */
struct res {
	struct ib_pd *pd;
	struct ib_cq *cq;
	void *buf;
	u64 dma;
};

#define BUF_SIZE 8192

/* res.c */
int res_open(struct cmx_id *id, struct res *r);		/* the QP of the id too */
void res_close(struct cmx_id *id, struct res *r);	/* nothing to do when it is not open */
int res_recv(struct cmx_id *id, struct res *r, struct ib_cqe *cqe, u32 offset, u32 len);

/* that of who wrote the command: all ids are made by him */
static inline struct net *my_net(void)
{
	return current->nsproxy->net_ns;
}

static inline int ulp_wait(struct completion *done)
{
	return wait_for_completion_timeout(done, msecs_to_jiffies(ulp_timeout_ms)) ? 0 : -ETIMEDOUT;
}

/* main.c */
__printf(1, 2) void say(const char *fmt, ...);
int parse_addr(const char *host, const char *port, struct sockaddr_storage *addr);
struct cmx_id *bound_id_new(char **argv, cmx_event_handler handler);

/* Commands: what was written to "run", in words */
int ping(int argc, char **argv);		/* ping.c */
int serve(int argc, char **argv);
int storm(int argc, char **argv);
void ping_exit(void);
int echo(int argc, char **argv);		/* echo.c */
int break_at(int argc, char **argv);		/* break.c */
int hold(int argc, char **argv);		/* hold.c */
int lock(int argc, char **argv);
int stall(int argc, char **argv);

#endif
