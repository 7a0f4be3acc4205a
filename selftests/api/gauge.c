// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Gauges: how many ids are in which state, and how many events wait. */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include "api.h"

#define HOST_STATS "/sys/class/misc/rdma_cmx/stats/now_"

static int host_gauge_get(const char *path)
{
	FILE *f = fopen(path, "r");
	int n;

	WANT(f && fscanf(f, "%d", &n) == 1);
	fclose(f);
	return n;
}

struct gauges {
	int established;
	int connecting;
	int listening;
	int unattached_listening;
	int queued_events;
};

static struct gauges gauges_get(void)
{
	return (struct gauges){
		.established = gauge_sum_get("established"),
		.connecting = gauge_sum_get("connecting"),
		.listening = gauge_sum_get("listening"),
		.unattached_listening = host_gauge_get(HOST_STATS "unattached_listening"),
		.queued_events = host_gauge_get(HOST_STATS "queued_events"),
	};
}

/* The numbers have grown by those of @more. */
static void gauges_expect(const struct gauges *before, struct gauges more)
{
	struct gauges now = gauges_get();

	WANT(now.established - before->established == more.established);
	WANT(now.connecting - before->connecting == more.connecting);
	WANT(now.listening - before->listening == more.listening);
	WANT(now.unattached_listening - before->unattached_listening == more.unattached_listening);
	WANT(now.queued_events - before->queued_events == more.queued_events);
}

static void test_states(void)
{
	struct pair p = { .param = plain };
	struct gauges before = gauges_get();

	pair_prepare(&p, RDMA_PS_TCP);
	gauges_expect(&before, (struct gauges){ .listening = 1 });
	pair_request(&p, RDMA_PS_TCP);
	gauges_expect(&before, (struct gauges){ .listening = 1, .connecting = 2 });
	pair_connect(&p, RDMA_PS_TCP);
	gauges_expect(&before, (struct gauges){ .listening = 1, .established = 2 });
	/* the port of the ids has a folder of its own */
	WANT(port_stat_get(p.id, "now_established") >= 2);
	pair_disconnect(&p, p.id, p.child);
	gauges_expect(&before, (struct gauges){ .listening = 1 });
	pair_close(&p);
	gauges_expect(&before, (struct gauges){});
}

static void test_datagrams(void)
{
	struct pair p = { .param = plain };
	struct gauges before = gauges_get();

	pair_connect(&p, RDMA_PS_UDP);
	gauges_expect(&before, (struct gauges){ .listening = 1, .established = 2 });
	pair_close(&p);
	gauges_expect(&before, (struct gauges){});
}

/* Each end is destroyed while it connects, or after the peer has refused it. */
static void test_attempts(void)
{
	struct pair first = { .param = plain }, second = { .param = plain };
	struct gauges before = gauges_get();

	pair_request(&first, RDMA_PS_TCP);
	pair_close(&first);
	pair_request(&second, RDMA_PS_TCP);
	WANT(!rdma_reject(second.child, NULL, 0));
	WANT(event_expect(second.ch, RDMA_CM_EVENT_REJECTED) == 28);
	pair_close(&second);
	gauges_expect(&before, (struct gauges){});
}

/* A listener for all devices is attached to none. */
static void test_wildcard(void)
{
	struct gauges before = gauges_get();
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(!rdma_bind_addr(id, ip_addr("0.0.0.0", 0)) && !rdma_listen(id, 1));
	gauges_expect(&before, (struct gauges){ .unattached_listening = 1 });
	WANT(!rdma_destroy_id(id));
	gauges_expect(&before, (struct gauges){});
}

static void pair_request_unfetched(struct pair *p)
{
	struct pollfd ready = { .events = POLLIN };

	pair_prepare(p, RDMA_PS_TCP);
	WANT(!rdma_connect(p->id, &plain));
	ready.fd = p->lch->fd;
	WANT(poll(&ready, 1, 15000) == 1);
}

/* An event is fetched, or its id is destroyed, or its file is closed. */
static void test_events(void)
{
	struct pair destroyed = { .param = plain }, closed = { .param = plain };
	struct gauges before = gauges_get();

	pair_request_unfetched(&destroyed);
	gauges_expect(&before, (struct gauges){ .listening = 1, .connecting = 2, .queued_events = 1 });
	WANT(!rdma_destroy_id(destroyed.listener));
	destroyed.listener = NULL;
	WANT(event_expect(destroyed.ch, RDMA_CM_EVENT_REJECTED));
	pair_close(&destroyed);
	gauges_expect(&before, (struct gauges){});

	pair_request_unfetched(&closed);
	WANT(!close(closed.lch->fd));
	WANT(event_expect(closed.ch, RDMA_CM_EVENT_REJECTED));
	WANT(!rdma_destroy_id(closed.id));
	gauges_expect(&before, (struct gauges){});
}

const struct test gauge_tests[] = {
	{ "gauges: the states of a connection", test_states },
	{ "gauges: the states of datagrams", test_datagrams },
	{ "gauges: attempts to connect that fail", test_attempts },
	{ "gauges: a listener for all devices", test_wildcard },
	{ "gauges: events that are not fetched", test_events },
	{}
};
