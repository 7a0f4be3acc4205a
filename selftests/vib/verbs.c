// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The functions that rdmavt requires of a driver: limits, ports, address handles, and the private
 * part of a queue pair.
 */
#include <linux/nodemask.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "vib.h"

#define VIB_RDMA_ATOMIC	16

static const enum ib_wc_opcode vib_wc_opcode[] = {
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
};

static struct pci_dev *vib_get_pci_dev(struct rvt_dev_info *rdi)
{
	return &vib_pci_dev;
}

static int vib_query_port(struct rvt_dev_info *rdi, u32 num, struct ib_port_attr *props)
{
	struct vib_port *port = &vib_hca(&rdi->ibdev)->port[num];

	props->lid = port->lid;
	props->lmc = port->lmc;
	props->state = port->state;
	props->phys_state = port->phys;
	props->gid_tbl_len = VIB_GUIDS;
	props->active_width = port->width;
	props->active_speed = port->speed;
	props->max_vl_num = 4;		/* the code for VL 0 to 7 */
	props->max_mtu = port->mtu_cap;
	props->active_mtu = port->mtu;
	return 0;
}

static int vib_get_guid(struct rvt_dev_info *rdi, struct rvt_ibport *rvp, int index, __be64 *guid)
{
	struct vib_port *port = container_of(rvp, struct vib_port, rvp);

	if (index >= VIB_GUIDS)
		return -EINVAL;
	*guid = port->guid[index];
	return 0;
}

static int vib_shut_down_port(struct rvt_dev_info *rdi, u32 num)
{
	struct vib_port *port = &vib_hca(&rdi->ibdev)->port[num];
	unsigned long flags;

	spin_lock_irqsave(&vib.lock, flags);
	port->phys = IB_PORT_PHYS_STATE_DISABLED;
	vib_link_update(port);
	spin_unlock_irqrestore(&vib.lock, flags);
	return 0;
}

static void vib_cap_mask_chg(struct rvt_dev_info *rdi, u32 num)
{
	vib_trap_cap_mask(&vib_hca(&rdi->ibdev)->port[num]);
}

static int vib_check_ah(struct ib_device *ibdev, struct rdma_ah_attr *attr)
{
	u32 dlid = rdma_ah_get_dlid(attr);

	if (!dlid || rdma_ah_get_sl(attr) > 15)
		return -EINVAL;
	if (vib_is_mlid(dlid) && !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return -EINVAL;
	return 0;
}

static int vib_pmtu_from_attr(struct rvt_dev_info *rdi, struct rvt_qp *qp,
			      struct ib_qp_attr *attr)
{
	struct vib_port *port = &vib_hca(&rdi->ibdev)->port[qp->port_num];

	if (ib_mtu_enum_to_int(attr->path_mtu) < 0)
		return -EINVAL;
	return min_t(int, attr->path_mtu, port->mtu);
}

static u32 vib_mtu_from_qp(struct rvt_dev_info *rdi, struct rvt_qp *qp, u32 pmtu)
{
	return ib_mtu_enum_to_int(pmtu);
}

static int vib_mtu_to_path_mtu(u32 mtu)
{
	return ib_mtu_int_to_enum(mtu);
}

static void *vib_qp_priv_alloc(struct rvt_dev_info *rdi, struct rvt_qp *qp)
{
	struct vib_qp *vqp = kzalloc(sizeof(*vqp), GFP_KERNEL);

	if (!vqp)
		return ERR_PTR(-ENOMEM);
	vqp->qp = qp;
	INIT_DELAYED_WORK(&vqp->work, vib_send_work);
	return vqp;
}

static void vib_qp_priv_free(struct rvt_dev_info *rdi, struct rvt_qp *qp)
{
	kfree(qp->priv);
}

static void vib_stop_send_queue(struct rvt_qp *qp)
{
	cancel_delayed_work_sync(&vib_qp(qp)->work);
}

static void vib_notify_qp_reset(struct rvt_qp *qp)
{
	vib_qp(qp)->tries = 0;
	memset(&vib_qp(qp)->wire, 0, sizeof(vib_qp(qp)->wire));
}

/* Flush the send queue now, even if it waits for a timer. */
static void vib_notify_error_qp(struct rvt_qp *qp)
{
	mod_delayed_work(vib_wq, &vib_qp(qp)->work, 0);
}

/* Path migration is not implemented: refuse alternate paths instead of ignoring them. */
static int vib_check_modify_qp(struct rvt_qp *qp, struct ib_qp_attr *attr, int mask,
			       struct ib_udata *udata)
{
	if (mask & IB_QP_ALT_PATH)
		return -EINVAL;
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EINVAL;
	return 0;
}

/* After SQD there may be sends to execute. In SQD, an idle send queue is drained at once. */
static void vib_modify_qp(struct rvt_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	if (!(mask & IB_QP_STATE) || attr->qp_state == IB_QPS_RESET)
		return;
	vib_qp(qp)->tell_drained = attr->qp_state == IB_QPS_SQD &&
				   mask & IB_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify;
	vib_send_schedule(qp);
}

static void vib_qp_nothing(struct rvt_qp *qp)
{
}

static void vib_notify_restart_rc(struct rvt_qp *qp, u32 psn, int wait)
{
}

static unsigned int vib_free_all_qps(struct rvt_dev_info *rdi)
{
	return 0;
}

static const struct rvt_driver_provided vib_driver = {
	.schedule_send = vib_send_schedule,
	.get_pci_dev = vib_get_pci_dev,
	.qp_priv_alloc = vib_qp_priv_alloc,
	.qp_priv_free = vib_qp_priv_free,
	.notify_qp_reset = vib_notify_qp_reset,
	.get_pmtu_from_attr = vib_pmtu_from_attr,
	.flush_qp_waiters = vib_qp_nothing,
	.stop_send_queue = vib_stop_send_queue,
	.quiesce_qp = vib_qp_nothing,
	.notify_error_qp = vib_notify_error_qp,
	.mtu_from_qp = vib_mtu_from_qp,
	.mtu_to_path_mtu = vib_mtu_to_path_mtu,
	.get_guid_be = vib_get_guid,
	.query_port_state = vib_query_port,
	.shut_down_port = vib_shut_down_port,
	.cap_mask_chg = vib_cap_mask_chg,
	.free_all_qps = vib_free_all_qps,
	.check_ah = vib_check_ah,
	.check_modify_qp = vib_check_modify_qp,
	.modify_qp = vib_modify_qp,
	.notify_restart_rc = vib_notify_restart_rc,
};

static int vib_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *attr)
{
	unsigned long flags;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&vib.lock, flags);
	memcpy(ibdev->node_desc, attr->node_desc, IB_DEVICE_NODE_DESC_MAX);
	memcpy(vib_hca(ibdev)->node.desc, attr->node_desc, IB_DEVICE_NODE_DESC_MAX);
	spin_unlock_irqrestore(&vib.lock, flags);
	return 0;
}

static const struct attribute_group *vib_port_groups[] = { NULL };

/* libibverbs selects its provider by the driver ID. The provider of hfi1 requires only rdmavt. */
static const struct ib_device_ops vib_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_HFI1,
	.port_groups = vib_port_groups,
	.modify_device = vib_modify_device,
	.process_mad = vib_process_mad,
	.post_send = vib_post_send,
};

/* Fills in the parameters that rdmavt needs before the HCA is registered. */
void vib_verbs_init(struct vib_hca *hca)
{
	struct rvt_driver_params *p = &hca->rdi.dparms;

	p->props = (struct ib_device_attr) {
		.fw_ver = 1,
		.sys_image_guid = hca->node.guid,
		.max_mr_size = U64_MAX,
		.page_size_cap = PAGE_SIZE,
		.hw_ver = 1,
		.max_qp = 16384,
		.max_qp_wr = 16384,
		.device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR |
				    IB_DEVICE_SHUTDOWN_PORT | IB_DEVICE_SYS_IMAGE_GUID |
				    IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_PORT_ACTIVE_EVENT |
				    IB_DEVICE_SRQ_RESIZE,
		.max_send_sge = 32,
		.max_recv_sge = 32,
		.max_sge_rd = 32,
		.max_cq = 65536,
		.max_cqe = 65535,
		.max_pd = 65535,
		.max_qp_rd_atom = VIB_RDMA_ATOMIC,
		.max_qp_init_rd_atom = VIB_RDMA_ATOMIC,
		.atomic_cap = IB_ATOMIC_GLOB,
		.max_mcast_grp = 16384,
		.max_mcast_qp_attach = 256,
		.max_total_mcast_qp_attach = 16384 * 256,
		.max_ah = 65535,
		.max_srq = 1024,
		.max_srq_wr = 16384,
		.max_srq_sge = 32,
		.max_pkeys = VIB_PKEYS,
	};
	p->lkey_table_size = 16;
	p->qp_table_size = 256;
	p->qpn_start = 0x1000 * (hca->index + 1);	/* distinct per device, to expose mix-ups */
	p->qpn_res_start = RVT_KDETH_QP_BASE;		/* rdmavt requires a reserved range */
	p->qpn_res_end = RVT_KDETH_QP_BASE;
	p->qpn_inc = 1;
	p->psn_mask = 0xffffff;
	p->psn_modify_mask = 0xffffff;
	p->nports = 1;
	p->npkeys = VIB_PKEYS;
	p->node = first_online_node;
	p->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	p->max_mad_size = IB_MGMT_MAD_SIZE;
	p->max_rdma_atomic = VIB_RDMA_ATOMIC;
	p->sge_copy_mode = RVT_SGE_COPY_MEMCPY;
	hca->rdi.driver_f = vib_driver;
	hca->rdi.wc_opcode = vib_wc_opcode;
	hca->rdi.ibdev.phys_port_cnt = 1;
	hca->rdi.ibdev.node_guid = hca->node.guid;
	memcpy(hca->rdi.ibdev.node_desc, hca->node.desc, IB_DEVICE_NODE_DESC_MAX);
	rvt_init_port(&hca->rdi, &hca->port[1].rvp, 0, hca->port[1].pkey);
	ib_set_device_ops(&hca->rdi.ibdev, &vib_dev_ops);
}
