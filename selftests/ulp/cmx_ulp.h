/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TEST_ULP_H
#define CMX_TEST_ULP_H

#include <linux/completion.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <rdma/cmx.h>

extern unsigned int ulp_timeout_ms;

/**
 * struct res - the resources of an end of a connection on its device
 * @pd: protection domain
 * @cq: CQ of the QP of the id
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
int res_open(struct cmx_id *id, struct res *r);		/* creates the QP as well */
void res_close(struct cmx_id *id, struct res *r);	/* no-op if not open */
int res_recv(struct cmx_id *id, struct res *r, struct ib_cqe *cqe, u32 offset, u32 len);

/* The network namespace of the process that wrote the command, which creates all ids */
static inline struct net *ulp_net(void)
{
	return current->nsproxy->net_ns;
}

static inline int ulp_wait(struct completion *done)
{
	return wait_for_completion_timeout(done, msecs_to_jiffies(ulp_timeout_ms)) ? 0 : -ETIMEDOUT;
}

/* main.c */
__printf(1, 2) void ulp_print(const char *fmt, ...);
int ulp_addr_parse(const char *host, const char *port, struct sockaddr_storage *addr);
int ulp_event_ignore(struct cmx_id *id, struct rdma_cm_event *event);
struct cmx_id *ulp_id_create(char **argv, struct sockaddr_storage *addr, cmx_event_handler handler,
			     void *context);
struct cmx_id *ulp_id_create_bound(char **argv, cmx_event_handler handler);

/* Commands. The arguments are the words of the line that was written to "run". */
int ulp_ping(int argc, char **argv);		/* ping.c */
int ulp_serve(int argc, char **argv);
int ulp_storm(int argc, char **argv);
void ulp_ping_exit(void);
int ulp_echo(int argc, char **argv);		/* echo.c */
int ulp_break(int argc, char **argv);		/* break.c */
int ulp_hold(int argc, char **argv);		/* hold.c */
int ulp_lock(int argc, char **argv);
int ulp_stall(int argc, char **argv);
void ulp_wait_signal(void);
int ulp_delay(int argc, char **argv);		/* delay.c */
int ulp_reject(int argc, char **argv);		/* reject.c */
int ulp_refuse(int argc, char **argv);
int ulp_restrict(int argc, char **argv);	/* device.c */
int ulp_gids(int argc, char **argv);
int ulp_leave(int argc, char **argv);		/* leave.c */
int ulp_states(int argc, char **argv);		/* states.c */
int ulp_request6(int argc, char **argv);	/* wire.c */

#endif
