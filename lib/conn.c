// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Establishing and closing connections.
 */
#include <string.h>
#include "cmx_lib.h"

/* IBTA 12.6.7.2: vendor option not supported */
#define REJ_VENDOR_OPTION_NOT_SUPPORTED 35

int rdma_listen(struct rdma_cm_id *cm_id, int backlog)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmx_id_info info;
	struct cmxl_cmd cmd;
	bool known;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_listen, -1, (cm_id, backlog));
	/* a bind has reported the device and the port already */
	known = id->dev && cmxl_addr_port(&cm_id->route.addr.src_addr);
	cmxl_id_cmd(&cmd, id, CMX_ID_LISTEN);
	cmxl_cmd_u32(&cmd, CMX_ATTR_BACKLOG, backlog);
	if (!known)
		cmxl_cmd_out_start(&cmd, &info);
	if (cmxl_id_issue(&cmd, id))
		return -1;
	return known ? 0 : cmxl_id_apply_info(id, &info);
}

static int cmxl_conn_param_check(const struct cmxl_id *id, const struct rdma_conn_param *param)
{
	if (!id->dev)
		return cmxl_err(EINVAL);
	if (id->id.ps != RDMA_PS_TCP)
		return 0;
	if (!param)
		return id->id.qp ? 0 : cmxl_err(EINVAL);
	if (param->responder_resources != RDMA_MAX_RESP_RES &&
	    param->responder_resources > id->dev->max_responder_resources)
		return cmxl_err(EINVAL);
	if (param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
	    param->initiator_depth > id->dev->max_initiator_depth)
		return cmxl_err(EINVAL);
	return 0;
}

/* If the id has a QP, its number and SRQ flag are used in place of those of @src. */
static int cmxl_conn_param_fill(const struct cmxl_id *id, struct cmx_conn_param *dst,
				const struct rdma_conn_param *src)
{
	const struct ibv_qp *qp = id->id.qp;
	size_t len = 0;

	memset(dst, 0, sizeof(*dst));
	if (qp) {
		dst->qp_num = qp->qp_num;
		dst->srq = !!qp->srq;
	} else if (src) {
		dst->qp_num = src->qp_num;
		dst->srq = src->srq;
	}
	dst->responder_resources = id->responder_resources;
	dst->initiator_depth = id->initiator_depth;
	dst->retry_count = src ? src->retry_count : 7;
	dst->rnr_retry_count = src ? src->rnr_retry_count : 7;
	dst->flow_control = src ? src->flow_control : 0;
	dst->valid = 1;

	if (src && src->private_data)
		len = src->private_data_len;
	if (id->connect_len + len > UINT8_MAX)
		return cmxl_err(EINVAL);
	if (id->connect_len)
		memcpy(dst->private_data, id->connect, id->connect_len);
	if (len)
		memcpy(dst->private_data + id->connect_len, src->private_data, len);
	dst->private_data_len = id->connect_len + len;
	return 0;
}

int rdma_connect(struct rdma_cm_id *cm_id, struct rdma_conn_param *conn_param)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmx_conn_param param;
	struct cmxl_cmd cmd;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_connect, -1, (cm_id, conn_param));
	if (cmxl_conn_param_check(id, conn_param))
		return -1;
	if (conn_param && conn_param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		id->initiator_depth = conn_param->initiator_depth;
	else
		id->initiator_depth = id->dev->max_initiator_depth;
	if (conn_param && conn_param->responder_resources != RDMA_MAX_RESP_RES)
		id->responder_resources = conn_param->responder_resources;
	else
		id->responder_resources = id->dev->max_responder_resources;
	if (cmxl_conn_param_fill(id, &param, conn_param))
		return -1;

	cmxl_id_cmd(&cmd, id, CMX_ID_CONNECT);
	cmxl_cmd_in(&cmd, CMX_ATTR_CONN_PARAM, &param, sizeof(param));
	cmxl_ece_add_req(id, &cmd);
	return cmxl_id_run(&cmd, id);
}

static uint8_t cmxl_min_u8(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

int rdma_accept(struct rdma_cm_id *cm_id, struct rdma_conn_param *conn_param)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmx_conn_param param;
	struct cmxl_cmd cmd;
	bool is_ud, sync;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_accept, -1, (cm_id, conn_param));
	is_ud = cmxl_id_is_ud(id);
	sync = id->sync;
	if ((!cm_id->qp && !conn_param) || cmxl_conn_param_check(id, conn_param))
		return cmxl_err(EINVAL);
	if (conn_param && conn_param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		id->initiator_depth = conn_param->initiator_depth;
	else
		id->initiator_depth = cmxl_min_u8(id->initiator_depth,
						  id->dev->max_initiator_depth);
	if (conn_param && conn_param->responder_resources != RDMA_MAX_RESP_RES)
		id->responder_resources = conn_param->responder_resources;
	else
		id->responder_resources = cmxl_min_u8(id->responder_resources,
						      id->dev->max_responder_resources);
	if (cmxl_conn_param_fill(id, &param, conn_param))
		return -1;
	if (!is_ud && cmxl_qp_to_rts(id, id->responder_resources, id->initiator_depth))
		return -1;

	cmxl_id_cmd(&cmd, id, CMX_ID_ACCEPT);
	cmxl_cmd_u64(&cmd, CMX_ATTR_USER_DATA, (uintptr_t)id);
	cmxl_cmd_in(&cmd, CMX_ATTR_CONN_PARAM, &param, sizeof(param));
	cmxl_ece_add_rep(id, &cmd);
	if (cmxl_id_issue(&cmd, id)) {
		int err = errno;

		cmxl_qp_to_state(id, IBV_QPS_ERR);
		return cmxl_err(err);
	}
	/* another thread may have destroyed the id meanwhile, see cmxl_id_run() */
	if (!sync)
		return 0;
	/* a SIDR REP causes no event at this end */
	if (is_ud)
		cmxl_event_ack_kept(id);
	return is_ud ? 0 : cmxl_id_wait_event(id);
}

int rdma_establish(struct rdma_cm_id *cm_id)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmxl_cmd cmd;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_establish, -1, (cm_id));
	if (cm_id->qp)
		return cmxl_err(EINVAL);
	cmxl_id_cmd(&cmd, id, CMX_ID_ESTABLISH);
	/* this may accept a datagram request, whose id has no user data yet */
	cmxl_cmd_u64(&cmd, CMX_ATTR_USER_DATA, (uintptr_t)id);
	return cmxl_id_issue(&cmd, id);
}

static int cmxl_conn_reject(struct rdma_cm_id *cm_id, const void *private_data, uint8_t len,
			    uint8_t reason)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmxl_cmd cmd;

	cmxl_id_cmd(&cmd, id, CMX_ID_REJECT);
	if (private_data && len)
		cmxl_cmd_in(&cmd, CMX_ATTR_PRIVATE_DATA, private_data, len);
	if (reason)
		cmxl_cmd_in(&cmd, CMX_ATTR_REASON, &reason, sizeof(reason));
	return cmxl_id_issue(&cmd, id);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_reject, -1, (id, private_data, private_data_len));
	return cmxl_conn_reject(id, private_data, private_data_len, 0);
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_reject_ece, -1, (id, private_data, private_data_len));
	return cmxl_conn_reject(id, private_data, private_data_len,
				REJ_VENDOR_OPTION_NOT_SUPPORTED);
}

int rdma_notify(struct rdma_cm_id *cm_id, enum ibv_event_type event)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmxl_cmd cmd;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_notify, -1, (cm_id, event));
	cmxl_id_cmd(&cmd, id, CMX_ID_NOTIFY);
	cmxl_cmd_u32(&cmd, CMX_ATTR_NOTIFY, event);
	return cmxl_id_issue(&cmd, id);
}

/* An iWARP QP still sends posted work requests before the connection is closed. */
static int cmxl_conn_stop_qp(struct cmxl_id *id)
{
	if (!id->id.verbs || !id->id.verbs->device)
		return cmxl_err(EINVAL);
	switch (id->id.verbs->device->transport_type) {
	case IBV_TRANSPORT_IB:
		return cmxl_qp_to_state(id, IBV_QPS_ERR);
	case IBV_TRANSPORT_IWARP:
		return cmxl_qp_to_state(id, IBV_QPS_SQD);
	default:
		return cmxl_err(EINVAL);
	}
}

/*
 * Only the process can see that its QP entered an error state by itself. The path may be the cause,
 * so the kernel is told not to use it again. The kernel keeps only paths to a LID. Without one, the
 * query, which may be a command to the firmware, is of no use.
 */
static void cmxl_conn_report_failed_qp(struct cmxl_id *id)
{
	const struct cmxl_conn_attrs *known = __atomic_load_n(&id->known, __ATOMIC_ACQUIRE);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err = errno;

	if (id->id.qp && known && known->rtr.ah_attr.dlid &&
	    !ibv_query_qp(id->id.qp, &attr, IBV_QP_STATE, &init) &&
	    (attr.qp_state == IBV_QPS_ERR || attr.qp_state == IBV_QPS_SQE))
		rdma_notify(&id->id, IBV_EVENT_QP_FATAL);
	errno = err;
}

/* Another thread may call rdma_destroy_qp(), which waits until the QP has been stopped. */
static int cmxl_conn_stop_held_qp(struct cmxl_id *id, bool *held)
{
	int state, ret;

	/* libibverbs has cancellation points */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	/* in a child of fork() the lock of the id may be held for ever */
	*held = id->id.qp && !cmxl_qp_is_foreign(id) && cmxl_qp_hold(id);
	if (!id->qp_is_stopped)
		cmxl_conn_report_failed_qp(id);
	ret = cmxl_conn_stop_qp(id);
	if (*held)
		cmxl_qp_release(id);
	pthread_setcancelstate(state, NULL);
	return ret;
}

int rdma_disconnect(struct rdma_cm_id *cm_id)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmxl_cmd cmd;
	bool held;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_disconnect, -1, (cm_id));
	if (cmxl_conn_stop_held_qp(id, &held))
		return -1;
	id->qp_is_stopped = held;
	cmxl_id_cmd(&cmd, id, CMX_ID_DISCONNECT);
	if (held) {
		cmxl_cmd_u32(&cmd, CMX_ATTR_QP_STATE, IBV_QPS_ERR);
		/* a module that does not know the attribute does without */
		cmd.hdr.attrs[cmd.hdr.num_attrs - 1].flags = 0;
	}
	return cmxl_id_run(&cmd, id);
}
