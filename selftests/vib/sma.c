// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet management agent of HCAs and switches (IBTA 14.2.5): the check of the M_Key, and the
 * attributes that mostly correspond to a table in struct vib_port.
 */
#include "sma.h"

#define VIB_DEVICE_ID	0x5642

/* all VLs have the same weight */
static const u8 vlarb_default[] = { 0, 64, 1, 64, 2, 64, 3, 64 };

void vib_sma_init(struct vib_port *port)
{
	struct rvt_ibport *rvp = &port->rvp;
	unsigned int i, j;

	port->phys = IB_PORT_PHYS_STATE_POLLING;
	port->state = IB_PORT_DOWN;
	port->mtu = IB_MTU_4096;
	port->mtu_cap = IB_MTU_4096;
	port->oper_vls = VIB_VLS;
	port->width_supported = VIB_WIDTHS;
	port->speed_supported = VIB_SPEEDS;
	port->width_enabled = VIB_WIDTHS;
	port->speed_enabled = VIB_SPEEDS;
	port->width = IB_WIDTH_4X;
	port->speed = IB_SPEED_QDR;
	port->pkey[0] = IB_DEFAULT_PKEY_FULL;

	rvp->gid_prefix = cpu_to_be64(0xfe80000000000000ull);
	rvp->port_cap_flags = IB_PORT_TRAP_SUP | IB_PORT_SYS_IMAGE_GUID_SUP | IB_PORT_SL_MAP_SUP |
			      IB_PORT_CLIENT_REG_SUP;
	if (!vib_is_switch(port))
		rvp->port_cap_flags |= IB_PORT_CM_SUP;

	/* SL n is mapped to VL n modulo 8, two in a byte */
	for (i = 0; i < ARRAY_SIZE(port->sl2vl); i++)
		for (j = 0; j < ARRAY_SIZE(port->sl2vl[i]); j++)
			port->sl2vl[i][j] = 0x01 + 0x22 * (j & 3);
	memcpy(port->vlarb[0], vlarb_default, sizeof(vlarb_default));
	memcpy(port->vlarb[2], vlarb_default, sizeof(vlarb_default));
}

static void vib_sma_node_desc(struct vib_smp *r)
{
	if (r->set)
		memcpy(r->port->node->desc, r->smp->data, sizeof(r->port->node->desc));
	memcpy(r->smp->data, r->port->node->desc, sizeof(r->port->node->desc));
}

static void vib_sma_node_info(struct vib_smp *r)
{
	struct vib_node *node = r->port->node;
	struct ib_node_info *info = (struct ib_node_info *)r->smp->data;

	*info = (struct ib_node_info) {
		.base_version = 1,
		.class_version = 1,
		.node_type = node->type,
		.num_ports = node->nports,
		.sys_guid = node->guid,
		.node_guid = node->guid,
		.port_guid = r->port->guid[0],
		.partition_cap = cpu_to_be16(VIB_PKEYS),
		.device_id = cpu_to_be16(VIB_DEVICE_ID),
		.revision = cpu_to_be32(1),
		.local_port_num = r->in_port,
	};
}

static void vib_sma_guid_info(struct vib_smp *r)
{
	struct vib_port *port = r->port;

	if (r->mod)
		return vib_smp_refuse(r);
	BUILD_BUG_ON(sizeof(port->guid) != IB_SMP_DATA_SIZE);
	if (r->set && memcmp(port->guid + 1, r->smp->data + 8, sizeof(port->guid) - 8)) {
		memcpy(port->guid + 1, r->smp->data + 8, sizeof(port->guid) - 8);
		vib_port_event(port, IB_EVENT_GID_CHANGE);
	}
	memcpy(r->smp->data, port->guid, sizeof(port->guid));
}

/* Returns port @num of a switch or NULL; for an HCA, its port. */
static struct vib_port *vib_smp_get_port(struct vib_smp *r, unsigned int num)
{
	if (!vib_is_switch(r->port))
		return r->port;
	return num <= r->port->node->nports ? &r->port->node->port[num] : NULL;
}

static void vib_sma_pkey_table(struct vib_smp *r)
{
	struct vib_port *port = vib_smp_get_port(r, r->mod >> 16);
	__be16 *data = (__be16 *)r->smp->data;
	bool changed = false;
	unsigned int i;

	if (!port || (r->mod & 0xffff))
		return vib_smp_refuse(r);
	for (i = 0; r->set && i < VIB_PKEYS; i++) {
		u16 pkey = be16_to_cpu(data[i]);

		changed |= port->pkey[i] != pkey;
		WRITE_ONCE(port->pkey[i], pkey);
	}
	if (changed)
		vib_port_event(port, IB_EVENT_PKEY_CHANGE);
	memset(r->smp->data, 0, sizeof(r->smp->data));
	for (i = 0; i < VIB_PKEYS; i++)
		data[i] = cpu_to_be16(port->pkey[i]);
}

static void vib_sma_sl2vl(struct vib_smp *r)
{
	struct vib_port *port = vib_smp_get_port(r, r->mod & 0xff);
	unsigned int in = vib_is_switch(r->port) ? r->mod >> 8 & 0xff : 0;
	u8 data[8];

	memcpy(data, r->smp->data, sizeof(data));
	memset(r->smp->data, 0, sizeof(r->smp->data));
	if (!port || in >= ARRAY_SIZE(port->sl2vl))
		return vib_smp_set_invalid(r);
	if (r->set)
		memcpy(port->sl2vl[in], data, sizeof(data));
	memcpy(r->smp->data, port->sl2vl[in], sizeof(data));
}

static void vib_sma_vl_arb(struct vib_smp *r)
{
	struct vib_port *port = vib_smp_get_port(r, r->mod & 0xff);
	unsigned int part = r->mod >> 16;

	if (!port || !part || part > ARRAY_SIZE(port->vlarb))
		return vib_smp_refuse(r);
	if (r->set)
		memcpy(port->vlarb[part - 1], r->smp->data, sizeof(port->vlarb[0]));
	memcpy(r->smp->data, port->vlarb[part - 1], sizeof(port->vlarb[0]));
}

static const struct attr {
	__be16 id;
	bool set;			/* may be set */
	bool sw;			/* switches only */
	void (*handle)(struct vib_smp *r);
} attrs[] = {
	{ IB_SMP_ATTR_NODE_DESC, false, false, vib_sma_node_desc },
	{ IB_SMP_ATTR_NODE_INFO, false, false, vib_sma_node_info },
	{ IB_SMP_ATTR_SWITCH_INFO, true, true, vib_sma_switch_info },
	{ IB_SMP_ATTR_GUID_INFO, true, false, vib_sma_guid_info },
	{ IB_SMP_ATTR_PORT_INFO, true, false, vib_sma_port_info },
	{ IB_SMP_ATTR_PKEY_TABLE, true, false, vib_sma_pkey_table },
	{ IB_SMP_ATTR_SL_TO_VL_TABLE, true, false, vib_sma_sl2vl },
	{ IB_SMP_ATTR_VL_ARB_TABLE, true, false, vib_sma_vl_arb },
	{ IB_SMP_ATTR_LINEAR_FORWARD_TABLE, true, true, vib_sma_lft },
	{ IB_SMP_ATTR_MCAST_FORWARD_TABLE, true, true, vib_sma_mft },
};

static const struct attr *vib_sma_find_attr(struct vib_smp *r)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (attrs[i].id == r->smp->attr_id &&
		    (attrs[i].set || !r->set) && (!attrs[i].sw || vib_is_switch(r->port)))
			return &attrs[i];
	return NULL;
}

/*
 * IBTA 14.2.4: a Get needs no M_Key below protection level 2. The lease period starts when an SMP
 * is refused, and stops when one with the M_Key arrives. The protection ends when it expires.
 */
static bool vib_mkey_is_valid(struct vib_port *port, const struct ib_smp *smp)
{
	struct rvt_ibport *rvp = &port->rvp;

	if (rvp->mkey_lease_timeout && time_after_eq(jiffies, rvp->mkey_lease_timeout)) {
		rvp->mkey_lease_timeout = 0;
		rvp->mkeyprot = 0;
	}
	if (!rvp->mkey || rvp->mkey == smp->mkey) {
		rvp->mkey_lease_timeout = 0;
		return true;
	}
	if (smp->method == IB_MGMT_METHOD_GET && rvp->mkeyprot < 2)
		return true;
	if (rvp->mkey_violations != 0xffff)
		rvp->mkey_violations++;
	/* 0 means that no lease is running */
	if (rvp->mkey_lease_period && !rvp->mkey_lease_timeout)
		rvp->mkey_lease_timeout = (jiffies + rvp->mkey_lease_period * HZ) ?: 1;
	return false;
}

static int vib_smp_set_reply(struct ib_smp *smp)
{
	smp->method = IB_MGMT_METHOD_GET_RESP;
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		smp->status |= IB_SMP_DIRECTION;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static int vib_sma_handle_attr(struct vib_smp *r)
{
	const struct attr *attr;

	/* the subnet manager in user space answers SMInfo */
	if (r->smp->attr_id == IB_SMP_ATTR_SM_INFO && (r->port->rvp.port_cap_flags & IB_PORT_SM))
		return IB_MAD_RESULT_SUCCESS;
	if (!vib_mkey_is_valid(r->port, r->smp))
		return IB_MAD_RESULT_FAILURE;
	attr = vib_sma_find_attr(r);
	if (attr)
		attr->handle(r);
	else
		r->smp->status |= cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	return vib_smp_set_reply(r->smp);
}

static int vib_sma_process_smp(struct vib_port *port, u8 in_port, const struct ib_mad *in,
			       struct ib_mad *out)
{
	struct vib_smp r = {
		.port = port,
		.in_port = in_port,
		.set = in->mad_hdr.method == IB_MGMT_METHOD_SET,
		.mod = be32_to_cpu(in->mad_hdr.attr_mod),
		.smp = (struct ib_smp *)out,
	};
	unsigned long flags;
	int ret;

	*out = *in;
	/* clears the direction bit, the only flag of a directed route in this field */
	r.smp->status = 0;
	switch (r.smp->method) {
	case IB_MGMT_METHOD_GET:
	case IB_MGMT_METHOD_SET:
		if (r.smp->class_version != 1) {
			r.smp->status = cpu_to_be16(IB_MGMT_MAD_STATUS_BAD_VERSION);
			return vib_smp_set_reply(r.smp);
		}
		spin_lock_irqsave(&vib.lock, flags);
		ret = vib_sma_handle_attr(&r);
		spin_unlock_irqrestore(&vib.lock, flags);
		return ret;
	case IB_MGMT_METHOD_TRAP_REPRESS:
		if (vib_is_switch(port)) {
			spin_lock_irqsave(&vib.lock, flags);
			vib_trap_repress(vib_port_switch(port));
			spin_unlock_irqrestore(&vib.lock, flags);
		}
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	default:
		/* responses and traps are for other agents */
		return IB_MAD_RESULT_SUCCESS;
	}
}

int vib_sma_process(struct vib_port *port, u8 in_port, const struct ib_mad *in, struct ib_mad *out)
{
	switch (in->mad_hdr.mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		return vib_sma_process_smp(port, in_port, in, out);
	case IB_MGMT_CLASS_PERF_MGMT:
		return vib_pma_process(port, in, out);
	default:
		return IB_MAD_RESULT_SUCCESS;	/* no agent of vib handles it */
	}
}
