// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An id ends at an event.
 *
 *	break return|hasty|thread client|server EVENT ADDR PORT
 *
 * return: its handler returns nonzero. hasty: so it does, and the server disconnects before the
 * connection is there, which iWARP remembers. thread: another thread destroys the id while the
 * handler still runs. EVENT is a number of enum rdma_cm_event_type. No event may follow for that
 * id.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "cmx_ulp.h"

#define ENDS 4

/**
 * struct end - one id
 * @s: its scene
 * @id: the id
 * @r: what it has on its device
 * @taken: somebody ends it: who set it
 * @dead: it has ended
 * @work: ends it
 * @started: @work has begun
 * @over: nobody touches this any more
 */
struct end {
	struct scene *s;
	struct cmx_id *id;
	struct res r;
	atomic_t taken;
	bool dead;
	struct work_struct work;
	struct completion started;
	struct completion over;
};

/**
 * struct scene - listener, client and the id of the request
 * @by_thread: who ends the victim
 * @hasty: the server disconnects as soon as it has accepted
 * @server: the victim is the one of the request
 * @event: when
 * @late: events that came for a dead id
 * @lost: handlers whose id lost its device under them
 * @hit: the victim is dead
 * @n: ends in use
 * @ends: all of them. Ends at the server: from 1 on
 */
struct scene {
	bool by_thread;
	bool hasty;
	bool server;
	enum rdma_cm_event_type event;
	atomic_t late;
	atomic_t lost;
	struct completion hit;
	int n;
	struct end ends[ENDS];
};

static struct end *end_new(struct scene *s)
{
	struct end *e;

	if (s->n == ENDS)
		return NULL;
	e = &s->ends[s->n++];
	e->s = s;
	init_completion(&e->started);
	init_completion(&e->over);
	return e;
}

static bool take(struct end *e)
{
	return !atomic_xchg(&e->taken, 1);
}

/* The id has ended, or does when the handler returns. */
static void ended(struct end *e)
{
	e->dead = true;
	complete(&e->over);
}

/* There was no id. */
static void end_unused(struct end *e)
{
	take(e);
	ended(e);
}

static void die_by_thread(struct work_struct *work)
{
	struct end *e = container_of(work, struct end, work);
	struct scene *s = e->s;

	complete(&e->started);
	res_close(e->id, &e->r);
	cmx_destroy_id(e->id);
	complete(&s->hit);
	ended(e);
}

static int die(struct end *e)
{
	const struct ib_device *device = e->id->device;
	struct scene *s = e->s;

	if (!take(e))
		return 0;
	if (s->by_thread) {
		INIT_WORK(&e->work, die_by_thread);
		queue_work(system_unbound_wq, &e->work);
		wait_for_completion(&e->started);
		/* the id is being destroyed, and is there as long as this handler runs */
		msleep(20);
		if (READ_ONCE(e->id->device) != device)
			atomic_inc(&s->lost);
		return 0;
	}
	res_close(e->id, &e->r);
	complete(&s->hit);
	ended(e);
	return 1;
}

/* The rest of the scene must not keep the device. */
static int removed(struct end *e)
{
	if (!take(e))
		return 0;
	res_close(e->id, &e->r);
	ended(e);
	return 1;
}

static int request(struct end *e)
{
	struct rdma_conn_param param = { .responder_resources = 1, .rnr_retry_count = 7 };
	int ret;

	if (e->s->event == RDMA_CM_EVENT_REJECTED)
		return cmx_reject(e->id, NULL, 0, 0);
	ret = res_open(e->id, &e->r) ?: cmx_accept(e->id, &param);
	if (!ret && e->s->hasty)
		ret = cmx_disconnect(e->id);
	return ret;
}

static int connect(struct end *e)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .retry_count = 7, .rnr_retry_count = 7,
		.qp_num = get_random_u32() & 0xffffff,
	};
	int ret = 0;

	/* without a QP the owner is asked to establish */
	if (e->s->event != RDMA_CM_EVENT_CONNECT_RESPONSE)
		ret = res_open(e->id, &e->r);
	return ret ?: cmx_connect(e->id, &param);
}

static int proceed(struct end *e, const struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return cmx_resolve_route(e->id, ulp_timeout_ms);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return connect(e);
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return request(e);
	case RDMA_CM_EVENT_ESTABLISHED:
		/* with the DREQ close behind, the RTU may be overtaken and mean nothing */
		if (e->s->event == RDMA_CM_EVENT_DEVICE_REMOVAL || e->s->hasty ||
		    e->s->event == RDMA_CM_EVENT_ESTABLISHED || e != &e->s->ends[1])
			return 0;
		return cmx_disconnect(e->id);
	case RDMA_CM_EVENT_DISCONNECTED:
		return cmx_disconnect(e->id);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return removed(e);
	default:
		return 0;
	}
}

static int handler(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct end *e = id->context;
	bool server;
	int ret;

	if (e->dead) {
		atomic_inc(&e->s->late);
		return 0;
	}
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		e = end_new(e->s);
		if (!e)
			return -ENOMEM;
		e->id = id;
		id->context = e;
	}
	server = e - e->s->ends > 1;
	if (ev->event == e->s->event && server == e->s->server && e != &e->s->ends[0])
		return die(e);
	ret = proceed(e, ev);
	if (ret < 0)
		say("%s: %d\n", cmx_event_msg(ev->event), ret);
	/* ended by the scene, not by this */
	return ret > 0;
}

static int listen(struct scene *s, const struct sockaddr *addr)
{
	struct end *e = end_new(s);
	struct cmx_id *id = cmx_create_id(my_net(), handler, e, RDMA_PS_TCP, IB_QPT_RC);

	if (IS_ERR(id)) {
		end_unused(e);
		return PTR_ERR(id);
	}
	e->id = id;
	return cmx_bind_addr(id, addr) ?: cmx_listen(id, 0);
}

/* Two joins of one id with different Q_Keys: the second is an error. */
static int join(struct end *e, const struct sockaddr *addr)
{
	struct sockaddr_in group = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xef010101) };
	struct cmx_mcast_attr attr = { .mask = CMX_MCAST_QKEY, .qkey = 0x5555 };
	int ret;

	ret = cmx_bind_addr(e->id, addr) ?: res_open(e->id, &e->r);
	if (!ret && e->s->event == RDMA_CM_EVENT_MULTICAST_ERROR)
		ret = cmx_join_multicast(e->id, (struct sockaddr *)&group, &attr, NULL);
	else if (!ret)
		ret = cmx_join_multicast(e->id, (struct sockaddr *)&group, NULL, NULL);
	return ret;
}

static int call(struct scene *s, const struct sockaddr *addr)
{
	bool ud = s->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
		  s->event == RDMA_CM_EVENT_MULTICAST_ERROR;
	struct end *e = end_new(s);
	struct cmx_id *id = cmx_create_id(my_net(), handler, e, ud ? RDMA_PS_UDP : RDMA_PS_TCP,
					  ud ? IB_QPT_UD : IB_QPT_RC);
	unsigned long timeout_ms = s->event == RDMA_CM_EVENT_ADDR_ERROR ? 200 : ulp_timeout_ms;
	int ret = 0;

	if (IS_ERR(id)) {
		end_unused(e);
		return PTR_ERR(id);
	}
	e->id = id;
	if (ud)
		return join(e, addr);
	if (s->event == RDMA_CM_EVENT_UNREACHABLE)
		ret = cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 200);
	if (s->event == RDMA_CM_EVENT_CONNECT_ERROR)
		ret = cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_REQUIRE);
	return ret ?: cmx_resolve_addr(id, NULL, addr, timeout_ms);
}

/* Listener first, so that no end is added. Who dies by removal does it in its handler. */
static void end_all(struct scene *s)
{
	struct end *e;
	int i;

	for (i = 0; i < s->n; i++) {
		e = &s->ends[i];
		if (!take(e)) {
			wait_for_completion(&e->over);
			continue;
		}
		cmx_lock_handler(e->id);
		res_close(e->id, &e->r);
		cmx_unlock_handler(e->id);
		cmx_destroy_id(e->id);
		ended(e);
	}
}

/* Peers that don't exist are called with no listener of ours. */
static bool needs_listener(const struct scene *s)
{
	switch (s->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		return false;
	default:
		return true;
	}
}

static int play(struct scene *s, const struct sockaddr *addr)
{
	int ret = 0;

	if (needs_listener(s))
		ret = listen(s, addr);
	else
		end_unused(end_new(s));
	if (!ret)
		ret = call(s, addr);
	if (!ret && !wait_for_completion_timeout(&s->hit, msecs_to_jiffies(2 * ulp_timeout_ms)))
		ret = -ETIMEDOUT;
	/* time for what must not come */
	msleep(50);
	end_all(s);
	return ret ?: atomic_read(&s->late) || atomic_read(&s->lost) ? -EPROTO : 0;
}

int break_at(int argc, char **argv)
{
	struct sockaddr_storage addr;
	struct scene *s;
	int event, ret;

	ret = parse_addr(argv[4], argv[5], &addr) ?: kstrtoint(argv[3], 0, &event);
	if (ret)
		return ret;
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	init_completion(&s->hit);
	s->by_thread = !strcmp(argv[1], "thread");
	s->hasty = !strcmp(argv[1], "hasty");
	s->server = !strcmp(argv[2], "server");
	s->event = event;
	ret = play(s, (struct sockaddr *)&addr);
	say("late %d, lost %d, %d\n", atomic_read(&s->late), atomic_read(&s->lost), ret);
	kfree(s);
	return ret;
}
