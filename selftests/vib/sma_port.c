// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* PortInfo (IBTA 14.2.5.6), by which the subnet manager configures a port. */
#include "sma.h"

#define REREGISTER	0x80		/* bit in clientrereg_resv_subnetto */

/* Returns the port that AttributeModifier selects, or NULL. */
static struct vib_port *vib_smp_select_port(struct vib_smp *r)
{
	/* the upper bits are capabilities of the subnet manager */
	unsigned int num = r->mod & 0xff;

	if (vib_is_switch(r->port))
		return num <= r->port->node->nports ? &r->port->node->port[num] : NULL;
	return !num || num == r->port->num ? r->port : NULL;
}

static void vib_port_info_fill(struct vib_smp *r, struct vib_port *port)
{
	struct ib_port_info *info = (struct ib_port_info *)r->smp->data;
	struct rvt_ibport *rvp = &port->rvp;

	memset(r->smp->data, 0, sizeof(r->smp->data));
	info->local_port_num = r->in_port;
	info->link_width_enabled = port->width_enabled;
	info->link_width_supported = port->width_supported;
	info->link_width_active = port->width;
	info->linkspeed_portstate = port->speed_supported << 4 | port->state;
	/* the default state of a port that is down is polling */
	info->portphysstate_linkdown = port->phys << 4 | IB_PORT_PHYS_STATE_POLLING;
	info->linkspeedactive_enabled = port->speed << 4 | port->speed_enabled;
	info->neighbormtu_mastersmsl = port->mtu << 4;
	info->vlcap_inittype = VIB_VLS << 4;
	info->vl_high_limit = rvp->vl_high_limit;
	info->vl_arb_high_cap = 8;
	info->vl_arb_low_cap = 8;
	info->inittypereply_mtucap = port->mtu_cap;
	info->operationalvl_pei_peo_fpi_fpo = port->oper_vls << 4;
	info->pkey_violations = cpu_to_be16(rvp->pkey_violations);
	info->qkey_violations = cpu_to_be16(rvp->qkey_violations);
	if (!vib_is_endport(port))
		return;

	if (rvp->mkeyprot != 1 || rvp->mkey == r->smp->mkey)
		info->mkey = rvp->mkey;
	info->gid_prefix = rvp->gid_prefix;
	info->lid = cpu_to_be16(port->lid);
	info->sm_lid = cpu_to_be16(rvp->sm_lid);
	info->cap_mask = cpu_to_be32(rvp->port_cap_flags);
	info->mkey_lease_period = cpu_to_be16(rvp->mkey_lease_period);
	info->mkeyprot_resv_lmc = rvp->mkeyprot << 6 | port->lmc;
	info->neighbormtu_mastersmsl |= rvp->sm_sl;
	info->mkey_violations = cpu_to_be16(rvp->mkey_violations);
	info->guid_cap = VIB_GUIDS;
	info->clientrereg_resv_subnetto = rvp->subnet_timeout;
	info->resv_resptimevalue = 16;
}

/* Sets the values that only a port with a LID has. */
static void vib_port_info_set_endport(struct vib_smp *r, struct vib_port *port,
				      const struct ib_port_info *want)
{
	u16 lid = be16_to_cpu(want->lid), sm_lid = be16_to_cpu(want->sm_lid);
	u8 lmc = want->mkeyprot_resv_lmc & 7, sm_sl = want->neighbormtu_mastersmsl & 0xf;
	struct rvt_ibport *rvp = &port->rvp;

	rvp->mkey = want->mkey;
	rvp->mkeyprot = want->mkeyprot_resv_lmc >> 6;
	rvp->mkey_lease_period = be16_to_cpu(want->mkey_lease_period);
	rvp->subnet_timeout = want->clientrereg_resv_subnetto & 0x1f;
	if (!want->mkey_violations)
		rvp->mkey_violations = 0;
	if (rvp->gid_prefix != want->gid_prefix) {
		rvp->gid_prefix = want->gid_prefix;
		vib_port_event(port, IB_EVENT_GID_CHANGE);
	}

	if (!lid || lid >= VIB_LIDS) {
		vib_smp_set_invalid(r);
	} else if (port->lid != lid || port->lmc != lmc) {
		port->lid = lid;
		port->lmc = lmc;
		vib_port_event(port, IB_EVENT_LID_CHANGE);
	}
	if (!sm_lid || sm_lid >= VIB_LIDS) {
		vib_smp_set_invalid(r);
	} else if (rvp->sm_lid != sm_lid || rvp->sm_sl != sm_sl) {
		rvp->sm_lid = sm_lid;
		rvp->sm_sl = sm_sl;
		vib_port_event(port, IB_EVENT_SM_CHANGE);
	}
}

static void vib_port_info_set_link(struct vib_smp *r, struct vib_port *port,
				   const struct ib_port_info *want)
{
	u8 width = want->link_width_enabled, speed = want->linkspeedactive_enabled & 0xf;
	u8 mtu = want->neighbormtu_mastersmsl >> 4, vls = want->operationalvl_pei_peo_fpi_fpo >> 4;
	struct rvt_ibport *rvp = &port->rvp;

	/* 0 means no change, all ones mean all supported values */
	if (width == 0xff)
		port->width_enabled = port->width_supported;
	else if (width & ~port->width_supported)
		vib_smp_set_invalid(r);
	else if (width)
		port->width_enabled = width;
	if (speed == 0xf)
		port->speed_enabled = port->speed_supported;
	else if (speed & ~port->speed_supported)
		vib_smp_set_invalid(r);
	else if (speed)
		port->speed_enabled = speed;
	/* used when the link comes up, which may have failed with the old values */
	if (port->phys == IB_PORT_PHYS_STATE_POLLING)
		vib_link_update(port);

	if (mtu > port->mtu_cap)
		vib_smp_set_invalid(r);
	else if (mtu)
		port->mtu = mtu;
	if (vls > VIB_VLS)
		vib_smp_set_invalid(r);
	else if (vls)
		port->oper_vls = vls;

	rvp->vl_high_limit = want->vl_high_limit;
	if (!want->pkey_violations)
		rvp->pkey_violations = 0;
	if (!want->qkey_violations)
		rvp->qkey_violations = 0;
}

/* IBTA 7.2.7: a port goes up one state at a time, and down from any state. */
static void vib_port_info_set_state(struct vib_smp *r, struct vib_port *port,
				    const struct ib_port_info *want)
{
	u8 state = want->linkspeed_portstate & 0xf, phys = want->portphysstate_linkdown >> 4;

	switch (state) {
	case IB_PORT_NOP:
		if (!phys)
			return;
		fallthrough;
	case IB_PORT_DOWN:
		if (phys > IB_PORT_PHYS_STATE_DISABLED)
			return vib_smp_set_invalid(r);
		port->phys = phys == IB_PORT_PHYS_STATE_DISABLED ? phys :
			     IB_PORT_PHYS_STATE_POLLING;
		vib_link_update(port);
		return;
	case IB_PORT_ARMED:
		if (port->state != IB_PORT_INIT && port->state != IB_PORT_ARMED)
			return vib_smp_set_invalid(r);
		break;
	case IB_PORT_ACTIVE:
		if (port->state != IB_PORT_ARMED && port->state != IB_PORT_ACTIVE)
			return vib_smp_set_invalid(r);
		break;
	default:
		return vib_smp_set_invalid(r);
	}
	if (port->state == state)
		return;
	port->state = state;
	if (state == IB_PORT_ACTIVE)
		vib_port_event(port, IB_EVENT_PORT_ACTIVE);
}

void vib_sma_port_info(struct vib_smp *r)
{
	const struct ib_port_info want = *(struct ib_port_info *)r->smp->data;
	struct vib_port *port = vib_smp_select_port(r);

	if (!port)
		return vib_smp_refuse(r);
	if (r->set) {
		if (vib_is_endport(port))
			vib_port_info_set_endport(r, port, &want);
		if (!vib_is_switch(port) || port->num) {
			vib_port_info_set_link(r, port, &want);
			vib_port_info_set_state(r, port, &want);
		}
		if (vib_is_endport(port) && want.clientrereg_resv_subnetto & REREGISTER)
			vib_port_event(port, IB_EVENT_CLIENT_REREGISTER);
	}
	vib_port_info_fill(r, port);
	/* o14-12.2.1: the response confirms ClientReregister */
	if (r->set && vib_is_endport(port))
		((struct ib_port_info *)r->smp->data)->clientrereg_resv_subnetto |=
			want.clientrereg_resv_subnetto & REREGISTER;
}
