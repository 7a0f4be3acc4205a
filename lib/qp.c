// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs, shared receive queues and completion queues of an id.
 *
 * The kernel reports the attributes that ibv_modify_qp() needs for a state with its replies and
 * events. From the route on, the library keeps them. It queries them only if it has not got them, or
 * if an option that was set later may have changed them.
 */
#include <string.h>
#include <unistd.h>
#include "cmx_lib.h"

static int cmxl_qp_query_attr(struct cmxl_id *id, enum ibv_qp_state state,
			      struct ib_uverbs_qp_attr *attr)
{
	struct cmxl_cmd cmd;

	memset(attr, 0, sizeof(*attr));
	cmxl_id_cmd(&cmd, id, CMX_ID_INIT_QP_ATTR);
	cmxl_cmd_u32(&cmd, CMX_ATTR_QP_STATE, state);
	cmxl_cmd_out(&cmd, CMX_ATTR_QP_ATTR, attr, sizeof(*attr));
	return cmxl_id_issue(&cmd, id);
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct ib_uverbs_qp_attr attr;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_init_qp_attr, -1, (id, qp_attr, qp_attr_mask));
	if (cmxl_qp_query_attr(to_cmxl_id(id), qp_attr->qp_state, &attr))
		return -1;
	ibv_copy_qp_attr_from_kern(qp_attr, &attr);
	*qp_attr_mask = attr.qp_attr_mask;
	return 0;
}

static bool cmxl_qp_known_attr(struct cmxl_id *id, enum ibv_qp_state state,
			       struct ib_uverbs_qp_attr *attr)
{
	const struct cmxl_conn_attrs *known = id->known;

	if (!known)
		return false;
	*attr = state == IBV_QPS_INIT ? known->init :
		state == IBV_QPS_RTR ? known->rtr : known->rts;
	return attr->qp_state == state;
}

static int cmxl_qp_get_attr(struct cmxl_id *id, enum ibv_qp_state state,
			    struct ib_uverbs_qp_attr *attr)
{
	bool known;

	pthread_mutex_lock(&id->lock);
	known = cmxl_qp_known_attr(id, state, attr);
	pthread_mutex_unlock(&id->lock);
	return known ? 0 : cmxl_qp_query_attr(id, state, attr);
}

/* An option was set: the known attributes may be out of date. */
void cmxl_qp_forget_attrs(struct cmxl_id *id)
{
	/* an id that is not resolved yet has none */
	if (!__atomic_load_n(&id->known, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&id->lock);
	id->known->init.qp_state = 0;
	id->known->rtr.qp_state = 0;
	id->known->rts.qp_state = 0;
	pthread_mutex_unlock(&id->lock);
}

/* Set the Q_Key of an id, and of its QP if that has another one. Caller holds the id's lock. */
int cmxl_qp_set_qkey(struct cmxl_id *id, uint32_t qkey)
{
	struct ibv_qp_attr attr = { .qkey = qkey };
	struct cmxl_conn_attrs *known = id->known;

	if (!known)
		return 0;
	if (known->init.qkey != qkey)
		known->init.qp_state = 0;
	if (!id->id.qp || !known->qp_has_qkey || known->qp_qkey == qkey)
		return 0;
	if (cmxl_verbs_err(ibv_modify_qp(id->id.qp, &attr, IBV_QP_QKEY)))
		return -1;
	known->qp_qkey = qkey;
	return 0;
}

static int cmxl_qp_apply_attr(struct ibv_qp *qp, struct ib_uverbs_qp_attr *attr)
{
	struct ibv_qp_attr qp_attr;

	memset(&qp_attr, 0, sizeof(qp_attr));
	ibv_copy_qp_attr_from_kern(&qp_attr, attr);
	qp_attr.qp_state = attr->qp_state;	/* the function does not copy it */
	return cmxl_verbs_err(ibv_modify_qp(qp, &qp_attr, attr->qp_attr_mask));
}

static int cmxl_qp_set_state(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return cmxl_verbs_err(ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask));
}

int cmxl_qp_to_state(struct cmxl_id *id, enum ibv_qp_state state)
{
	return id->id.qp ? cmxl_qp_set_state(id->id.qp, state, 0) : 0;
}

static int cmxl_qp_to_init(struct cmxl_id *id, struct ibv_qp *qp)
{
	struct ib_uverbs_qp_attr attr;
	int ret;

	/* a datagram QP keeps this P_Key index, and the table may have changed */
	ret = cmxl_id_is_ud(id) ? cmxl_qp_query_attr(id, IBV_QPS_INIT, &attr) :
				  cmxl_qp_get_attr(id, IBV_QPS_INIT, &attr);
	if (ret || cmxl_qp_apply_attr(qp, &attr))
		return -1;
	pthread_mutex_lock(&id->lock);
	if (cmxl_id_known(id)) {
		id->known->qp_has_qkey = attr.qp_attr_mask & IBV_QP_QKEY;
		id->known->qp_qkey = attr.qkey;
	}
	pthread_mutex_unlock(&id->lock);
	return 0;
}

/* From any state to RTR and on to RTS. Nothing is done if the id has no QP. */
int cmxl_qp_to_rts(struct cmxl_id *id, uint8_t responder_resources, uint8_t initiator_depth)
{
	struct ib_uverbs_qp_attr attr;

	if (!id->id.qp)
		return 0;
	/* Since the QP was created, the path or the state of the QP may have changed. */
	if (cmxl_qp_to_init(id, id->id.qp) || cmxl_qp_get_attr(id, IBV_QPS_RTR, &attr))
		return -1;
	if (responder_resources != RDMA_MAX_RESP_RES)
		attr.max_dest_rd_atomic = responder_resources;
	if (cmxl_qp_apply_attr(id->id.qp, &attr) || cmxl_qp_get_attr(id, IBV_QPS_RTS, &attr))
		return -1;
	if (initiator_depth != RDMA_MAX_INIT_DEPTH)
		attr.max_rd_atomic = initiator_depth;
	return cmxl_qp_apply_attr(id->id.qp, &attr);
}

/* A datagram QP is ready at once. */
static int cmxl_qp_init(struct cmxl_id *id, struct ibv_qp *qp)
{
	if (cmxl_qp_to_init(id, qp))
		return -1;
	if (!cmxl_id_is_ud(id))
		return 0;
	if (cmxl_qp_set_state(qp, IBV_QPS_RTR, 0))
		return -1;
	return cmxl_qp_set_state(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

static void cmxl_cqs_destroy(struct rdma_cm_id *id)
{
	/* the SRQ of an XRC target uses the CQ */
	if (id->qp_type == IBV_QPT_XRC_RECV && id->srq)
		return;
	/* A send CQ without a receive CQ stays, as in-tree. */
	if (id->recv_cq) {
		ibv_destroy_cq(id->recv_cq);
		if (id->send_cq && id->send_cq != id->recv_cq)
			ibv_destroy_cq(id->send_cq);
		id->send_cq = NULL;
		id->recv_cq = NULL;
	}
	if (id->recv_cq_channel) {
		ibv_destroy_comp_channel(id->recv_cq_channel);
		if (id->send_cq_channel && id->send_cq_channel != id->recv_cq_channel)
			ibv_destroy_comp_channel(id->send_cq_channel);
		id->send_cq_channel = NULL;
		id->recv_cq_channel = NULL;
	}
}

static struct ibv_cq *cmxl_cq_create(struct rdma_cm_id *id, int size,
				     struct ibv_comp_channel **channel)
{
	*channel = ibv_create_comp_channel(id->verbs);
	if (!*channel)
		return NULL;
	return ibv_create_cq(id->verbs, size, id, *channel, 0);
}

static int cmxl_cqs_create(struct rdma_cm_id *id, uint32_t send_size, uint32_t recv_size)
{
	if (recv_size) {
		id->recv_cq = cmxl_cq_create(id, recv_size, &id->recv_cq_channel);
		if (!id->recv_cq)
			goto err;
	}
	if (send_size) {
		id->send_cq = cmxl_cq_create(id, send_size, &id->send_cq_channel);
		if (!id->send_cq)
			goto err;
	}
	return 0;
err:
	cmxl_cqs_destroy(id);
	return -1;
}

static int cmxl_srq_set_xrc(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd) {
		attr->xrcd = cmxl_device_xrcd(to_cmxl_id(id)->dev);
		if (!attr->xrcd)
			return -1;
	}
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !attr->cq) {
		if (cmxl_cqs_create(id, 0, attr->attr.max_wr))
			return -1;
		attr->cq = id->recv_cq;
	}
	attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	return 0;
}

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_create_srq_ex, -1, (id, attr));
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || !cmxl_id_device(id))
		return cmxl_err(EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
		attr->pd = id->pd;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	}
	if (attr->srq_type == IBV_SRQT_XRC && cmxl_srq_set_xrc(id, attr))
		return -1;

	srq = ibv_create_srq_ex(id->verbs, attr);
	if (!srq) {
		int err = errno;

		cmxl_cqs_destroy(id);
		return cmxl_err(err);
	}
	if (!id->pd)
		id->pd = attr->pd;
	id->srq = srq;
	to_cmxl_id(id)->owner = getpid();
	return 0;
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = id->qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC : IBV_SRQT_BASIC,
		.pd = pd,
	};
	int ret;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_create_srq, -1, (id, pd, attr));
	ret = rdma_create_srq_ex(id, &ex);
	attr->srq_context = ex.srq_context;
	attr->attr = ex.attr;
	return ret;
}

/* True in a child of fork(): the QP belongs to the parent. A program may also have set id->qp itself. */
bool cmxl_qp_is_foreign(const struct cmxl_id *id)
{
	return id->owner && id->owner != getpid();
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (cmxl_system_is_used()) {
		CMXL_SYSTEM_CALL(rdma_destroy_srq, (void)0, (id));
		return;
	}
	if (cmxl_qp_is_foreign(to_cmxl_id(id))) {
		id->srq = NULL;
		return;
	}
	ibv_destroy_srq(id->srq);
	id->srq = NULL;
	cmxl_cqs_destroy(id);
}

static int cmxl_qp_check_attr(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (id->qp || !cmxl_id_device(id))
		return cmxl_err(EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = id->pd;
	} else if (attr->pd->context != id->verbs) {
		return cmxl_err(EINVAL);
	}
	if ((id->recv_cq && attr->recv_cq && id->recv_cq != attr->recv_cq) ||
	    (id->send_cq && attr->send_cq && id->send_cq != attr->send_cq))
		return cmxl_err(EINVAL);
	if (id->qp_type == IBV_QPT_XRC_RECV &&
	    (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd)) {
		attr->xrcd = cmxl_device_xrcd(to_cmxl_id(id)->dev);
		if (!attr->xrcd)
			return -1;
		attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
	}
	return 0;
}

/* The flag for the option of the id is set in a copy, not in the caller's struct. */
static struct ibv_qp *cmxl_qp_create(struct cmxl_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_init_attr_ex block;
	struct ibv_qp *qp;

	if (!id->mcast_block || attr->qp_type != IBV_QPT_UD)
		return ibv_create_qp_ex(id->id.verbs, attr);
	block = *attr;
	if (!(block.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS))
		block.create_flags = 0;
	block.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	block.create_flags |= IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	qp = ibv_create_qp_ex(id->id.verbs, &block);
	attr->cap = block.cap;
	return qp;
}

int rdma_create_qp_ex(struct rdma_cm_id *cm_id, struct ibv_qp_init_attr_ex *attr)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct ibv_qp *qp;
	int err;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_create_qp_ex, -1, (cm_id, attr));
	if (cmxl_qp_check_attr(cm_id, attr))
		return -1;
	if (cmxl_cqs_create(cm_id, attr->send_cq || cm_id->send_cq ? 0 : attr->cap.max_send_wr,
			    attr->recv_cq || cm_id->recv_cq ? 0 : attr->cap.max_recv_wr))
		return -1;
	if (!attr->send_cq)
		attr->send_cq = cm_id->send_cq;
	if (!attr->recv_cq)
		attr->recv_cq = cm_id->recv_cq;
	if (cm_id->srq && !attr->srq)
		attr->srq = cm_id->srq;

	qp = cmxl_qp_create(id, attr);
	if (!qp)
		goto err_cqs;
	if (cmxl_ece_qp_created(id, qp) || cmxl_qp_init(id, qp) ||
	    (id->remote_ece.vendor_id && cmxl_ece_qp_settled(id, qp)))
		goto err_qp;
	cm_id->pd = qp->pd;
	cm_id->qp = qp;
	id->qp_is_stopped = false;
	id->owner = getpid();
	return 0;

err_qp:
	err = errno;
	ibv_destroy_qp(qp);
	errno = err;
err_cqs:
	err = errno;
	cmxl_cqs_destroy(cm_id);
	return cmxl_err(err);
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd ? pd : id->pd,
	};
	int ret;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_create_qp, -1, (id, pd, attr));
	ret = rdma_create_qp_ex(id, &ex);
	/* on failure there is nothing to report */
	if (ret)
		return ret;
	attr->send_cq = ex.send_cq;
	attr->recv_cq = ex.recv_cq;
	attr->srq = ex.srq;
	attr->cap = ex.cap;
	return 0;
}

/* Keeps the QP from being destroyed until cmxl_qp_release(). False if the id has no QP. */
bool cmxl_qp_hold(struct cmxl_id *id)
{
	bool held;

	pthread_mutex_lock(&id->lock);
	held = id->id.qp;
	id->qp_held += held;
	pthread_mutex_unlock(&id->lock);
	return held;
}

void cmxl_qp_release(struct cmxl_id *id)
{
	bool wake;

	pthread_mutex_lock(&id->lock);
	id->qp_released++;
	wake = id->ack_awaited;
	pthread_mutex_unlock(&id->lock);
	if (wake)
		cmxl_event_wake_acked();
}

/*
 * Removes the QP from the id, so that no event can find it. False while another thread uses the QP;
 * @held then receives the value of qp_held to wait for.
 */
static bool cmxl_qp_take(struct cmxl_id *id, struct ibv_qp **qp, uint32_t *held)
{
	bool taken;

	pthread_mutex_lock(&id->lock);
	*held = id->qp_held;
	taken = id->qp_released == *held;
	if (taken) {
		cmxl_mcast_detach_all(id);
		*qp = id->id.qp;
		id->id.qp = NULL;
		/* the next QP may be created after the P_Key table has changed */
		if (id->known)
			id->known->init.qp_state = 0;
	}
	pthread_mutex_unlock(&id->lock);
	return taken;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct ibv_qp *qp;
	uint32_t held;

	if (cmxl_system_is_used()) {
		CMXL_SYSTEM_CALL(rdma_destroy_qp, (void)0, (id));
		return;
	}
	if (cmxl_qp_is_foreign(to_cmxl_id(id))) {
		id->qp = NULL;
		return;
	}
	while (!cmxl_qp_take(to_cmxl_id(id), &qp, &held))
		cmxl_event_wait_acked(to_cmxl_id(id), &to_cmxl_id(id)->qp_released, held);
	ibv_destroy_qp(qp);
	cmxl_cqs_destroy(id);
}
