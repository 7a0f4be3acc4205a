/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PORT_DEFAULT_H
#define CMX_PORT_DEFAULT_H

#include <linux/types.h>

struct cmx_dev_port;
struct ib_device;

void cmx_dev_port_default_init(struct ib_device *device, u32 port, struct cmx_dev_port *dev_port);

#endif
