/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_DEVICE_H
#define CMX_DEVICE_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/completion.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "id.h"

/**
 * struct cmx_dev_port - a port of an RDMA device
 * @stats: counters, if the port has a transport
 * @transport: transport of the port; NULL: none that we support
 * @priv: for @transport, or NULL
 * @gid_type: default GID type
 * @gid_types: mask of the GID types that a RoCE port supports
 */
struct cmx_dev_port {
	struct cmx_stats *stats;
	const struct cmx_transport *transport;
	void *priv;
	u8 gid_type;
	u8 gid_types;
};

/**
 * struct cmx_device - an RDMA device
 * @device: the device of ib_core; valid while a reference is held
 * @item: in the list of devices
 * @ref: references of the ib_client, of ids, of listeners, of memberships (InfiniBand), of iw_cm
 *	ids, of released ib_cm ids, and of look-ups in progress
 * @gone: completed when the last reference is dropped
 * @lock: protects @ids and @removing. Leaf lock: no other lock is taken while holding it
 * @ids: list of &cmx_id_private.dev_item
 * @removing: the device is being removed and accepts no more ids; ib_close.c reads it without
 *	@lock
 * @destroy_wq: ends and destroys ib_cm and iw_cm ids of the device, a few at a time
 * @event_wq: calls the handlers of ULPs for the ids of the device
 * @rcu: frees the memory after look-ups in callbacks that still see the device
 * @events: handler of the events of its ports
 * @port: the ports, beginning with rdma_start_port()
 */
struct cmx_device {
	struct ib_device *device;
	struct list_head item;
	refcount_t ref;
	struct completion gone;
	spinlock_t lock;	/* protects ids and removing */
	struct list_head ids;
	bool removing;
	struct workqueue_struct *destroy_wq;
	struct workqueue_struct *event_wq;
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
 * cmx_device_for_each_port() - call a function for each port that has a transport, on all devices
 * @fn: the function. It returns 0 to continue and any other value to stop. The list of devices is
 *	locked for reading, so @fn may sleep, but must not add or remove devices
 * @arg: argument of @fn
 *
 * Return: the return value of the last call of @fn; 0 if there was no call.
 */
int cmx_device_for_each_port(int (*fn)(struct cmx_device *dev, u32 port, void *arg), void *arg);

bool cmx_dev_port_fits(const struct cmx_id_private *id_priv, struct cmx_device *dev, u32 port);

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
void cmx_id_get_gids(struct cmx_id_private *id_priv, union ib_gid *sgid, union ib_gid *dgid);

#endif
