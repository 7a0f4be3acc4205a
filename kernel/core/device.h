/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_DEVICE_H
#define CMX_DEVICE_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/completion.h>
#include <rdma/ib_verbs.h>
#include "id.h"
#include "sa_queue.h"

struct cmx_path_cache;
struct cmx_transport;

/**
 * struct cmx_dev_port - a port of an RDMA device
 * @paths: path records (InfiniBand), or NULL
 * @sa: joins and leaves (InfiniBand)
 * @gid_type: default GID type
 * @node_transport: enum rdma_transport_type
 * @transport: what it is of, or NULL: of none that we can use
 */
struct cmx_dev_port {
	struct cmx_path_cache *paths;
	struct cmx_sa_queue sa;
	const struct cmx_transport *transport;
	u8 gid_type;
	u8 node_transport;
};

/**
 * struct cmx_device - an RDMA device
 * @device: the device; valid while a reference is held
 * @item: on the list of devices
 * @ref: ids, listeners, cm ids that were given up, and look-ups in progress
 * @gone: the last reference was dropped
 * @lock: protects @ids; innermost but for none
 * @ids: &cmx_id_private.dev_item
 * @gone_soon: being removed: takes no more ids; under @lock
 * @rcu: look-ups from callbacks may still see it
 * @events: of its ports
 * @port: from rdma_start_port() on
 */
struct cmx_device {
	struct ib_device *device;
	struct list_head item;
	refcount_t ref;
	struct completion gone;
	spinlock_t lock;	/* protects ids, gone_soon */
	struct list_head ids;
	bool gone_soon;
	struct rcu_head rcu;
	struct ib_event_handler events;
	struct cmx_dev_port port[];
};

int cmx_device_register_client(struct ib_client *client);
void cmx_device_list_add(struct cmx_device *dev);
void cmx_device_list_del(struct cmx_device *dev);

struct cmx_device *cmx_device_find(struct ib_device *device);
void cmx_device_get(struct cmx_device *dev);
void cmx_device_put(struct cmx_device *dev);

/**
 * cmx_device_for_each_port() - call @fn on each device and port
 * @fn: returns 0 to go on, anything else to stop. Called under the read side
 *	of the device list: may sleep, must not add or remove devices. With
 *	port 0 never called
 *
 * Return: what the last call of @fn returned, or 0.
 */
int cmx_device_for_each_port(int (*fn)(struct cmx_device *dev, u32 port, void *arg), void *arg);

struct cmx_id_private **cmx_device_ids(bool (*want)(const struct cmx_id_private *id_priv,
						    const void *arg),
				       const void *arg, size_t *n);

bool cmx_port_fits(const struct cmx_id_private *id_priv, struct cmx_device *dev, u32 port);
bool cmx_device_fits(const struct ib_device *device, u8 node_type);

static inline struct cmx_dev_port *cmx_device_port(struct cmx_device *dev, u32 port)
{
	return &dev->port[port - rdma_start_port(dev->device)];
}

int cmx_device_attach(struct cmx_id_private *id_priv, struct cmx_device *dev, u32 port);
int cmx_device_attach_attr(struct cmx_id_private *id_priv, struct cmx_device *dev, u32 port,
			   const struct ib_gid_attr *attr);
int cmx_device_attach_request(struct cmx_id_private *id_priv, struct ib_device *device, u32 port,
			      const struct ib_gid_attr *attr);
void cmx_device_detach(struct cmx_id_private *id_priv);
void cmx_id_gids(struct cmx_id_private *id_priv, union ib_gid *sgid, union ib_gid *dgid);

#endif
