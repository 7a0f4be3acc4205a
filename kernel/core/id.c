// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of an id.
 *
 * Lock order, outermost first:
 *
 *   &cmx_file.mutex	mutex, eventq.c
 *   &cmx_priv.lock	mutex; two ids only as listener, then its child
 *   rtnl		taken under an id's lock for IGMP and MLD
 *   device list	rwsem, device.c
 *   listener list	mutex, listen.c
 *   handle table	spinlock, handle.c
 *   spinlocks		all others, see Documentation/locking.rst: innermost, not nested
 *
 * Notifiers (netdevice, inetaddr, neighbour) run under rtnl: they only queue
 * work. Callbacks of ib_cm and ib_core take the id's lock themselves, so what
 * waits for such a callback (ib_destroy_cm_id(), rdma_addr_cancel()) runs from
 * cmx_wq, without any lock.
 *
 * References: the owner holds one from cmx_id_new() on; so do each cm id, each
 * asynchronous operation, each event and each membership.
 */
#include <linux/ktime.h>
#include "event.h"
#include "route_rec.h"

struct workqueue_struct *cmx_wq;
struct workqueue_struct *cmx_reap_wq;
struct workqueue_struct *cmx_linger_wq;

int cmx_id_init_module(void)
{
	cmx_wq = alloc_workqueue("rdma_cmx", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	cmx_reap_wq = alloc_workqueue("rdma_cmx_reap", WQ_UNBOUND | WQ_MEM_RECLAIM,
				      WQ_UNBOUND_MAX_ACTIVE);
	cmx_linger_wq = alloc_workqueue("rdma_cmx_linger", WQ_UNBOUND | WQ_MEM_RECLAIM,
					WQ_UNBOUND_MAX_ACTIVE);
	if (cmx_wq && cmx_reap_wq && cmx_linger_wq)
		return 0;
	cmx_id_exit_module();
	return -ENOMEM;
}

void cmx_id_exit_module(void)
{
	struct workqueue_struct *all[] = { cmx_linger_wq, cmx_reap_wq, cmx_wq };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i])
			destroy_workqueue(all[i]);
}

static void id_init(struct cmx_priv *p, struct net *net, const struct cmx_sink *sink,
		    enum rdma_ucm_port_space ps, enum ib_qp_type qp_type)
{
	kref_init(&p->ref);
	mutex_init(&p->lock);
	INIT_LIST_HEAD(&p->dev_item);
	p->sink = sink;
	p->node_type = RDMA_NODE_UNSPECIFIED;
	p->created = ktime_get_seconds();
	p->id.ps = ps;
	p->id.qp_type = qp_type;
	p->id.route.addr.dev_addr.net = get_net(net);
}

/**
 * cmx_id_new() - make an id
 * @net: its network namespace
 * @sink: its owner
 * @ps: port space
 * @qp_type: type of QP
 * @gfp: how to allocate
 *
 * Return: the id with the owner's reference, or an ERR_PTR: -EINVAL for a port
 * space that does not exist or does not fit @qp_type, -ENOMEM.
 */
struct cmx_priv *cmx_id_new(struct net *net, const struct cmx_sink *sink,
			    enum rdma_ucm_port_space ps, enum ib_qp_type qp_type, gfp_t gfp)
{
	struct cmx_priv *p;

	p = sink->alloc(gfp);
	if (!p)
		return ERR_PTR(-ENOMEM);
	id_init(p, net, sink, ps, qp_type);
	return p;
}

/**
 * cmx_id_new_child() - make the id that a request brings
 * @listener: whose owner it gets
 * @qp_type: type of QP that the request asks for
 *
 * Return: the id with one reference, or NULL.
 */
struct cmx_priv *cmx_id_new_child(struct cmx_priv *listener, enum ib_qp_type qp_type)
{
	struct cmx_priv *p = listener->sink->alloc(GFP_KERNEL);

	if (!p)
		return NULL;
	id_init(p, cmx_net(listener), listener->sink, listener->id.ps, qp_type);
	p->passive = 1;
	p->user = listener->user;
	p->node_type = listener->node_type;
	p->id.context = listener->id.context;
	p->id.event_handler = listener->id.event_handler;
	return p;
}

static void id_free(struct kref *ref)
{
	struct cmx_priv *p = container_of(ref, struct cmx_priv, ref);

	WARN_ON_ONCE(p->state != CMX_DEAD);
	cmx_route_free(p);
	if (cmx_net(p))
		put_net(cmx_net(p));
	mutex_destroy(&p->lock);
	p->sink->free(p);
}

/**
 * cmx_id_put() - drop a reference
 * @p: the id. May sleep
 */
void cmx_id_put(struct cmx_priv *p)
{
	kref_put(&p->ref, id_free);
}

/**
 * cmx_id_tryget() - take a reference if the id is not on its way out
 * @p: the id; a lock or RCU keeps its memory
 */
bool cmx_id_tryget(struct cmx_priv *p)
{
	return kref_get_unless_zero(&p->ref);
}
