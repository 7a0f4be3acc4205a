// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The owner of channels and ids: other channels, children of fork(), changed credentials. */
#include "util.h"
#include <fcntl.h>
#include <sys/wait.h>

/* Runs @fn in a child. The parent waits, so that the trace is in order. */
static void child_run(void (*fn)(void *arg), void *arg)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(15);
		tap_note_print("child");
		fn(arg);
		exit(0);
	}
	waitpid(pid, &status, 0);
	tap_note_print("parent, child's status %#x", status);
}

/* Listens on a channel, as a server does. */
static void child_serve(void *arg)
{
	struct rdma_event_channel *ch = arg;
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id = NULL;

	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	if (CALL(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), "create_id"))
		return;
	id_label(id, "id");
	id_bind(id, ADDR, PORT);
	id_listen(id, 1);
	id_destroy(id);
}

static void test_fork_opened(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();

	(void)arg;
	child_run(child_serve, ch);
	rdma_destroy_event_channel(ch);
}

/* The parent has used the channel before. */
static void test_fork_used(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id = id_create(ch, "used", RDMA_PS_TCP);

	(void)arg;
	id_destroy(id);
	child_run(child_serve, ch);
	rdma_destroy_event_channel(ch);
}

static void child_use(void *arg)
{
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id = arg;
	int one = 1;

	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, sizeof(one)),
	     "reuseaddr");
	id_bind(id, ADDR, PORT + 1);
	id_resolve_addr(id, NULL, ADDR, PORT);
	id_listen(id, 1);
	CALL(rdma_reject(id, NULL, 0), "reject");
	fcntl(id->channel->fd, F_SETFL, O_NONBLOCK);
	CALL(rdma_get_cm_event(id->channel, &event), "get_cm_event");
}

static void test_fork_calls(const void *arg)
{
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *(const enum reach *)arg);
	child_run(child_use, id);
	show_id(id);
	pair_close(&d);
}

static void child_migrate(void *id)
{
	CALL(rdma_migrate_id(id, channel_create()), "migrate");
}

static void test_fork_migrate(const void *arg)
{
	struct rdma_cm_id *id;
	struct pair d;

	(void)arg;
	id = pair_reach(&d, BOUND);
	child_run(child_migrate, id);
	id_listen(id, 1);
	pair_close(&d);
}

static void child_destroy(void *id)
{
	id_destroy(id);
}

/* The parent sets an option that is valid in any state, to see whether the id still exists. */
static void test_fork_destroy(const void *arg)
{
	struct rdma_cm_id *id;
	uint8_t tos = 0;
	struct pair d;

	id = pair_reach(&d, *(const enum reach *)arg);
	child_run(child_destroy, id);
	if (*(const enum reach *)arg != CONNECTED)
		CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)),
		     "tos");
	show_id(id);
	pair_close(&d);
}

static void child_destroy_qp(void *id)
{
	rdma_destroy_qp(id);
}

static void test_fork_destroy_qp(const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct rdma_cm_id *id;
	struct pair d;

	(void)arg;
	id = pair_reach(&d, CONNECTED);
	child_run(child_destroy_qp, id);
	CALL(ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init), "query_qp");
}

/* A server opens its channel as root and then drops its privileges. */
static void test_setuid_opened(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();

	(void)arg;
	CALL(setuid(65534), "setuid");
	child_serve(ch);
	rdma_destroy_event_channel(ch);
}

static void test_setuid_later(const void *arg)
{
	struct rdma_cm_id *id;
	uint8_t tos = 0;
	struct pair d;

	id = pair_reach(&d, *(const enum reach *)arg);
	CALL(setuid(65534), "setuid");
	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)), "tos");
	CALL(rdma_migrate_id(id, channel_create()), "migrate");
	id_destroy(id);
}

/* The application changes id->channel, so that calls look for the id on another channel. */
static void test_channel_swapped(const void *arg)
{
	struct rdma_event_channel *other = channel_create(), *own;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *(const enum reach *)arg);
	own = id->channel;
	id->channel = other;
	child_use(id);
	CALL(rdma_destroy_id(id), "destroy_id %s", id_name(id));
	id->channel = own;
	show_id(id);
	pair_close(&d);
}

/* The id has not been used yet. */
static void test_channel_idle(const void *arg)
{
	struct rdma_event_channel *other = channel_create(), *ch = channel_create();
	struct rdma_cm_id *id = id_create(ch, "id", RDMA_PS_TCP);

	(void)arg;
	id->channel = other;
	id_bind(id, ADDR, PORT);
	id_destroy(id);
}

/* Events arrive only on the channel of the id. */
static void test_channel_other(const void *arg)
{
	struct rdma_event_channel *other = channel_create(), *ch = channel_create();
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id = id_create(ch, "id", RDMA_PS_TCP);

	(void)arg;
	fcntl(other->fd, F_SETFL, O_NONBLOCK);
	id_resolve_addr(id, NULL, ADDR, PORT);
	tap_note_print("ready %d, the other %d", channel_poll(ch, 5000), channel_poll(other, 300));
	CALL(rdma_get_cm_event(other, &event), "get_cm_event");
	event_trace(ch);
	id_destroy(id);
}

/* An id still works after the channel that it has left is destroyed. */
static void test_channel_left(const void *arg)
{
	struct rdma_event_channel *from = channel_create(), *to = channel_create();
	struct rdma_cm_id *id = id_create(from, "id", RDMA_PS_TCP);

	(void)arg;
	id_bind(id, ADDR, PORT);
	CALL(rdma_migrate_id(id, to), "migrate");
	rdma_destroy_event_channel(from);
	id_listen(id, 1);
	id_destroy(id);
	rdma_destroy_event_channel(to);
}

#define REACH(name, fn, where) { "owner." name, fn, &(const enum reach){ where } }

const struct cmp_case owner_cases[] = {
	{ "owner.fork.opened", test_fork_opened, NULL },
	{ "owner.fork.used", test_fork_used, NULL },
	REACH("fork.calls.idle", test_fork_calls, IDLE),
	REACH("fork.calls.bound", test_fork_calls, BOUND),
	REACH("fork.calls.routed", test_fork_calls, ROUTED),
	REACH("fork.calls.listening", test_fork_calls, LISTENING),
	REACH("fork.calls.requested", test_fork_calls, REQUESTED),
	{ "owner.fork.migrate", test_fork_migrate, NULL },
	REACH("fork.destroy.idle", test_fork_destroy, IDLE),
	REACH("fork.destroy.bound", test_fork_destroy, BOUND),
	REACH("fork.destroy.listening", test_fork_destroy, LISTENING),
	REACH("fork.destroy.connected", test_fork_destroy, CONNECTED),
	{ "owner.fork.destroy_qp", test_fork_destroy_qp, NULL },
	{ "owner.channel.idle", test_channel_idle, NULL },
	REACH("channel.swapped.bound", test_channel_swapped, BOUND),
	REACH("channel.swapped.listening", test_channel_swapped, LISTENING),
	REACH("channel.swapped.requested", test_channel_swapped, REQUESTED),
	{ "owner.channel.other", test_channel_other, NULL },
	{ "owner.channel.left", test_channel_left, NULL },
	{ "owner.setuid.opened", test_setuid_opened, NULL },
	REACH("setuid.bound", test_setuid_later, BOUND),
	REACH("setuid.listening", test_setuid_later, LISTENING),
	{ }
};
