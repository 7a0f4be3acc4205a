// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams of QP0, QP1 and UD: turns sends into packets, and delivers packets to receive queues.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "vib.h"

/* ms after which a change of the delay is noticed */
#define VIB_LATE_STEP	100U

static void vib_grh_fill(struct vib_port *port, const struct rdma_ah_attr *attr,
			 struct vib_pkt *pkt)
{
	const struct ib_global_route *route = rdma_ah_read_grh(attr);
	u32 len = IB_BTH_BYTES + IB_DETH_BYTES + (pkt->has_imm ? 4 : 0) + ALIGN(pkt->len, 4) + 4;
	struct ib_grh *grh = &pkt->grh;

	pkt->has_grh = true;
	grh->version_tclass_flow = cpu_to_be32(6 << 28 | route->traffic_class << 20 |
					       route->flow_label);
	grh->paylen = cpu_to_be16(len);
	grh->next_hdr = 0x1b;
	grh->hop_limit = route->hop_limit;
	grh->dgid = route->dgid;
	if (route->sgid_attr) {
		grh->sgid = route->sgid_attr->gid;
	} else {
		grh->sgid.global.subnet_prefix = port->rvp.gid_prefix;
		grh->sgid.global.interface_id = port->guid[route->sgid_index % VIB_GUIDS];
	}
}

static void vib_ud_post(struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	struct vib_port *port = &vib_hca(qp->ibqp.device)->port[qp->port_num];
	struct rdma_ah_attr *attr = rvt_get_swqe_ah_attr(wqe);
	u32 qkey = rvt_get_swqe_remote_qkey(wqe);
	struct rvt_sge_state ss;
	struct vib_pkt *pkt;

	if (wqe->length > ib_mtu_enum_to_int(port->mtu))
		return;
	pkt = vib_pkt_alloc(wqe->length, GFP_KERNEL);
	if (!pkt)
		return;
	vib_send_data(wqe, &ss);
	vib_sges_read(&ss, pkt->data, pkt->len, false);
	pkt->smp = qp->ibqp.qp_type == IB_QPT_SMI;
	pkt->src_qp = qp->ibqp.qp_num;
	pkt->dlid = rdma_ah_get_dlid(attr);
	pkt->dest_qp = vib_is_mlid(pkt->dlid) ? IB_MULTICAST_QPN : rvt_get_swqe_remote_qpn(wqe);
	/* the most significant bit selects the Q_Key of the queue pair */
	pkt->qkey = qkey >> 31 ? qp->qkey : qkey;
	pkt->sl = rdma_ah_get_sl(attr);
	pkt->solicited = wqe->wr.send_flags & IB_SEND_SOLICITED;
	if (wqe->wr.opcode == IB_WR_SEND_WITH_IMM) {
		pkt->has_imm = true;
		pkt->imm = wqe->wr.ex.imm_data;
	}

	spin_lock_irq(&vib.lock);
	/* directed routes use only the permissive LID */
	pkt->slid = be16_to_cpu(IB_LID_PERMISSIVE);
	if (port->lid && pkt->dlid != be16_to_cpu(IB_LID_PERMISSIVE))
		pkt->slid = port->lid | (rdma_ah_get_path_bits(attr) & ((1 << port->lmc) - 1));
	if (pkt->smp)
		pkt->pkey = IB_DEFAULT_PKEY_FULL;
	else if (qp->ibqp.qp_type == IB_QPT_GSI)
		pkt->pkey = port->pkey[rvt_get_swqe_pkey_index(wqe) % VIB_PKEYS];
	else
		pkt->pkey = port->pkey[qp->s_pkey_index];
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH)
		vib_grh_fill(port, attr, pkt);
	spin_unlock_irq(&vib.lock);
	vib_link_post(port, pkt);
}

/*
 * Sends all waiting requests, and completes them port->late ms later: responses arrive before that.
 * Longer delays keep other requests from being completed, not from being sent.
 */
static void vib_ud_send_late(struct rvt_qp *qp, const struct vib_port *port)
{
	unsigned long begin = jiffies;
	enum ib_wc_status status;
	struct rvt_swqe *wqe;
	u32 i, n = 0, head;

	if (!vib_send_next(qp, &status) || status != IB_WC_SUCCESS)
		return;
	i = qp->s_last;
	do {
		/* pairs with vib_send_post_one() */
		head = smp_load_acquire(&qp->s_head);
		for (; i != head; i = rvt_qp_swqe_incr(qp, i), n++)
			vib_ud_post(qp, rvt_get_swqe_ptr(qp, i));
		msleep(min(READ_ONCE(port->late), VIB_LATE_STEP));
	} while (time_before(jiffies, begin + msecs_to_jiffies(READ_ONCE(port->late))));
	while (n-- && (wqe = vib_send_next(qp, &status)))
		vib_send_complete(qp, wqe, status);
}

/* A datagram that cannot be sent is lost, and its send succeeds. */
void vib_ud_send(struct rvt_qp *qp)
{
	struct vib_port *port = &vib_hca(qp->ibqp.device)->port[qp->port_num];
	enum ib_wc_status status;
	struct rvt_swqe *wqe;
	bool gsi = qp->ibqp.qp_type == IB_QPT_GSI;

	while ((wqe = vib_send_next(qp, &status))) {
		if (gsi && READ_ONCE(port->late) && status == IB_WC_SUCCESS) {
			vib_ud_send_late(qp, port);
			continue;
		}
		if (status == IB_WC_SUCCESS)
			vib_ud_post(qp, wqe);
		vib_send_complete(qp, wqe, status);
	}
}

/*
 * Checks the keys of a packet for @qp. @index is the matching entry of the P_Key table. Violations
 * are counted at the port, and no trap is sent.
 */
static bool vib_keys_are_valid(struct vib_port *port, struct rvt_qp *qp, struct vib_pkt *pkt,
			       u16 *index)
{
	int i = qp->s_pkey_index, end = i + 1;
	bool ok = false;

	*index = 0;
	if (qp->ibqp.qp_type == IB_QPT_SMI)
		return true;
	if (qp->ibqp.qp_type == IB_QPT_GSI) {
		i = 0;
		end = VIB_PKEYS;
	}
	spin_lock(&vib.lock);
	for (; i < end && !ok; i++)
		if (vib_pkey_match(port->pkey[i], pkt->pkey)) {
			*index = i;
			ok = true;
		}
	if (!ok) {
		port->rvp.pkey_violations += port->rvp.pkey_violations != U16_MAX;
	} else if (pkt->qkey != qp->qkey) {
		port->rvp.qkey_violations += port->rvp.qkey_violations != U16_MAX;
		ok = false;
	}
	spin_unlock(&vib.lock);
	return ok;
}

static bool vib_ud_fits(struct rvt_qp *qp, struct vib_pkt *pkt)
{
	switch (qp->ibqp.qp_type) {
	case IB_QPT_SMI:
		return pkt->smp && pkt->len == IB_MGMT_MAD_SIZE;
	case IB_QPT_GSI:
		return !pkt->smp && pkt->len == IB_MGMT_MAD_SIZE;
	case IB_QPT_UD:
		return !pkt->smp;
	default:
		return false;
	}
}

static void vib_ud_receive(struct vib_port *port, struct rvt_qp *qp, struct vib_pkt *pkt)
{
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = sizeof(pkt->grh) + pkt->len,
		.src_qp = pkt->src_qp,
		.slid = pkt->slid,
		.sl = pkt->sl,
	};
	unsigned long flags;
	int ret = 1;

	spin_lock_irqsave(&qp->r_lock, flags);
	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK) || !vib_ud_fits(qp, pkt) ||
	    !vib_keys_are_valid(port, qp, pkt, &wc.pkey_index))
		goto out;
	/* reuse a buffer that was too small for an earlier datagram */
	if (!(qp->r_flags & RVT_R_REUSE_SGE))
		ret = rvt_get_rwqe(qp, false);
	if (ret < 0)
		rvt_rc_error(qp, IB_WC_LOC_QP_OP_ERR);
	if (ret <= 0)
		goto out;
	qp->r_flags &= ~RVT_R_REUSE_SGE;
	if (wc.byte_len > qp->r_len) {
		qp->r_flags |= RVT_R_REUSE_SGE;
		goto out;
	}
	if (pkt->has_grh) {
		rvt_copy_sge(qp, &qp->r_sge, &pkt->grh, sizeof(pkt->grh), true, false);
		wc.wc_flags |= IB_WC_GRH;
	} else {
		rvt_skip_sge(&qp->r_sge, sizeof(pkt->grh), true);
	}
	rvt_copy_sge(qp, &qp->r_sge, pkt->data, pkt->len, true, false);
	rvt_put_ss(&qp->r_sge);
	if (pkt->has_imm) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	}
	if (!vib_is_mlid(pkt->dlid))
		wc.dlid_path_bits = pkt->dlid & ((1 << port->lmc) - 1);
	vib_recv_complete(qp, &wc, pkt->solicited);
out:
	spin_unlock_irqrestore(&qp->r_lock, flags);
}

static void vib_mcast_receive(struct vib_port *port, struct vib_pkt *pkt)
{
	struct rvt_mcast_qp *member;
	struct rvt_mcast *group;

	if (!pkt->has_grh)
		return;
	group = rvt_mcast_find(&port->rvp, &pkt->grh.dgid, pkt->dlid);
	if (!group)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(member, &group->qp_list, list)
		vib_ud_receive(port, member->qp, pkt);
	rcu_read_unlock();
	/* detaching the last member waits for this */
	if (atomic_dec_return(&group->refcount) <= 1)
		wake_up(&group->wait);
}

void vib_port_receive(struct vib_port *port, struct vib_pkt *pkt)
{
	struct rvt_qp *qp;

	if (vib_is_mlid(pkt->dlid)) {
		vib_mcast_receive(port, pkt);
	} else if (vib_port_has_lid(port, pkt->dlid) ||
		   (pkt->smp && pkt->dlid == be16_to_cpu(IB_LID_PERMISSIVE))) {
		rcu_read_lock();
		qp = rvt_lookup_qpn(&vib_port_hca(port)->rdi, &port->rvp, pkt->dest_qp);
		if (qp && pkt->rc)
			vib_rc_pkt_receive(port, qp, pkt);
		else if (qp)
			vib_ud_receive(port, qp, pkt);
		rcu_read_unlock();
	}
	kfree(pkt);
}
