// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The record of an event, as a process reads it.
 */
#include <rdma/ib_marshall.h>
#include "channel.h"
#include "compat.h"
#include "ece.h"
#include "info.h"
#include "ioctl.h"
#include "mcast.h"

static void event_conn_fill(struct cmx_conn_param *to, const struct rdma_conn_param *from)
{
	if (from->private_data_len)
		memcpy(to->private_data, from->private_data, from->private_data_len);
	to->private_data_len = from->private_data_len;
	to->qp_num = from->qp_num;
	to->srq = from->srq;
	to->responder_resources = from->responder_resources;
	to->initiator_depth = from->initiator_depth;
	to->flow_control = from->flow_control;
	to->retry_count = from->retry_count;
	to->rnr_retry_count = from->rnr_retry_count;
}

static void event_ud_fill(struct cmx_id_private *id_priv, struct cmx_ud_param *to,
			  struct rdma_ud_param *from)
{
	if (from->private_data_len)
		memcpy(to->private_data, from->private_data, from->private_data_len);
	to->private_data_len = from->private_data_len;
	to->qp_num = from->qp_num;
	to->qkey = from->qkey;
	mutex_lock(&id_priv->lock);
	if (id_priv->dev)
		ib_copy_ah_attr_to_user(id_priv->id.device, &to->ah_attr, &from->ah_attr);
	mutex_unlock(&id_priv->lock);
}

/*
 * Does the event have @arg? The events that a process writes do, and those of services, whose @arg
 * is 0.
 */
static bool event_is_written(const struct cmx_event *ev)
{
	u32 type = ev->ev.event;

	return type == CMX_EVENT_USER || type == CMX_EVENT_ADDRINFO_RESOLVED;
}

/* The optional parts of a record that an event of this type has */
static u32 event_optional_parts(const struct cmx_event *ev)
{
	switch ((u32)ev->ev.event) {
	case CMX_EVENT_ADDRINFO_RESOLVED:
		/* Without a service of the SA, the process has written the event itself. */
		return READ_ONCE(ev->id_priv->services) ? CMX_EVENT_F_INFO : 0;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return CMX_EVENT_F_INFO | CMX_EVENT_F_QP;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return CMX_EVENT_F_INFO;
	default:
		return 0;
	}
}

/* These structures contain structures of other headers, which must not grow. */
static_assert(offsetofend(struct cmx_event_resp, param) == 344);
static_assert(offsetofend(struct cmx_event_resp, rts) == 632);
static_assert(offsetofend(struct cmx_id_info, init_attr) == 600);

/**
 * cmx_event_record_fill() - describe an event to a process
 * @record: the record, which is overwritten
 * @ev: the event
 * @user_id: the id to which the event belongs; for a CONNECT_REQUEST the listener
 * @handle: of a CONNECT_REQUEST, the handle of the new id
 * @sizes: parts of the record that the process takes
 */
void cmx_event_record_fill(struct cmx_event_record *record, struct cmx_event *ev,
			   struct cmx_user_id *user_id, u32 handle,
			   const struct cmx_event_sizes *sizes)
{
	struct cmx_event_resp *to = &record->resp;
	u32 parts = event_optional_parts(ev);

	memset(to, 0, offsetof(struct cmx_event_resp, rtr));
	memset_after(to, 0, rts);
	to->event = ev->ev.event;
	to->status = ev->ev.status;
	to->flags = ev->flags;
	to->ece = cmx_ece_to_user(&ev->ev.ece);
	if (ev->mc) {
		to->flags |= CMX_EVENT_F_MCAST;
		to->user_data = ev->mc->user_data;
		to->id = ev->mc->handle;
	} else {
		to->user_data = READ_ONCE(user_id->user_data);
		to->id = ev->listener ? handle : user_id->handle;
		to->listen_id = ev->listener ? user_id->handle : 0;
	}
	if (event_is_written(ev)) {
		to->param.arg = ev->arg;
	} else if (ev->id_priv->id.qp_type == IB_QPT_UD) {
		to->flags |= CMX_EVENT_F_UD;
		event_ud_fill(ev->id_priv, &to->param.ud, &ev->ev.param.ud);
	} else {
		event_conn_fill(&to->param.conn, &ev->ev.param.conn);
	}
	if (parts & CMX_EVENT_F_INFO && sizes->info) {
		cmx_info_fill(to_user_id(ev->id_priv), &record->info, sizes->info);
		to->flags |= CMX_EVENT_F_INFO;
	}
	if (parts & CMX_EVENT_F_QP && ev->id_priv->id.qp_type != IB_QPT_UD &&
	    sizes->resp > offsetof(struct cmx_event_resp, rtr) &&
	    !cmx_info_qp_attr(ev->id_priv, IB_QPS_RTR, &to->rtr) &&
	    !cmx_info_qp_attr(ev->id_priv, IB_QPS_RTS, &to->rts))
		to->flags |= CMX_EVENT_F_QP;
}

/* Copy the bytes of @from between the two offsets. */
static int record_range_copy(void __user *to, const void *from, size_t start, size_t end)
{
	size_t len = end - start;

	return start < end ? cmx_ioctl_copy_out(to + start, from + start, len, len) : 0;
}

/*
 * Skip the parts that are not valid, because most events are short: QP attributes
 * without CMX_EVENT_F_QP, and the unused rest of the private data.
 */
static int event_resp_copy(void __user *to, const struct cmx_event_resp *from, size_t asked)
{
	const size_t qp = offsetof(struct cmx_event_resp, rtr);
	const size_t qp_end = offsetofend(struct cmx_event_resp, rts);
	const void *rest = (const void *)from + qp_end;
	size_t data = offsetof(struct cmx_event_resp, param.conn.private_data);
	size_t len = from->param.conn.private_data_len;

	if (from->flags & CMX_EVENT_F_UD) {
		data = offsetof(struct cmx_event_resp, param.ud.private_data);
		len = from->param.ud.private_data_len;
	}
	return record_range_copy(to, from, 0, data + len) ?:
	       record_range_copy(to, from, data + RDMA_MAX_PRIVATE_DATA, qp) ?:
	       record_range_copy(to, from, from->flags & CMX_EVENT_F_QP ? qp : qp_end,
				 min(asked, qp_end)) ?:
	       (asked > qp_end ? cmx_ioctl_copy_out(to + qp_end, rest, sizeof(*from) - qp_end,
						    asked - qp_end) : 0);
}

/**
 * cmx_event_record_copy() - copy a record to a process
 * @to: where to; the parts follow each other
 * @from: the record
 * @asked: sizes of the parts of the process
 *
 * Return: 0 or -EFAULT.
 */
int cmx_event_record_copy(void __user *to, const struct cmx_event_record *from,
			  const struct cmx_event_sizes *asked)
{
	int ret = event_resp_copy(to, &from->resp, asked->resp);

	if (ret || !(from->resp.flags & CMX_EVENT_F_INFO))
		return ret;
	return cmx_ioctl_copy_out(to + asked->resp, &from->info, sizeof(from->info), asked->info);
}
