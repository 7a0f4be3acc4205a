// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues. Every queue pair has one work item that empties its send queue (ud.c, rc.c). It
 * never runs concurrently with itself, so senders of a queue pair need no lock against each other.
 *
 * Requests are posted here and not by rdmavt, because its copy of a request triggers a warning of
 * FORTIFY_SOURCE on 6.1.
 */
#include "vib.h"

static bool vib_op_is_valid(struct rvt_qp *qp, const struct ib_send_wr *wr)
{
	enum ib_qp_type type = qp->ibqp.qp_type;

	switch (wr->opcode) {
	case IB_WR_SEND:
		return true;
	case IB_WR_SEND_WITH_IMM:
		return type != IB_QPT_SMI && type != IB_QPT_GSI;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return type == IB_QPT_RC || type == IB_QPT_UC;
	case IB_WR_RDMA_READ:
		return type == IB_QPT_RC && qp->s_max_rd_atomic;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return type == IB_QPT_RC && qp->s_max_rd_atomic && wr->num_sge &&
		       wr->sg_list[0].length >= sizeof(u64) &&
		       IS_ALIGNED(wr->sg_list[0].addr, sizeof(u64));
	default:
		return false;
	}
}

static bool vib_length_is_valid(struct rvt_qp *qp, u32 length)
{
	switch (qp->ibqp.qp_type) {
	case IB_QPT_SMI:
	case IB_QPT_GSI:
		return length == IB_MGMT_MAD_SIZE;
	case IB_QPT_UD:
		return length <= VIB_MTU;
	default:
		return length <= VIB_MAX_MSG;
	}
}

static void vib_wr_copy(struct rvt_qp *qp, struct rvt_swqe *wqe, const struct ib_send_wr *wr)
{
	if (qp->allowed_ops == IB_OPCODE_UD)
		wqe->ud_wr.wr = *ud_wr(wr);
	else if (wr->opcode == IB_WR_SEND || wr->opcode == IB_WR_SEND_WITH_IMM)
		wqe->wr = *wr;
	else if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
		 wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
		wqe->atomic_wr = *atomic_wr(wr);
	else
		wqe->rdma_wr = *rdma_wr(wr);
	/* an internal flag of rdmavt */
	wqe->wr.send_flags &= ~RVT_SEND_RESERVE_USED;
}

/* Fills in the memory of a request, and takes references to its regions. */
static int vib_sges_take(struct rvt_qp *qp, struct rvt_swqe *wqe, const struct ib_send_wr *wr)
{
	struct rvt_lkey_table *keys = &ib_to_rvt(qp->ibqp.device)->lkey_table;
	int access = wr->opcode >= IB_WR_RDMA_READ ? IB_ACCESS_LOCAL_WRITE : 0;
	struct rvt_pd *pd = ibpd_to_rvtpd(qp->ibqp.pd);
	struct rvt_sge *last = NULL;
	int i, ret = 0;

	wqe->length = 0;
	wqe->wr.num_sge = 0;
	for (i = 0; i < wr->num_sge; i++) {
		struct rvt_sge *sge = &wqe->sg_list[wqe->wr.num_sge];

		if (!wr->sg_list[i].length)
			continue;
		/* 0: merged into the previous entry */
		ret = rvt_lkey_ok(keys, pd, sge, last, &wr->sg_list[i], access);
		if (ret < 0)
			break;
		wqe->length += wr->sg_list[i].length;
		wqe->wr.num_sge += ret;
		if (ret)
			last = sge;
	}
	if (ret >= 0 && vib_length_is_valid(qp, wqe->length))
		return 0;
	rvt_put_swqe(wqe);
	return -EINVAL;
}

static int vib_send_post_one(struct rvt_qp *qp, const struct ib_send_wr *wr)
{
	u32 next = rvt_qp_swqe_incr(qp, qp->s_head);
	struct rvt_swqe *wqe;

	if (wr->num_sge > qp->s_max_sge || !vib_op_is_valid(qp, wr))
		return -EINVAL;
	if (qp->allowed_ops == IB_OPCODE_UD && qp->ibqp.pd != ud_wr(wr)->ah->pd)
		return -EINVAL;
	/* pairs with rvt_qp_complete_swqe() */
	if (next == smp_load_acquire(&qp->s_last))
		return -ENOMEM;
	wqe = rvt_get_swqe_ptr(qp, qp->s_head);
	vib_wr_copy(qp, wqe, wr);
	if (vib_sges_take(qp, wqe, wr))
		return -EINVAL;
	if (qp->allowed_ops == IB_OPCODE_UD)
		rdma_copy_ah_attr(wqe->ud_wr.attr, &ibah_to_rvtah(ud_wr(wr)->ah)->attr);
	wqe->ssn = qp->s_ssn++;
	wqe->psn = qp->s_next_psn;
	wqe->lpsn = wqe->psn;
	if (wqe->length)
		wqe->lpsn += (wqe->length - 1) >> qp->log_pmtu;
	qp->s_next_psn = wqe->lpsn + 1;
	/* publishes the complete entry: pairs with vib_send_next() */
	smp_store_release(&qp->s_head, next);
	return 0;
}

int vib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct rvt_qp *qp = ibqp_to_rvtqp(ibqp);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&qp->s_hlock, flags);
	if (!(ib_rvt_state_ops[qp->state] & RVT_POST_SEND_OK)) {
		ret = -EINVAL;
		goto out;
	}
	for (; wr; wr = wr->next) {
		ret = vib_send_post_one(qp, wr);
		if (ret)
			break;
	}
	/* under the lock: a queue pair that is being destroyed no longer gets here */
	vib_send_schedule(qp);
out:
	spin_unlock_irqrestore(&qp->s_hlock, flags);
	if (ret)
		*bad_wr = wr;
	return ret;
}

/* Does not shorten the wait of a queue pair for a timer. */
bool vib_send_schedule(struct rvt_qp *qp)
{
	return queue_delayed_work(vib_wq, &vib_qp(qp)->work, 0);
}

struct rvt_swqe *vib_send_next(struct rvt_qp *qp, enum ib_wc_status *status)
{
	struct rvt_swqe *wqe = NULL;
	unsigned long flags;
	int ops;

	spin_lock_irqsave(&qp->s_lock, flags);
	ops = ib_rvt_state_ops[qp->state];
	/* In SQD, a send that has begun continues, and no other one begins. */
	if (qp->state == IB_QPS_SQD && qp->s_cur == qp->s_last)
		ops = 0;
	/* pairs with vib_send_post_one() */
	if (qp->s_last != smp_load_acquire(&qp->s_head) &&
	    ops & (RVT_PROCESS_SEND_OK | RVT_FLUSH_SEND)) {
		*status = ops & RVT_PROCESS_SEND_OK ? IB_WC_SUCCESS : IB_WC_WR_FLUSH_ERR;
		wqe = rvt_get_swqe_ptr(qp, qp->s_last);
		if (qp->s_cur == qp->s_last)
			qp->s_cur = rvt_qp_swqe_incr(qp, qp->s_cur);
	}
	spin_unlock_irqrestore(&qp->s_lock, flags);
	return wqe;
}

void vib_qp_event(struct rvt_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

void vib_send_complete(struct rvt_qp *qp, struct rvt_swqe *wqe, enum ib_wc_status status)
{
	unsigned long flags;
	bool last = false;

	spin_lock_irqsave(&qp->r_lock, flags);
	spin_lock(&qp->s_lock);
	rvt_send_complete(qp, wqe, status);
	if (status != IB_WC_SUCCESS)
		last = rvt_error_qp(qp, IB_WC_WR_FLUSH_ERR);
	vib_qp(qp)->tries = 0;
	vib_qp(qp)->wire.busy = false;
	qp->s_rnr_retry = qp->s_rnr_retry_cnt;
	spin_unlock(&qp->s_lock);
	spin_unlock_irqrestore(&qp->r_lock, flags);
	if (last)
		vib_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

void vib_send_data(struct rvt_swqe *wqe, struct rvt_sge_state *ss)
{
	memset(ss, 0, sizeof(*ss));
	ss->num_sge = wqe->wr.num_sge;
	ss->total_len = wqe->length;
	if (ss->num_sge) {
		ss->sge = wqe->sg_list[0];
		ss->sg_list = wqe->sg_list + 1;
	}
}

void vib_sges_read(struct rvt_sge_state *ss, void *data, u32 len, bool put)
{
	u32 done, part;

	for (done = 0; done < len; done += part) {
		part = rvt_get_sge_length(&ss->sge, len - done);
		memcpy(data + done, ss->sge.vaddr, part);
		rvt_update_sge(ss, part, put);
	}
}

/* Completes a receive. Caller holds r_lock. */
void vib_recv_complete(struct rvt_qp *qp, struct ib_wc *wc, bool solicited)
{
	if (!test_and_clear_bit(RVT_R_WRID_VALID, &qp->r_aflags))
		return;
	wc->wr_id = qp->r_wr_id;
	wc->status = IB_WC_SUCCESS;
	wc->qp = &qp->ibqp;
	wc->port_num = qp->port_num;
	spin_lock(&qp->s_lock);
	rvt_recv_cq(qp, wc, solicited);
	spin_unlock(&qp->s_lock);
}

/* Is the queue pair in SQD without a send in progress, and did the user ask for the event? */
static bool vib_send_is_drained(struct rvt_qp *qp)
{
	struct vib_qp *vqp = vib_qp(qp);
	bool drained;

	spin_lock_irq(&qp->s_lock);
	drained = vqp->tell_drained && qp->state == IB_QPS_SQD && qp->s_cur == qp->s_last;
	if (drained)
		vqp->tell_drained = false;
	spin_unlock_irq(&qp->s_lock);
	return drained;
}

void vib_send_work(struct work_struct *work)
{
	struct vib_qp *vqp = container_of(work, struct vib_qp, work.work);

	if (vqp->qp->ibqp.qp_type == IB_QPT_RC || vqp->qp->ibqp.qp_type == IB_QPT_UC)
		vib_rc_send(vqp->qp);
	else
		vib_ud_send(vqp->qp);
	if (vib_send_is_drained(vqp->qp))
		vib_qp_event(vqp->qp, IB_EVENT_SQ_DRAINED);
}
