/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_MCAST_IP_H
#define CMX_MCAST_IP_H

struct seq_file;

int cmx_mcast_ip_init_module(void);
void cmx_mcast_ip_exit_module(void);
void cmx_mcast_ip_show(struct seq_file *s);

#endif
