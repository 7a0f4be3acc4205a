// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A call on an id that does not end: who wrote the command holds the id's lock until a signal comes.
 *
 *	hold ADDR PORT
 *
 * A listener whose handler is locked until a signal comes. Requests wait for that.
 *
 *	lock ADDR PORT
 *
 * A handler that does not return: it is told that nobody answers, and waits for a signal.
 *
 *	stall ADDR PORT
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include "id.h"
#include "cmx_ulp.h"

static int ignore(struct cmx_id *id, struct rdma_cm_event *event)
{
	return 0;
}

static void wait_for_signal(void)
{
	while (!signal_pending(current))
		msleep_interruptible(1000);
}

int hold(int argc, char **argv)
{
	struct cmx_id *id = bound_id_new(argv, ignore);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = cmx_listen(id, 1);
	if (!ret) {
		mutex_lock(&to_id_priv(id)->lock);
		say("held\n");
		wait_for_signal();
		mutex_unlock(&to_id_priv(id)->lock);
	}
	cmx_destroy_id(id);
	return ret;
}

static struct completion requested;

static int request_refuse(struct cmx_id *id, struct rdma_cm_event *event)
{
	say(id->context == &requested ? "request\n" : "request with the context of before\n");
	complete(&requested);
	return 1;
}

int lock(int argc, char **argv)
{
	struct cmx_id *id = bound_id_new(argv, request_refuse);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	init_completion(&requested);
	cmx_lock_handler(id);
	ret = cmx_listen(id, 256);
	say("locked\n");
	if (!ret)
		wait_for_signal();
	say("unlocked\n");
	/* also for the request that waits */
	id->context = &requested;
	cmx_unlock_handler(id);
	if (!ret)
		wait_for_completion_timeout(&requested, msecs_to_jiffies(ulp_timeout_ms));
	cmx_destroy_id(id);
	return ret;
}

static struct completion stalled, released;

static int stall_handler(struct cmx_id *id, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .retry_count = 7, .qp_num = 0x7620 };

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return cmx_resolve_route(id, ulp_timeout_ms) ? 1 : 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return cmx_connect(id, &param) ? 1 : 0;
	case RDMA_CM_EVENT_UNREACHABLE:
		complete(&stalled);
		wait_for_completion(&released);
		return 0;
	default:
		return 0;
	}
}

int stall(int argc, char **argv)
{
	struct sockaddr_storage addr;
	struct cmx_id *id;
	int ret;

	ret = parse_addr(argv[1], argv[2], &addr);
	if (ret)
		return ret;
	id = cmx_create_id(my_net(), stall_handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	init_completion(&stalled);
	init_completion(&released);
	ret = cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 14) ?:
	      cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_CM_RETRIES, 0) ?:
	      cmx_resolve_addr(id, NULL, (struct sockaddr *)&addr, ulp_timeout_ms) ?:
	      wait_for_completion_killable(&stalled);
	if (!ret) {
		say("stalled\n");
		wait_for_signal();
	}
	complete(&released);
	cmx_destroy_id(id);
	return ret;
}
