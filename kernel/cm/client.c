// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ib_client: handles RDMA devices that are added and removed.
 */
#include <linux/slab.h>
#include "client.h"
#include "compat.h"
#include "device.h"
#include "event.h"
#include "listen.h"
#include "stats.h"
#include "teardown.h"
#include "trace.h"
#include "transport.h"

static int client_add(struct ib_device *device);
static void client_remove(struct ib_device *device, void *data);

static struct ib_client client = {
	.name = "rdma_cmx",
	.add = client_add,
	.remove = client_remove,
};

/*
 * So many ib_cm and iw_cm ids of a device are destroyed at a time. Each of them waits for a handler
 * or for the completion of a send, and mostly sleeps. Since Linux 6.19 ib_destroy_cm_id() polls for
 * a message that it has cancelled, and hundreds of ids that poll would keep the worker of ib_mad
 * that they wait for from running. More are not needed: both ends of 2,000 connections are gone
 * after 0.14 s on Linux 7 and 0.23 s on 6.12, with 256 at a time after 0.17 s on either.
 */
#define MAX_DESTROYS 8

static void client_port_handle_event(struct cmx_device *dev, u32 port, enum ib_event_type event)
{
	const struct cmx_transport *transport = cmx_device_port(dev, port)->transport;

	if (transport && transport->port)
		transport->port->event(dev, port, event);
}

/* ib_core calls this from a work queue, for every event of the device. */
static void client_event_handler(struct ib_event_handler *handler, struct ib_event *event)
{
	struct cmx_device *dev = container_of(handler, struct cmx_device, events);
	u32 port = event->element.port_num;

	switch (event->event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		trace_cmx_port_event(dev->device, port, event->event);
		if (rdma_is_port_valid(dev->device, port))
			client_port_handle_event(dev, port, event->event);
		break;
	default:
		break;
	}
}

static void client_port_free(struct cmx_device *dev, u32 port)
{
	struct cmx_dev_port *dp = cmx_device_port(dev, port);

	cmx_stats_put(dp->stats);
	if (dp->priv)
		dp->transport->port->exit(dev, port);
}

static int client_port_init(struct cmx_device *dev, u32 port)
{
	struct cmx_dev_port *dp = cmx_device_port(dev, port);

	dp->transport = cmx_transport_find(dev->device, port);
	if (!dp->transport)
		return 0;
	if (dp->transport->port_gid_type)
		dp->gid_type = dp->transport->port_gid_type(dev->device, port);
	dp->gid_types = roce_gid_type_mask_support(dev->device, port);
	dp->stats = cmx_stats_new(dev->device, port);
	if (!dp->stats)
		return -ENOMEM;
	return dp->transport->port ? dp->transport->port->init(dev, port) : 0;
}

static void client_port_stop(struct cmx_device *dev, u32 port)
{
	const struct cmx_transport *transport = cmx_device_port(dev, port)->transport;

	if (transport && transport->port)
		transport->port->stop(dev, port);
}

/* Nothing that frees memory waits for the destruction of an id, so that queue has no rescuer. */
static int client_queues_alloc(struct cmx_device *dev)
{
	const char *name = dev_name(&dev->device->dev);

	dev->event_wq = alloc_workqueue("cmx/%.12s", WQ_UNBOUND | WQ_MEM_RECLAIM,
					WQ_UNBOUND_MAX_ACTIVE, name);
	dev->destroy_wq = alloc_workqueue("cmx_end/%.12s", WQ_UNBOUND, MAX_DESTROYS, name);
	return dev->event_wq && dev->destroy_wq ? 0 : -ENOMEM;
}

/* Caller must have freed all ids of the device. */
static void client_dev_free(struct cmx_device *dev)
{
	u32 port;

	rdma_for_each_port(dev->device, port)
		client_port_free(dev, port);
	if (dev->event_wq)
		destroy_workqueue(dev->event_wq);
	if (dev->destroy_wq)
		destroy_workqueue(dev->destroy_wq);
	kfree_rcu(dev, rcu);
}

static int client_add(struct ib_device *device)
{
	struct cmx_device *dev;
	bool usable = false;
	int ret = 0;
	u32 port;

	dev = kzalloc(struct_size(dev, port, device->phys_port_cnt), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->device = device;
	refcount_set(&dev->ref, 1);
	init_completion(&dev->gone);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->ids);
	rdma_for_each_port(device, port) {
		ret = ret ?: client_port_init(dev, port);
		usable |= !!cmx_device_port(dev, port)->transport;
	}
	if (usable && !ret)
		ret = client_queues_alloc(dev);
	if (!usable || ret) {
		client_dev_free(dev);
		return ret ?: -EOPNOTSUPP;
	}

	INIT_IB_EVENT_HANDLER(&dev->events, device, client_event_handler);
	ib_register_event_handler(&dev->events);
	rdma_for_each_port(device, port)
		client_port_handle_event(dev, port, IB_EVENT_PORT_ACTIVE);
	ib_set_client_data(device, &client, dev);
	cmx_device_list_add(dev);
	cmx_listen_add_device(dev);
	return 0;
}

/* Move an id to CMX_REMOVED and queue the event. The connection still exists. */
static void client_remove_id(struct cmx_id_private *id_priv, const struct cmx_device *dev)
{
	struct cmx_event *ev = cmx_event_alloc_nofail(id_priv, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	bool queued;

	mutex_lock(&id_priv->lock);
	/* A bind that failed may have detached the id meanwhile. */
	queued = id_priv->dev == dev && cmx_id_set_removed(id_priv, ev);
	mutex_unlock(&id_priv->lock);
	if (!queued)
		cmx_event_free(ev);
}

/*
 * Deliver the event. The id of a process is detached, and uverbs destroys the QPs. A ULP must first
 * release its own objects on the device, so its id stays attached until the ULP destroys it, at the
 * latest when it handles the event.
 */
static void client_release_id(struct cmx_id_private *id_priv, const struct cmx_device *dev)
{
	mutex_lock(&id_priv->lock);
	if (id_priv->user && id_priv->dev == dev)
		cmx_id_release_device(id_priv);
	mutex_unlock(&id_priv->lock);
	id_priv->consumer->deliver(id_priv);
}

/* Move the next id from @from to @to, which may be NULL. Returns it with a reference, or NULL. */
static struct cmx_id_private *client_next_id(struct cmx_device *dev, struct list_head *from,
					     struct list_head *to)
{
	struct cmx_id_private *id_priv, *found = NULL;

	spin_lock(&dev->lock);
	list_for_each_entry(id_priv, from, dev_item) {
		if (cmx_id_tryget(id_priv)) {
			list_del_init(&id_priv->dev_item);
			if (to)
				list_add_tail(&id_priv->dev_item, to);
			found = id_priv;
			break;
		}
	}
	spin_unlock(&dev->lock);
	return found;
}

/*
 * All ids are moved to CMX_REMOVED before the first connection ends. Otherwise an id whose peer is
 * on the same device would get DISCONNECTED before DEVICE_REMOVAL.
 */
static void client_remove_ids(struct cmx_device *dev)
{
	struct cmx_id_private *id_priv;
	LIST_HEAD(removed);

	while ((id_priv = client_next_id(dev, &dev->ids, &removed))) {
		client_remove_id(id_priv, dev);
		cmx_id_put(id_priv);
	}
	while ((id_priv = client_next_id(dev, &removed, NULL))) {
		client_release_id(id_priv, dev);
		cmx_id_put(id_priv);
	}
}

static void client_remove(struct ib_device *device, void *data)
{
	struct cmx_device *dev = data;
	u32 port;

	cmx_device_list_del(dev);
	cmx_listen_remove_device(dev);
	ib_set_client_data(device, &client, NULL);
	spin_lock(&dev->lock);
	WRITE_ONCE(dev->removing, true);
	spin_unlock(&dev->lock);
	client_remove_ids(dev);
	rdma_for_each_port(device, port)
		client_port_stop(dev, port);
	cmx_device_put(dev);
	wait_for_completion(&dev->gone);
	ib_unregister_event_handler(&dev->events);
	client_dev_free(dev);
}

/**
 * cmx_client_init_module() - register the ib_client
 *
 * Return: 0 or -errno.
 */
int cmx_client_init_module(void)
{
	return cmx_device_register_client(&client);
}

void cmx_client_exit_module(void)
{
	ib_unregister_client(&client);
}
