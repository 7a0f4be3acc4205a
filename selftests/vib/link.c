// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state of the links, and the packets in transit. All packets of the fabric wait in one queue,
 * and one work item takes each of them to the next switch, where it waits again, or to its
 * destination. So the packets of a route stay in order, except for MADs that are delayed on
 * purpose.
 */
#include <linux/slab.h>

#include "vib.h"

static LIST_HEAD(queue);
static DEFINE_SPINLOCK(queue_lock);
static struct workqueue_struct *link_wq;

struct vib_pkt *vib_pkt_alloc(u32 len, gfp_t gfp)
{
	struct vib_pkt *pkt = kzalloc(struct_size(pkt, data, len), gfp);

	if (pkt) {
		pkt->len = len;
		pkt->due = jiffies;
	}
	return pkt;
}

struct vib_pkt *vib_pkt_clone(const struct vib_pkt *pkt, gfp_t gfp)
{
	return kmemdup(pkt, struct_size(pkt, data, pkt->len), gfp);
}

/* Returns the other end of the cable and counts the packet, or NULL if it cannot pass. */
static struct vib_port *vib_link_pass(struct vib_port *from, struct vib_pkt *pkt)
{
	bool mcast = vib_is_mlid(pkt->dlid);
	struct vib_port *to;

	lockdep_assert_held(&vib.lock);
	to = from->peer;
	if (!to || from->phys != IB_PORT_PHYS_STATE_LINK_UP || pkt->hops == VIB_MAX_HOPS)
		return NULL;
	if (!pkt->smp && (from->state != IB_PORT_ACTIVE || to->state < IB_PORT_ARMED ||
			  (!pkt->rc && pkt->len > ib_mtu_enum_to_int(from->mtu))))
		return NULL;
	pkt->hops++;
	atomic64_inc(&from->count.xmit_pkts);
	atomic64_add(pkt->len, &from->count.xmit_data);
	atomic64_inc(mcast ? &from->count.xmit_mcast : &from->count.xmit_ucast);
	atomic64_inc(&to->count.rcv_pkts);
	atomic64_add(pkt->len, &to->count.rcv_data);
	atomic64_inc(mcast ? &to->count.rcv_mcast : &to->count.rcv_ucast);
	return to;
}

static void vib_link_queue(struct vib_port *from, struct vib_pkt *pkt)
{
	unsigned long flags;

	pkt->from = from;
	spin_lock_irqsave(&queue_lock, flags);
	list_add_tail(&pkt->list, &queue);
	spin_unlock_irqrestore(&queue_lock, flags);
}

void vib_link_send(struct vib_port *out, struct vib_pkt *pkt)
{
	struct vib_port *to;

	spin_lock_irq(&vib.lock);
	to = vib_link_pass(out, pkt);
	if (!to)
		atomic64_inc(&out->count.dropped);
	spin_unlock_irq(&vib.lock);
	if (!to)
		kfree(pkt);
	else if (vib_is_switch(to))
		vib_link_queue(to, pkt);
	else if (vib_is_remote(to))
		vib_udp_send(to, pkt);
	else
		vib_port_receive(to, pkt);
}

/* An HCA keeps packets to its own LID, and delivers multicast to its own members as well. */
static void vib_link_deliver(struct vib_pkt *pkt)
{
	struct vib_port *from = pkt->from, *to;
	struct vib_pkt *copy = NULL;
	bool self;

	if (vib_is_switch(from)) {
		vib_switch_receive(from, pkt);
		return;
	}
	spin_lock_irq(&vib.lock);
	self = from->peer && vib_port_has_lid(from, pkt->dlid) &&
	       (pkt->smp || from->state == IB_PORT_ACTIVE);
	to = self ? NULL : vib_link_pass(from, pkt);
	spin_unlock_irq(&vib.lock);
	if (self) {
		vib_port_receive(from, pkt);
		return;
	}
	if (!to) {
		kfree(pkt);
		return;
	}
	if (vib_is_mlid(pkt->dlid))
		copy = vib_pkt_clone(pkt, GFP_KERNEL);
	if (copy)
		vib_port_receive(from, copy);
	vib_switch_receive(to, pkt);
}

static void vib_link_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(link_work, vib_link_work);

/* Returns the first packet that is due, or NULL and in @wait the time until the next one is. */
static struct vib_pkt *vib_link_next(unsigned long *wait)
{
	struct vib_pkt *pkt;

	*wait = MAX_JIFFY_OFFSET;
	spin_lock_irq(&queue_lock);
	list_for_each_entry(pkt, &queue, list) {
		if (time_after_eq(jiffies, pkt->due)) {
			list_del(&pkt->list);
			spin_unlock_irq(&queue_lock);
			return pkt;
		}
		*wait = min(*wait, pkt->due - jiffies);
	}
	spin_unlock_irq(&queue_lock);
	return NULL;
}

static void vib_link_work(struct work_struct *work)
{
	struct vib_pkt *pkt;
	unsigned long wait;

	while ((pkt = vib_link_next(&wait))) {
		vib_link_deliver(pkt);
		cond_resched();
	}
	if (wait != MAX_JIFFY_OFFSET)
		queue_delayed_work(link_wq, &link_work, wait);
}

void vib_link_post(struct vib_port *from, struct vib_pkt *pkt)
{
	struct vib_pkt *again = NULL;

	if (pkt->dest_qp <= 1 && vib_mad_account(pkt)) {
		kfree(pkt);
		return;
	}
	if (pkt->repeat)
		again = vib_pkt_clone(pkt, GFP_ATOMIC);
	if (again) {
		again->due += again->repeat;
		vib_link_queue(from, again);
	}
	vib_link_queue(from, pkt);
	mod_delayed_work(link_wq, &link_work, 0);
}

void vib_link_arrive(struct vib_port *far, struct vib_pkt *pkt)
{
	struct vib_port *to;

	spin_lock_irq(&vib.lock);
	to = vib_link_pass(far, pkt);
	spin_unlock_irq(&vib.lock);
	if (!to) {
		kfree(pkt);
		return;
	}
	vib_link_queue(to, pkt);
	mod_delayed_work(link_wq, &link_work, 0);
}

void vib_link_flush(struct vib_port *port)
{
	struct vib_pkt *pkt, *next;

	spin_lock_irq(&queue_lock);
	list_for_each_entry_safe(pkt, next, &queue, list)
		if (!port || pkt->from == port) {
			list_del(&pkt->list);
			kfree(pkt);
		}
	spin_unlock_irq(&queue_lock);
	flush_delayed_work(&link_work);
}

static void vib_link_end(struct vib_port *port, bool up, bool fresh)
{
	u8 old = port->state;

	if (up)
		port->phys = IB_PORT_PHYS_STATE_LINK_UP;
	else if (port->phys == IB_PORT_PHYS_STATE_LINK_UP)
		port->phys = IB_PORT_PHYS_STATE_POLLING;
	if (!up)
		port->state = IB_PORT_DOWN;
	else if (fresh)
		port->state = vib_is_remote(port) ? IB_PORT_ACTIVE : IB_PORT_INIT;
	if (old >= IB_PORT_INIT && (!up || fresh))
		atomic64_inc(&port->count.downed);
	if (port->state == old)
		return;
	if (old == IB_PORT_ACTIVE)
		vib_port_event(port, IB_EVENT_PORT_ERR);
	if (vib_is_switch(port))
		vib_switch_state_changed(port);
}

/* Returns the highest bit that both ends have enabled, or 0. */
static u8 vib_link_best_bit(u8 a, u8 b)
{
	return a & b ? BIT(fls(a & b) - 1) : 0;
}

/* Negotiates width and speed of both ends. Returns false if they have none in common. */
static bool vib_link_train(struct vib_port *port, struct vib_port *peer)
{
	u8 width = vib_link_best_bit(port->width_enabled, peer->width_enabled);
	u8 speed = vib_link_best_bit(port->speed_enabled, peer->speed_enabled);

	if (!width || !speed)
		return false;
	port->width = width;
	peer->width = width;
	port->speed = speed;
	peer->speed = speed;
	return true;
}

void vib_link_update(struct vib_port *port)
{
	struct vib_port *peer = port->peer;
	bool up, fresh;

	lockdep_assert_held(&vib.lock);
	if (peer && vib_is_remote(peer))
		vib_udp_follow(peer);
	up = peer && (port->cable || peer->cable) && port->phys != IB_PORT_PHYS_STATE_DISABLED &&
	     peer->phys != IB_PORT_PHYS_STATE_DISABLED;
	fresh = up && (port->phys != IB_PORT_PHYS_STATE_LINK_UP ||
		       peer->phys != IB_PORT_PHYS_STATE_LINK_UP);
	if (fresh && !vib_link_train(port, peer))
		up = false;
	vib_link_end(port, up, fresh);
	if (peer)
		vib_link_end(peer, up, fresh);
}

int vib_link_init(void)
{
	link_wq = alloc_ordered_workqueue("vib_link", WQ_HIGHPRI);
	return link_wq ? 0 : -ENOMEM;
}

void vib_link_exit(void)
{
	destroy_workqueue(link_wq);
}
