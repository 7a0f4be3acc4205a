/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UAPI_H
#define UAPI_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <rdma/cmx_ioctl.h>
#include "../lib/tap.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define OFFSETOFEND(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define M UVERBS_ATTR_F_MANDATORY

extern const struct test attr_tests[], handle_tests[], event_tests[], race_tests[], stuck_tests[],
			  grow_tests[], list_tests[], kill_tests[], rule_tests[], service_tests[], rtnl_tests[];

/* call.c: commands */
#define CMD_ATTRS 24
struct cmd {
	struct cmx_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[CMD_ATTRS];
};

void cmd_init(struct cmd *c, uint16_t object, uint16_t method);
struct ib_uverbs_attr *cmd_in(struct cmd *c, uint16_t id, const void *data, size_t len);
struct ib_uverbs_attr *cmd_u32(struct cmd *c, uint16_t id, uint32_t value);
struct ib_uverbs_attr *cmd_u64(struct cmd *c, uint16_t id, uint64_t value);
struct ib_uverbs_attr *cmd_out(struct cmd *c, uint16_t id, void *to, size_t len);
int cmd_issue(struct cmd *c, int fd);		/* returns 0 or an errno */

void *guarded_alloc(size_t len);			/* a buffer that ends at unmapped memory */
void *read_only_alloc(void);

/* scene.c: the state of the id when a method is called */
enum stage {
	NOTHING, IDLE, BOUND, UD, ADDR, ROUTE, EVENT, REQUEST, ACCEPTED, RESPONSE, CONNECTED,
	JOINED, ELSEWHERE, NUM_STAGES,
};

/**
 * struct scene - the objects that a call uses
 * @fd: the channel
 * @other: another channel
 * @id: the id
 * @mc: a membership of @id
 * @listener: a listener on @fd
 * @port: port of the listener
 */
struct scene {
	int fd;
	int other;
	uint32_t id;
	uint32_t mc;
	uint32_t listener;
	uint16_t port;
};

extern const char *const stage_names[NUM_STAGES];
bool scene_open(struct scene *s, enum stage stage);
void scene_close(struct scene *s);

int dev_open(void);
void id_cmd(struct cmd *c, uint16_t method, uint32_t id);
int id_create(int fd, uint32_t ps, uint64_t uid, uint32_t *id);
int id_destroy(int fd, uint32_t id, uint32_t *fetched);
int id_bind(int fd, uint32_t id, struct sockaddr_in *addr);
int id_listen(int fd, uint32_t id, int backlog, uint16_t *port);
int id_resolve_to(int fd, uint32_t id, const struct sockaddr_in *dst);
int id_resolve(int fd, uint32_t id, uint16_t port);
int id_route(int fd, uint32_t id);
int id_connect(int fd, uint32_t id);
int id_accept(int fd, uint32_t id, uint64_t uid);
int id_accept_qp(int fd, uint32_t id, uint64_t uid, const struct cmx_conn_param *param);
int id_establish(int fd, uint32_t id, uint64_t uid);
int id_disconnect(int fd, uint32_t id);
int id_join(int fd, uint32_t id, uint32_t group, uint64_t uid, uint32_t *mc);
int mc_leave(int fd, uint32_t mc, uint32_t *fetched);
int id_migrate(int fd, uint32_t id, int from, uint32_t *new_id, uint32_t *fetched);
int event_write(int fd, uint32_t id, uint32_t type, int status, uint64_t arg);
int ids_list(int fd, uint32_t size, uint64_t *cursor, void *to, size_t len, uint32_t *count);
int events_get_sized(int fd, const struct cmx_event_sizes *sizes, void *to, size_t len,
		     uint32_t *count);
int events_get_into(int fd, void *to, size_t len, uint32_t *count);
int get_events(int fd, struct cmx_event_record *records, int n, uint32_t *count);
bool fd_is_readable(int fd, int ms);
int rules_get(int fd, struct cmx_rule *rules, size_t num, uint64_t *generation);
/* Returns the next event, or NULL if it is not of the type. */
struct cmx_event_resp *next_event(int fd, int type);
extern const struct cmx_event_sizes event_sizes;	/* sizes of the structs of the header */

/*
 * Runs @fn in a child process, which ends with its result. With the flag CLONE_VM the child has the
 * memory of this process, as after vfork(), and with CLONE_FILES its files. One child at a time.
 */
pid_t child_start(int (*fn)(void *arg), void *arg, int flags);

/* races.c: the state of a process or thread, as in /proc/PID/stat */
char task_state(pid_t pid);

extern struct sockaddr_in local;		/* address of the RDMA device */
extern uint32_t last_qpn;			/* QP number of the last connect or accept */
const struct cmx_conn_param *conn_param(void);

/* methods.c */
enum dir { END, IN, OUT };

struct spec {
	uint16_t id;
	enum dir dir;
	bool mandatory;
	size_t min;
	size_t max;		/* outputs: not 0 if the surplus is zeroed */
};

struct method {
	const char *name;
	uint16_t object;
	uint16_t method;
	enum stage stage;	/* in which the method succeeds */
	struct spec specs[12];
	void (*build)(struct cmd *c, struct scene *s);
};

extern const struct method methods[];
extern const size_t num_methods;
void method_build(const struct method *m, struct cmd *c, struct scene *s);

#endif
