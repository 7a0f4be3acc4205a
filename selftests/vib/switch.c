// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The switch forwards packets by the tables of the subnet manager, and SMPs with a directed route
 * by the path that they contain (IBTA 14.2.2). It has no queues: a packet leaves at once.
 */
#include "sma.h"

#define NO_PORT		0xff

static struct vib_switch *const sw = &vib.sw;

static struct ib_smp *smp_of(struct vib_pkt *pkt)
{
	return (struct ib_smp *)pkt->data;
}

static void vib_switch_drop_pkt(struct vib_port *in, struct vib_pkt *pkt)
{
	atomic64_inc(&in->count.dropped);
	kfree(pkt);
}

static bool is_multicast(u16 lid)
{
	return lid >= VIB_LIDS && lid != be16_to_cpu(IB_LID_PERMISSIVE);
}

static bool has_lid(const struct vib_port *port, u16 lid)
{
	return port->lid && lid >= port->lid && lid < port->lid + (1 << port->lmc);
}

/* Returns the external port with this number, or NULL. */
static struct vib_port *vib_switch_ext_port(unsigned int num)
{
	return num && num <= sw->node.nports ? &sw->port[num] : NULL;
}

static struct vib_port *vib_switch_lookup_lid(u16 dlid)
{
	return dlid <= sw->lft_top && dlid < VIB_LIDS ? vib_switch_ext_port(sw->lft[dlid]) : NULL;
}

/* Forwards by the LFT. SMPs also pass links that are not ACTIVE yet. */
static void vib_switch_forward_pkt(struct vib_port *in, struct vib_pkt *pkt)
{
	struct vib_port *out;

	spin_lock_irq(&vib.lock);
	out = vib_switch_lookup_lid(pkt->dlid);
	if (out && !pkt->smp && (out->state != IB_PORT_ACTIVE ||
				 (in->num && in->state != IB_PORT_ACTIVE)))
		out = NULL;
	spin_unlock_irq(&vib.lock);
	if (out)
		vib_link_send(out, pkt);
	else
		vib_switch_drop_pkt(in, pkt);
}

static void vib_switch_forward_mcast(struct vib_port *in, struct vib_pkt *pkt)
{
	unsigned long ports = 0, num;
	struct vib_pkt *copy;

	spin_lock_irq(&vib.lock);
	if (in->state == IB_PORT_ACTIVE && pkt->dlid - VIB_LIDS < VIB_MLIDS)
		ports = sw->mft[pkt->dlid - VIB_LIDS];
	for (num = 0; num < VIB_MAX_PORTS; num++)
		if (!num || num > sw->node.nports || num == in->num ||
		    sw->port[num].state != IB_PORT_ACTIVE)
			__clear_bit(num, &ports);
	spin_unlock_irq(&vib.lock);

	for_each_set_bit(num, &ports, VIB_MAX_PORTS) {
		copy = vib_pkt_clone(pkt);
		if (copy)
			vib_link_send(&sw->port[num], copy);
	}
	kfree(pkt);
}

/* Processes a MAD for the switch itself. The response replaces it in the same packet. */
static bool vib_switch_process_mad(struct vib_port *in, struct vib_pkt *pkt)
{
	struct ib_mad *answer;
	int ret;

	if (pkt->len < sizeof(*answer))
		return false;
	answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	if (!answer)
		return false;
	ret = vib_sma_process(&sw->port[0], in->num, (struct ib_mad *)pkt->data, answer);
	if (ret & IB_MAD_RESULT_REPLY)
		memcpy(pkt->data, answer, sizeof(*answer));
	kfree(answer);
	return ret & IB_MAD_RESULT_REPLY;
}

static void vib_switch_receive_mad(struct vib_port *in, struct vib_pkt *pkt)
{
	if (!vib_switch_process_mad(in, pkt))
		return vib_switch_drop_pkt(in, pkt);
	swap(pkt->slid, pkt->dlid);
	swap(pkt->src_qp, pkt->dest_qp);
	pkt->has_grh = false;
	vib_switch_forward_pkt(&sw->port[0], pkt);
}

/* The directed part of the route continues: the packet leaves through port @num, without LIDs. */
static void vib_smp_send_directed(struct vib_port *in, struct vib_pkt *pkt, u8 num)
{
	struct vib_port *out = vib_switch_ext_port(num);

	if (!out)
		return vib_switch_drop_pkt(in, pkt);
	pkt->slid = be16_to_cpu(IB_LID_PERMISSIVE);
	pkt->dlid = be16_to_cpu(IB_LID_PERMISSIVE);
	vib_link_send(out, pkt);
}

/* The directed part of the route ends here: the packet is forwarded to @dlid by the LFT. */
static void vib_smp_send_by_lid(struct vib_port *in, struct vib_pkt *pkt, __be16 dlid)
{
	spin_lock_irq(&vib.lock);
	pkt->slid = sw->port[0].lid;
	spin_unlock_irq(&vib.lock);
	pkt->dlid = be16_to_cpu(dlid);
	vib_switch_forward_pkt(in, pkt);
}

/* Returns a response through the port at which the request arrived (C14-13). */
static void vib_smp_return_directed(struct vib_port *in, struct vib_pkt *pkt)
{
	struct ib_smp *smp = smp_of(pkt);

	if (!smp->hop_ptr || smp->hop_ptr > smp->hop_cnt + 1)
		return vib_switch_drop_pkt(in, pkt);
	smp->hop_ptr--;
	if (smp->hop_ptr)
		vib_smp_send_directed(in, pkt, smp->return_path[smp->hop_ptr]);
	else if (smp->dr_slid != IB_LID_PERMISSIVE)
		vib_smp_send_by_lid(in, pkt, smp->dr_slid);
	else
		/* no subnet manager runs on the switch, so the route is invalid */
		vib_switch_drop_pkt(in, pkt);
}

static void vib_smp_handle_directed(struct vib_port *in, struct vib_pkt *pkt)
{
	struct ib_smp *smp = smp_of(pkt);

	if (smp->hop_cnt >= IB_SMP_MAX_PATH_HOPS)
		return vib_switch_drop_pkt(in, pkt);
	if (ib_get_smp_direction(smp))
		return vib_smp_return_directed(in, pkt);
	/* Hop pointer 0: the SMP was LID-routed, and its directed part begins here (C14-9). */
	if (smp->hop_ptr > smp->hop_cnt || (!smp->hop_ptr && smp->dr_slid == IB_LID_PERMISSIVE))
		return vib_switch_drop_pkt(in, pkt);
	if (smp->hop_ptr)
		smp->return_path[smp->hop_ptr] = in->num;
	smp->hop_ptr++;
	if (smp->hop_ptr <= smp->hop_cnt)
		return vib_smp_send_directed(in, pkt, smp->initial_path[smp->hop_ptr]);
	if (smp->dr_dlid != IB_LID_PERMISSIVE)
		return vib_smp_send_by_lid(in, pkt, smp->dr_dlid);
	if (!vib_switch_process_mad(in, pkt))
		return vib_switch_drop_pkt(in, pkt);
	vib_smp_return_directed(in, pkt);
}

void vib_switch_receive(struct vib_port *in, struct vib_pkt *pkt)
{
	u16 permissive = be16_to_cpu(IB_LID_PERMISSIVE);
	bool mine;

	spin_lock_irq(&vib.lock);
	mine = has_lid(&sw->port[0], pkt->dlid);
	spin_unlock_irq(&vib.lock);

	/* A directed SMP with any other LID is in a LID-routed part of its route. */
	if (pkt->smp && pkt->len >= sizeof(struct ib_smp) && (mine || pkt->dlid == permissive) &&
	    smp_of(pkt)->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		vib_smp_handle_directed(in, pkt);
	else if (mine && (pkt->smp || pkt->dest_qp == 1))
		vib_switch_receive_mad(in, pkt);
	else if (mine || pkt->dlid == permissive)
		vib_switch_drop_pkt(in, pkt);
	else if (is_multicast(pkt->dlid))
		vib_switch_forward_mcast(in, pkt);
	else
		vib_switch_forward_pkt(in, pkt);
}

static bool vib_port_active(const struct vib_port *port)
{
	return port && port->state == IB_PORT_ACTIVE;
}

struct vib_port *vib_switch_route(struct vib_port *from, u16 dlid)
{
	struct vib_port *out;

	lockdep_assert_held(&vib.lock);
	if (!vib_port_active(from))
		return NULL;
	if (has_lid(from, dlid))
		return from;
	out = vib_switch_lookup_lid(dlid);
	if (!vib_port_active(from->peer) || !vib_port_active(out) || !vib_port_active(out->peer) ||
	    !has_lid(out->peer, dlid) || vib_switch_lookup_lid(from->lid) != from->peer)
		return NULL;
	return out->peer;
}

void vib_switch_init(unsigned int nports)
{
	unsigned int i;

	spin_lock_irq(&vib.lock);
	sw->node.type = VIB_NODE_SWITCH;
	sw->node.nports = nports;
	sw->node.port = sw->port;
	strscpy(sw->node.desc, "vib switch", sizeof(sw->node.desc));
	memset(sw->lft, NO_PORT, sizeof(sw->lft));
	memset(sw->mft, 0, sizeof(sw->mft));
	sw->lft_top = 0;
	for (i = 0; i <= nports; i++) {
		sw->port[i].node = &sw->node;
		sw->port[i].num = i;
		sw->port[i].guid[0] = sw->node.guid;
		sw->port[i].rvp.pkey_table = sw->port[i].pkey;
		vib_sma_init(&sw->port[i]);
	}
	/* port 0 has no cable and is always up */
	sw->port[0].state = IB_PORT_ACTIVE;
	sw->port[0].phys = IB_PORT_PHYS_STATE_LINK_UP;
	spin_unlock_irq(&vib.lock);
}

void vib_switch_exit(void)
{
	vib_trap_exit();
}

static void show_ports(struct seq_file *m, unsigned long ports)
{
	unsigned long num;

	for_each_set_bit(num, &ports, 16)
		seq_printf(m, " %lu", num);
	seq_putc(m, '\n');
}

static const char *state_name(u8 state)
{
	switch (state) {
	case IB_PORT_DOWN: return "down";
	case IB_PORT_INIT: return "init";
	case IB_PORT_ARMED: return "armed";
	case IB_PORT_ACTIVE: return "active";
	default: return "?";
	}
}

/* Lockless: holding vib.lock for all tables would stop the fabric. */
void vib_switch_show(struct seq_file *m)
{
	unsigned int i;

	seq_printf(m, "lid %u sm %u\n", sw->port[0].lid, sw->port[0].rvp.sm_lid);
	for (i = 1; i <= sw->node.nports; i++) {
		struct vib_port *port = &sw->port[i];
		struct vib_counters *c = &port->count;

		seq_printf(m, "port %u %s in %lld out %lld mcast-in %lld mcast-out %lld dropped %lld\n",
			   i, state_name(port->state),
			   atomic64_read(&c->rcv_pkts), atomic64_read(&c->xmit_pkts),
			   atomic64_read(&c->rcv_mcast), atomic64_read(&c->xmit_mcast),
			   atomic64_read(&c->dropped));
	}
	for (i = 0; i <= sw->lft_top && i < VIB_LIDS; i++)
		if (sw->lft[i] != NO_PORT)
			seq_printf(m, "lft %u %u\n", i, sw->lft[i]);
	for (i = 0; i < VIB_MLIDS; i++)
		if (sw->mft[i]) {
			seq_printf(m, "mft 0x%x", VIB_LIDS + i);
			show_ports(m, sw->mft[i]);
		}
}
