// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address resolution: from the peer's IP address to the local device and
 * port, and the peer's link layer address.
 *
 * All of it is done in the call if the neighbour is known. If not, the query
 * waits in a table until the neighbour notifier says that there is news, or
 * its time is over, and then looks everything up again from a work item. When
 * there is no neighbour, as the kernel's table of them is full, there will be
 * no news: it looks again every now and then.
 */
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "addr.h"
#include "bind.h"
#include "device.h"
#include "event.h"
#include "lookup.h"
#include "port.h"
#include "sockaddr.h"
#include "transport.h"
#include "watch.h"

/* Between two looks at a full neighbour table */
#define FULL_TABLE_MS 500

/**
 * struct cmx_addr_op - a query under way
 * @ref: one of &cmx_priv.addr_op, one of @work while it is queued or runs
 * @node: in the table of queries, by @hop, if there is one
 * @hop: the neighbour that it waits for
 * @p: the id, with a reference
 * @ev: the event that it will end with, or NULL when posted
 * @deadline: jiffies
 * @work: next try
 *
 * It is p's operation while p->addr_op points to it, else only memory.
 */
struct cmx_addr_op {
	struct kref ref;
	struct hlist_node node;
	struct cmx_hop hop;
	struct cmx_priv *p;
	struct cmx_event *ev;
	unsigned long deadline;
	struct delayed_work work;
};

static DEFINE_HASHTABLE(ops, 8);
static DEFINE_SPINLOCK(ops_lock);	/* protects ops and their hop */

struct attach_arg {
	struct cmx_priv *p;
	struct net_device *ndev;
	union ib_gid gid;
};

static int attach_port(struct cmx_device *dev, u32 port, void *data)
{
	const struct cmx_transport *transport = cmx_device_port(dev, port)->transport;
	const struct ib_gid_attr *attr;
	struct attach_arg *arg = data;
	struct cmx_priv *p = arg->p;
	u8 gid_type;

	if (transport->has_gid_addr || !rdma_dev_access_netns(dev->device, cmx_net(p)))
		return 0;
	gid_type = cmx_opt_set(p, CMX_OPT_GID_TYPE) ? p->opt.gid_type
						    : cmx_device_port(dev, port)->gid_type;
	attr = transport->port_gid(dev->device, port, &arg->gid, gid_type, arg->ndev);
	if (IS_ERR(attr))
		return 0;
	return !cmx_device_attach_attr(p, dev, port, attr);
}

/*
 * Attaches to the port that has the GID of @src on the interface of @addr. That
 * of an IPoIB interface is in its hardware address.
 */
static int attach(struct cmx_priv *p, struct rdma_dev_addr *addr, struct sockaddr *src)
{
	struct attach_arg arg = { .p = p };
	int found;

	if (addr->dev_type == ARPHRD_INFINIBAND) {
		rdma_addr_get_sgid(addr, &arg.gid);
		return cmx_attach_gid(p, &arg.gid);
	}
	/* that port space is for InfiniBand */
	if (p->id.ps == RDMA_PS_IPOIB)
		return -EINVAL;
	if (rdma_ip2gid(src, &arg.gid))
		return -ENODEV;
	arg.ndev = dev_get_by_index(addr->net, addr->bound_dev_if);
	if (!arg.ndev)
		return -ENODEV;
	found = cmx_device_for_each_port(attach_port, &arg);
	dev_put(arg.ndev);
	return found ? 0 : -ENODEV;
}

/* All but what attaching to the device has set. */
static void copy_link(struct cmx_priv *p, const struct rdma_dev_addr *from)
{
	struct rdma_dev_addr *to = &p->id.route.addr.dev_addr;

	memcpy(to->src_dev_addr, from->src_dev_addr, MAX_ADDR_LEN);
	memcpy(to->dst_dev_addr, from->dst_dev_addr, MAX_ADDR_LEN);
	memcpy(to->broadcast, from->broadcast, MAX_ADDR_LEN);
	to->dev_type = from->dev_type;
	to->bound_dev_if = from->bound_dev_if;
	to->network = from->network;
	to->hoplimit = from->hoplimit;
}

/**
 * cmx_addr_bind_device() - attach an id to the port that owns its address
 * @p: the id; its lock is held, its source address is set, it has no device
 *
 * Return: 0; -EADDRNOTAVAIL: not a local address; -ENODEV: no RDMA device has
 * it; -EINVAL: the device is not for that port space.
 */
int cmx_addr_bind_device(struct cmx_priv *p)
{
	struct rdma_dev_addr addr = p->id.route.addr.dev_addr;
	int ret;

	lockdep_assert_held(&p->lock);
	if (cmx_src(p)->sa_family == AF_IB)
		return cmx_addr_ib_bind(p);
	ret = rdma_translate_ip(cmx_src(p), &addr);
	if (!ret)
		ret = attach(p, &addr, cmx_src(p));
	if (!ret)
		copy_link(p, &addr);
	return ret;
}

/* Ends a query with its event, which is the owner's from here on. */
static void query_done(struct cmx_priv *p, struct cmx_found *f, struct cmx_event *ev, int status)
{
	if (!status && !p->dev)
		status = attach(p, &f->addr, &f->src.sa);
	if (status) {
		ev->ev.event = RDMA_CM_EVENT_ADDR_ERROR;
		ev->ev.status = status;
		cmx_state_move(p, CMX_IN(ADDR_QUERY), CMX_BOUND);
	} else {
		copy_link(p, &f->addr);
		cmx_port_set_addr(p, &f->src.sa, NULL);
		cmx_watch_peer(p);
		cmx_state_move(p, CMX_IN(ADDR_QUERY), CMX_ADDR_RESOLVED);
	}
	cmx_event_post(ev);
}

static void op_free(struct kref *ref)
{
	struct cmx_addr_op *op = container_of(ref, struct cmx_addr_op, ref);

	if (op->ev)
		cmx_event_free(op->ev);
	cmx_id_put(op->p);
	kfree(op);
}

/* May be called in any context by who knows that there is another reference. */
static void op_queue(struct cmx_addr_op *op, unsigned long delay)
{
	kref_get(&op->ref);
	if (mod_delayed_work(cmx_wq, &op->work, delay))
		kref_put(&op->ref, op_free);
}

/* Takes the operation away from its id. */
static void op_detach(struct cmx_addr_op *op)
{
	op->p->addr_op = NULL;
	spin_lock_bh(&ops_lock);
	hash_del(&op->node);
	spin_unlock_bh(&ops_lock);
}

/*
 * Waits for news of a neighbour, for so many jiffies at most. The notifier looks for it from
 * here on; what it had to say before shows in the tables.
 */
static void op_wait(struct cmx_addr_op *op, const struct cmx_hop *hop, unsigned long left)
{
	struct cmx_found f;
	struct cmx_hop now;

	spin_lock_bh(&ops_lock);
	hash_del(&op->node);
	op->hop = *hop;
	if (hop->family)
		hash_add(ops, &op->node, cmx_hop_hash(hop));
	spin_unlock_bh(&ops_lock);

	if (!hop->family) {
		op_queue(op, min(left, msecs_to_jiffies(FULL_TABLE_MS)));
		return;
	}
	op_queue(op, left);
	if (cmx_lookup(op->p, &f, &now) != -ENODATA || !cmx_hop_equal(&now, hop))
		op_queue(op, 0);
}

static void op_try(struct cmx_addr_op *op)
{
	long left = op->deadline - jiffies;
	struct cmx_found f;
	struct cmx_hop hop;
	int ret;

	ret = cmx_lookup(op->p, &f, &hop);
	if (ret && left <= 0)
		ret = -ETIMEDOUT;
	if (ret == -ENODATA) {
		op_wait(op, &hop, left);
		return;
	}
	op_detach(op);
	query_done(op->p, &f, op->ev, ret);
	op->ev = NULL;
	kref_put(&op->ref, op_free);
}

static void op_work(struct work_struct *work)
{
	struct cmx_addr_op *op = container_of(to_delayed_work(work), struct cmx_addr_op, work);
	struct cmx_priv *p = op->p;

	mutex_lock(&p->lock);
	if (p->addr_op == op && p->state == CMX_ADDR_QUERY)
		op_try(op);
	mutex_unlock(&p->lock);
	kref_put(&op->ref, op_free);
}

static int op_start(struct cmx_priv *p, const struct cmx_hop *hop, struct cmx_event *ev,
		    unsigned long timeout_ms)
{
	unsigned long timeout = msecs_to_jiffies(min_t(unsigned long, timeout_ms, INT_MAX));
	struct cmx_addr_op *op;

	op = kzalloc(sizeof(*op), GFP_KERNEL_ACCOUNT);
	if (!op)
		return -ENOMEM;
	kref_init(&op->ref);
	INIT_DELAYED_WORK(&op->work, op_work);
	op->p = cmx_id_get(p);
	op->ev = ev;
	op->deadline = jiffies + timeout;
	p->addr_op = op;
	op_wait(op, hop, timeout);
	return 0;
}

/**
 * cmx_addr_cancel() - give up the address query of an id
 * @p: the id; its lock is held. Nothing to do without a query
 *
 * No event follows, and the state stays. Does not wait.
 */
void cmx_addr_cancel(struct cmx_priv *p)
{
	struct cmx_addr_op *op = p->addr_op;

	lockdep_assert_held(&p->lock);
	if (!op)
		return;
	op_detach(op);
	if (cancel_delayed_work(&op->work))
		kref_put(&op->ref, op_free);
	kref_put(&op->ref, op_free);
}

/* A failed neighbour is asked again as long as the query has time left. */
static int neigh_changed(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct neighbour *n = data;
	struct cmx_addr_op *op;
	struct cmx_hop hop;

	if (event != NETEVENT_NEIGH_UPDATE ||
	    !(READ_ONCE(n->nud_state) & (NUD_VALID | NUD_FAILED)))
		return NOTIFY_DONE;
	hop = cmx_hop_of(n);
	spin_lock_bh(&ops_lock);
	hash_for_each_possible(ops, op, node, cmx_hop_hash(&hop))
		if (cmx_hop_equal(&op->hop, &hop))
			op_queue(op, 0);
	spin_unlock_bh(&ops_lock);
	return NOTIFY_DONE;
}

static struct notifier_block neigh_notifier = {
	.notifier_call = neigh_changed,
};

int cmx_addr_init_module(void)
{
	return register_netevent_notifier(&neigh_notifier);
}

void cmx_addr_exit_module(void)
{
	unregister_netevent_notifier(&neigh_notifier);
}

struct loopback_arg {
	struct cmx_priv *p;
	bool active;
};

static int attach_loopback(struct cmx_device *dev, u32 port, void *data)
{
	const struct cmx_transport *transport = cmx_device_port(dev, port)->transport;
	struct loopback_arg *arg = data;
	struct cmx_priv *p = arg->p;
	enum ib_port_state state;
	union ib_gid gid;
	u16 pkey;
	int ret;

	if (!rdma_dev_access_netns(dev->device, cmx_net(p)) ||
	    !cmx_device_fits(dev->device, p->node_type) || !transport->has_loopback)
		return 0;
	if (arg->active && (ib_get_cached_port_state(dev->device, port, &state) ||
			    state != IB_PORT_ACTIVE))
		return 0;
	ret = rdma_query_gid(dev->device, port, 0, &gid);
	if (!ret)
		ret = ib_get_cached_pkey(dev->device, port, 0, &pkey);
	if (ret)
		return ret;
	ret = cmx_device_attach(p, dev, port);
	if (ret)
		return ret;
	p->id.route.addr.dev_addr.dev_type = transport->has_gid_addr ? ARPHRD_INFINIBAND
								     : ARPHRD_ETHER;
	rdma_addr_set_sgid(&p->id.route.addr.dev_addr, &gid);
	ib_addr_set_pkey(&p->id.route.addr.dev_addr, pkey);
	return 1;
}

static void set_loopback(struct cmx_priv *p)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_ib ib;
	} src;

	memcpy(&src, cmx_src(p), cmx_addr_size(cmx_src(p)));
	switch (src.sa.sa_family) {
	case AF_INET:
		src.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		break;
	case AF_INET6:
		src.in6.sin6_addr = in6addr_loopback;
		break;
	default:
		ib_addr_set(&src.ib.sib_addr, 0, 0, 0, htonl(1));
	}
	cmx_port_set_addr(p, &src.sa, NULL);
}

/*
 * The peer is a wildcard or loopback address: the first active port of any
 * device will do, or else the first port.
 */
static int query_loopback(struct cmx_priv *p, struct cmx_event *ev)
{
	struct rdma_dev_addr *addr = &p->id.route.addr.dev_addr;
	struct loopback_arg arg = { .p = p, .active = true };
	union ib_gid gid;
	int ret;

	if (!p->dev) {
		ret = cmx_device_for_each_port(attach_loopback, &arg);
		arg.active = false;
		if (!ret)
			ret = cmx_device_for_each_port(attach_loopback, &arg);
		if (ret <= 0)
			return ret ?: -ENODEV;
		set_loopback(p);
	}
	rdma_addr_get_sgid(addr, &gid);
	rdma_addr_set_dgid(addr, &gid);
	cmx_state_move(p, CMX_IN(ADDR_QUERY), CMX_ADDR_RESOLVED);
	cmx_event_post(ev);
	return 0;
}

static int query(struct cmx_priv *p, struct cmx_event *ev, unsigned long timeout_ms)
{
	struct cmx_found f;
	struct cmx_hop hop;
	int ret;

	if (cmx_dst(p)->sa_family == AF_IB) {
		ret = cmx_addr_ib_resolve(p);
		if (!ret) {
			cmx_state_move(p, CMX_IN(ADDR_QUERY), CMX_ADDR_RESOLVED);
			cmx_event_post(ev);
		}
		return ret;
	}
	ret = cmx_lookup(p, &f, &hop);
	if (ret == -ENODATA)
		return op_start(p, &hop, ev, timeout_ms);
	if (!ret)
		query_done(p, &f, ev, 0);
	return ret;
}

/* The id was idle: the source address comes along, or is left to the route. */
static int bind_src(struct cmx_priv *p, const struct sockaddr *src, const struct sockaddr *dst)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in6 in6;
		struct sockaddr_ib ib;
	} any = { .ib.sib_family = dst->sa_family };

	if (src && src->sa_family)
		return src->sa_family == dst->sa_family ? cmx_bind_dst(p, src, dst) : -EINVAL;
	if (dst->sa_family == AF_IB)
		any.ib.sib_pkey = ((const struct sockaddr_ib *)dst)->sib_pkey;
	return cmx_bind_dst(p, &any.sa, dst);
}

/* p->lock is held; on success ev is no longer the caller's */
static int resolve(struct cmx_priv *p, const struct sockaddr *src, const struct sockaddr *dst,
		   unsigned long timeout_ms, struct cmx_event *ev)
{
	struct sockaddr_storage old = p->id.route.addr.dst_addr;
	bool idle = p->state == CMX_IDLE;
	int ret;

	if (!cmx_addr_size(dst))
		return -EAFNOSUPPORT;
	if (idle) {
		ret = bind_src(p, src, dst);
		if (ret)
			return ret;
	}
	if (p->state != CMX_BOUND || cmx_src(p)->sa_family != dst->sa_family)
		return -EINVAL;
	cmx_port_set_addr(p, NULL, dst);

	cmx_state_move(p, CMX_IN(BOUND), CMX_ADDR_QUERY);
	ret = idle ? 0 : cmx_port_recheck(p);
	if (!ret)
		ret = cmx_addr_any(dst) ? query_loopback(p, ev) : query(p, ev, timeout_ms);
	if (!ret)
		return 0;

	cmx_state_move(p, CMX_IN(ADDR_QUERY), CMX_BOUND);
	if (idle)
		cmx_bind_undo(p);
	else
		cmx_port_set_addr(p, NULL, (struct sockaddr *)&old);
	return ret;
}

/**
 * cmx_resolve_addr() - find the way to a peer
 * @id: the id, new or bound
 * @src: local address for an id that is not bound yet, or NULL: the route says
 * @dst: the peer's address: of a host, a multicast group, or a loopback address
 * @timeout_ms: how long to wait for the peer's link layer address
 *
 * RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR follows, with a
 * status of -ETIMEDOUT, -ENODEV (no RDMA device there) or what the route
 * look-up said. After an error the id is bound.
 *
 * Return: 0; on error nothing has changed and no event follows: -EINVAL when
 * the id is in another state or the families differ, -ENETUNREACH and the like
 * from the route look-up, -ENODEV, -ENOMEM, or what cmx_bind_addr() returns.
 */
int cmx_resolve_addr(struct cmx_id *id, const struct sockaddr *src, const struct sockaddr *dst,
		     unsigned long timeout_ms)
{
	struct cmx_priv *p = to_priv(id);
	struct cmx_event *ev;
	int ret;

	ev = cmx_event_new(p, RDMA_CM_EVENT_ADDR_RESOLVED, 0, GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;
	mutex_lock(&p->lock);
	ret = resolve(p, src, dst, timeout_ms, ev);
	mutex_unlock(&p->lock);
	if (ret)
		cmx_event_free(ev);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_resolve_addr);
