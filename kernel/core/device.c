// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The list of RDMA devices, and the ids that are attached to each of them. client.c adds and
 * removes the devices.
 */
#include <linux/rwsem.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "device.h"
#include "stats.h"
#include "transport.h"

static LIST_HEAD(devices);
static DECLARE_RWSEM(devices_sem);	/* protects devices */
static struct ib_client *device_client;

/**
 * cmx_device_register_client() - register the ib_client for the RDMA devices of the host
 * @client: the ib_client. Its client data for an &struct ib_device is the &struct cmx_device
 *
 * Return: 0 or -errno.
 */
int cmx_device_register_client(struct ib_client *client)
{
	device_client = client;
	return ib_register_client(client);
}

/**
 * cmx_device_list_add() - add a device to the list of devices
 * @dev: the device, which is fully initialized
 */
void cmx_device_list_add(struct cmx_device *dev)
{
	down_write(&devices_sem);
	list_add_tail(&dev->item, &devices);
	up_write(&devices_sem);
}

/**
 * cmx_device_list_del() - undo cmx_device_list_add()
 * @dev: the device
 *
 * When this returns, cmx_device_for_each_port() does not use the device any more.
 */
void cmx_device_list_del(struct cmx_device *dev)
{
	down_write(&devices_sem);
	list_del(&dev->item);
	up_write(&devices_sem);
}

/**
 * cmx_dev_port_fits() - check whether an id may use a port
 * @id_priv: the id
 * @dev: the device
 * @port: the port
 *
 * Context: Caller must hold id_priv->lock. A listener needs no lock, because the fields that are
 *	read do not change while it listens.
 * Return: true if the id may use the port.
 */
bool cmx_dev_port_fits(const struct cmx_id_private *id_priv, struct cmx_device *dev, u32 port)
{
	const struct cmx_transport *transport = cmx_device_port(dev, port)->transport;

	if (id_priv->node_type != RDMA_NODE_UNSPECIFIED &&
	    id_priv->node_type != dev->device->node_type)
		return false;
	return transport && (!transport->id_fits || transport->id_fits(id_priv));
}

/**
 * cmx_device_find() - find the &struct cmx_device of an RDMA device
 * @device: the RDMA device, which is registered
 *
 * Return: the device with a reference, or NULL.
 */
struct cmx_device *cmx_device_find(struct ib_device *device)
{
	struct cmx_device *dev;

	rcu_read_lock();
	dev = ib_get_client_data(device, device_client);
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
			if (!cmx_device_port(dev, port)->transport)
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
 * cmx_device_attach() - attach an id to a device and port; the caller sets its GID type
 * @id_priv: the id, which is attached to no device
 * @dev: the device
 * @port: the port
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, or -ENODEV if the device is being removed, if no transport supports the port, or if
 *	the id may not use the port.
 */
int cmx_device_attach(struct cmx_id_private *id_priv, struct cmx_device *dev, u32 port)
{
	const struct cmx_dev_port *dp = cmx_device_port(dev, port);

	lockdep_assert_held(&id_priv->lock);
	if (!cmx_dev_port_fits(id_priv, dev, port))
		return -ENODEV;

	spin_lock(&dev->lock);
	if (dev->removing) {
		spin_unlock(&dev->lock);
		return -ENODEV;
	}
	cmx_device_get(dev);
	list_add_tail(&id_priv->dev_item, &dev->ids);
	spin_unlock(&dev->lock);

	WRITE_ONCE(id_priv->dev, dev);
	WRITE_ONCE(id_priv->id.device, dev->device);
	WRITE_ONCE(id_priv->id.port_num, port);
	WRITE_ONCE(id_priv->dev_port, dp);
	id_priv->id.route.addr.dev_addr.transport = rdma_node_get_transport(dev->device->node_type);
	WRITE_ONCE(id_priv->conn_ops, id_priv->id.qp_type == IB_QPT_UD ? dp->transport->dgram :
									 dp->transport->conn);
	return 0;
}

/**
 * cmx_device_attach_attr() - attach an id to a device and port, with a GID
 * @id_priv: the id, which is attached to no device
 * @dev: the device
 * @port: the port
 * @attr: the GID, with a reference, which is consumed even on error
 *
 * Context: Caller must hold id_priv->lock.
 * Return: as cmx_device_attach().
 */
int cmx_device_attach_attr(struct cmx_id_private *id_priv, struct cmx_device *dev, u32 port,
			   const struct ib_gid_attr *attr)
{
	int ret = cmx_device_attach(id_priv, dev, port);

	if (ret) {
		rdma_put_gid_attr(attr);
		return ret;
	}
	id_priv->id.route.addr.dev_addr.sgid_attr = attr;
	/* The rules may have changed since the GID was looked up. */
	id_priv->gid_type = attr->gid_type;
	return 0;
}

/**
 * cmx_device_attach_request() - attach the id of a request to the port that received the request
 * @id_priv: the id, which is attached to no device
 * @device: the device
 * @port: the port
 * @attr: the GID, with a reference, which is consumed even on error
 *
 * Context: Caller must hold id_priv->lock.
 * Return: as cmx_device_attach().
 */
int cmx_device_attach_request(struct cmx_id_private *id_priv, struct ib_device *device, u32 port,
			      const struct ib_gid_attr *attr)
{
	struct cmx_device *dev = cmx_device_find(device);
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (!dev) {
		rdma_put_gid_attr(attr);
		return -ENODEV;
	}
	ret = cmx_device_attach_attr(id_priv, dev, port, attr);
	cmx_device_put(dev);
	return ret;
}

/**
 * cmx_device_detach() - undo cmx_device_attach()
 * @id_priv: the id; nothing is done if it is attached to no device
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_device_detach(struct cmx_id_private *id_priv)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	struct cmx_device *dev = id_priv->dev;

	lockdep_assert_held(&id_priv->lock);
	if (!dev)
		return;
	if (addr->sgid_attr) {
		rdma_put_gid_attr(addr->sgid_attr);
		addr->sgid_attr = NULL;
	}
	spin_lock(&dev->lock);
	list_del_init(&id_priv->dev_item);
	spin_unlock(&dev->lock);
	WRITE_ONCE(id_priv->dev, NULL);
	WRITE_ONCE(id_priv->id.device, NULL);
	WRITE_ONCE(id_priv->conn_ops, NULL);
	WRITE_ONCE(id_priv->dev_port, NULL);
	/* the gauges of the port end with the device */
	cmx_gauge_recount(id_priv);
	cmx_device_put(dev);
}

/**
 * cmx_id_get_gids() - get the GIDs of an id and of its peer
 * @id_priv: the id. If it is attached to no device, nothing is written
 * @sgid: receives the GID of the id
 * @dgid: receives the GID of the peer; all zero if it is not known yet
 *
 * On RoCE these are the GIDs of the IP addresses, as the in-tree stack reports them.
 *
 * Context: Caller must hold id_priv->lock, or be the ULP of the id, which keeps its device.
 */
void cmx_id_get_gids(struct cmx_id_private *id_priv, union ib_gid *sgid, union ib_gid *dgid)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	const struct cmx_dev_port *dp = READ_ONCE(id_priv->dev_port);

	if (!dp)
		return;
	if (dp->transport->gid_is_ip) {
		rdma_ip2gid(cmx_src(id_priv), sgid);
		rdma_ip2gid(cmx_dst(id_priv), dgid);
	} else {
		rdma_addr_get_sgid(addr, sgid);
		rdma_addr_get_dgid(addr, dgid);
	}
}
