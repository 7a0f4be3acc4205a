// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA devices come and go: the ib_client.
 */
#include <linux/export.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "compat.h"
#include "device.h"
#include "event.h"
#include "path_cache.h"
#include "port.h"
#include "transport.h"
#include "verbs.h"

static LIST_HEAD(devices);
static DECLARE_RWSEM(devices_sem);	/* protects devices */

static int client_add(struct ib_device *device);
static void client_remove(struct ib_device *device, void *data);

static struct ib_client client = {
	.name = "rdma_cmx",
	.add = client_add,
	.remove = client_remove,
};

static bool port_usable(struct ib_device *device, u32 port)
{
	return (rdma_cap_ib_cm(device, port) &&
		(rdma_protocol_roce(device, port) || rdma_cap_ib_sa(device, port))) ||
	       rdma_cap_iw_cm(device, port);
}

/**
 * cmx_port_fits() - whether an id may use a port
 * @p: the id
 * @device: the device
 * @port: the port
 */
bool cmx_port_fits(const struct cmx_priv *p, struct ib_device *device, u32 port)
{
	if (!port_usable(device, port) || !cmx_device_fits(device, p->node_type))
		return false;
	/* a connection of iWARP is one of TCP, between addresses of IP */
	return !rdma_cap_iw_cm(device, port) ||
	       (p->id.ps == RDMA_PS_TCP && p->id.qp_type == IB_QPT_RC &&
		cmx_src(p)->sa_family != AF_IB);
}

static u8 preferred_gid_type(struct ib_device *device, u32 port)
{
	unsigned long types;

	if (!rdma_protocol_roce(device, port))
		return IB_GID_TYPE_IB;
	types = roce_gid_type_mask_support(device, port);
	if (types & BIT(IB_GID_TYPE_ROCE_UDP_ENCAP))
		return IB_GID_TYPE_ROCE_UDP_ENCAP;
	return IB_GID_TYPE_ROCE;
}

/* What makes path records wrong. From a work queue, for every event of the device. */
static void port_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct cmx_device *dev = container_of(handler, struct cmx_device, events);
	u32 port = event->element.port_num;

	switch (event->event) {
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		if (rdma_is_port_valid(dev->device, port) && cmx_device_port(dev, port)->paths)
			cmx_path_cache_drop(cmx_device_port(dev, port)->paths);
		break;
	default:
		break;
	}
}

static void free_paths(struct cmx_device *dev)
{
	u32 port;

	rdma_for_each_port(dev->device, port)
		cmx_path_cache_free(cmx_device_port(dev, port)->paths);
}

static int init_port(struct cmx_device *dev, u32 port)
{
	struct cmx_dev_port *dp = cmx_device_port(dev, port);

	cmx_sa_queue_init(&dp->sa);
	if (!port_usable(dev->device, port))
		return 0;
	dp->gid_type = preferred_gid_type(dev->device, port);
	dp->node_transport = rdma_node_get_transport(dev->device->node_type);
	if (rdma_cap_iw_cm(dev->device, port)) {
		dp->transport = CMX_TRANSPORT_IWARP;
		dp->conn = &cmx_iw_conn_ops;
		dp->route = &cmx_route_iw_ops;
		return 0;
	}
	dp->transport = rdma_protocol_roce(dev->device, port) ? CMX_TRANSPORT_ROCE
							      : CMX_TRANSPORT_IB;
	dp->conn = &cmx_ib_conn_ops;
	dp->route = rdma_cap_ib_sa(dev->device, port) ? &cmx_route_sa_ops : &cmx_route_roce_ops;
	dp->mcast = rdma_cap_ib_mcast(dev->device, port) ? &cmx_mcast_sa_ops : &cmx_mcast_ip_ops;
	if (rdma_cap_ib_sa(dev->device, port)) {
		dp->paths = cmx_path_cache_new();
		if (!dp->paths)
			return -ENOMEM;
	}
	return 0;
}

static int client_add(struct ib_device *device)
{
	struct cmx_device *dev;
	bool usable = false;
	u32 port;

	rdma_for_each_port(device, port)
		usable |= port_usable(device, port);
	if (!usable)
		return -EOPNOTSUPP;

	dev = kzalloc(struct_size(dev, port, device->phys_port_cnt), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->device = device;
	refcount_set(&dev->ref, 1);
	init_completion(&dev->gone);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->ids);
	rdma_for_each_port(device, port) {
		if (init_port(dev, port)) {
			free_paths(dev);
			kfree(dev);
			return -ENOMEM;
		}
	}

	INIT_IB_EVENT_HANDLER(&dev->events, device, port_event);
	ib_register_event_handler(&dev->events);
	ib_set_client_data(device, &client, dev);
	down_write(&devices_sem);
	list_add_tail(&dev->item, &devices);
	up_write(&devices_sem);
	cmx_listen_add_device(dev);
	return 0;
}

/*
 * A process learns of the removal and keeps an empty id; uverbs takes care of
 * its QPs. A ULP must first be rid of its own objects on the device, so its
 * id stays attached until the ULP destroys it, at the latest from the event.
 */
static void id_removed(struct cmx_priv *p, const struct cmx_device *dev)
{
	struct cmx_event *ev = cmx_event_must(p, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);

	mutex_lock(&p->lock);
	/* a bind that failed may have detached it meanwhile */
	if (p->dev != dev ||
	    cmx_state_move(p, ~(CMX_IN(REMOVED) | CMX_IN(DEAD)), CMX_REMOVED)) {
		mutex_unlock(&p->lock);
		cmx_event_free(ev);
		return;
	}
	if (p->user) {
		cmx_id_release_device(p);
		cmx_port_release(p);
	}
	cmx_event_queue(ev);
	mutex_unlock(&p->lock);
	p->sink->flush(p);
}

static struct cmx_priv *next_id(struct cmx_device *dev)
{
	struct cmx_priv *p, *found = NULL;

	spin_lock(&dev->lock);
	list_for_each_entry(p, &dev->ids, dev_item) {
		if (cmx_id_tryget(p)) {
			/* each id once: a ULP's may stay on the list for long */
			list_del_init(&p->dev_item);
			found = p;
			break;
		}
	}
	spin_unlock(&dev->lock);
	return found;
}

static void client_remove(struct ib_device *device, void *data)
{
	struct cmx_device *dev = data;
	struct cmx_priv *p;
	u32 port;

	down_write(&devices_sem);
	list_del(&dev->item);
	up_write(&devices_sem);

	cmx_listen_remove_device(dev);
	ib_set_client_data(device, &client, NULL);
	spin_lock(&dev->lock);
	dev->gone_soon = true;
	spin_unlock(&dev->lock);
	while ((p = next_id(dev))) {
		id_removed(p, dev);
		cmx_id_put(p);
	}
	rdma_for_each_port(device, port)
		cmx_sa_queue_stop(&cmx_device_port(dev, port)->sa);
	cmx_close_device(dev);
	cmx_device_put(dev);
	wait_for_completion(&dev->gone);
	ib_unregister_event_handler(&dev->events);
	free_paths(dev);
	kfree_rcu(dev, rcu);
}

/**
 * cmx_device_find() - our side of an RDMA device
 * @device: the device; it is registered
 *
 * Return: with a reference, or NULL.
 */
struct cmx_device *cmx_device_find(struct ib_device *device)
{
	struct cmx_device *dev;

	rcu_read_lock();
	dev = ib_get_client_data(device, &client);
	if (dev && !refcount_inc_not_zero(&dev->ref))
		dev = NULL;
	rcu_read_unlock();
	return dev;
}

void cmx_device_get(struct cmx_device *dev)
{
	refcount_inc(&dev->ref);
}

void cmx_device_put(struct cmx_device *dev)
{
	if (refcount_dec_and_test(&dev->ref))
		complete(&dev->gone);
}

int cmx_device_for_each_port(int (*fn)(struct cmx_device *dev, u32 port, void *arg), void *arg)
{
	struct cmx_device *dev;
	int ret = 0;
	u32 port;

	down_read(&devices_sem);
	list_for_each_entry(dev, &devices, item) {
		rdma_for_each_port(dev->device, port) {
			if (!port_usable(dev->device, port))
				continue;
			ret = fn(dev, port, arg);
			if (ret)
				goto out;
		}
	}
out:
	up_read(&devices_sem);
	return ret;
}

/**
 * cmx_device_ids() - find ids among those that are attached to a device
 * @want: which; called under a spinlock, without the id's lock
 * @arg: for @want
 * @n: receives how many
 *
 * Return: an array for kvfree(), with a reference on each id; NULL: none, or out
 * of memory.
 */
struct cmx_priv **cmx_device_ids(bool (*want)(const struct cmx_priv *p, const void *arg),
				 const void *arg, size_t *n)
{
	struct cmx_priv **ids = NULL, *p;
	struct cmx_device *dev;
	size_t max = 0;

	*n = 0;
	down_read(&devices_sem);
again:
	list_for_each_entry(dev, &devices, item) {
		spin_lock(&dev->lock);
		list_for_each_entry(p, &dev->ids, dev_item) {
			if (!want(p, arg))
				continue;
			if (!ids)
				max++;
			else if (*n < max && cmx_id_tryget(p))
				ids[(*n)++] = p;
		}
		spin_unlock(&dev->lock);
	}
	if (!ids && max) {
		ids = kvmalloc_array(max, sizeof(*ids), GFP_KERNEL);
		if (ids)
			goto again;
	}
	up_read(&devices_sem);
	return ids;
}

/**
 * cmx_device_fits() - whether an id may use a device
 * @device: the device
 * @node_type: all that the id may use, or RDMA_NODE_UNSPECIFIED
 */
bool cmx_device_fits(const struct ib_device *device, u8 node_type)
{
	return node_type == RDMA_NODE_UNSPECIFIED || node_type == device->node_type;
}

/**
 * cmx_restrict_node_type() - keep an id to devices of one type
 * @id: the id, not bound to a device yet
 * @node_type: %RDMA_NODE_IB_CA, which RoCE devices are too; %RDMA_NODE_RNIC; or
 *	%RDMA_NODE_UNSPECIFIED: any
 *
 * Context: process, may sleep.
 *
 * Return: 0; -EINVAL: another type; -EALREADY: bound to a device, or listening.
 */
int cmx_restrict_node_type(struct cmx_id *id, u8 node_type)
{
	struct cmx_priv *p = to_priv(id);
	int ret = 0;

	if (node_type != RDMA_NODE_UNSPECIFIED && node_type != RDMA_NODE_IB_CA &&
	    node_type != RDMA_NODE_RNIC)
		return -EINVAL;
	mutex_lock(&p->lock);
	if (p->dev || !(BIT(p->state) & (CMX_IN(IDLE) | CMX_IN(BOUND))))
		ret = -EALREADY;
	else
		p->node_type = node_type;
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_restrict_node_type);

/**
 * cmx_device_attach() - bind an id to a device and port
 * @p: the id; its lock is held, it is attached to none
 * @dev: the device
 * @port: the port
 *
 * Return: 0, or -ENODEV when the device is being removed or the port's
 * transport is none of ours, or of a type that the id may not use.
 */
int cmx_device_attach(struct cmx_priv *p, struct cmx_device *dev, u32 port)
{
	const struct cmx_dev_port *dp = cmx_device_port(dev, port);

	lockdep_assert_held(&p->lock);
	if (!cmx_port_fits(p, dev->device, port))
		return -ENODEV;

	spin_lock(&dev->lock);
	if (dev->gone_soon) {
		spin_unlock(&dev->lock);
		return -ENODEV;
	}
	cmx_device_get(dev);
	list_add_tail(&p->dev_item, &dev->ids);
	spin_unlock(&dev->lock);

	p->dev = dev;
	p->id.device = dev->device;
	p->id.port_num = port;
	p->dev_port = dp;
	p->id.route.addr.dev_addr.transport = dp->node_transport;
	p->gid_type = dp->gid_type;
	if (cmx_opt_set(p, CMX_OPT_GID_TYPE) && rdma_protocol_roce(dev->device, port))
		p->gid_type = p->opt.gid_type;
	p->ops = p->id.qp_type == IB_QPT_UD ? &cmx_ib_sidr_ops : dp->conn;
	return 0;
}

/**
 * cmx_device_attach_attr() - as cmx_device_attach(), by a GID
 * @p: the id; its lock is held, it is attached to none
 * @dev: the device
 * @port: the port
 * @attr: GID, with a reference, which is used up
 *
 * Return: as cmx_device_attach().
 */
int cmx_device_attach_attr(struct cmx_priv *p, struct cmx_device *dev, u32 port,
			   const struct ib_gid_attr *attr)
{
	int ret = cmx_device_attach(p, dev, port);

	if (ret)
		rdma_put_gid_attr(attr);
	else
		p->id.route.addr.dev_addr.sgid_attr = attr;
	return ret;
}

/**
 * cmx_device_attach_request() - the same, to where a request came in
 * @p: the id; its lock is held, it is attached to none
 * @device: the device
 * @port: the port
 * @attr: GID, with a reference, which is used up
 *
 * Return: as cmx_device_attach().
 */
int cmx_device_attach_request(struct cmx_priv *p, struct ib_device *device, u32 port,
			      const struct ib_gid_attr *attr)
{
	struct cmx_device *dev = cmx_device_find(device);
	int ret;

	if (!dev) {
		rdma_put_gid_attr(attr);
		return -ENODEV;
	}
	ret = cmx_device_attach_attr(p, dev, port, attr);
	cmx_device_put(dev);
	return ret;
}

/**
 * cmx_device_detach() - undo cmx_device_attach()
 * @p: the id; its lock is held. Nothing to do when it is attached to none
 */
void cmx_device_detach(struct cmx_priv *p)
{
	struct rdma_dev_addr *addr = &p->id.route.addr.dev_addr;
	struct cmx_device *dev = p->dev;

	lockdep_assert_held(&p->lock);
	if (!dev)
		return;
	cmx_unwatch_peer(p);
	if (addr->sgid_attr) {
		rdma_put_gid_attr(addr->sgid_attr);
		addr->sgid_attr = NULL;
	}
	spin_lock(&dev->lock);
	list_del_init(&p->dev_item);
	spin_unlock(&dev->lock);
	p->dev = NULL;
	p->id.device = NULL;
	p->ops = NULL;
	p->dev_port = NULL;
	cmx_device_put(dev);
}

int cmx_device_init_module(void)
{
	return ib_register_client(&client);
}

void cmx_device_exit_module(void)
{
	ib_unregister_client(&client);
}
