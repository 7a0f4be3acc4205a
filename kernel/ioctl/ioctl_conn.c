// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_ID: connections.
 */
#include <rdma/ib_cm.h>
#include "connect.h"
#include "info.h"
#include "ioctl.h"
#include "param.h"
#include "transport.h"

CMX_PARAM(max_backlog, 1, 65536, 1024,
	  "how many requests a listener of a process queues at most until they are fetched");

#define INPUT_CONN_PARAM						\
	CMX_INPUT(CONN_PARAM, CMX_MIN_CONN_PARAM, sizeof(struct cmx_conn_param))
#define INPUT_ECE							\
	CMX_INPUT_OPT(ECE, CMX_MIN_ECE, sizeof(struct cmx_ece))

static int ioctl_id_listen(struct cmx_call *call, struct cmx_user_id *user_id)
{
	int backlog = (int)cmx_call_u32(call, CMX_ATTR_BACKLOG);
	int max = cmx_param_get(&max_backlog), ret;

	if (backlog <= 0 || backlog > max)
		backlog = max;
	/* requests can arrive before cmx_listen() returns; a listening id keeps its backlog */
	mutex_lock(&user_id->id_priv.lock);
	if (user_id->id_priv.state != CMX_LISTEN)
		atomic_set(&user_id->backlog, backlog);
	mutex_unlock(&user_id->id_priv.lock);
	ret = cmx_listen(&user_id->id_priv.id, backlog);
	return ret ?: cmx_call_out_info(call, user_id);
}

const struct cmx_method cmx_method_listen = {
	.id_call = ioctl_id_listen,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT(BACKLOG, sizeof(s32), sizeof(s32)),
		CMX_OUTPUT_INFO,
	},
};

/* Arguments of CONNECT and ACCEPT */
struct ioctl_conn_args {
	struct cmx_conn_param user;
	struct rdma_ucm_ece ece;
	struct rdma_conn_param param;
	const struct rdma_ucm_ece *ece_or_null;
};

static int ioctl_conn_args_decode(const struct cmx_call *call, const struct cmx_user_id *user_id,
				  struct ioctl_conn_args *args)
{
	const struct cmx_conn_param *user = &args->user;
	struct cmx_ece ece;
	int ret;

	ret = cmx_call_in(call, CMX_ATTR_CONN_PARAM, &args->user, sizeof(args->user));
	if (ret < 0)
		return ret;
	if (!user->valid)
		return -EINVAL;
	ret = cmx_call_in(call, CMX_ATTR_ECE, &ece, sizeof(ece));
	if (ret < 0)
		return ret;
	args->ece = (struct rdma_ucm_ece) { .vendor_id = ece.vendor_id, .attr_mod = ece.options };
	args->ece_or_null = ret ? &args->ece : NULL;
	args->param = (struct rdma_conn_param) {
		.private_data = user->private_data,
		.private_data_len = user->private_data_len,
		.responder_resources = user->responder_resources,
		.initiator_depth = user->initiator_depth,
		.flow_control = user->flow_control,
		.retry_count = user->retry_count,
		.rnr_retry_count = user->rnr_retry_count,
		.srq = user->srq,
		.qp_num = user->qp_num & 0xffffff,
		/* all other ids have the Q_Key of their port space */
		.qkey = cmx_src(&user_id->id_priv)->sa_family == AF_IB ? user->qkey : 0,
	};
	return 0;
}

static int ioctl_id_connect(struct cmx_call *call, struct cmx_user_id *user_id)
{
	struct ioctl_conn_args args;
	int ret;

	ret = ioctl_conn_args_decode(call, user_id, &args);
	if (ret)
		return ret;
	ret = cmx_connect_ece(&user_id->id_priv.id, &args.param, args.ece_or_null);
	return ret ?: cmx_call_out_info(call, user_id);
}

const struct cmx_method cmx_method_connect = {
	.id_call = ioctl_id_connect,
	.attrs = {
		CMX_INPUT_U32(ID),
		INPUT_CONN_PARAM,
		INPUT_ECE,
		CMX_OUTPUT_INFO,
	},
};

/*
 * Accept with the user data that the accepting program gave. The id receives events from then on:
 * on iWARP the first one may be posted before cmx_accept_locked() returns.
 */
static int ioctl_id_accept_request(const struct cmx_call *call, struct cmx_user_id *user_id,
				   const struct rdma_conn_param *param,
				   const struct rdma_ucm_ece *ece)
{
	bool not_accepted;
	u64 user_data;
	int ret;

	mutex_lock(&user_id->id_priv.lock);
	not_accepted = user_id->not_accepted;
	user_data = user_id->user_data;
	if (cmx_call_attr(call, CMX_ATTR_USER_DATA))
		WRITE_ONCE(user_id->user_data, cmx_call_u64(call, CMX_ATTR_USER_DATA));
	WRITE_ONCE(user_id->not_accepted, false);
	ret = cmx_accept_locked(&user_id->id_priv, param, ece);
	if (ret) {
		WRITE_ONCE(user_id->not_accepted, not_accepted);
		WRITE_ONCE(user_id->user_data, user_data);
	}
	mutex_unlock(&user_id->id_priv.lock);
	return ret;
}

static int ioctl_id_accept(struct cmx_call *call, struct cmx_user_id *user_id)
{
	struct ioctl_conn_args args;
	int ret;

	ret = ioctl_conn_args_decode(call, user_id, &args);
	if (ret)
		return ret;
	cmx_qp_wait_closed(&user_id->id_priv, &args.param);
	return ioctl_id_accept_request(call, user_id, &args.param, args.ece_or_null);
}

const struct cmx_method cmx_method_accept = {
	.id_call = ioctl_id_accept,
	.attrs = {
		CMX_INPUT_U32(ID),
		INPUT_CONN_PARAM,
		INPUT_ECE,
		CMX_INPUT_OPT(USER_DATA, sizeof(u64), sizeof(u64)),
	},
};

/* A datagram request is accepted this way, too. */
static int ioctl_id_establish(struct cmx_call *call, struct cmx_user_id *user_id)
{
	return ioctl_id_accept_request(call, user_id, NULL, NULL);
}

const struct cmx_method cmx_method_establish = {
	.id_call = ioctl_id_establish,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_OPT(USER_DATA, sizeof(u64), sizeof(u64)),
	},
};

static int ioctl_id_reject(struct cmx_call *call, struct cmx_user_id *user_id)
{
	u8 reason = IB_CM_REJ_CONSUMER_DEFINED;
	u8 data[U8_MAX];
	int len;

	if (cmx_call_attr(call, CMX_ATTR_REASON))
		cmx_call_in(call, CMX_ATTR_REASON, &reason, sizeof(reason));
	if (reason != IB_CM_REJ_CONSUMER_DEFINED &&
	    reason != IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		return -EINVAL;
	len = cmx_call_in(call, CMX_ATTR_PRIVATE_DATA, data, sizeof(data));
	if (len < 0)
		return len;
	return cmx_reject(&user_id->id_priv.id, data, len, reason);
}

const struct cmx_method cmx_method_reject = {
	.id_call = ioctl_id_reject,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_OPT(PRIVATE_DATA, 0, U8_MAX),
		CMX_INPUT_OPT(REASON, sizeof(u8), sizeof(u8)),
	},
};

static int ioctl_id_disconnect(struct cmx_call *call, struct cmx_user_id *user_id)
{
	u32 state = cmx_call_u32(call, CMX_ATTR_QP_STATE);
	int ret;

	if (state > IB_QPS_ERR)
		return -EINVAL;
	mutex_lock(&user_id->id_priv.lock);
	ret = cmx_disconnect_locked(&user_id->id_priv, state == IB_QPS_ERR);
	mutex_unlock(&user_id->id_priv.lock);
	return ret;
}

const struct cmx_method cmx_method_disconnect = {
	.id_call = ioctl_id_disconnect,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_OPT(QP_STATE, sizeof(u32), sizeof(u32)),
	},
};

/*
 * Another thread may resolve an address and change the transport; the lock prevents that.
 * cmx_notify() does not take it, because a ULP has no such thread.
 */
static int ioctl_id_notify(struct cmx_call *call, struct cmx_user_id *user_id)
{
	int ret;

	mutex_lock(&user_id->id_priv.lock);
	if (cmx_call_u32(call, CMX_ATTR_NOTIFY) == IB_EVENT_QP_FATAL)
		cmx_route_invalidate(&user_id->id_priv);
	ret = cmx_notify(&user_id->id_priv.id, cmx_call_u32(call, CMX_ATTR_NOTIFY));
	mutex_unlock(&user_id->id_priv.lock);
	return ret;
}

const struct cmx_method cmx_method_notify = {
	.id_call = ioctl_id_notify,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_U32(NOTIFY),
	},
};

static int ioctl_id_init_qp_attr(struct cmx_call *call, struct cmx_user_id *user_id)
{
	u32 state = cmx_call_u32(call, CMX_ATTR_QP_STATE);
	struct ib_uverbs_qp_attr attr;
	int ret;

	if (state > IB_QPS_ERR)
		return -EINVAL;
	ret = cmx_info_qp_attr(&user_id->id_priv, state, &attr);
	return ret ?: cmx_call_out(call, CMX_ATTR_QP_ATTR, &attr, sizeof(attr));
}

const struct cmx_method cmx_method_init_qp_attr = {
	.id_call = ioctl_id_init_qp_attr,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_U32(QP_STATE),
		CMX_OUTPUT(QP_ATTR, CMX_MIN_QP_ATTR),
	},
};
