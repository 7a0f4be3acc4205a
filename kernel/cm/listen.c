// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listening on the device of an address, or on all present and future devices.
 */
#include <linux/capability.h>
#include <linux/export.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "bind.h"
#include "charge.h"
#include "device.h"
#include "listen.h"
#include "port_space.h"
#include "transport.h"
#include "cma_hdr.h"

static bool netns_listen;
module_param(netns_listen, bool, 0644);
MODULE_PARM_DESC(netns_listen,
		 "listeners of every network namespace may use devices that the initial one can use: Y, N (N)");

/**
 * struct cmx_listener - a listener
 * @ref: one for the id that listens, one for each entry
 * @item: on the list of wildcard listeners; unused for other listeners
 * @id_priv: the id, with a reference
 * @privileged: may claim service IDs of devices that the host's network namespace can use
 * @backlog: as the consumer set it, for the queue of TCP on iWARP
 * @service_id: service ID to listen on
 * @entries: list of &listen_entry.item
 */
struct cmx_listener {
	struct kref ref;
	struct list_head item;
	struct cmx_id_private *id_priv;
	bool privileged;
	int backlog;
	__be64 service_id;
	struct list_head entries;
};

/**
 * struct listen_entry - a listener on one device
 * @item: on &cmx_listener.entries, or empty if the entry was removed
 * @to_start: on the list of entries that the caller must start
 * @listener: the listener, with a reference
 * @dev: the device, with a reference, so that its removal waits for this entry
 * @ops: operations of the transport of its ports
 * @started: what @ops needs to stop it; NULL: not started yet
 * @work: stops listening and frees the entry
 */
struct listen_entry {
	struct list_head item;
	struct list_head to_start;
	struct cmx_listener *listener;
	struct cmx_device *dev;
	const struct cmx_listen_ops *ops;
	void *started;
	struct work_struct work;
};

static LIST_HEAD(wildcards);
/* Protects wildcards and the entries of all listeners. No provider is called while holding it. */
static DEFINE_MUTEX(listen_lock);

static void listen_free(struct kref *ref)
{
	struct cmx_listener *listener = container_of(ref, struct cmx_listener, ref);

	cmx_id_put(listener->id_priv);
	kfree(listener);
}

static void listen_entry_free(struct listen_entry *entry)
{
	cmx_device_put(entry->dev);
	kref_put(&entry->listener->ref, listen_free);
	kfree(entry);
}

static void listen_entry_work(struct work_struct *work)
{
	struct listen_entry *entry = container_of(work, struct listen_entry, work);

	entry->ops->stop(entry->started);
	listen_entry_free(entry);
}

/* This waits for request handlers, which take the lock of the listener. A work item does it. */
static void listen_entry_destroy(struct listen_entry *entry)
{
	queue_work(entry->dev->destroy_wq, &entry->work);
}

/* Remove an entry. If it is being started, listen_entry_start() destroys it. */
static void listen_entry_remove(struct listen_entry *entry)
{
	lockdep_assert_held(&listen_lock);
	list_del_init(&entry->item);
	if (entry->started)
		listen_entry_destroy(entry);
}

/* Ports of different transports on a device, as InfiniBand and RoCE, have the same operations. */
static const struct cmx_listen_ops *listen_ops_find(struct cmx_device *dev)
{
	const struct cmx_transport *transport = NULL;
	u32 port;

	rdma_for_each_port(dev->device, port)
		transport = transport ?: cmx_device_port(dev, port)->transport;
	return transport->listen;
}

/* Add an entry for @dev unless there is one. Caller must start the entries on @to_start. */
static int listen_entry_add(struct cmx_listener *listener, struct cmx_device *dev,
			    struct list_head *to_start)
{
	struct listen_entry *entry;

	lockdep_assert_held(&listen_lock);
	list_for_each_entry(entry, &listener->entries, item)
		if (entry->dev == dev)
			return 0;

	entry = cmx_charge_alloc(listener->id_priv, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	kref_get(&listener->ref);
	entry->listener = listener;
	cmx_device_get(dev);
	entry->dev = dev;
	entry->ops = listen_ops_find(dev);
	INIT_WORK(&entry->work, listen_entry_work);
	list_add(&entry->item, &listener->entries);
	list_add_tail(&entry->to_start, to_start);
	return 0;
}

static bool listen_is_privileged(const struct cmx_id_private *id_priv)
{
	return !id_priv->user || net_eq(cmx_net(id_priv), &init_net) || READ_ONCE(netns_listen) ||
	       capable(CAP_NET_ADMIN);
}

/*
 * A service ID of a device has one handler for all network namespaces. While we own it, rdma_cm and
 * all ULPs of the host that use rdma_cm cannot listen on it. An unprivileged listener may therefore
 * use only a device that the host has assigned to another network namespace. On iWARP the interface
 * of the device may be in that of the listener instead: some providers listen in the initial one,
 * whatever that of the listener is. Before Linux 6.6 a bind does not know the interface of the
 * device, and compares link layer addresses.
 */
static bool listen_is_allowed(const struct listen_entry *entry)
{
	const struct cmx_listener *listener = entry->listener;
	struct ib_device *device = entry->dev->device;

	return listener->privileged || !rdma_dev_access_netns(device, &init_net) ||
	       (entry->ops->device_is_in &&
		entry->ops->device_is_in(device, cmx_net(listener->id_priv)));
}

/* Returns what stops the entry, or an ERR_PTR. */
static void *listen_call_provider(const struct listen_entry *entry)
{
	struct cmx_listener *listener = entry->listener;
	void *started;

	if (!listen_is_allowed(entry))
		return ERR_PTR(-EACCES);
	started = entry->ops->start(listener->id_priv, entry->dev->device, listener->service_id,
				    listener->backlog);
	/* -EINVAL: another module has a handler for the service ID. */
	return started == ERR_PTR(-EINVAL) ? ERR_PTR(-EADDRINUSE) : started;
}

/*
 * Start an entry, or, if @ret is an error, release it without starting it. Caller must hold no lock
 * of an id.
 */
static int listen_entry_start(struct listen_entry *entry, int ret)
{
	void *started = ret ? ERR_PTR(ret) : listen_call_provider(entry);
	bool removed;

	mutex_lock(&listen_lock);
	removed = list_empty(&entry->item);
	entry->started = started;
	if (IS_ERR(started))
		list_del(&entry->item);
	mutex_unlock(&listen_lock);
	if (IS_ERR(started))
		listen_entry_free(entry);
	else if (removed)
		listen_entry_destroy(entry);
	return PTR_ERR_OR_ZERO(started);
}

/* Start all entries. After an error, or if @ret is one already, entries are only released. */
static int listen_start_all(struct list_head *to_start, int ret)
{
	struct listen_entry *entry, *next;

	list_for_each_entry_safe(entry, next, to_start, to_start)
		ret = listen_entry_start(entry, ret);
	return ret;
}

/* A listener uses all ports of a device. Some of them may have no transport. */
static bool listen_may_use(const struct cmx_listener *listener, struct cmx_device *dev)
{
	u32 port;

	if (!rdma_dev_access_netns(dev->device, cmx_net(listener->id_priv)))
		return false;
	rdma_for_each_port(dev->device, port)
		if (cmx_dev_port_fits(listener->id_priv, dev, port))
			return true;
	return false;
}

/**
 * struct listen_arg - a call of cmx_listen()
 * @listener: the new listener
 * @to_start: its entries that the call must start
 * @was_idle: the call has bound the id
 * @was_reuseaddr: the option REUSEADDR before the call
 */
struct listen_arg {
	struct cmx_listener *listener;
	struct list_head to_start;
	bool was_idle;
	u8 was_reuseaddr;
};

static int listen_on_one(struct listen_arg *arg, struct cmx_device *dev)
{
	int ret;

	mutex_lock(&listen_lock);
	ret = listen_entry_add(arg->listener, dev, &arg->to_start);
	mutex_unlock(&listen_lock);
	return ret;
}

static int listen_add_port(struct cmx_device *dev, u32 port, void *data)
{
	struct listen_arg *arg = data;

	return listen_may_use(arg->listener, dev) ? listen_on_one(arg, dev) : 0;
}

/*
 * The listener is added to the list before the devices are walked. A device that is added
 * meanwhile is found by the walk, or finds the listener on the list, or both.
 */
static int listen_on_all(struct listen_arg *arg)
{
	mutex_lock(&listen_lock);
	list_add_tail(&arg->listener->item, &wildcards);
	mutex_unlock(&listen_lock);
	return cmx_device_for_each_port(listen_add_port, arg);
}

/**
 * cmx_listen_stop() - stop listening
 * @id_priv: the id, which may not listen. Its state is no longer CMX_LISTEN. Caller must
 *	hold its lock
 */
void cmx_listen_stop(struct cmx_id_private *id_priv)
{
	struct cmx_listener *listener = id_priv->listener;
	struct listen_entry *entry, *next;

	lockdep_assert_held(&id_priv->lock);
	if (!listener)
		return;
	WRITE_ONCE(id_priv->listener, NULL);
	mutex_lock(&listen_lock);
	list_del_init(&listener->item);
	list_for_each_entry_safe(entry, next, &listener->entries, item)
		listen_entry_remove(entry);
	mutex_unlock(&listen_lock);
	kref_put(&listener->ref, listen_free);
}

/**
 * cmx_listen_add_device() - start wildcard listeners on a new device
 * @dev: the device, which is on the list of devices already
 *
 * A listener that cannot get its service ID on the device does not listen there.
 */
void cmx_listen_add_device(struct cmx_device *dev)
{
	struct listen_entry *entry, *next;
	struct cmx_listener *listener;
	LIST_HEAD(to_start);
	__be64 service_id;
	int ret = 0;

	mutex_lock(&listen_lock);
	list_for_each_entry(listener, &wildcards, item)
		if (listen_may_use(listener, dev) && listen_entry_add(listener, dev, &to_start))
			ret = -ENOMEM;
	mutex_unlock(&listen_lock);
	if (ret)
		dev_warn_ratelimited(&dev->device->dev,
				     "rdma_cmx: some wildcard listeners do not listen here: %d\n",
				     ret);
	list_for_each_entry_safe(entry, next, &to_start, to_start) {
		service_id = entry->listener->service_id;
		ret = listen_entry_start(entry, 0);
		if (ret)
			dev_warn_ratelimited(&dev->device->dev,
					     "rdma_cmx: cannot listen on service ID %#llx: %d\n",
					     be64_to_cpu(service_id), ret);
	}
}

/**
 * cmx_listen_remove_device() - stop wildcard listeners on a device
 * @dev: the device, which is no longer on the list of devices. Each removed entry holds a
 *	reference to it until the entry is freed
 */
void cmx_listen_remove_device(struct cmx_device *dev)
{
	struct listen_entry *entry, *next;
	struct cmx_listener *listener;

	mutex_lock(&listen_lock);
	list_for_each_entry(listener, &wildcards, item)
		list_for_each_entry_safe(entry, next, &listener->entries, item)
			if (entry->dev == dev)
				listen_entry_remove(entry);
	mutex_unlock(&listen_lock);
}

/* Wait until listeners that have ended have released the port. No lock is held meanwhile. */
static int listen_wait_port(struct cmx_id_private *id_priv)
{
	const struct cmx_transport *transport = NULL, *const *t;
	const struct net *net;
	u16 port = 0;
	int ret = 0;

	mutex_lock(&id_priv->lock);
	net = cmx_net(id_priv);
	if (id_priv->state == CMX_BOUND)
		port = id_priv->port;
	if (id_priv->dev)
		transport = id_priv->dev_port->transport;
	mutex_unlock(&id_priv->lock);
	if (!port)
		return 0;
	cmx_for_each_transport(t)
		if (!ret && (!transport || transport == *t) && (*t)->listen->wait_port)
			ret = (*t)->listen->wait_port(net, port);
	return ret;
}

static struct cmx_listener *listen_new(struct cmx_id_private *id_priv, int backlog)
{
	struct cmx_listener *listener = cmx_charge_alloc(id_priv, sizeof(*listener));

	if (!listener)
		return NULL;
	kref_init(&listener->ref);
	INIT_LIST_HEAD(&listener->item);
	INIT_LIST_HEAD(&listener->entries);
	listener->id_priv = cmx_id_get(id_priv);
	listener->privileged = listen_is_privileged(id_priv);
	listener->backlog = backlog;
	listener->service_id = cmx_service_id(id_priv->id.ps, cmx_src(id_priv));
	return listener;
}

/*
 * Add the listener, without starting it. The state is CMX_LISTEN already, so that port checks of
 * other ids see the listener. Caller must hold the lock of the id.
 */
static int listen_add(struct cmx_id_private *id_priv, int backlog, struct listen_arg *arg)
{
	int ret;

	lockdep_assert_held(&id_priv->lock);
	/* Listeners never share a port by REUSEADDR. */
	WRITE_ONCE(id_priv->opt.reuseaddr, 0);
	ret = cmx_port_recheck(id_priv);
	if (ret)
		return ret;
	arg->listener = listen_new(id_priv, backlog);
	if (!arg->listener)
		return -ENOMEM;
	WRITE_ONCE(id_priv->listener, arg->listener);
	return id_priv->dev ? listen_on_one(arg, id_priv->dev) : listen_on_all(arg);
}

static int listen_bind(struct cmx_id_private *id_priv, struct listen_arg *arg)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	arg->was_reuseaddr = id_priv->opt.reuseaddr;
	arg->was_idle = id_priv->state == CMX_IDLE;
	return arg->was_idle ? cmx_bind_dst(id_priv, (struct sockaddr *)&any, NULL) : 0;
}

/*
 * Until id_priv->passive is set, requests are refused as before the call. The id may have been shut
 * down meanwhile, or its device may have been removed. Caller must hold the lock of the id.
 */
static void listen_finish(struct cmx_id_private *id_priv, struct listen_arg *arg, int ret)
{
	bool moved;

	lockdep_assert_held(&id_priv->lock);
	if (!ret) {
		id_priv->passive = 1;
		return;
	}
	moved = !cmx_state_move(id_priv, CMX_IN(LISTEN), CMX_BOUND);
	cmx_listen_stop(id_priv);
	WRITE_ONCE(id_priv->opt.reuseaddr, arg->was_reuseaddr);
	if (moved && arg->was_idle)
		cmx_bind_undo(id_priv);
}

/*
 * A provider may wait for rtnl or for its firmware, and handlers of requests wait for the lock of
 * the id. So the lock is released while the listener is started.
 */
static int listen_start(struct cmx_id_private *id_priv, int backlog)
{
	struct listen_arg arg = { .to_start = LIST_HEAD_INIT(arg.to_start) };
	int ret;

	mutex_lock(&id_priv->lock);
	ret = listen_bind(id_priv, &arg) ?: cmx_state_move(id_priv, CMX_IN(BOUND), CMX_LISTEN);
	if (ret) {
		mutex_unlock(&id_priv->lock);
		return ret;
	}
	ret = listen_add(id_priv, backlog, &arg);
	mutex_unlock(&id_priv->lock);
	ret = listen_start_all(&arg.to_start, ret);
	mutex_lock(&id_priv->lock);
	listen_finish(id_priv, &arg, ret);
	mutex_unlock(&id_priv->lock);
	return ret;
}

/**
 * cmx_listen() - listen for requests to the address of an id
 * @id: the id, bound; a new one is bound to any IPv4 address and a free port
 * @backlog: that of TCP on iWARP. Elsewhere only a consumer that queues requests uses it
 *
 * CONNECT_REQUEST events follow. Requests are refused until the listener has been started on all
 * present devices. An id that is not bound to a device listens on all present and future devices of
 * its network namespace. The option REUSEADDR of the id is cleared.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed:
 *
 * * -EINVAL: the id is in another state.
 * * -EADDRINUSE, -EADDRNOTAVAIL: other ids own the port, or rdma_cm listens on it
 *   on one of the devices.
 * * -EACCES: the id belongs to a process in a network namespace other than the host's, the device
 *   is also accessible to the host, the caller lacks CAP_NET_ADMIN of the host, and the module
 *   parameter netns_listen is not set.
 * * -ENOMEM: out of memory.
 * * Errors of cmx_bind_addr() for a new id, and of the driver on iWARP.
 * * -ERESTARTSYS: the caller was killed while it waited. On iWARP a listener waits, two seconds
 *   at most, until TCP has released the port of a removed listener.
 */
int cmx_listen(struct cmx_id *id, int backlog)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	ret = listen_wait_port(id_priv);
	if (ret)
		return ret;
	/* the consumer may destroy the id before the provider returns */
	cmx_id_get(id_priv);
	ret = listen_start(id_priv, backlog);
	cmx_id_put(id_priv);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_listen);
