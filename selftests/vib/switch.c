// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A switch forwards packets by the tables of the subnet manager, and SMPs with a directed route by
 * the path that they contain (IBTA 14.2.2). It has no queues: a packet leaves at once.
 */
#include <linux/slab.h>

#include "sma.h"

#define NO_PORT		0xff
#define MAX_COPIES	1024		/* of a multicast packet; more mean a loop in the MFTs */

/* The copies of the last multicast packets that entered. Only the work item of link.c uses both. */
static u16 copies[U8_MAX + 1];
static u8 last_flood;

static struct ib_smp *vib_pkt_to_smp(struct vib_pkt *pkt)
{
	return (struct ib_smp *)pkt->data;
}

static void vib_switch_drop_pkt(struct vib_port *in, struct vib_pkt *pkt)
{
	atomic64_inc(&in->count.dropped);
	kfree(pkt);
}

/* Returns the external port of @sw with this number, or NULL. */
static struct vib_port *vib_switch_ext_port(struct vib_switch *sw, unsigned int num)
{
	return num && num <= sw->node.nports ? &sw->port[num] : NULL;
}

static struct vib_port *vib_switch_lookup_lid(struct vib_switch *sw, u16 dlid)
{
	if (dlid > sw->lft_top || dlid >= VIB_LIDS)
		return NULL;
	return vib_switch_ext_port(sw, sw->lft[dlid]);
}

/* Forwards by the LFT. SMPs also pass links that are not ACTIVE yet. */
static void vib_switch_forward_pkt(struct vib_port *in, struct vib_pkt *pkt)
{
	struct vib_port *out;

	spin_lock_irq(&vib.lock);
	out = vib_switch_lookup_lid(vib_port_switch(in), pkt->dlid);
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
	struct vib_switch *sw = vib_port_switch(in);
	DECLARE_BITMAP(ports, VIB_MAX_PORTS) = {};
	u16 row = pkt->dlid - VIB_LIDS;
	struct vib_pkt *copy;
	unsigned int num;

	if (!pkt->flood) {
		pkt->flood = 1 + last_flood++ % (ARRAY_SIZE(copies) - 1);
		copies[pkt->flood] = 0;
	}
	spin_lock_irq(&vib.lock);
	for (num = 1; num <= sw->node.nports; num++)
		if (in->state == IB_PORT_ACTIVE && row < VIB_MLIDS && num != in->num &&
		    sw->mft[row][num / 16] & BIT(num % 16) &&
		    sw->port[num].state == IB_PORT_ACTIVE)
			__set_bit(num, ports);
	spin_unlock_irq(&vib.lock);

	for_each_set_bit(num, ports, VIB_MAX_PORTS) {
		if (copies[pkt->flood] == MAX_COPIES) {
			atomic64_inc(&in->count.dropped);
			break;
		}
		copies[pkt->flood]++;
		copy = vib_pkt_clone(pkt, GFP_KERNEL);
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
	ret = vib_sma_process(&in->node->port[0], in->num, (struct ib_mad *)pkt->data, answer);
	if (ret & IB_MAD_RESULT_REPLY) {
		memcpy(pkt->data, answer, sizeof(*answer));
		pkt->hops = 0;
	}
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
	vib_switch_forward_pkt(&in->node->port[0], pkt);
}

/* The directed part of the route continues: the packet leaves through port @num, without LIDs. */
static void vib_smp_send_directed(struct vib_port *in, struct vib_pkt *pkt, u8 num)
{
	struct vib_port *out = vib_switch_ext_port(vib_port_switch(in), num);

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
	pkt->slid = in->node->port[0].lid;
	spin_unlock_irq(&vib.lock);
	pkt->dlid = be16_to_cpu(dlid);
	vib_switch_forward_pkt(in, pkt);
}

/* Returns a response through the port at which the request arrived (C14-13). */
static void vib_smp_return_directed(struct vib_port *in, struct vib_pkt *pkt)
{
	struct ib_smp *smp = vib_pkt_to_smp(pkt);

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
	struct ib_smp *smp = vib_pkt_to_smp(pkt);

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
	mine = vib_port_has_lid(&in->node->port[0], pkt->dlid);
	spin_unlock_irq(&vib.lock);

	/* A directed SMP with any other LID is in a LID-routed part of its route. */
	if (pkt->smp && pkt->len >= sizeof(struct ib_smp) && (mine || pkt->dlid == permissive) &&
	    vib_pkt_to_smp(pkt)->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		vib_smp_handle_directed(in, pkt);
	else if (mine && (pkt->smp || pkt->dest_qp == 1))
		vib_switch_receive_mad(in, pkt);
	else if (mine || pkt->dlid == permissive)
		vib_switch_drop_pkt(in, pkt);
	else if (vib_is_mlid(pkt->dlid))
		vib_switch_forward_mcast(in, pkt);
	else
		vib_switch_forward_pkt(in, pkt);
}

static bool vib_port_is_active(const struct vib_port *port)
{
	return port && port->state == IB_PORT_ACTIVE;
}

/* Follows the LFTs from the HCA port @from to the HCA port with that LID, or to another host. */
static struct vib_port *vib_switch_walk(struct vib_port *from, u16 dlid)
{
	struct vib_port *out = from;
	unsigned int hops;

	for (hops = 0; hops < VIB_MAX_HOPS; hops++) {
		if (!vib_port_is_active(out) || !vib_port_is_active(out->peer))
			return NULL;
		if (vib_is_remote(out->peer))
			return out->peer;
		if (!vib_is_switch(out->peer))
			return vib_port_has_lid(out->peer, dlid) ? out->peer : NULL;
		out = vib_switch_lookup_lid(vib_port_switch(out->peer), dlid);
	}
	return NULL;
}

struct vib_port *vib_switch_route(struct vib_port *from, u16 dlid)
{
	struct vib_port *to, *back;

	lockdep_assert_held(&vib.lock);
	if (vib_port_is_active(from) && vib_port_has_lid(from, dlid))
		return from;
	to = vib_switch_walk(from, dlid);
	if (!to || vib_is_remote(to))
		return to;
	back = vib_switch_walk(to, from->lid);
	if (back && vib_is_remote(back))
		return back;
	return back == from ? to : NULL;
}

static void vib_switch_init(struct vib_switch *sw, unsigned int nports, __be64 guid)
{
	unsigned int i;

	sw->node.type = VIB_NODE_SWITCH;
	sw->node.guid = guid;
	sw->node.nports = nports;
	sw->node.port = sw->port;
	strscpy(sw->node.desc, "vib switch", sizeof(sw->node.desc));
	memset(sw->lft, NO_PORT, sizeof(sw->lft));
	for (i = 0; i <= nports; i++) {
		sw->port[i].node = &sw->node;
		sw->port[i].num = i;
		sw->port[i].guid[0] = sw->node.guid;
		vib_sma_init(&sw->port[i]);
	}
	/* port 0 has no cable and is always up */
	sw->port[0].state = IB_PORT_ACTIVE;
	sw->port[0].phys = IB_PORT_PHYS_STATE_LINK_UP;
	vib_trap_init(sw);
}

int vib_switch_add(unsigned int nports, __be64 guid)
{
	struct vib_switch *sw = kvzalloc(struct_size(sw, port, nports + 1), GFP_KERNEL);

	if (!sw)
		return -ENOMEM;
	vib_switch_init(sw, nports, guid);
	sw->index = vib.switches;
	vib.sw[vib.switches++] = sw;
	return 0;
}

/* All HCAs are gone. */
void vib_switch_exit(void)
{
	unsigned int i;

	for (i = 0; i < vib.switches; i++)
		vib_trap_exit(vib.sw[i]);
	vib_link_flush(NULL);
	for (i = 0; i < vib.switches; i++)
		kvfree(vib.sw[i]);
}

const char *vib_port_state_name(const struct vib_port *port)
{
	switch (port->state) {
	case IB_PORT_DOWN: return "down";
	case IB_PORT_INIT: return "init";
	case IB_PORT_ARMED: return "armed";
	case IB_PORT_ACTIVE: return "active";
	default: return "?";
	}
}

/* Lockless: holding vib.lock for all tables would stop the fabric. */
void vib_switch_show(struct seq_file *m, struct vib_switch *sw)
{
	unsigned int i, num;

	seq_printf(m, "lid %u sm %u\n", sw->port[0].lid, sw->port[0].rvp.sm_lid);
	for (i = 1; i <= sw->node.nports; i++) {
		struct vib_port *port = &sw->port[i];
		struct vib_counters *c = &port->count;

		seq_printf(m, "port %u %s in %lld out %lld mcast-in %lld mcast-out %lld dropped %lld\n",
			   i, vib_port_state_name(port),
			   atomic64_read(&c->rcv_pkts), atomic64_read(&c->xmit_pkts),
			   atomic64_read(&c->rcv_mcast), atomic64_read(&c->xmit_mcast),
			   atomic64_read(&c->dropped));
	}
	for (i = 0; i <= sw->lft_top && i < VIB_LIDS; i++)
		if (sw->lft[i] != NO_PORT)
			seq_printf(m, "lft %u %u\n", i, sw->lft[i]);
	for (i = 0; i < VIB_MLIDS; i++) {
		if (!memchr_inv(sw->mft[i], 0, sizeof(sw->mft[i])))
			continue;
		seq_printf(m, "mft 0x%x", VIB_LIDS + i);
		for (num = 0; num < VIB_MAX_PORTS; num++)
			if (sw->mft[i][num / 16] & BIT(num % 16))
				seq_printf(m, " %u", num);
		seq_putc(m, '\n');
	}
}
