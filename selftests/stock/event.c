// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Event channels: order, readiness, migration. */
#include "util.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include "../lib/slow.h"

static void channel_set_nonblocking(struct rdma_event_channel *ch)
{
	fcntl(ch->fd, F_SETFL, fcntl(ch->fd, F_GETFL) | O_NONBLOCK);
}

static void test_empty(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id;

	(void)arg;
	channel_set_nonblocking(ch);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	tap_note_print("ready %d", channel_poll(ch, 0));
	id = id_create(ch, "id", RDMA_PS_TCP);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	id_resolve_addr(id, NULL, ADDR, PORT);
	event_trace(ch);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	CALL(rdma_get_cm_event(ch, NULL), "get_cm_event NULL");
	CALL(rdma_ack_cm_event(NULL), "ack_cm_event NULL");
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void test_order(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *a, *b;
	int i;

	(void)arg;
	a = id_create(ch, "a", RDMA_PS_UDP);
	b = id_create(ch, "b", RDMA_PS_UDP);
	id_bind(a, ADDR, 0);
	id_bind(b, ADDR, 0);
	CALL(rdma_join_multicast(a, ip_addr(GROUP, 0), "a1"), "join a");
	channel_poll(ch, 2000);
	usleep(50000);
	CALL(rdma_join_multicast(b, ip_addr(GROUP, 0), "b1"), "join b");
	usleep(50000);
	CALL(rdma_join_multicast(a, ip_addr(GROUP_2, 0), "a2"), "join a");
	usleep(50000);
	for (i = 0; i < 3; i++) {
		tap_note_print("ready %d", channel_poll(ch, 2000));
		event_trace(ch);
	}
	tap_note_print("ready %d", channel_poll(ch, 0));
	id_destroy(a);
	id_destroy(b);
	rdma_destroy_event_channel(ch);
}

/* Three events are fetched, and acknowledged in reverse order. */
static void test_held(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_event *event[3];
	struct rdma_cm_id *id;
	char group[32];
	int i;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_UDP);
	id_bind(id, ADDR, 0);
	for (i = 0; i < 3; i++) {
		snprintf(group, sizeof(group), "239.77.1.%d", i + 1);
		CALL(rdma_join_multicast(id, ip_addr(group, 0), "held"), "join %s", group);
		event[i] = event_fetch(ch, 2000);
	}
	for (i = 3; i--;) {
		if (!event[i])
			continue;
		show_event(event[i]);
		CALL(rdma_ack_cm_event(event[i]), "ack");
	}
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void *event_ack_late(void *arg)
{
	usleep(300000);
	tap_note_print("acknowledging");
	rdma_ack_cm_event(arg);
	return NULL;
}

/* rdma_destroy_id() waits until fetched events are acknowledged. */
static void test_destroy_waits(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	pthread_t thread;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_resolve_addr(id, NULL, ADDR, PORT);
	event = event_fetch(ch, 5000);
	if (!event)
		return;
	pthread_create(&thread, NULL, event_ack_late, event);
	id_destroy(id);
	pthread_join(thread, NULL);
	rdma_destroy_event_channel(ch);
}

static void test_unfetched(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_resolve_addr(id, NULL, ADDR, PORT);
	tap_note_print("ready %d", channel_poll(ch, 5000));
	id_destroy(id);
	tap_note_print("ready %d", channel_poll(ch, 200));
	rdma_destroy_event_channel(ch);
}

static void test_migrate_pending(const void *arg)
{
	struct rdma_event_channel *from = channel_create(), *to = channel_create();
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(from, "id", RDMA_PS_TCP);
	id_resolve_addr(id, NULL, ADDR, PORT);
	tap_note_print("ready %d", channel_poll(from, 5000));
	CALL(rdma_migrate_id(id, to), "migrate");
	tap_note_print("moved %d", id->channel == to);
	tap_note_print("ready from %d to %d", channel_poll(from, 100), channel_poll(to, 1000));
	event_trace(to);
	id_resolve_route(id);
	event_trace(to);
	event_expect_none(from);
	id_destroy(id);
	rdma_destroy_event_channel(from);
	rdma_destroy_event_channel(to);
}

static void test_migrate_in(const void *arg)
{
	const enum reach *where = arg;
	struct rdma_event_channel *to;
	struct rdma_cm_id *id;
	struct pair d;

	id = pair_reach(&d, *where);
	to = channel_create();
	CALL(rdma_migrate_id(id, to), "migrate %s", id_name(id));
	CALL(rdma_migrate_id(id, to), "migrate %s to where it is", id_name(id));
	if (*where == CONNECTED) {
		d.ch = to;
		pair_disconnect(&d, d.child, d.id);
	}
	if (*where == LISTENING) {
		quiet++;
		pair_route(&d, RDMA_PS_TCP);
		CALL(rdma_connect(d.id, &d.param), "connect cli");
		quiet--;
		d.child = event_expect_request(to, "srv");
		tap_note_print("child's channel is the %s one",
			       d.child && d.child->channel == to ? "new" : "old");
	}
	show_id(id);
	pair_close(&d);
}

static void test_migrate_bad(const void *arg)
{
	struct rdma_event_channel *ch = channel_create(), fake = { .fd = -1 };
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	CALL(rdma_migrate_id(id, &fake), "migrate to fd -1");
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

/* The program moves the id of a request to another channel before it acknowledges the event. */
static void test_migrate_request(const void *arg)
{
	struct rdma_event_channel *to = channel_create(), *from;
	struct rdma_cm_event *event;
	struct pair d;

	(void)arg;
	pair_init(&d);
	pair_run_quietly(pair_prepare, &d, RDMA_PS_TCP);
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	event = event_fetch(d.lch, 5000);
	if (!event)
		return;
	d.child = event->id;
	id_label(d.child, "srv");
	CALL(rdma_migrate_id(d.child, to), "migrate srv");
	tap_note_print("moved %d", d.child->channel == to);
	show_event(event);
	CALL(rdma_ack_cm_event(event), "ack");
	qp_create(d.child, IBV_QPT_RC);
	CALL(rdma_accept(d.child, &d.param), "accept srv");
	event_trace(d.ch);
	event_trace(to);
	event_expect_none(d.lch);
	/* the events of srv come on its channel, which pair_disconnect() takes from d.lch */
	from = d.lch;
	d.lch = to;
	pair_disconnect(&d, d.id, d.child);
	d.lch = from;
	pair_close(&d);
	rdma_destroy_event_channel(to);
}

/* The id becomes synchronous, so that calls wait for their events. */
static void test_migrate_sync(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	CALL(rdma_migrate_id(id, NULL), "migrate to none");
	tap_note_print("own channel %d", id->channel && id->channel != ch);
	id_resolve_addr(id, NULL, ADDR, PORT);
	tap_note_print("kept event %s", id->event ? event_name(id->event->event) : "none");
	id_resolve_route(id);
	tap_note_print("kept event %s", id->event ? event_name(id->event->event) : "none");
	CALL(rdma_migrate_id(id, NULL), "migrate to none again");
	CALL(rdma_migrate_id(id, ch), "migrate back");
	tap_note_print("kept event %s", id->event ? event_name(id->event->event) : "none");
	show_id(id);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void test_channel_with_ids(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_bind(id, ADDR, PORT);
	id_listen(id, 1);
	rdma_destroy_event_channel(ch);
	ch = channel_create();
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_bind(id, ADDR, PORT);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

static void test_context(const void *arg)
{
	static int mine, theirs;
	struct pair d;

	(void)arg;
	pair_init(&d);
	quiet++;
	rdma_create_id(d.lch, &d.listener, &mine, RDMA_PS_TCP);
	id_label(d.listener, "lst");
	id_bind(d.listener, ADDR, PORT);
	id_listen(d.listener, 1);
	rdma_create_id(d.ch, &d.id, &theirs, RDMA_PS_TCP);
	id_label(d.id, "cli");
	id_resolve_addr(d.id, NULL, ADDR, PORT);
	event_trace(d.ch);
	id_resolve_route(d.id);
	event_trace(d.ch);
	d.param.qp_num = qpn_fake("cli");
	CALL(rdma_connect(d.id, &d.param), "connect");
	d.child = event_expect_request(d.lch, "srv");
	quiet--;
	tap_note_print("listener has its own %d, child the same %d, client's %d",
		       d.listener->context == &mine,
		       d.child && d.child->context == &mine, d.id->context == &theirs);
	pair_close(&d);
}

static void test_bad_create(const void *arg)
{
	static const int tried[] = { 0, 1, 0x0107, 0x0103, 0xffff, -1 };
	struct rdma_event_channel *ch = channel_create(), fake = { .fd = -1 };
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

/* The channel has one public field, so an application can create it without the library. */
static void test_made_channel(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_event_channel made[2] = { { .fd = dup(ch->fd) }, { .fd = -1 } };
	struct rdma_cm_id *id;

	(void)arg;
	rdma_destroy_event_channel(ch);
	id = id_create(&made[0], "id", RDMA_PS_TCP);
	id_resolve_addr(id, NULL, ADDR, PORT);
	event_trace(&made[0]);
	id_resolve_route(id);
	event_trace(&made[0]);
	show_id(id);
	id_destroy(id);
	close(made[0].fd);
	tap_note_print("the next one's fd %d", made[1].fd);
}

static void test_bad_get(const void *arg)
{
	struct rdma_event_channel *ch = channel_create(), fake = { .fd = -1 };
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id;

	(void)arg;
	CALL(rdma_get_cm_event(&fake, &event), "get_cm_event fd -1");
	close(ch->fd);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event closed");
	CALL(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP), "create_id closed");
}

#define BURST 40

/* Joins as many groups as a burst has events. */
static void burst_join(struct rdma_cm_id *id, int net, void *context)
{
	char group[32];
	int i;

	for (i = 0; i < BURST; i++) {
		snprintf(group, sizeof(group), "239.79.%d.%d", net, i + 1);
		CALL(rdma_join_multicast(id, ip_addr(group, 0), context), "join");
	}
}

/* poll() must report each event of a burst, and not only the first one. */
static void test_burst(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_cm_id *id;
	int got = 0;

	(void)arg;
	channel_set_nonblocking(ch);
	id = id_create(ch, "id", RDMA_PS_UDP);
	id_bind(id, ADDR, 0);
	quiet++;
	burst_join(id, 0, "burst");
	while (got < BURST && channel_poll(ch, 2000) &&
	       event_trace(ch) == RDMA_CM_EVENT_MULTICAST_JOIN)
		got++;
	quiet--;
	tap_note_print("%d events, ready %d", got, channel_poll(ch, 100));
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

#define MIGRATE(name, where) \
	{ "event.migrate_in." name, test_migrate_in, &(const enum reach){ where } }

static void peer_set_mac(const char *end)
{
	const char *lladdr = getenv("COMPARE_LLADDR") ?: "";
	char command[200];

	snprintf(command, sizeof(command), "ip neigh replace %s lladdr %.*s%s dev %s nud permanent",
		 MOVING, (int)strlen(lladdr) - 2, lladdr, end, DEV);
	if (!*lladdr || system(command))
		tap_note_print("no neighbour");
}

/* A RoCE path uses the MAC address of the peer at the time of resolving, which then changes. */
static void test_peer_moves(const void *arg)
{
	struct rdma_event_channel *ch = channel_create();
	struct rdma_conn_param param = { .qp_num = qpn_fake("id") };
	struct rdma_cm_id *id;

	(void)arg;
	peer_set_mac("51");
	id = id_create(ch, "id", RDMA_PS_TCP);
	id_resolve_addr(id, NULL, MOVING, PORT);
	event_trace(ch);
	id_resolve_route(id);
	if (event_trace(ch) == RDMA_CM_EVENT_ROUTE_RESOLVED) {
		CALL(rdma_connect(id, &param), "connect");
		peer_set_mac("52");
		if (channel_poll(ch, 5000))
			event_trace(ch);
	}
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

/* A program may fetch an event with a struct of its own. */
static void test_copied_channel(const void *arg)
{
	struct rdma_event_channel copy;
	struct rdma_cm_event *event;
	struct pair d;

	(void)arg;
	pair_init(&d);
	if (pair_listen(&d, RDMA_PS_TCP) || pair_route(&d, RDMA_PS_TCP))
		return;
	CALL(rdma_connect(d.id, &d.param), "connect cli");
	copy = *d.lch;
	if (CALL(rdma_get_cm_event(&copy, &event), "get_cm_event"))
		return;
	d.child = event->id;
	id_label(d.child, "srv");
	show_event(event);
	tap_note_print("channel of the listener %d", d.child->channel == d.lch);
	CALL(rdma_ack_cm_event(event), "ack_cm_event");
	pair_close(&d);
}

/* With EPOLLET, a program that fetches all events each time gets all of them. */
static void test_edge(const void *arg)
{
	struct epoll_event ready = { .events = EPOLLIN | EPOLLET };
	struct rdma_event_channel *ch = channel_create();
	int epfd = epoll_create1(0), got = 0;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	(void)arg;
	channel_set_nonblocking(ch);
	tap_note_print("add %d", epoll_ctl(epfd, EPOLL_CTL_ADD, ch->fd, &ready));
	tap_note_print("ready %d", epoll_wait(epfd, &ready, 1, 0));
	id = id_create(ch, "id", RDMA_PS_UDP);
	id_bind(id, ADDR, 0);
	quiet++;
	burst_join(id, 1, "edge");
	quiet--;
	while (got < BURST && epoll_wait(epfd, &ready, 1, slow_time(5000)) == 1) {
		while (!rdma_get_cm_event(ch, &event)) {
			got += event->event == RDMA_CM_EVENT_MULTICAST_JOIN;
			rdma_ack_cm_event(event);
		}
	}
	tap_note_print("%d events", got);
	CALL(rdma_get_cm_event(ch, &event), "get_cm_event");
	close(epfd);
	id_destroy(id);
	rdma_destroy_event_channel(ch);
}

/* An id brings the events that wait for it to its new channel. */
static void test_edge_migrated(const void *arg)
{
	struct rdma_event_channel *from = channel_create(), *to = channel_create();
	struct epoll_event ready = { .events = EPOLLIN | EPOLLET };
	int epfd = epoll_create1(0);
	struct rdma_cm_id *id;

	(void)arg;
	id = id_create(from, "id", RDMA_PS_TCP);
	id_resolve_addr(id, NULL, ADDR, PORT);
	tap_note_print("ready %d", channel_poll(from, 5000));
	tap_note_print("add %d", epoll_ctl(epfd, EPOLL_CTL_ADD, to->fd, &ready));
	tap_note_print("edges %d", epoll_wait(epfd, &ready, 1, 0));
	CALL(rdma_migrate_id(id, to), "migrate");
	tap_note_print("edges %d", epoll_wait(epfd, &ready, 1, 1000));
	tap_note_print("ready %d", channel_poll(to, 5000));
	event_trace(to);
	close(epfd);
	id_destroy(id);
	rdma_destroy_event_channel(from);
	rdma_destroy_event_channel(to);
}

/* @n: a digit, which is in the names of the device and of its interface, and in @addr */
static void device_add(char n, const char *addr)
{
	char command[640];

	snprintf(command, sizeof(command),
		 "modprobe -q rdma_rxe; cd /sys/class || exit\n"
		 "[ -e net/d%c ] || ip link add d%c type dummy && ip link set d%c up || exit\n"
		 "ip addr replace %s/24 dev d%c || exit\n"
		 "until rdma link add rxe%c type rxe netdev d%c; do sleep 0.1; done 2>/dev/null\n"
		 "until grep -qs ffff:0a58:0%c01 infiniband/rxe%c/ports/1/gids/*; do sleep 0.1; done",
		 n, n, n, addr, n, n, n, n, n);
	if (system(command))
		tap_note_print("no device");
}

/*
 * The ids of a channel lose their device one after the other, in an order that depends on the scheduler. The
 * passive end of a connection may hear of the disconnection first.
 */
static void trace_removals(struct rdma_event_channel *ch, struct rdma_cm_id *a, struct rdma_cm_id *b)
{
	int removals_a = 0, removals_b = 0;
	struct rdma_cm_event *ev;

	while ((ev = event_fetch(ch, 1000))) {
		if (ev->event == RDMA_CM_EVENT_DEVICE_REMOVAL && ev->id == a)
			removals_a++;
		else if (ev->event == RDMA_CM_EVENT_DEVICE_REMOVAL && ev->id == b)
			removals_b++;
		else if (ev->event != RDMA_CM_EVENT_DISCONNECTED || ev->id != b || removals_b)
			show_event(ev);
		rdma_ack_cm_event(ev);
	}
	tap_note_print("removals of %s: %d", id_name(a), removals_a);
	if (b)
		tap_note_print("removals of %s: %d", id_name(b), removals_b);
}

/* A device goes on which both ends of a connection are. */
static void pair_lose_device(char n, const char *addr)
{
	char command[64];
	struct pair d;

	if (getenv("CMX_DEV"))
		tap_case_skip("adds a device");
	device_add(n, addr);
	pair_init(&d);
	d.addr = addr;
	pair_run_quietly(pair_connect, &d, RDMA_PS_TCP);
	snprintf(command, sizeof(command), "rdma link delete rxe%c &", n);
	if (system(command))
		tap_note_print("no command");
	trace_removals(d.lch, d.listener, d.child);
	trace_removals(d.ch, d.id, NULL);
	pair_close(&d);
}

static void test_device_goes(const void *arg)
{
	(void)arg;
	pair_lose_device('9', GOING);
}

static void device_left_trace(const char *when)
{
	const char *left = "/sys/class/infiniband/rxe8";
	int i;

	for (i = 0; i < slow_time(30) && !access(left, F_OK); i++)
		usleep(100000);
	tap_note_print("%s: the device %s", when, access(left, F_OK) ? "is gone" : "waits for the process");
}

/* The process has destroyed all ids on the device, and goes on. */
static void test_device_left(const void *arg)
{
	struct ibv_context **list;

	(void)arg;
	pair_lose_device('8', LEFT);
	device_left_trace("no id");
	list = rdma_get_devices(NULL);
	if (list)
		rdma_free_devices(list);
	device_left_trace("a list of devices");
}

const struct cmp_case event_cases[] = {
	{ "event.copied_channel", test_copied_channel, NULL },
	{ "event.empty", test_empty, NULL },
	{ "event.order", test_order, NULL },
	{ "event.held", test_held, NULL },
	{ "event.burst", test_burst, NULL },
	{ "event.edge", test_edge, NULL },
	{ "event.edge_migrated", test_edge_migrated, NULL },
	{ "event.device_goes", test_device_goes, NULL },
	{ "event.device_left", test_device_left, NULL },
	{ "event.destroy_waits", test_destroy_waits, NULL },
	{ "event.unfetched", test_unfetched, NULL },
	{ "event.migrate_pending", test_migrate_pending, NULL },
	{ "event.migrate_request", test_migrate_request, NULL },
	MIGRATE("idle", IDLE),
	MIGRATE("bound", BOUND),
	MIGRATE("listening", LISTENING),
	MIGRATE("connected", CONNECTED),
	{ "event.migrate_bad", test_migrate_bad, NULL },
	{ "event.migrate_sync", test_migrate_sync, NULL },
	{ "event.channel_with_ids", test_channel_with_ids, NULL },
	{ "event.context", test_context, NULL },
	{ "event.bad_create", test_bad_create, NULL },
	{ "event.bad_get", test_bad_get, NULL },
	{ "event.made_channel", test_made_channel, NULL },
	{ "event.peer_moves", test_peer_moves, NULL },
	{ }
};
