// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls and handlers that end only when the process that wrote the command gets a signal
 *
 *	hold ADDR PORT		a call that holds the lock of a listener
 *	lock ADDR PORT		cmx_lock_handler() of a listener, so that its requests wait
 *	stall ADDR PORT		handlers of many ids that do not return from UNREACHABLE
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/slab.h>
#include "id.h"
#include "cmx_ulp.h"

void ulp_wait_signal(void)
{
	while (!signal_pending(current))
		msleep_interruptible(1000);
}

int ulp_hold(int argc, char **argv)
{
	struct cmx_id *id = ulp_id_create_bound(argv, ulp_event_ignore);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = cmx_listen(id, 1);
	if (!ret) {
		mutex_lock(&to_id_priv(id)->lock);
		ulp_print("held\n");
		ulp_wait_signal();
		mutex_unlock(&to_id_priv(id)->lock);
	}
	cmx_destroy_id(id);
	return ret;
}

static struct completion requested;

static int request_refuse(struct cmx_id *id, struct rdma_cm_event *event)
{
	ulp_print(id->context == &requested ? "request\n" : "request with the context of before\n");
	complete(&requested);
	return 1;
}

int ulp_lock(int argc, char **argv)
{
	struct cmx_id *id = ulp_id_create_bound(argv, request_refuse);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	init_completion(&requested);
	cmx_lock_handler(id);
	ret = cmx_listen(id, 256);
	ulp_print("locked\n");
	if (!ret)
		ulp_wait_signal();
	ulp_print("unlocked\n");
	/* the request that waits gets this context as well */
	id->context = &requested;
	cmx_unlock_handler(id);
	if (!ret)
		wait_for_completion_timeout(&requested, msecs_to_jiffies(ulp_timeout_ms));
	cmx_destroy_id(id);
	return ret;
}

/* More than the 256 work items that a work queue runs at a time before Linux 6.17 */
#define STALL_IDS 300

static struct completion stalled, released;
static atomic_t to_stall;

static int stall_event(struct cmx_id *id, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .retry_count = 7, .qp_num = 0x7620 };

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return cmx_resolve_route(id, ulp_timeout_ms) ? 1 : 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return cmx_connect(id, &param) ? 1 : 0;
	case RDMA_CM_EVENT_UNREACHABLE:
		if (atomic_dec_and_test(&to_stall))
			complete(&stalled);
		wait_for_completion(&released);
		return 0;
	default:
		return 0;
	}
}

static struct cmx_id *stall_id_connect(char **argv)
{
	struct sockaddr_storage addr;
	struct cmx_id *id = ulp_id_create(argv, &addr, stall_event, NULL);
	int ret;

	if (IS_ERR(id))
		return id;
	ret = cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 14) ?:
	      cmx_set_option_u32(id, CMX_OPTION, CMX_OPTION_CM_RETRIES, 0) ?:
	      cmx_resolve_addr(id, NULL, (struct sockaddr *)&addr, ulp_timeout_ms);
	if (!ret)
		return id;
	cmx_destroy_id(id);
	return ERR_PTR(ret);
}

int ulp_stall(int argc, char **argv)
{
	struct cmx_id **ids = kcalloc(STALL_IDS, sizeof(*ids), GFP_KERNEL);
	int i, ret = ids ? 0 : -ENOMEM;

	init_completion(&stalled);
	init_completion(&released);
	atomic_set(&to_stall, STALL_IDS);
	for (i = 0; !ret && i < STALL_IDS; i++) {
		ids[i] = stall_id_connect(argv);
		ret = PTR_ERR_OR_ZERO(ids[i]);
	}
	if (ret)
		i--;
	else
		ret = wait_for_completion_killable(&stalled);
	if (!ret) {
		ulp_print("stalled\n");
		ulp_wait_signal();
	}
	complete_all(&released);
	while (i-- > 0)
		cmx_destroy_id(ids[i]);
	kfree(ids);
	return ret;
}
