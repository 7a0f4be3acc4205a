// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Whose a channel and its ids are: other channels, children of fork(), changed credentials. */
#include "util.h"
#include <fcntl.h>
#include <sys/wait.h>

/* The parent waits, so that the trace is in order. */
static void in_child(void (*fn)(void *arg), void *arg)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(15);
		say("child");
		fn(arg);
		exit(0);
	}
	waitpid(pid, &status, 0);
	say("parent, child's status %#x", status);
}

/* What a server does with a channel. */
static void serve(void *arg)
{
	struct rdma_event_channel *ch = arg;
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id = NULL;

	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	if (CALL(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), "create_id"))
		return;
	label_id(id, "id");
	do_bind(id, ADDR, PORT);
	do_listen(id, 1);
	rmid(id);
}

static void fork_opened(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();

	(void)arg;
	in_child(serve, ch);
	rdma_destroy_event_channel(ch);
}

/* The parent has had an id on it. */
static void fork_used(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id = mkid(ch, "used", RDMA_PS_TCP);

	(void)arg;
	rmid(id);
	in_child(serve, ch);
	rdma_destroy_event_channel(ch);
}

static void use(void *arg)
{
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id = arg;
	int one = 1;

	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, sizeof(one)),
	     "reuseaddr");
	do_bind(id, ADDR, PORT + 1);
	do_resolve(id, NULL, ADDR, PORT);
	do_listen(id, 1);
	CALL(rdma_reject(id, NULL, 0), "reject");
	fcntl(id->channel->fd, F_SETFL, O_NONBLOCK);
	CALL(rdma_get_cm_event(id->channel, &event), "get_cm_event");
}

static void fork_calls(const void *arg)
{
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *(const enum reach *)arg);
	in_child(use, id);
	show_id(id);
	duo_end(&d);
}

static void migrate(void *id)
{
	CALL(rdma_migrate_id(id, mkchan()), "migrate");
}

static void fork_migrate(const void *arg)
{
	struct rdma_cm_id *id;
	struct duo d;

	(void)arg;
	id = duo_reach(&d, BOUND);
	in_child(migrate, id);
	do_listen(id, 1);
	duo_end(&d);
}

static void destroy(void *id)
{
	rmid(id);
}

/* Whether it is there is what an option tells that can be set in any state. */
static void fork_destroy(const void *arg)
{
	struct rdma_cm_id *id;
	uint8_t tos = 0;
	struct duo d;

	id = duo_reach(&d, *(const enum reach *)arg);
	in_child(destroy, id);
	if (*(const enum reach *)arg != CONNECTED)
		CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)),
		     "tos");
	show_id(id);
	duo_end(&d);
}

static void destroy_qp(void *id)
{
	rdma_destroy_qp(id);
}

static void fork_destroy_qp(const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct rdma_cm_id *id;
	struct duo d;

	(void)arg;
	id = duo_reach(&d, CONNECTED);
	in_child(destroy_qp, id);
	CALL(ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init), "query_qp");
}

/* A server that opens its channel as root, and then is somebody else. */
static void setuid_opened(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();

	(void)arg;
	CALL(setuid(65534), "setuid");
	serve(ch);
	rdma_destroy_event_channel(ch);
}

static void setuid_later(const void *arg)
{
	struct rdma_cm_id *id;
	uint8_t tos = 0;
	struct duo d;

	id = duo_reach(&d, *(const enum reach *)arg);
	CALL(setuid(65534), "setuid");
	CALL(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)), "tos");
	CALL(rdma_migrate_id(id, mkchan()), "migrate");
	rmid(id);
}

/* struct rdma_cm_id is the application's to write: the id is looked for where it is not. */
static void channel_swapped(const void *arg)
{
	struct rdma_event_channel *other = mkchan(), *own;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *(const enum reach *)arg);
	own = id->channel;
	id->channel = other;
	use(id);
	CALL(rdma_destroy_id(id), "destroy_id %s", idname(id));
	id->channel = own;
	show_id(id);
	duo_end(&d);
}

/* Nothing has been done with the id yet. */
static void channel_idle(const void *arg)
{
	struct rdma_event_channel *other = mkchan(), *ch = mkchan();
	struct rdma_cm_id *id = mkid(ch, "id", RDMA_PS_TCP);

	(void)arg;
	id->channel = other;
	do_bind(id, ADDR, PORT);
	rmid(id);
}

/* Events come where the id is, and nowhere else. */
static void channel_other(const void *arg)
{
	struct rdma_event_channel *other = mkchan(), *ch = mkchan();
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id = mkid(ch, "id", RDMA_PS_TCP);

	(void)arg;
	fcntl(other->fd, F_SETFL, O_NONBLOCK);
	do_resolve(id, NULL, ADDR, PORT);
	say("ready %d, the other %d", ev_ready(ch, 5000), ev_ready(other, 300));
	CALL(rdma_get_cm_event(other, &event), "get_cm_event");
	ev(ch);
	rmid(id);
}

/* An id outlives the struct of the channel that it has left. */
static void channel_left(const void *arg)
{
	struct rdma_event_channel *from = mkchan(), *to = mkchan();
	struct rdma_cm_id *id = mkid(from, "id", RDMA_PS_TCP);

	(void)arg;
	do_bind(id, ADDR, PORT);
	CALL(rdma_migrate_id(id, to), "migrate");
	rdma_destroy_event_channel(from);
	do_listen(id, 1);
	rmid(id);
	rdma_destroy_event_channel(to);
}

#define REACH(name, fn, where) { "owner." name, fn, &(const enum reach){ where } }

const struct cmp_case owner_cases[] = {
	{ "owner.fork.opened", fork_opened, NULL },
	{ "owner.fork.used", fork_used, NULL },
	REACH("fork.calls.idle", fork_calls, IDLE),
	REACH("fork.calls.bound", fork_calls, BOUND),
	REACH("fork.calls.routed", fork_calls, ROUTED),
	REACH("fork.calls.listening", fork_calls, LISTENING),
	REACH("fork.calls.requested", fork_calls, REQUESTED),
	{ "owner.fork.migrate", fork_migrate, NULL },
	REACH("fork.destroy.idle", fork_destroy, IDLE),
	REACH("fork.destroy.bound", fork_destroy, BOUND),
	REACH("fork.destroy.listening", fork_destroy, LISTENING),
	REACH("fork.destroy.connected", fork_destroy, CONNECTED),
	{ "owner.fork.destroy_qp", fork_destroy_qp, NULL },
	{ "owner.channel.idle", channel_idle, NULL },
	REACH("channel.swapped.bound", channel_swapped, BOUND),
	REACH("channel.swapped.listening", channel_swapped, LISTENING),
	REACH("channel.swapped.requested", channel_swapped, REQUESTED),
	{ "owner.channel.other", channel_other, NULL },
	{ "owner.channel.left", channel_left, NULL },
	{ "owner.setuid.opened", setuid_opened, NULL },
	REACH("setuid.bound", setuid_later, BOUND),
	REACH("setuid.listening", setuid_later, LISTENING),
	{ }
};
