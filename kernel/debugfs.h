/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_DEBUGFS_H
#define CMX_DEBUGFS_H

int cmx_debugfs_init_module(void);
void cmx_debugfs_exit_module(void);

#endif
