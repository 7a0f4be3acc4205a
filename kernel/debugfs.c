// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The present state of the module, for root: /sys/kernel/debug/rdma_cmx.
 *
 *   ids	one line for each id. The first line names the fields. Options that are set,
 *		negotiated ECE and the number of groups follow as NAME=VALUE; "busy" if a call
 *		keeps the id locked
 *   paths	the path records cached for each InfiniBand port
 *   mcast	the groups that interfaces and InfiniBand ports are members of: interface or
 *		device and port, group, number of users
 *   stats	number of ids, by state; number of connections whose end the peer has not
 *		confirmed; number of ids that a call keeps locked, whose groups are not counted;
 *		number of failed address resolutions of ids that were attached to no device
 */
#include <linux/debugfs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include "debugfs.h"
#include "device.h"
#include "channel.h"
#include "handle.h"
#include "id_table.h"
#include "mcast.h"
#include "option.h"
#include "sockaddr.h"
#include "stats.h"
#include "transport.h"

/* The longest wait for locked ids, all together. A provider may keep an id locked for ever. */
#define LOCK_WAIT_MS 100

static struct dentry *debugfs_dir;

static void ids_addr_show(struct seq_file *s, const struct sockaddr *addr)
{
	if (addr->sa_family == AF_IB)
		seq_printf(s, " %pI6c", &((const struct sockaddr_ib *)addr)->sib_addr);
	else if (addr->sa_family)
		seq_printf(s, " %pISpc", addr);
	else
		seq_puts(s, " -");
}

static void ids_ece_show(struct seq_file *s, const struct cmx_id_private *id_priv)
{
	if (!id_priv->ece_flags)
		return;
	seq_printf(s, " ece=%#x/%#x:%#x/%#x", id_priv->ece_local.vendor_id,
		   id_priv->ece_local.attr_mod, id_priv->ece_remote.vendor_id,
		   id_priv->ece_remote.attr_mod);
	if (id_priv->ece_flags & CMX_ECE_F_OFFERED)
		seq_puts(s, ",offered");
	if (id_priv->ece_flags & CMX_ECE_F_APPLIED)
		seq_puts(s, ",applied");
	if (id_priv->ece_flags & CMX_ECE_F_REJECTED)
		seq_puts(s, ",rejected");
}

static const char *ids_state_name(const struct cmx_id_private *id_priv)
{
	enum cmx_state state = READ_ONCE(id_priv->state);

	/* The flag is only shown, so it may be that of another state. */
	if (state == CMX_CONNECT && data_race(!!id_priv->established))
		return "established";
	return cmx_state_name(state);
}

static void ids_locked_show(struct seq_file *s, const struct cmx_id_private *id_priv)
{
	ids_addr_show(s, cmx_src(id_priv));
	ids_addr_show(s, cmx_dst(id_priv));
	if (id_priv->id.device)
		seq_printf(s, " %s/%u %s", dev_name(&id_priv->id.device->dev), id_priv->id.port_num,
			   id_priv->conn_ops ? id_priv->conn_ops->name : "-");
	else
		seq_puts(s, " - -");
	seq_printf(s, " %#x %#x", id_priv->id.ps, id_priv->qp_num);
	cmx_opt_show(id_priv, s);
	ids_ece_show(s, id_priv);
	if (cmx_mcast_count(id_priv))
		seq_printf(s, " groups=%u", cmx_mcast_count(id_priv));
}

/* The fields that ids of processes and of ULPs have in common */
static void ids_common_show(struct seq_file *s, struct cmx_id_private *id_priv)
{
	bool locked = cmx_id_walk_trylock(id_priv, s->private);

	seq_printf(s, " %p %s %u", id_priv, ids_state_name(id_priv),
		   (u32)ktime_get_seconds() - id_priv->created);
	if (!locked) {
		seq_printf(s, " - - - - %#x %#x busy", id_priv->id.ps, READ_ONCE(id_priv->qp_num));
		return;
	}
	ids_locked_show(s, id_priv);
	mutex_unlock(&id_priv->lock);
}

static void ids_process_show(struct seq_file *s, struct cmx_user_id *user_id)
{
	struct task_struct *task = NULL;
	struct cmx_channel *channel;
	char comm[TASK_COMM_LEN] = "-";
	pid_t pid = 0;

	rcu_read_lock();
	channel = READ_ONCE(user_id->channel);
	if (channel) {
		pid = channel->pid;
		task = cmx_channel_process(channel);
	}
	if (task)
		get_task_comm(comm, task);
	rcu_read_unlock();
	seq_printf(s, "%u %d ", user_id->handle, pid);
	seq_escape(s, comm, " \t\n\\");
}

static int ids_show(struct seq_file *s, void *v)
{
	struct cmx_id_private *id_priv = v;
	u32 queued = 0;

	if (v == SEQ_START_TOKEN) {
		seq_puts(s, "handle pid command id state age src dst device transport ps qp_num ...\n");
		return 0;
	}
	if (id_priv->user) {
		ids_process_show(s, to_user_id(id_priv));
		queued = READ_ONCE(to_user_id(id_priv)->queued);
	} else {
		seq_puts(s, "- - kernel");
	}
	ids_common_show(s, id_priv);
	if (queued)
		seq_printf(s, " queued=%u", queued);
	seq_putc(s, '\n');
	return 0;
}

static struct cmx_id_private *ids_next_at(loff_t *pos)
{
	u64 at = *pos;
	struct cmx_id_private *id_priv = cmx_id_walk_next(&at);

	*pos = at;
	return id_priv;
}

static void *ids_start(struct seq_file *s, loff_t *pos)
{
	return *pos ? ids_next_at(pos) : SEQ_START_TOKEN;
}

static void ids_stop(struct seq_file *s, void *v)
{
	if (v && v != SEQ_START_TOKEN)
		cmx_id_put(v);
}

static void *ids_next(struct seq_file *s, void *v, loff_t *pos)
{
	ids_stop(s, v);
	++*pos;
	return ids_next_at(pos);
}

static const struct seq_operations ids_seq_ops = {
	.start = ids_start,
	.next = ids_next,
	.stop = ids_stop,
	.show = ids_show,
};

static int ids_open(struct inode *inode, struct file *file)
{
	unsigned int *lock_wait_ms = __seq_open_private(file, &ids_seq_ops, sizeof(*lock_wait_ms));

	if (!lock_wait_ms)
		return -ENOMEM;
	*lock_wait_ms = LOCK_WAIT_MS;
	return 0;
}

static const struct file_operations ids_fops = {
	.owner = THIS_MODULE,
	.open = ids_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release_private,
};

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
	seq_puts(s, "device port entries hits misses drops\n");
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
 * @queued: number of events that are to be fetched by processes
 * @busy: number of ids that stayed locked
 * @lock_wait_ms: milliseconds left to wait for locked ids
 * @state: number of ids by state
 */
struct debugfs_stats {
	u64 ids;
	u64 ulp_ids;
	u64 groups;
	u64 queued;
	u64 busy;
	unsigned int lock_wait_ms;
	u64 state[CMX_STATE_NUM];
};

static void stats_id_add(struct cmx_id_private *id_priv, struct debugfs_stats *stats)
{
	if (id_priv->user) {
		stats->ids++;
		stats->queued += READ_ONCE(to_user_id(id_priv)->queued);
	} else {
		stats->ulp_ids++;
	}
	stats->state[READ_ONCE(id_priv->state)]++;
	if (!cmx_id_walk_trylock(id_priv, &stats->lock_wait_ms)) {
		stats->busy++;
		return;
	}
	stats->groups += cmx_mcast_count(id_priv);
	mutex_unlock(&id_priv->lock);
}

static unsigned int stats_num_closing(void)
{
	const struct cmx_transport *const *t;
	unsigned int num = 0;

	cmx_for_each_transport(t)
		if ((*t)->num_closing)
			num += (*t)->num_closing();
	return num;
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
	seq_printf(s, "process-ids %llu\nkernel-ids %llu\ngroups %llu\nqueued-events %llu\nclosing %u\nbusy-ids %llu\n",
		   stats.ids, stats.ulp_ids, stats.groups, stats.queued, stats_num_closing(),
		   stats.busy);
	for (i = 0; i < CMX_STATE_NUM; i++)
		seq_printf(s, "state-%s %llu\n", cmx_state_name(i), stats.state[i]);
	seq_printf(s, "unattached-addr-timeouts %llu\nunattached-addr-errors %llu\n",
		   cmx_stats_unattached(CMX_STAT_ADDR_TIMEOUT),
		   cmx_stats_unattached(CMX_STAT_ADDR_ERROR));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

int cmx_debugfs_init_module(void)
{
	debugfs_dir = debugfs_create_dir("rdma_cmx", NULL);
	debugfs_create_file("ids", 0400, debugfs_dir, NULL, &ids_fops);
	debugfs_create_file("paths", 0400, debugfs_dir, NULL, &paths_fops);
	debugfs_create_file("mcast", 0400, debugfs_dir, NULL, &mcast_fops);
	debugfs_create_file("stats", 0400, debugfs_dir, NULL, &stats_fops);
	return 0;
}

void cmx_debugfs_exit_module(void)
{
	debugfs_remove_recursive(debugfs_dir);
}
