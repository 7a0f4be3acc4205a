// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC by packets, for a path through another host. A send is divided into segments of the path MTU,
 * each with a PSN as in InfiniBand, but the headers are our own. At most RC_WINDOW segments are in
 * transit. The responder executes them in order, acknowledges each RC_ACK-th and the last one, and
 * answers a gap with the PSN that it expects. After a timeout, the requester sends again what is
 * not acknowledged. For a read, the requester asks for as many segments as fit into the window, and
 * these serve as the response. The next send begins when this one has completed.
 */
#include <linux/bitops.h>
#include <linux/slab.h>

#include "rc.h"

#define RC_WINDOW	16
#define RC_ACK		8
#define PSN_MASK	0xffffff

enum vib_rc_op {
	/* requests */
	VIB_RC_SEND, VIB_RC_WRITE, VIB_RC_READ, VIB_RC_CMP_SWAP, VIB_RC_FETCH_ADD,
	/* responses */
	VIB_RC_ACK, VIB_RC_DATA, VIB_RC_OLD,
};

enum vib_rc_flags {
	VIB_RC_FIRST = 1, VIB_RC_LAST = 2,		/* segment of its message */
	VIB_RC_IMM = 4, VIB_RC_SOLICITED = 8, VIB_RC_ACK_REQ = 16,
};

/* Values of "status" besides enum ib_wc_status. */
#define VIB_RC_RNR	0x100		/* and the code of the timer in the lowest byte */
#define VIB_RC_GAP	0x200		/* send again from psn on */

struct vib_rc_hdr {
	u8 op, flags;
	__be16 status;			/* ACK: the result */
	__be32 psn;
	__be32 len;			/* of the message, or of the part that is to be read */
	__be32 mtu;			/* read: bytes in a segment */
	__be64 addr;
	__be32 rkey;
	__be32 imm;
	__be64 operand, swap;		/* atomics; OLD: the value before */
};

/* Makes a packet to the other end of @qp with @len bytes of data. Any context. */
static struct vib_pkt *vib_rc_pkt_alloc(struct rvt_qp *qp, enum vib_rc_op op, u32 psn, u32 len)
{
	struct vib_port *port = &vib_hca(qp->ibqp.device)->port[qp->port_num];
	struct vib_pkt *pkt = vib_pkt_alloc(sizeof(struct vib_rc_hdr) + len, GFP_ATOMIC);
	struct vib_rc_hdr *h;
	unsigned long flags;

	if (!pkt)
		return NULL;
	pkt->rc = true;
	pkt->src_qp = qp->ibqp.qp_num;
	pkt->dest_qp = qp->remote_qpn;
	pkt->dlid = rdma_ah_get_dlid(&qp->remote_ah_attr);
	pkt->sl = rdma_ah_get_sl(&qp->remote_ah_attr);
	spin_lock_irqsave(&vib.lock, flags);
	pkt->slid = port->lid |
		    (rdma_ah_get_path_bits(&qp->remote_ah_attr) & ((1 << port->lmc) - 1));
	pkt->pkey = port->pkey[qp->s_pkey_index];
	spin_unlock_irqrestore(&vib.lock, flags);
	h = (struct vib_rc_hdr *)pkt->data;
	h->op = op;
	h->psn = cpu_to_be32(psn & PSN_MASK);
	return pkt;
}

static void vib_rc_pkt_post(struct rvt_qp *qp, struct vib_pkt *pkt)
{
	vib_link_post(&vib_hca(qp->ibqp.device)->port[qp->port_num], pkt);
}

static void vib_rc_answer(struct rvt_qp *qp, u32 psn, u16 status)
{
	struct vib_pkt *pkt = vib_rc_pkt_alloc(qp, VIB_RC_ACK, psn, 0);

	if (!pkt)
		return;
	((struct vib_rc_hdr *)pkt->data)->status = cpu_to_be16(status);
	vib_rc_pkt_post(qp, pkt);
}

/* The requester */

static u32 vib_rc_segments(const struct rvt_swqe *wqe)
{
	return ((wqe->lpsn - wqe->psn) & PSN_MASK) + 1;
}

static bool vib_rc_is_read(const struct rvt_swqe *wqe)
{
	return wqe->wr.opcode == IB_WR_RDMA_READ;
}

static bool vib_rc_is_atomic(const struct rvt_swqe *wqe)
{
	return wqe->wr.opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       wqe->wr.opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/* Local memory from segment @index on. s_lock held. */
static struct rvt_sge_state *vib_rc_local_sge(struct rvt_qp *qp, struct rvt_swqe *wqe, u32 index)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;

	if (w->ss_at != index) {
		vib_send_data(wqe, &w->ss);
		rvt_skip_sge(&w->ss, index * qp->pmtu, false);
	}
	w->ss_at = index + 1;
	return &w->ss;
}

/* Makes the header of a request for all segments of @wqe. Returns the operation. */
static enum vib_rc_op vib_rc_hdr_init_request(const struct rvt_swqe *wqe, struct vib_rc_hdr *h)
{
	h->len = cpu_to_be32(wqe->length);
	switch (wqe->wr.opcode) {
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		h->flags = VIB_RC_IMM;
		h->imm = wqe->wr.ex.imm_data;
		break;
	default:
		break;
	}
	if (wqe->wr.send_flags & IB_SEND_SOLICITED)
		h->flags |= VIB_RC_SOLICITED;
	switch (wqe->wr.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return VIB_RC_SEND;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		h->addr = cpu_to_be64(wqe->atomic_wr.remote_addr);
		h->rkey = cpu_to_be32(wqe->atomic_wr.rkey);
		h->operand = cpu_to_be64(wqe->atomic_wr.compare_add);
		h->swap = cpu_to_be64(wqe->atomic_wr.swap);
		return wqe->wr.opcode == IB_WR_ATOMIC_CMP_AND_SWP ? VIB_RC_CMP_SWAP :
								    VIB_RC_FETCH_ADD;
	default:
		h->addr = cpu_to_be64(wqe->rdma_wr.remote_addr);
		h->rkey = cpu_to_be32(wqe->rdma_wr.rkey);
		return vib_rc_is_read(wqe) ? VIB_RC_READ : VIB_RC_WRITE;
	}
}

/* Asks for @count segments of a read. */
static bool vib_rc_send_read(struct rvt_qp *qp, struct rvt_swqe *wqe, u32 index, u32 count)
{
	struct vib_pkt *pkt = vib_rc_pkt_alloc(qp, VIB_RC_READ, wqe->psn + index, 0);
	struct vib_rc_hdr *h;
	u32 begin = index * qp->pmtu;

	if (!pkt)
		return false;
	h = (struct vib_rc_hdr *)pkt->data;
	vib_rc_hdr_init_request(wqe, h);
	h->addr = cpu_to_be64(wqe->rdma_wr.remote_addr + begin);
	h->len = cpu_to_be32(min_t(u32, wqe->length - begin, count * qp->pmtu));
	h->mtu = cpu_to_be32(qp->pmtu);
	vib_rc_pkt_post(qp, pkt);
	return true;
}

static bool vib_rc_send_segment(struct rvt_qp *qp, struct rvt_swqe *wqe, u32 index)
{
	bool last = index + 1 == vib_rc_segments(wqe);
	struct vib_rc_hdr *h, head = {};
	struct vib_pkt *pkt;
	u32 len = 0;
	u8 op;

	op = vib_rc_hdr_init_request(wqe, &head);
	if (op == VIB_RC_SEND || op == VIB_RC_WRITE)
		len = min_t(u32, wqe->length - index * qp->pmtu, qp->pmtu);
	pkt = vib_rc_pkt_alloc(qp, op, wqe->psn + index, len);
	if (!pkt)
		return false;
	h = (struct vib_rc_hdr *)pkt->data;
	head.op = h->op;
	head.psn = h->psn;
	*h = head;
	if (!index)
		h->flags |= VIB_RC_FIRST;
	if (last)
		h->flags |= VIB_RC_LAST;
	if (last || (index + 1) % RC_ACK == 0)
		h->flags |= VIB_RC_ACK_REQ;
	if (len)
		vib_sges_read(vib_rc_local_sge(qp, wqe, index), h + 1, len, false);
	vib_rc_pkt_post(qp, pkt);
	return true;
}

/* Sends as much as fits into the window. Without memory, the timer tries again. */
static void vib_rc_send_window(struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;
	u32 end = min(vib_rc_segments(wqe), w->acked + RC_WINDOW);

	if (w->sent == end || (vib_rc_is_read(wqe) && w->sent != w->acked))
		return;
	if (vib_rc_is_read(wqe)) {
		if (vib_rc_send_read(qp, wqe, w->sent, end - w->sent))
			w->sent = end;
	} else {
		while (w->sent < end && vib_rc_send_segment(qp, wqe, w->sent))
			w->sent++;
	}
	w->deadline = jiffies + vib_rc_timeout(qp);
}

int vib_rc_pkt_send(struct rvt_qp *qp, struct rvt_swqe *wqe, u8 *rnr)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;
	bool expired;
	int ret;

	spin_lock_irq(&qp->s_lock);
	if (!w->busy) {
		w->busy = true;
		w->acked = 0;
		w->sent = 0;
		w->answer = 0;
		w->gap = false;
		w->ss_at = U32_MAX;
	}
	w->kick = false;
	ret = w->answer;
	w->answer = 0;
	*rnr = w->rnr;
	if (ret > 0)
		goto out;
	if (w->acked == vib_rc_segments(wqe)) {
		ret = IB_WC_SUCCESS;
		goto out;
	}
	expired = w->sent > w->acked && time_after_eq(jiffies, w->deadline);
	if (ret || expired)
		w->sent = w->acked;
	if (ret == VIB_NOT_READY)
		goto out;
	vib_rc_send_window(qp, wqe);
	ret = expired ? VIB_NO_ANSWER : VIB_SENT;
out:
	spin_unlock_irq(&qp->s_lock);
	return ret;
}

static void vib_rc_progress(struct rvt_qp *qp, u32 acked)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;

	w->acked = acked;
	w->sent = max(w->sent, acked);
	w->deadline = jiffies + vib_rc_timeout(qp);
	w->gap = false;
	vib_qp(qp)->tries = 0;
}

/* Segment @index was executed, or why the responder did not execute it. */
static bool vib_rc_handle_ack(struct rvt_qp *qp, struct rvt_swqe *wqe, u32 index, u16 status)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;
	u32 acked = status ? index : index + 1;

	if (index >= vib_rc_segments(wqe) || acked < w->acked)
		return false;
	if (!status && (vib_rc_is_read(wqe) || vib_rc_is_atomic(wqe)))
		return false;
	if (acked > w->acked)
		vib_rc_progress(qp, acked);
	if (status & VIB_RC_RNR) {
		w->answer = VIB_NOT_READY;
		w->rnr = status & 0x1f;
	} else if (status & VIB_RC_GAP) {
		w->answer = VIB_GAP;
	} else {
		w->answer = min_t(u16, status, IB_WC_GENERAL_ERR);
	}
	return true;
}

/* A segment that was read. Returns true if more is to be asked for. */
static bool vib_rc_handle_data(struct rvt_qp *qp, struct rvt_swqe *wqe, u32 index, void *data,
			       u32 len)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;

	if (!vib_rc_is_read(wqe) || index < w->acked || index >= w->sent ||
	    len != min_t(u32, wqe->length - index * qp->pmtu, qp->pmtu))
		return false;
	if (index > w->acked) {
		/* ask again, but not for each one that follows the gap */
		if (w->gap)
			return false;
		w->gap = true;
		w->answer = VIB_GAP;
		return true;
	}
	if (len)
		rvt_copy_sge(qp, vib_rc_local_sge(qp, wqe, index), data, len, false, false);
	vib_rc_progress(qp, index + 1);
	return w->acked == w->sent;
}

static bool vib_rc_handle_old(struct rvt_qp *qp, struct rvt_swqe *wqe, u32 index, u64 old)
{
	if (!vib_rc_is_atomic(wqe) || index)
		return false;
	*(u64 *)wqe->sg_list[0].vaddr = old;
	vib_rc_progress(qp, 1);
	return true;
}

static void vib_rc_handle_response(struct rvt_qp *qp, struct vib_rc_hdr *h, u32 len)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;
	struct rvt_swqe *wqe;
	unsigned long flags;
	bool done = false;
	u32 index;

	spin_lock_irqsave(&qp->s_lock, flags);
	/* after RESET nothing may schedule the work item */
	if (!w->busy || !(ib_rvt_state_ops[qp->state] & RVT_PROCESS_SEND_OK))
		goto out;
	wqe = rvt_get_swqe_ptr(qp, qp->s_last);
	index = (be32_to_cpu(h->psn) - wqe->psn) & PSN_MASK;
	if (h->op == VIB_RC_ACK)
		done = vib_rc_handle_ack(qp, wqe, index, be16_to_cpu(h->status));
	else if (h->op == VIB_RC_DATA)
		done = vib_rc_handle_data(qp, wqe, index, h + 1, len);
	else if (h->op == VIB_RC_OLD)
		done = vib_rc_handle_old(qp, wqe, index, be64_to_cpu(h->operand));
	if (done) {
		w->kick = true;
		mod_delayed_work(vib_wq, &vib_qp(qp)->work, 0);
	}
out:
	spin_unlock_irqrestore(&qp->s_lock, flags);
}

/* The responder; r_lock is held */

static void vib_rc_recv_complete(struct rvt_qp *qp, const struct vib_rc_hdr *h)
{
	struct ib_wc wc = {
		.opcode = h->op == VIB_RC_SEND ? IB_WC_RECV : IB_WC_RECV_RDMA_WITH_IMM,
		.byte_len = be32_to_cpu(h->len),
		.src_qp = qp->remote_qpn,
		.slid = rdma_ah_get_dlid(&qp->remote_ah_attr),
		.sl = rdma_ah_get_sl(&qp->remote_ah_attr),
	};

	if (h->flags & VIB_RC_IMM) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = h->imm;
	}
	vib_recv_complete(qp, &wc, h->flags & VIB_RC_SOLICITED);
}

static int vib_rc_begin(struct rvt_qp *qp, const struct vib_rc_hdr *h)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;
	u32 total = be32_to_cpu(h->len);
	int ret;

	/* of a write that found no receive for its immediate data */
	rvt_put_ss(&qp->r_sge);
	if (h->op == VIB_RC_SEND)
		ret = vib_send_begin(qp, total);
	else
		ret = vib_write_begin(qp, &qp->r_sge, total, be64_to_cpu(h->addr),
				      be32_to_cpu(h->rkey));
	w->open = ret == IB_WC_SUCCESS;
	w->left = total;
	return ret;
}

/* Executes a segment of a send or write. */
static int vib_rc_serve_segment(struct rvt_qp *qp, struct vib_rc_hdr *h, u32 len)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;
	bool last = h->flags & VIB_RC_LAST;
	int ret;

	if (h->flags & VIB_RC_FIRST) {
		ret = vib_rc_begin(qp, h);
		if (ret != IB_WC_SUCCESS)
			return ret;
	}
	if (!w->open || (last ? len != w->left : len >= w->left))
		return vib_request_refuse(qp, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
	if (h->op == VIB_RC_WRITE && last && h->flags & VIB_RC_IMM && !vib_recv_take(qp, true))
		return VIB_NOT_READY;
	if (len)
		rvt_copy_sge(qp, &qp->r_sge, h + 1, len, true, false);
	w->left -= len;
	if (last) {
		w->open = false;
		rvt_put_ss(&qp->r_sge);
		if (h->op == VIB_RC_SEND || h->flags & VIB_RC_IMM)
			vib_rc_recv_complete(qp, h);
	}
	qp->r_psn = (qp->r_psn + 1) & PSN_MASK;
	if (h->flags & VIB_RC_ACK_REQ)
		vib_rc_answer(qp, be32_to_cpu(h->psn), IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

/* Answers a read, also once more if responses were lost. */
static int vib_rc_serve_read(struct rvt_qp *qp, const struct vib_rc_hdr *h)
{
	u32 total = be32_to_cpu(h->len), mtu = be32_to_cpu(h->mtu), psn = be32_to_cpu(h->psn);
	struct rvt_sge_state ss;
	u32 i, n, len;
	int ret;

	if (mtu < 256 || mtu > VIB_MTU || total > mtu * RC_WINDOW)
		return vib_request_refuse(qp, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
	ret = vib_read_begin(qp, &ss, total, be64_to_cpu(h->addr), be32_to_cpu(h->rkey));
	if (ret != IB_WC_SUCCESS)
		return ret;
	n = DIV_ROUND_UP(total, mtu) ?: 1;
	for (i = 0; i < n; i++) {
		struct vib_pkt *pkt;

		len = min(total - i * mtu, mtu);
		pkt = vib_rc_pkt_alloc(qp, VIB_RC_DATA, psn + i, len);
		if (!pkt)
			break;
		vib_sges_read(&ss, pkt->data + sizeof(*h), len, true);
		vib_rc_pkt_post(qp, pkt);
	}
	rvt_put_ss(&ss);
	if (sign_extend32(psn + n - qp->r_psn, 23) > 0)
		qp->r_psn = (psn + n) & PSN_MASK;
	return IB_WC_SUCCESS;
}

/* Answers a request that was executed before with the old result. */
static int vib_rc_serve_atomic(struct rvt_qp *qp, const struct vib_rc_hdr *h, bool again)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;
	u32 psn = be32_to_cpu(h->psn);
	struct ib_atomic_wr wr = {
		.wr.opcode = h->op == VIB_RC_CMP_SWAP ? IB_WR_ATOMIC_CMP_AND_SWP :
							IB_WR_ATOMIC_FETCH_AND_ADD,
		.remote_addr = be64_to_cpu(h->addr),
		.rkey = be32_to_cpu(h->rkey),
		.compare_add = be64_to_cpu(h->operand),
		.swap = be64_to_cpu(h->swap),
	};
	struct vib_pkt *pkt;
	int ret;

	if (!again) {
		ret = vib_atomic_execute(qp, &wr, &w->atomic_old);
		if (ret != IB_WC_SUCCESS)
			return ret;
		w->atomic_psn = psn;
		w->atomic_valid = true;
		qp->r_psn = (qp->r_psn + 1) & PSN_MASK;
	} else if (!w->atomic_valid || w->atomic_psn != psn) {
		return VIB_NO_ANSWER;
	}
	pkt = vib_rc_pkt_alloc(qp, VIB_RC_OLD, psn, 0);
	if (pkt) {
		((struct vib_rc_hdr *)pkt->data)->operand = cpu_to_be64(w->atomic_old);
		vib_rc_pkt_post(qp, pkt);
	}
	return IB_WC_SUCCESS;
}

static void vib_rc_serve(struct rvt_qp *qp, struct vib_rc_hdr *h, u32 len)
{
	struct vib_rc_wire *w = &vib_qp(qp)->wire;
	u32 psn = be32_to_cpu(h->psn);
	s32 ahead = sign_extend32(psn - qp->r_psn, 23);
	int ret = VIB_NO_ANSWER;

	if (ahead > 0) {
		if (!w->naked)
			vib_rc_answer(qp, qp->r_psn, VIB_RC_GAP);
		w->naked = true;
		return;
	}
	if (!ahead)
		w->naked = false;
	if (h->op == VIB_RC_READ)
		ret = vib_rc_serve_read(qp, h);
	else if (h->op == VIB_RC_CMP_SWAP || h->op == VIB_RC_FETCH_ADD)
		ret = vib_rc_serve_atomic(qp, h, ahead < 0);
	else if (!ahead)
		ret = vib_rc_serve_segment(qp, h, len);
	else if (h->flags & VIB_RC_ACK_REQ)
		vib_rc_answer(qp, qp->r_psn - 1, IB_WC_SUCCESS);
	if (ret == VIB_NOT_READY) {
		/* the requester sends all from here on again */
		w->naked = true;
		vib_rc_answer(qp, psn, VIB_RC_RNR | qp->r_min_rnr_timer);
	} else if (ret > 0) {
		vib_rc_answer(qp, psn, ret);
	}
}

void vib_rc_pkt_receive(struct vib_port *port, struct rvt_qp *qp, struct vib_pkt *pkt)
{
	struct vib_rc_hdr *h = (struct vib_rc_hdr *)pkt->data;
	unsigned long flags;

	if (pkt->len < sizeof(*h) || qp->ibqp.qp_type != IB_QPT_RC ||
	    qp->remote_qpn != pkt->src_qp ||
	    rdma_ah_get_dlid(&qp->remote_ah_attr) != pkt->slid ||
	    !vib_pkey_match(port->pkey[qp->s_pkey_index], pkt->pkey))
		return;
	if (h->op >= VIB_RC_ACK) {
		vib_rc_handle_response(qp, h, pkt->len - sizeof(*h));
		return;
	}
	spin_lock_irqsave(&qp->r_lock, flags);
	if (ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK) {
		if (qp->state == IB_QPS_RTR && !(qp->r_flags & RVT_R_COMM_EST))
			rvt_comm_est(qp);
		vib_rc_serve(qp, h, pkt->len - sizeof(*h));
	}
	spin_unlock_irqrestore(&qp->r_lock, flags);
}
