/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_CHARDEV_H
#define CMX_CHARDEV_H

int cmx_chardev_init_module(void);
void cmx_chardev_exit_module(void);

#endif
