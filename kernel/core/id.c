// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocation, references and release of ids.
 *
 * Lock order, outermost first:
 *
 *   &ulp_id.handler_mutex	mutex, ulp.c: held while the handler of a ULP runs
 *   &cmx_channel.mutex	mutex, channel.c
 *   rtnl		mcast_ip.c, for IGMP and MLD
 *   cmx_wait		no lock: a wait for a provider or user memory, see lock_order.h
 *   &cmx_id_private.lock	mutex; two ids only as listener, then its child
 *   device list	rwsem, device.c
 *   listener list	mutex, listen.c
 *   table of ids	spinlock, id_table.c
 *   all others		leaf locks, but for those in Documentation/locking.rst
 *
 * lock_order.c shows lockdep that rtnl and other waits come before the lock of an id.
 *
 * Notifiers of network interfaces run under rtnl, and notifiers of neighbours in atomic context.
 * They take no lock of an id. If one is needed, they queue a work item. Callbacks of ib_cm,
 * iw_cm and ib_core may take the lock of the id. Therefore a function that waits for such a
 * callback is called without this lock: ib_destroy_cm_id() and iw_destroy_cm_id() in most cases
 * by a work item of &cmx_device.destroy_wq. See Documentation/locking.rst for the callbacks that
 * must not wait.
 *
 * References: the consumer holds one from cmx_id_new() on. Each ib_cm or iw_cm id, each
 * asynchronous operation, each event and each membership holds one as well.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "event.h"
#include "lock_order.h"
#include "route_rec.h"

struct workqueue_struct *cmx_wq;

int cmx_id_init_module(void)
{
	cmx_wq = alloc_workqueue("rdma_cmx", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return cmx_wq ? 0 : -ENOMEM;
}

void cmx_id_exit_module(void)
{
	destroy_workqueue(cmx_wq);
}

/**
 * cmx_id_new() - allocate an id
 * @net: network namespace of the id, or NULL
 * @consumer: operations of the consumer
 * @ps: port space
 * @qp_type: type of the QP
 * @gfp: flags of the allocation
 *
 * Return: the id with the reference of the consumer, or ERR_PTR(-ENOMEM).
 */
struct cmx_id_private *cmx_id_new(struct net *net, const struct cmx_id_consumer_ops *consumer,
				  enum rdma_ucm_port_space ps, enum ib_qp_type qp_type, gfp_t gfp)
{
	struct cmx_id_private *id_priv = consumer->alloc(gfp);

	if (!id_priv)
		return ERR_PTR(-ENOMEM);
	kref_init(&id_priv->ref);
	cmx_id_lock_init(&id_priv->lock);
	INIT_LIST_HEAD(&id_priv->dev_item);
	id_priv->consumer = consumer;
	id_priv->node_type = RDMA_NODE_UNSPECIFIED;
	id_priv->created = ktime_get_seconds();
	id_priv->id.ps = ps;
	id_priv->id.qp_type = qp_type;
	if (net)
		id_priv->id.route.addr.dev_addr.net = get_net(net);
	return id_priv;
}

static void id_free(struct kref *ref)
{
	struct cmx_id_private *id_priv = container_of(ref, struct cmx_id_private, ref);

	WARN_ON_ONCE(id_priv->state != CMX_DEAD);
	cmx_route_free(id_priv);
	kfree(id_priv->services);
	kfree(id_priv->timer);
	if (cmx_net(id_priv))
		put_net(cmx_net(id_priv));
	mutex_destroy(&id_priv->lock);
	id_priv->consumer->free(id_priv);
}

/**
 * cmx_id_put() - drop a reference
 * @id_priv: the id
 *
 * Context: Process context. May sleep.
 */
void cmx_id_put(struct cmx_id_private *id_priv)
{
	kref_put(&id_priv->ref, id_free);
}

/**
 * cmx_id_tryget() - take a reference unless the last one has been dropped
 * @id_priv: the id
 *
 * Context: Caller must hold a lock, or the RCU read lock, that keeps the memory of the id.
 * Return: true if a reference was taken.
 */
bool cmx_id_tryget(struct cmx_id_private *id_priv)
{
	return kref_get_unless_zero(&id_priv->ref);
}

/**
 * cmx_id_lock() - lock an id, with a reference
 * @id_priv: the id
 *
 * Calls that cause an event, or release the lock meanwhile, need the reference, because the handler
 * of a ULP may destroy the id while the caller is still releasing the lock.
 *
 * Context: process, may sleep. Caller must not hold id_priv->lock.
 */
void cmx_id_lock(struct cmx_id_private *id_priv)
{
	cmx_id_get(id_priv);
	mutex_lock(&id_priv->lock);
}

/**
 * cmx_id_unlock() - undo cmx_id_lock()
 * @id_priv: the id; may be freed by this call
 *
 * Context: process, may sleep.
 */
void cmx_id_unlock(struct cmx_id_private *id_priv)
{
	mutex_unlock(&id_priv->lock);
	cmx_id_put(id_priv);
}
