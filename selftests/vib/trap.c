// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traps to the subnet manager (IBTA 14.2.5.1). Trap 128 of a switch: the state of a port changed.
 * It is sent up to TRAP_TIMES times, until the subnet manager represses it. Trap 144 of an HCA: its
 * capabilities changed. It is sent once, and informs one subnet manager of another.
 */
#include "sma.h"

#define TRAP_LINK_STATE	128
#define TRAP_TIMES	5
#define TRAP_INTERVAL	HZ

static u32 trap_tid;		/* vib.lock */

static struct vib_pkt *vib_trap_alloc(struct vib_port *port, __be16 num, u32 tid,
				      struct ib_mad_notice_attr **out)
{
	struct ib_mad_notice_attr *notice;
	struct vib_pkt *pkt;
	struct ib_smp *smp;

	/* no subnet manager has configured the port yet */
	if (!port->rvp.sm_lid)
		return NULL;
	pkt = vib_pkt_alloc(IB_MGMT_MAD_SIZE, GFP_ATOMIC);
	if (!pkt)
		return NULL;
	pkt->smp = true;
	pkt->slid = port->lid;
	pkt->dlid = port->rvp.sm_lid;
	pkt->sl = port->rvp.sm_sl;
	pkt->pkey = IB_DEFAULT_PKEY_FULL;

	smp = (struct ib_smp *)pkt->data;
	memset(smp, 0, IB_MGMT_MAD_SIZE);
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_TRAP;
	smp->tid = cpu_to_be64(tid);
	smp->attr_id = IB_SMP_ATTR_NOTICE;

	notice = (struct ib_mad_notice_attr *)smp->data;
	notice->prod_type_lsb = vib_is_switch(port) ? IB_NOTICE_PROD_SWITCH : IB_NOTICE_PROD_CA;
	notice->trap_num = num;
	notice->issuer_lid = cpu_to_be16(port->lid);
	*out = notice;
	return pkt;
}

static void vib_trap_send_work(struct work_struct *work)
{
	struct vib_switch *sw = container_of(work, struct vib_switch, trap_work.work);
	struct ib_mad_notice_attr *notice;
	struct vib_pkt *pkt = NULL;

	spin_lock_irq(&vib.lock);
	if (sw->traps_left)
		pkt = vib_trap_alloc(&sw->port[0], cpu_to_be16(TRAP_LINK_STATE), sw->trap_tid,
				     &notice);
	if (pkt) {
		sw->traps_left--;
		notice->generic_type = IB_NOTICE_TYPE_URGENT;
		/* the details consist of one LID */
		memcpy(&notice->details, &notice->issuer_lid, sizeof(notice->issuer_lid));
		queue_delayed_work(system_wq, &sw->trap_work, TRAP_INTERVAL);
	}
	spin_unlock_irq(&vib.lock);
	if (pkt)
		vib_link_post(&sw->port[0], pkt);
}

void vib_trap_init(struct vib_switch *sw)
{
	INIT_DELAYED_WORK(&sw->trap_work, vib_trap_send_work);
}

void vib_trap_repress(struct vib_switch *sw)
{
	sw->traps_left = 0;
}

void vib_switch_state_changed(struct vib_port *port)
{
	struct vib_switch *sw = vib_port_switch(port);

	lockdep_assert_held(&vib.lock);
	sw->port_state_change = true;
	sw->traps_left = TRAP_TIMES;
	sw->trap_tid = ++trap_tid;
	mod_delayed_work(system_wq, &sw->trap_work, 0);
}

void vib_trap_cap_mask(struct vib_port *port)
{
	struct ib_mad_notice_attr *notice;
	struct vib_pkt *pkt;

	spin_lock_irq(&vib.lock);
	pkt = vib_trap_alloc(port, IB_NOTICE_TRAP_CAP_MASK_CHG, ++trap_tid, &notice);
	if (pkt) {
		notice->generic_type = IB_NOTICE_TYPE_INFO;
		notice->details.ntc_144.lid = notice->issuer_lid;
		notice->details.ntc_144.new_cap_mask = cpu_to_be32(port->rvp.port_cap_flags);
	}
	spin_unlock_irq(&vib.lock);
	if (pkt)
		vib_link_post(port, pkt);
}

void vib_trap_exit(struct vib_switch *sw)
{
	spin_lock_irq(&vib.lock);
	sw->traps_left = 0;
	spin_unlock_irq(&vib.lock);
	cancel_delayed_work_sync(&sw->trap_work);
}
