/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_NDEV_H
#define CMX_NDEV_H

#include <linux/netdevice.h>
#include <linux/socket.h>
#include <rdma/ib_addr.h>

bool cmx_ndev_is_in(const struct net_device *ndev, int bind_device);
bool cmx_ndev_index_is_in(struct net *net, int ifindex, int bind_device);
struct net_device *cmx_ndev_find(struct net *net, int bind_device, const struct sockaddr *addr);
void cmx_ndev_copy_link(struct rdma_dev_addr *addr, const struct net_device *ndev);

#endif
