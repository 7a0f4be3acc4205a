/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IB_PORT_H
#define CMX_IB_PORT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include "device.h"
#include "sa_queue.h"

struct cmx_path_cache;

/**
 * struct cmx_ib_port - a port of a transport that uses ib_cm
 * @windows_lock: protects @windows
 * @windows: list of &cmx_ib_window.item, the send window of each user
 * @released: list of &cmx_ib_end.item; protected by a lock of ib_close.c
 * @sa: queue of joins and leaves
 * @paths: cache of path records; NULL on RoCE, which has no SA
 * @mtu_lock: held while the provider is asked for the MTU, so that the latest reply is kept
 * @mtu: active MTU, as enum ib_mtu; 0 if not known, as on RoCE
 */
struct cmx_ib_port {
	spinlock_t windows_lock;	/* protects windows */
	struct list_head windows;
	struct list_head released;
	struct cmx_sa_queue sa;
	struct cmx_path_cache *paths;
	struct mutex mtu_lock;	/* protects mtu against older replies */
	u8 mtu;
};

static inline struct cmx_ib_port *cmx_ib_port(struct cmx_device *dev, u32 port)
{
	return cmx_device_port(dev, port)->priv;
}

/* Caller must hold id_priv->lock, and a reference to @dev, to which the id is or was attached. */
void cmx_route_invalidate_on(struct cmx_id_private *id_priv, struct cmx_device *dev);

#endif
