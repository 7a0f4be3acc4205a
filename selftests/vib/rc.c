// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connected queue pairs, reliable (RC) and unreliable (UC). There are no packets: the sender
 * executes a send at once and copies the data from memory to memory, if packets would reach a queue
 * pair that is connected to this one. Failures look as on a wire. A missing response leads to the
 * timeouts and retries of the queue pair, and a missing receive to its RNR timers. Only where the
 * path leads through another host, RC uses packets (rc_pkt.c).
 */
#include "rc.h"

/*
 * Returns the queue pair at the other end, with a reference, or NULL if packets cannot reach it.
 * @remote: the path leads through another host.
 */
static struct rvt_qp *vib_rc_peer(struct rvt_qp *qp, bool *remote)
{
	struct vib_port *from = &vib_hca(qp->ibqp.device)->port[qp->port_num], *to;
	struct rvt_qp *peer = NULL;

	spin_lock_irq(&vib.lock);
	rcu_read_lock();
	to = vib_switch_route(from, rdma_ah_get_dlid(&qp->remote_ah_attr));
	*remote = to && vib_is_remote(to);
	if (to && !*remote)
		peer = rvt_lookup_qpn(&vib_port_hca(to)->rdi, &to->rvp, qp->remote_qpn);
	if (peer && peer->ibqp.qp_type == qp->ibqp.qp_type &&
	    peer->remote_qpn == qp->ibqp.qp_num &&
	    vib_port_has_lid(from, rdma_ah_get_dlid(&peer->remote_ah_attr)) &&
	    vib_pkey_match(from->pkey[qp->s_pkey_index], to->pkey[peer->s_pkey_index]))
		rvt_get_qp(peer);
	else
		peer = NULL;
	rcu_read_unlock();
	spin_unlock_irq(&vib.lock);
	return peer;
}

/* Copies the data, and releases the regions of @to or of @from if @put_to or @put_from is set. */
static void vib_sges_copy(struct rvt_qp *qp, struct rvt_sge_state *to, bool put_to,
			  struct rvt_sge_state *from, bool put_from, u32 left)
{
	u32 len;

	for (; left; left -= len) {
		len = rvt_get_sge_length(&from->sge, left);
		rvt_copy_sge(qp, to, from->sge.vaddr, len, put_to, true);
		rvt_update_sge(from, len, put_from);
	}
}

/* Initialises @ss for the memory of the other end. A request without data needs no permission. */
static bool vib_remote_sge_init(struct rvt_qp *peer, struct rvt_sge_state *ss, u32 len, u64 addr,
				u32 rkey, int access)
{
	memset(ss, 0, sizeof(*ss));
	ss->num_sge = len ? 1 : 0;
	ss->total_len = len;
	return !len || rvt_rkey_ok(peer, &ss->sge, len, addr, rkey, access);
}

int vib_request_refuse(struct rvt_qp *peer, enum ib_wc_status here, enum ib_wc_status there)
{
	bool completes = test_bit(RVT_R_WRID_VALID, &peer->r_aflags);

	if (peer->ibqp.qp_type == IB_QPT_UC)
		return VIB_NO_ANSWER;
	rvt_rc_error(peer, here);
	if (!completes)
		vib_qp_event(peer, there == IB_WC_REM_ACCESS_ERR ? IB_EVENT_QP_ACCESS_ERR :
								   IB_EVENT_QP_REQ_ERR);
	return there;
}

int vib_recv_take(struct rvt_qp *peer, bool wr_id_only)
{
	if (!(peer->r_flags & RVT_R_REUSE_SGE))
		return rvt_get_rwqe(peer, wr_id_only);
	peer->r_flags &= ~RVT_R_REUSE_SGE;
	if (wr_id_only)
		rvt_put_ss(&peer->r_sge);
	return 1;
}

int vib_send_begin(struct rvt_qp *peer, u32 len)
{
	int ret = vib_recv_take(peer, false);

	if (!ret)
		return VIB_NOT_READY;
	if (ret < 0) {
		rvt_rc_error(peer, IB_WC_LOC_QP_OP_ERR);
		return IB_WC_REM_OP_ERR;
	}
	if (len > peer->r_len) {
		peer->r_flags |= RVT_R_REUSE_SGE;
		return vib_request_refuse(peer, IB_WC_LOC_LEN_ERR, IB_WC_REM_INV_REQ_ERR);
	}
	return IB_WC_SUCCESS;
}

static int vib_send_execute(struct rvt_qp *peer, struct rvt_swqe *wqe)
{
	struct rvt_sge_state local;
	int ret = vib_send_begin(peer, wqe->length);

	if (ret != IB_WC_SUCCESS)
		return ret;
	vib_send_data(wqe, &local);
	vib_sges_copy(peer, &peer->r_sge, true, &local, false, wqe->length);
	rvt_put_ss(&peer->r_sge);
	return IB_WC_SUCCESS;
}

int vib_write_begin(struct rvt_qp *peer, struct rvt_sge_state *ss, u32 len, u64 addr, u32 rkey)
{
	if (!(peer->qp_access_flags & IB_ACCESS_REMOTE_WRITE))
		return vib_request_refuse(peer, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
	if (!vib_remote_sge_init(peer, ss, len, addr, rkey, IB_ACCESS_REMOTE_WRITE))
		return vib_request_refuse(peer, IB_WC_LOC_PROT_ERR, IB_WC_REM_ACCESS_ERR);
	return IB_WC_SUCCESS;
}

static int vib_write_execute(struct rvt_qp *peer, struct rvt_swqe *wqe, bool imm)
{
	struct rvt_sge_state local, remote;
	int ret = vib_write_begin(peer, &remote, wqe->length, wqe->rdma_wr.remote_addr,
				  wqe->rdma_wr.rkey);

	if (ret != IB_WC_SUCCESS)
		return ret;
	if (imm && !vib_recv_take(peer, true)) {
		rvt_put_ss(&remote);
		return VIB_NOT_READY;
	}
	vib_send_data(wqe, &local);
	vib_sges_copy(peer, &remote, true, &local, false, wqe->length);
	return IB_WC_SUCCESS;
}

int vib_read_begin(struct rvt_qp *peer, struct rvt_sge_state *ss, u32 len, u64 addr, u32 rkey)
{
	if (!(peer->qp_access_flags & IB_ACCESS_REMOTE_READ) || !peer->r_max_rd_atomic)
		return vib_request_refuse(peer, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
	if (!vib_remote_sge_init(peer, ss, len, addr, rkey, IB_ACCESS_REMOTE_READ))
		return vib_request_refuse(peer, IB_WC_LOC_PROT_ERR, IB_WC_REM_ACCESS_ERR);
	return IB_WC_SUCCESS;
}

static int vib_read_execute(struct rvt_qp *qp, struct rvt_qp *peer, struct rvt_swqe *wqe)
{
	struct rvt_sge_state local, remote;
	int ret = vib_read_begin(peer, &remote, wqe->length, wqe->rdma_wr.remote_addr,
				 wqe->rdma_wr.rkey);

	if (ret != IB_WC_SUCCESS)
		return ret;
	vib_send_data(wqe, &local);
	vib_sges_copy(qp, &local, false, &remote, true, wqe->length);
	return IB_WC_SUCCESS;
}

int vib_atomic_execute(struct rvt_qp *peer, const struct ib_atomic_wr *wr, u64 *old)
{
	struct rvt_sge_state ss;
	u64 *to;

	if (!(peer->qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) || !peer->r_max_rd_atomic ||
	    wr->remote_addr % sizeof(u64))
		return vib_request_refuse(peer, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
	if (!vib_remote_sge_init(peer, &ss, sizeof(u64), wr->remote_addr, wr->rkey,
				 IB_ACCESS_REMOTE_ATOMIC))
		return vib_request_refuse(peer, IB_WC_LOC_PROT_ERR, IB_WC_REM_ACCESS_ERR);
	to = ss.sge.vaddr;
	if (wr->wr.opcode == IB_WR_ATOMIC_CMP_AND_SWP)
		*old = cmpxchg(to, wr->compare_add, wr->swap);
	else
		*old = atomic64_fetch_add(wr->compare_add, (atomic64_t *)to);
	rvt_put_ss(&ss);
	return IB_WC_SUCCESS;
}

static int vib_rc_receive(struct rvt_qp *qp, struct rvt_qp *peer, struct rvt_swqe *wqe)
{
	bool imm = wqe->wr.opcode == IB_WR_SEND_WITH_IMM ||
		   wqe->wr.opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = wqe->length,
		.src_qp = qp->ibqp.qp_num,
		.slid = rdma_ah_get_dlid(&peer->remote_ah_attr),
		.sl = rdma_ah_get_sl(&peer->remote_ah_attr),
	};
	int ret;

	switch (wqe->wr.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		ret = vib_send_execute(peer, wqe);
		break;
	case IB_WR_RDMA_WRITE:
		return vib_write_execute(peer, wqe, false);
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
		ret = vib_write_execute(peer, wqe, true);
		break;
	case IB_WR_RDMA_READ:
		return vib_read_execute(qp, peer, wqe);
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return vib_atomic_execute(peer, &wqe->atomic_wr, wqe->sg_list[0].vaddr);
	default:
		return IB_WC_LOC_QP_OP_ERR;
	}
	if (ret != IB_WC_SUCCESS)
		return ret;
	if (imm) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = wqe->wr.ex.imm_data;
	}
	vib_recv_complete(peer, &wc, wqe->wr.send_flags & IB_SEND_SOLICITED);
	return IB_WC_SUCCESS;
}

/*
 * Returns enum ib_wc_status, VIB_SENT, VIB_NO_ANSWER, or VIB_NOT_READY with the code of the timer
 * in @rnr.
 */
static int vib_rc_execute(struct rvt_qp *qp, struct rvt_swqe *wqe, u8 *rnr)
{
	int ret = VIB_NO_ANSWER;
	struct rvt_qp *peer;
	bool remote;

	peer = vib_rc_peer(qp, &remote);
	if (qp->ibqp.qp_type == IB_QPT_RC && (remote || vib_qp(qp)->wire.busy)) {
		if (peer)
			rvt_put_qp(peer);
		return vib_rc_pkt_send(qp, wqe, rnr);
	}
	if (!peer)
		return ret;
	spin_lock_irq(&peer->r_lock);
	*rnr = peer->r_min_rnr_timer;
	/* a reliable receiver ignores packets out of sequence */
	if (!(ib_rvt_state_ops[peer->state] & RVT_PROCESS_RECV_OK) ||
	    (qp->ibqp.qp_type == IB_QPT_RC && (wqe->psn ^ peer->r_psn) & 0xffffff))
		goto out;
	if (peer->state == IB_QPS_RTR && !(peer->r_flags & RVT_R_COMM_EST))
		rvt_comm_est(peer);
	ret = vib_rc_receive(qp, peer, wqe);
	if (ret == IB_WC_SUCCESS)
		peer->r_psn = (wqe->lpsn + 1) & 0xffffff;
out:
	spin_unlock_irq(&peer->r_lock);
	rvt_put_qp(peer);
	return ret;
}

/* Returns the wait before the next try, or 0 and the error in @status. */
static unsigned long vib_rc_retry(struct rvt_qp *qp, int why, u8 rnr, enum ib_wc_status *status)
{
	if (why == VIB_NOT_READY) {
		if (!qp->s_rnr_retry) {
			*status = IB_WC_RNR_RETRY_EXC_ERR;
			return 0;
		}
		if (qp->s_rnr_retry_cnt < 7)
			qp->s_rnr_retry--;
		return usecs_to_jiffies(rvt_rnr_tbl_to_usec(rnr)) ?: 1;
	}
	if (why == VIB_SENT)
		return max_t(long, vib_qp(qp)->wire.deadline - jiffies, 1);
	/* timeout 0 means infinite: try again from time to time */
	if (qp->timeout && vib_qp(qp)->tries++ > qp->s_retry_cnt) {
		*status = IB_WC_RETRY_EXC_ERR;
		return 0;
	}
	return vib_rc_timeout(qp);
}

void vib_rc_send(struct rvt_qp *qp)
{
	enum ib_wc_status status;
	struct rvt_swqe *wqe;
	unsigned long wait;
	int ret;
	u8 rnr;

	while ((wqe = vib_send_next(qp, &status))) {
		ret = status == IB_WC_SUCCESS ? vib_rc_execute(qp, wqe, &rnr) : (int)status;
		if (ret >= 0 || qp->ibqp.qp_type == IB_QPT_UC) {
			/* the sender of an unreliable queue pair is not told of errors */
			if (qp->ibqp.qp_type == IB_QPT_RC)
				status = ret;
			vib_send_complete(qp, wqe, status);
			continue;
		}
		wait = vib_rc_retry(qp, ret, rnr, &status);
		if (!wait) {
			vib_send_complete(qp, wqe, status);
			continue;
		}
		/* do not wait if a response or the error state has come meanwhile */
		spin_lock_irq(&qp->s_lock);
		if (vib_qp(qp)->wire.kick || !(ib_rvt_state_ops[qp->state] & RVT_PROCESS_SEND_OK))
			wait = 0;
		mod_delayed_work(vib_wq, &vib_qp(qp)->work, wait);
		spin_unlock_irq(&qp->s_lock);
		return;
	}
}
