// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/kernel.h>
#include <linux/module.h>
#include "chardev.h"
#include "client.h"
#include "debugfs.h"
#include "channel.h"
#include "ib.h"
#include "ib_close.h"
#include "id.h"
#include "id_table.h"
#include "iw.h"
#include "lock_order.h"
#include "port_space.h"
#include "roce.h"
#include "rule.h"
#include "sa_query.h"
#include "transport.h"
#include "ulp.h"
#include "watch.h"

MODULE_DESCRIPTION("RDMA connection management: options, multicast, ECE");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(CMX_VERSION);
/* ib_core loads the module by this alias when a process asks it for the char device */
MODULE_ALIAS("rdma-client-rdma_cmx");

static const struct cmx_transport *const transports[] = {
	&cmx_transport_ib,
	&cmx_transport_roce,
	&cmx_transport_iwarp,
	NULL
};

/*
 * In the order of initialisation; exit is in reverse order. The caches of ids come first, and the
 * interfaces to users come last. What the transports have for all ports comes before the devices.
 */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	{ cmx_lock_order_init_module, NULL },
	{ NULL, cmx_id_table_exit_module },
	{ cmx_user_id_init_module, cmx_user_id_exit_module },
	{ cmx_ulp_init_module, cmx_ulp_exit_module },
	{ cmx_id_init_module, cmx_id_exit_module },
	{ cmx_rule_init_module, cmx_rule_exit_module },
	{ cmx_port_space_init_module, cmx_port_space_exit_module },
	{ cmx_close_init_module, NULL },
	{ cmx_sa_init_module, cmx_sa_exit_module },
	{ cmx_mcast_ip_init_module, cmx_mcast_ip_exit_module },
	{ cmx_client_init_module, cmx_client_exit_module },
	{ cmx_watch_init_module, cmx_watch_exit_module },
	{ cmx_chardev_init_module, cmx_chardev_exit_module },
	{ cmx_debugfs_init_module, cmx_debugfs_exit_module },
};

static void cmx_parts_exit(int i)
{
	while (i--)
		if (parts[i].exit)
			parts[i].exit();
}

static int __init cmx_init(void)
{
	int i, ret;

	cmx_transports = transports;
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		ret = parts[i].init ? parts[i].init() : 0;
		if (ret) {
			cmx_parts_exit(i);
			return ret;
		}
	}
	return 0;
}

static void __exit cmx_exit(void)
{
	cmx_parts_exit(ARRAY_SIZE(parts));
}

module_init(cmx_init);
module_exit(cmx_exit);
