// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of an id.
 *
 * Lock order, outermost first:
 *
 *   &cmx_file.mutex	mutex, channel.c
 *   &cmx_id_private.lock	mutex; two ids only as listener, then its child
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

static void id_init(struct cmx_id_private *id_priv, struct net *net,
		    const struct cmx_id_consumer_ops *consumer, enum rdma_ucm_port_space ps,
		    enum ib_qp_type qp_type)
{
	kref_init(&id_priv->ref);
	mutex_init(&id_priv->lock);
	INIT_LIST_HEAD(&id_priv->dev_item);
	id_priv->consumer = consumer;
	id_priv->node_type = RDMA_NODE_UNSPECIFIED;
	id_priv->created = ktime_get_seconds();
	id_priv->id.ps = ps;
	id_priv->id.qp_type = qp_type;
	id_priv->id.route.addr.dev_addr.net = get_net(net);
}

/**
 * cmx_id_new() - make an id
 * @net: its network namespace
 * @consumer: its owner
 * @ps: port space
 * @qp_type: type of QP
 * @gfp: how to allocate
 *
 * Return: the id with the owner's reference, or an ERR_PTR: -EINVAL for a port
 * space that does not exist or does not fit @qp_type, -ENOMEM.
 */
struct cmx_id_private *cmx_id_new(struct net *net, const struct cmx_id_consumer_ops *consumer,
				  enum rdma_ucm_port_space ps, enum ib_qp_type qp_type, gfp_t gfp)
{
	struct cmx_id_private *id_priv;

	id_priv = consumer->alloc(gfp);
	if (!id_priv)
		return ERR_PTR(-ENOMEM);
	id_init(id_priv, net, consumer, ps, qp_type);
	return id_priv;
}

/**
 * cmx_id_new_conn() - make the id that a request brings
 * @listener: whose owner it gets
 * @qp_type: type of QP that the request asks for
 *
 * Return: the id with one reference, or NULL.
 */
struct cmx_id_private *cmx_id_new_conn(struct cmx_id_private *listener, enum ib_qp_type qp_type)
{
	struct cmx_id_private *id_priv = listener->consumer->alloc(GFP_KERNEL);

	if (!id_priv)
		return NULL;
	id_init(id_priv, cmx_net(listener), listener->consumer, listener->id.ps, qp_type);
	id_priv->passive = 1;
	id_priv->user = listener->user;
	id_priv->node_type = listener->node_type;
	id_priv->id.context = listener->id.context;
	id_priv->id.event_handler = listener->id.event_handler;
	return id_priv;
}

static void id_free(struct kref *ref)
{
	struct cmx_id_private *id_priv = container_of(ref, struct cmx_id_private, ref);

	WARN_ON_ONCE(id_priv->state != CMX_DEAD);
	cmx_route_free(id_priv);
	if (cmx_net(id_priv))
		put_net(cmx_net(id_priv));
	mutex_destroy(&id_priv->lock);
	id_priv->consumer->free(id_priv);
}

/**
 * cmx_id_put() - drop a reference
 * @id_priv: the id. May sleep
 */
void cmx_id_put(struct cmx_id_private *id_priv)
{
	kref_put(&id_priv->ref, id_free);
}

/**
 * cmx_id_tryget() - take a reference if the id is not on its way out
 * @id_priv: the id; a lock or RCU keeps its memory
 */
bool cmx_id_tryget(struct cmx_id_private *id_priv)
{
	return kref_get_unless_zero(&id_priv->ref);
}
