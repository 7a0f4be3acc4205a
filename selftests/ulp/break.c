// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * break: an id is destroyed at an event
 *
 *	break return|hasty|soon|thread client|server EVENT ADDR PORT
 *
 * return: the handler returns nonzero. hasty: the same, and the server disconnects before the
 * connection is established, which iWARP does later. soon: the same, but a moment after it has
 * accepted. thread: another thread destroys the id while the handler still runs. EVENT is a number of enum rdma_cm_event_type. No event of that id may
 * follow.
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
 * @r: its resources on the device
 * @taken: a thread or handler destroys the id: the one that has set this
 * @dead: the id is destroyed
 * @work: destroys the id
 * @started: @work has started
 * @over: no thread uses this struct any more
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
 * @by_thread: another thread destroys the victim, and not its handler
 * @hasty: the server disconnects as soon as it has accepted
 * @soon: with @hasty, it waits for a moment before
 * @server: the victim is the id of the request
 * @event: event at which the victim is destroyed
 * @late: number of events for a destroyed id
 * @lost: number of handlers whose id lost its device while they ran
 * @hit: the victim is destroyed
 * @n: number of @ends in use
 * @ends: listener, client, and the id of the request
 */
struct scene {
	bool by_thread;
	bool hasty;
	bool soon;
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

static bool end_take(struct end *e)
{
	return !atomic_xchg(&e->taken, 1);
}

/* The id is destroyed, or will be when the handler returns. */
static void end_complete(struct end *e)
{
	e->dead = true;
	complete(&e->over);
}

/* The end has no id. */
static void end_complete_unused(struct end *e)
{
	end_take(e);
	end_complete(e);
}

static void end_die_work(struct work_struct *work)
{
	struct end *e = container_of(work, struct end, work);
	struct scene *s = e->s;

	complete(&e->started);
	res_close(e->id, &e->r);
	cmx_destroy_id(e->id);
	complete(&s->hit);
	end_complete(e);
}

static int end_die(struct end *e)
{
	const struct ib_device *device = e->id->device;
	struct scene *s = e->s;

	if (!end_take(e))
		return 0;
	if (s->by_thread) {
		INIT_WORK(&e->work, end_die_work);
		queue_work(system_unbound_wq, &e->work);
		wait_for_completion(&e->started);
		/* the id is being destroyed, but exists as long as this handler runs */
		msleep(20);
		if (READ_ONCE(e->id->device) != device)
			atomic_inc(&s->lost);
		return 0;
	}
	res_close(e->id, &e->r);
	complete(&s->hit);
	end_complete(e);
	return 1;
}

/* Releases the device for the ids that are not the victim. */
static int end_handle_removal(struct end *e)
{
	if (!end_take(e))
		return 0;
	res_close(e->id, &e->r);
	end_complete(e);
	return 1;
}

static int end_accept(struct end *e)
{
	struct rdma_conn_param param = { .responder_resources = 1, .rnr_retry_count = 7 };
	int ret;

	if (e->s->event == RDMA_CM_EVENT_REJECTED)
		return cmx_reject(e->id, NULL, 0, 0);
	ret = res_open(e->id, &e->r) ?: cmx_accept(e->id, &param);
	if (e->s->soon)
		msleep(20);
	if (!ret && e->s->hasty)
		ret = cmx_disconnect(e->id);
	return ret;
}

static int end_connect(struct end *e)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .retry_count = 7, .rnr_retry_count = 7,
		.qp_num = get_random_u32() & 0xffffff,
	};
	int ret = 0;

	/* without a QP the event is CONNECT_RESPONSE, and the ULP calls cmx_establish() */
	if (e->s->event != RDMA_CM_EVENT_CONNECT_RESPONSE)
		ret = res_open(e->id, &e->r);
	return ret ?: cmx_connect(e->id, &param);
}

static int end_handle_event(struct end *e, const struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return cmx_resolve_route(e->id, ulp_timeout_ms);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return end_connect(e);
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return end_accept(e);
	case RDMA_CM_EVENT_ESTABLISHED:
		/* a DREQ right after the RTU may overtake it, and the RTU then has no effect */
		if (e->s->event == RDMA_CM_EVENT_DEVICE_REMOVAL || e->s->hasty ||
		    e->s->event == RDMA_CM_EVENT_ESTABLISHED || e != &e->s->ends[1])
			return 0;
		return cmx_disconnect(e->id);
	case RDMA_CM_EVENT_DISCONNECTED:
		return cmx_disconnect(e->id);
	case RDMA_CM_EVENT_REJECTED:
		ulp_print("status %d, rejected\n", ev->status);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return end_handle_removal(e);
	default:
		return 0;
	}
}

static int end_handler(struct cmx_id *id, struct rdma_cm_event *ev)
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
		return end_die(e);
	ret = end_handle_event(e, ev);
	if (ret < 0)
		ulp_print("%s: %d\n", cmx_event_msg(ev->event), ret);
	/* after an error, the scene destroys the id */
	return ret > 0;
}

static int scene_listen(struct scene *s, const struct sockaddr *addr)
{
	struct end *e = end_new(s);
	struct cmx_id *id = cmx_create_id(ulp_net(), end_handler, e, RDMA_PS_TCP, IB_QPT_RC);

	if (IS_ERR(id)) {
		end_complete_unused(e);
		return PTR_ERR(id);
	}
	e->id = id;
	return cmx_bind_addr(id, addr) ?: cmx_listen(id, 0);
}

/* A join with a Q_Key that differs from that of the id fails with MULTICAST_ERROR. */
static int end_join(struct end *e, const struct sockaddr *addr)
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

static int scene_connect(struct scene *s, const struct sockaddr *addr)
{
	bool ud = s->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
		  s->event == RDMA_CM_EVENT_MULTICAST_ERROR;
	struct end *e = end_new(s);
	struct cmx_id *id = cmx_create_id(ulp_net(), end_handler, e, ud ? RDMA_PS_UDP : RDMA_PS_TCP,
					  ud ? IB_QPT_UD : IB_QPT_RC);
	unsigned long timeout_ms = s->event == RDMA_CM_EVENT_ADDR_ERROR ? 200 : ulp_timeout_ms;
	int ret = 0;

	if (IS_ERR(id)) {
		end_complete_unused(e);
		return PTR_ERR(id);
	}
	e->id = id;
	if (ud)
		return end_join(e, addr);
	if (s->event == RDMA_CM_EVENT_UNREACHABLE)
		ret = cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 200);
	if (s->event == RDMA_CM_EVENT_CONNECT_ERROR)
		ret = cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_ECE_POLICY, CMX_ECE_REQUIRE);
	return ret ?: cmx_resolve_addr(id, NULL, addr, timeout_ms);
}

/*
 * Destroys the listener first, so that no end is added. The handler of an id destroys it if the
 * device is removed.
 */
static void scene_end_all(struct scene *s)
{
	struct end *e;
	int i;

	for (i = 0; i < s->n; i++) {
		e = &s->ends[i];
		if (!end_take(e)) {
			wait_for_completion(&e->over);
			continue;
		}
		cmx_lock_handler(e->id);
		res_close(e->id, &e->r);
		cmx_unlock_handler(e->id);
		cmx_destroy_id(e->id);
		end_complete(e);
	}
}

/* These events need no listener, because the client has no peer. */
static bool scene_needs_listener(const struct scene *s)
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

static int scene_run(struct scene *s, const struct sockaddr *addr)
{
	int ret = 0;

	if (scene_needs_listener(s))
		ret = scene_listen(s, addr);
	else
		end_complete_unused(end_new(s));
	if (!ret)
		ret = scene_connect(s, addr);
	if (!ret && !wait_for_completion_timeout(&s->hit, msecs_to_jiffies(2 * ulp_timeout_ms)))
		ret = -ETIMEDOUT;
	/* wait for events that must not come */
	msleep(50);
	scene_end_all(s);
	return ret ?: atomic_read(&s->late) || atomic_read(&s->lost) ? -EPROTO : 0;
}

int ulp_break(int argc, char **argv)
{
	struct sockaddr_storage addr;
	struct scene *s;
	int event, ret;

	ret = ulp_addr_parse(argv[4], argv[5], &addr) ?: kstrtoint(argv[3], 0, &event);
	if (ret)
		return ret;
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	init_completion(&s->hit);
	s->by_thread = !strcmp(argv[1], "thread");
	s->soon = !strcmp(argv[1], "soon");
	s->hasty = s->soon || !strcmp(argv[1], "hasty");
	s->server = !strcmp(argv[2], "server");
	s->event = event;
	ret = scene_run(s, (struct sockaddr *)&addr);
	ulp_print("late %d, lost %d, %d\n", atomic_read(&s->late), atomic_read(&s->lost), ret);
	kfree(s);
	return ret;
}
