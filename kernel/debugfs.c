// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The present state of the module, for root: /sys/kernel/debug/rdma_cmx.
 *
 *   paths	the path records cached for each InfiniBand port
 *   mcast	the groups that interfaces and InfiniBand ports are members of: interface or
 *		device and port, group, number of users
 *   stats	number of ids, by state; number of ids that a call keeps locked, whose groups are
 *		not counted
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "debugfs.h"
#include "device.h"
#include "id_table.h"
#include "transport.h"

/* The longest wait for locked ids, all together. A provider may keep an id locked for ever. */
#define LOCK_WAIT_MS 100

static struct dentry *debugfs_dir;

static int paths_port_show(struct cmx_device *dev, u32 port, void *s)
{
	const struct cmx_dev_port *dp = cmx_device_port(dev, port);

	if (!dp->transport->route->cache_show)
		return 0;
	seq_printf((struct seq_file *)s, "%s %u", dev_name(&dev->device->dev), port);
	dp->transport->route->cache_show(dp, s);
	seq_putc(s, '\n');
	return 0;
}

static int paths_show(struct seq_file *s, void *unused)
{
	seq_puts(s, "dev port entries hits misses drops\n");
	return cmx_device_for_each_port(paths_port_show, s);
}
DEFINE_SHOW_ATTRIBUTE(paths);

static int mcast_show(struct seq_file *s, void *unused)
{
	const struct cmx_transport *const *t;

	seq_puts(s, "interface group users ...\n");
	cmx_for_each_transport(t)
		if ((*t)->mcast)
			(*t)->mcast->show(s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(mcast);

/**
 * struct debugfs_stats - sums over all ids
 * @ids: number of ids of processes
 * @ulp_ids: number of ids of ULPs
 * @groups: number of memberships
 * @busy: number of ids that stayed locked
 * @lock_wait_ms: milliseconds left to wait for locked ids
 * @state: number of ids by state
 */
struct debugfs_stats {
	u64 ids;
	u64 ulp_ids;
	u64 groups;
	u64 busy;
	unsigned int lock_wait_ms;
	u64 state[CMX_STATE_NUM];
};

static void stats_id_add(struct cmx_id_private *id_priv, struct debugfs_stats *stats)
{
	if (id_priv->user)
		stats->ids++;
	else
		stats->ulp_ids++;
	stats->state[READ_ONCE(id_priv->state)]++;
	if (!cmx_id_walk_trylock(id_priv, &stats->lock_wait_ms)) {
		stats->busy++;
		return;
	}
	stats->groups += id_priv->num_groups;
	mutex_unlock(&id_priv->lock);
}

static int stats_show(struct seq_file *s, void *unused)
{
	struct debugfs_stats stats = { .lock_wait_ms = LOCK_WAIT_MS };
	struct cmx_id_private *id_priv;
	u64 pos;
	int i;

	for (pos = 0; (id_priv = cmx_id_walk_next(&pos)); pos++) {
		stats_id_add(id_priv, &stats);
		cmx_id_put(id_priv);
	}
	seq_printf(s, "process-ids %llu\nkernel-ids %llu\ngroups %llu\nbusy-ids %llu\n", stats.ids,
		   stats.ulp_ids, stats.groups, stats.busy);
	for (i = 0; i < CMX_STATE_NUM; i++)
		seq_printf(s, "state-%s %llu\n", cmx_state_name(i), stats.state[i]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

int cmx_debugfs_init_module(void)
{
	debugfs_dir = debugfs_create_dir("rdma_cmx", NULL);
	debugfs_create_file("paths", 0400, debugfs_dir, NULL, &paths_fops);
	debugfs_create_file("mcast", 0400, debugfs_dir, NULL, &mcast_fops);
	debugfs_create_file("stats", 0400, debugfs_dir, NULL, &stats_fops);
	return 0;
}

void cmx_debugfs_exit_module(void)
{
	debugfs_remove_recursive(debugfs_dir);
}
