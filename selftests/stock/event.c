// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Event channels: order, readiness, migration. */
#include "util.h"
#include <fcntl.h>
#include <pthread.h>

static void nonblock(struct rdma_event_channel *ch)
{
	fcntl(ch->fd, F_SETFL, fcntl(ch->fd, F_GETFL) | O_NONBLOCK);
}

static void empty(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id;

	(void)arg;
	nonblock(ch);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	say("ready %d", ev_ready(ch, 0));
	id = mkid(ch, "id", RDMA_PS_TCP);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	do_resolve(id, NULL, ADDR, PORT);
	ev(ch);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	CALL(rdma_get_cm_event(ch, NULL), "get_cm_event NULL");
	CALL(rdma_ack_cm_event(NULL), "ack_cm_event NULL");
	rmid(id);
	rdma_destroy_event_channel(ch);
}

static void order(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *a, *b;
	int i;

	(void)arg;
	a = mkid(ch, "a", RDMA_PS_UDP);
	b = mkid(ch, "b", RDMA_PS_UDP);
	do_bind(a, ADDR, 0);
	do_bind(b, ADDR, 0);
	CALL(rdma_join_multicast(a, ip(GROUP, 0), "a1"), "join a");
	ev_ready(ch, 2000);
	usleep(50000);
	CALL(rdma_join_multicast(b, ip(GROUP, 0), "b1"), "join b");
	usleep(50000);
	CALL(rdma_join_multicast(a, ip(GROUP_2, 0), "a2"), "join a");
	usleep(50000);
	for (i = 0; i < 3; i++) {
		say("ready %d", ev_ready(ch, 2000));
		ev(ch);
	}
	say("ready %d", ev_ready(ch, 0));
	rmid(a);
	rmid(b);
	rdma_destroy_event_channel(ch);
}

/* Three fetched, then acknowledged in reverse. */
static void held(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_event *event[3];
	struct rdma_cm_id *id;
	char group[32];
	int i;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_UDP);
	do_bind(id, ADDR, 0);
	for (i = 0; i < 3; i++) {
		snprintf(group, sizeof(group), "239.77.1.%d", i + 1);
		CALL(rdma_join_multicast(id, ip(group, 0), "held"), "join %s", group);
		event[i] = ev_raw(ch, 2000);
	}
	for (i = 3; i--;) {
		if (!event[i])
			continue;
		show_event(event[i]);
		CALL(rdma_ack_cm_event(event[i]), "ack");
	}
	rmid(id);
	rdma_destroy_event_channel(ch);
}

static void *late_ack(void *arg)
{
	usleep(300000);
	say("acknowledging");
	rdma_ack_cm_event(arg);
	return NULL;
}

/* Destruction waits for the acknowledgment of what was fetched. */
static void destroy_waits(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	pthread_t thread;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_resolve(id, NULL, ADDR, PORT);
	event = ev_raw(ch, 5000);
	if (!event)
		return;
	pthread_create(&thread, NULL, late_ack, event);
	rmid(id);
	pthread_join(thread, NULL);
	rdma_destroy_event_channel(ch);
}

static void unfetched(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_resolve(id, NULL, ADDR, PORT);
	say("ready %d", ev_ready(ch, 5000));
	rmid(id);
	say("ready %d", ev_ready(ch, 200));
	rdma_destroy_event_channel(ch);
}

static void migrate_pending(const void *arg)
{
	struct rdma_event_channel *from = mkchan(), *to = mkchan();
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(from, "id", RDMA_PS_TCP);
	do_resolve(id, NULL, ADDR, PORT);
	say("ready %d", ev_ready(from, 5000));
	CALL(rdma_migrate_id(id, to), "migrate");
	say("moved %d", id->channel == to);
	say("ready from %d to %d", ev_ready(from, 100), ev_ready(to, 1000));
	ev(to);
	do_route(id);
	ev(to);
	ev_none(from);
	rmid(id);
	rdma_destroy_event_channel(from);
	rdma_destroy_event_channel(to);
}

static void migrate_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_event_channel *to;
	struct rdma_cm_id *id;
	struct duo d;

	id = duo_reach(&d, *where);
	to = mkchan();
	CALL(rdma_migrate_id(id, to), "migrate %s", idname(id));
	CALL(rdma_migrate_id(id, to), "migrate %s to where it is", idname(id));
	if (*where == CONNECTED) {
		d.cc = to;
		duo_disconnect(&d, d.srv, d.cli);
	}
	if (*where == LISTENING) {
		quiet++;
		duo_route(&d, RDMA_PS_TCP);
		CALL(rdma_connect(d.cli, &d.param), "connect cli");
		quiet--;
		d.srv = ev_request(to, "srv");
		say("child's channel is the %s one", d.srv && d.srv->channel == to ? "new" : "old");
	}
	show_id(id);
	duo_end(&d);
}

static void migrate_bad(const void *arg)
{
	struct rdma_event_channel *ch = mkchan(), fake = { .fd = -1 };
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	CALL(rdma_migrate_id(id, &fake), "migrate to fd -1");
	rmid(id);
	rdma_destroy_event_channel(ch);
}

/* Becomes synchronous: calls wait for their events. */
static void migrate_sync(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	CALL(rdma_migrate_id(id, NULL), "migrate to none");
	say("own channel %d", id->channel && id->channel != ch);
	do_resolve(id, NULL, ADDR, PORT);
	say("kept event %s", id->event ? event_name(id->event->event) : "none");
	do_route(id);
	say("kept event %s", id->event ? event_name(id->event->event) : "none");
	CALL(rdma_migrate_id(id, NULL), "migrate to none again");
	CALL(rdma_migrate_id(id, ch), "migrate back");
	say("kept event %s", id->event ? event_name(id->event->event) : "none");
	show_id(id);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

static void channel_with_ids(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;

	(void)arg;
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_bind(id, ADDR, PORT);
	do_listen(id, 1);
	rdma_destroy_event_channel(ch);
	ch = mkchan();
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_bind(id, ADDR, PORT);
	rmid(id);
	rdma_destroy_event_channel(ch);
}

static void context(const void *arg)
{
	static int mine, theirs;
	struct duo d;

	(void)arg;
	duo_init(&d);
	quiet++;
	rdma_create_id(d.cl, &d.lst, &mine, RDMA_PS_TCP);
	label_id(d.lst, "lst");
	do_bind(d.lst, ADDR, PORT);
	do_listen(d.lst, 1);
	rdma_create_id(d.cc, &d.cli, &theirs, RDMA_PS_TCP);
	label_id(d.cli, "cli");
	do_resolve(d.cli, NULL, ADDR, PORT);
	ev(d.cc);
	do_route(d.cli);
	ev(d.cc);
	d.param.qp_num = fake_qpn("cli");
	CALL(rdma_connect(d.cli, &d.param), "connect");
	d.srv = ev_request(d.cl, "srv");
	quiet--;
	say("listener has its own %d, child the same %d, client's %d", d.lst->context == &mine,
	    d.srv && d.srv->context == &mine, d.cli->context == &theirs);
	duo_end(&d);
}

static void bad_create(const void *arg)
{
	static const int tried[] = { 0, 1, 0x0107, 0x0103, 0xffff, -1 };
	struct rdma_event_channel *ch = mkchan(), fake = { .fd = -1 };
	struct rdma_cm_id *id = NULL;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(tried); i++)
		CALL(rdma_create_id(ch, &id, NULL, tried[i]), "create_id ps=%d", tried[i]);
	CALL(rdma_create_id(&fake, &id, NULL, RDMA_PS_TCP), "create_id fd -1");
	fake.fd = open("/dev/null", O_RDWR);
	CALL(rdma_create_id(&fake, &id, NULL, RDMA_PS_TCP), "create_id /dev/null");
	rdma_destroy_event_channel(ch);
}

/* It has one public field: an application can make it. */
static void made_channel(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_event_channel made[2] = { { .fd = dup(ch->fd) }, { .fd = -1 } };
	struct rdma_cm_id *id;

	(void)arg;
	rdma_destroy_event_channel(ch);
	id = mkid(&made[0], "id", RDMA_PS_TCP);
	do_resolve(id, NULL, ADDR, PORT);
	ev(&made[0]);
	do_route(id);
	ev(&made[0]);
	show_id(id);
	rmid(id);
	close(made[0].fd);
	say("the next one's fd %d", made[1].fd);
}

static void bad_get(const void *arg)
{
	struct rdma_event_channel *ch = mkchan(), fake = { .fd = -1 };
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id;

	(void)arg;
	CALL(rdma_get_cm_event(&fake, &event), "get_cm_event fd -1");
	close(ch->fd);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event closed");
	CALL(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), "create_id closed");
}

/* poll() must tell of every event of a burst, not only of the first. */
static void burst(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_cm_id *id;
	char group[32];
	int i, got = 0;

	(void)arg;
	nonblock(ch);
	id = mkid(ch, "id", RDMA_PS_UDP);
	do_bind(id, ADDR, 0);
	quiet++;
	for (i = 0; i < 40; i++) {
		snprintf(group, sizeof(group), "239.79.0.%d", i + 1);
		CALL(rdma_join_multicast(id, ip(group, 0), "burst"), "join");
	}
	while (got < 40 && ev_ready(ch, 2000) && ev(ch) == RDMA_CM_EVENT_MULTICAST_JOIN)
		got++;
	quiet--;
	say("%d events, ready %d", got, ev_ready(ch, 100));
	rmid(id);
	rdma_destroy_event_channel(ch);
}

#define MIGRATE(name, where) { "event.migrate_in." name, migrate_in, &(const enum reach){ where } }

static void set_peer(const char *end)
{
	const char *lladdr = getenv("COMPARE_LLADDR") ?: "";
	char command[200];

	snprintf(command, sizeof(command), "ip neigh replace %s lladdr %.*s%s dev %s nud permanent",
		 MOVING, (int)strlen(lladdr) - 2, lladdr, end, DEV);
	if (!*lladdr || system(command))
		say("no neighbour");
}

/* The packets of a path of RoCE go to the MAC address that was resolved. */
static void peer_moves(const void *arg)
{
	struct rdma_event_channel *ch = mkchan();
	struct rdma_conn_param param = { .qp_num = fake_qpn("id") };
	struct rdma_cm_id *id;

	(void)arg;
	set_peer("51");
	id = mkid(ch, "id", RDMA_PS_TCP);
	do_resolve(id, NULL, MOVING, PORT);
	ev(ch);
	do_route(id);
	if (ev(ch) == RDMA_CM_EVENT_ROUTE_RESOLVED) {
		CALL(rdma_connect(id, &param), "connect");
		set_peer("52");
		if (ev_ready(ch, 5000))
			ev(ch);
	}
	rmid(id);
	rdma_destroy_event_channel(ch);
}

/* A program may fetch an event with a struct of its own. */
static void copied_channel(const void *arg)
{
	struct rdma_event_channel copy;
	struct rdma_cm_event *event;
	struct duo d;

	(void)arg;
	duo_init(&d);
	if (duo_listen(&d, RDMA_PS_TCP) || duo_route(&d, RDMA_PS_TCP))
		return;
	CALL(rdma_connect(d.cli, &d.param), "connect cli");
	copy = *d.cl;
	if (CALL(rdma_get_cm_event(&copy, &event), "get_cm_event"))
		return;
	d.srv = event->id;
	label_id(d.srv, "srv");
	show_event(event);
	say("channel of the listener %d", d.srv->channel == d.cl);
	CALL(rdma_ack_cm_event(event), "ack_cm_event");
	duo_end(&d);
}

const struct cmp_case event_cases[] = {
	{ "event.copied_channel", copied_channel, NULL },
	{ "event.empty", empty, NULL },
	{ "event.order", order, NULL },
	{ "event.held", held, NULL },
	{ "event.burst", burst, NULL },
	{ "event.destroy_waits", destroy_waits, NULL },
	{ "event.unfetched", unfetched, NULL },
	{ "event.migrate_pending", migrate_pending, NULL },
	MIGRATE("idle", IDLE),
	MIGRATE("bound", BOUND),
	MIGRATE("listening", LISTENING),
	MIGRATE("connected", CONNECTED),
	{ "event.migrate_bad", migrate_bad, NULL },
	{ "event.migrate_sync", migrate_sync, NULL },
	{ "event.channel_with_ids", channel_with_ids, NULL },
	{ "event.context", context, NULL },
	{ "event.bad_create", bad_create, NULL },
	{ "event.bad_get", bad_get, NULL },
	{ "event.made_channel", made_channel, NULL },
	{ "event.peer_moves", peer_moves, NULL },
	{ }
};
