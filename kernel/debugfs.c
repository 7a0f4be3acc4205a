// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What goes on, for root: /sys/kernel/debug/rdma_cmx.
 *
 *   ids	one line for each id: fields as the first line says, then what was set,
 *		negotiated and joined as NAME=VALUE
 *   paths	path records kept for each InfiniBand port
 *   mcast	groups that interfaces and InfiniBand ports are members of: interface or
 *		device and port, group, users
 *   stats	how many ids there are, by state; connections whose end the peer has not
 *		confirmed
 */
#include <linux/debugfs.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <net/ipv6.h>
#include "debugfs.h"
#include "device.h"
#include "eventq.h"
#include "handle.h"
#include "mcast.h"
#include "option.h"
#include "path_cache.h"
#include "sockaddr.h"
#include "transport.h"
#include "ulp.h"
#include "verbs.h"

static struct dentry *dir;

static void show_addr(struct seq_file *s, const struct sockaddr *addr)
{
	if (addr->sa_family == AF_IB)
		seq_printf(s, " %pI6c", &((const struct sockaddr_ib *)addr)->sib_addr);
	else if (addr->sa_family)
		seq_printf(s, " %pISpc", addr);
	else
		seq_puts(s, " -");
}

static void show_ece(struct seq_file *s, const struct cmx_priv *p)
{
	if (!p->ece_flags)
		return;
	seq_printf(s, " ece=%#x/%#x:%#x/%#x", p->ece_local.vendor_id, p->ece_local.attr_mod,
		   p->ece_remote.vendor_id, p->ece_remote.attr_mod);
	if (p->ece_flags & CMX_ECE_F_OFFERED)
		seq_puts(s, ",offered");
	if (p->ece_flags & CMX_ECE_F_APPLIED)
		seq_puts(s, ",applied");
	if (p->ece_flags & CMX_ECE_F_REJECTED)
		seq_puts(s, ",rejected");
}

static const char *state_name(const struct cmx_priv *p)
{
	if (p->state == CMX_CONNECT && p->established)
		return "established";
	return cmx_state_name(p->state);
}

/* What ids of processes and of ULPs have in common */
static void show_id(struct seq_file *s, struct cmx_priv *p)
{
	mutex_lock(&p->lock);
	seq_printf(s, " %p %s %u", p, state_name(p), (u32)ktime_get_seconds() - p->created);
	show_addr(s, cmx_src(p));
	show_addr(s, cmx_dst(p));
	if (p->id.device)
		seq_printf(s, " %s/%u %s", dev_name(&p->id.device->dev), p->id.port_num,
			   p->ops ? p->ops->name : "-");
	else
		seq_puts(s, " - -");
	seq_printf(s, " %#x %#x", p->id.ps, p->qp_num);
	cmx_opt_show(p, s);
	show_ece(s, p);
	if (cmx_mcast_count(p))
		seq_printf(s, " groups=%u", cmx_mcast_count(p));
	mutex_unlock(&p->lock);
}

static int show_ulp_id(struct cmx_priv *p, void *s)
{
	seq_puts(s, "- - kernel");
	show_id(s, p);
	seq_putc(s, '\n');
	return 0;
}

static void show_process(struct seq_file *s, struct cmx_uid *u)
{
	struct task_struct *task = NULL;
	struct cmx_file *file;
	char comm[TASK_COMM_LEN] = "-";
	pid_t pid = 0;

	rcu_read_lock();
	file = READ_ONCE(u->file);
	if (file) {
		pid = file->pid;
		task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_TGID);
	}
	if (task)
		get_task_comm(comm, task);
	rcu_read_unlock();
	seq_printf(s, "%u %d ", u->handle, pid);
	seq_escape(s, comm, " \t\n\\");
}

static int show_uid(struct cmx_uid *u, void *s)
{
	u32 queued = READ_ONCE(u->queued);

	show_process(s, u);
	show_id(s, &u->p);
	if (queued)
		seq_printf(s, " queued=%u", queued);
	seq_putc(s, '\n');
	return 0;
}

static int ids_show(struct seq_file *s, void *unused)
{
	seq_puts(s, "handle pid command id state age src dst device transport ps qp_num ...\n");
	cmx_handles_for_each(show_uid, s);
	cmx_ulp_for_each(show_ulp_id, s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ids);

static int show_paths(struct cmx_device *dev, u32 port, void *s)
{
	struct cmx_path_cache *paths = cmx_device_port(dev, port)->paths;

	if (!paths)
		return 0;
	seq_printf((struct seq_file *)s, "%s %u", dev_name(&dev->device->dev), port);
	cmx_path_cache_show(paths, s);
	seq_putc(s, '\n');
	return 0;
}

static int paths_show(struct seq_file *s, void *unused)
{
	seq_puts(s, "device port entries hits misses drops\n");
	return cmx_device_for_each_port(show_paths, s);
}
DEFINE_SHOW_ATTRIBUTE(paths);

static int mcast_show(struct seq_file *s, void *unused)
{
	seq_puts(s, "interface group users ...\n");
	cmx_mcast_ip_show(s);
	cmx_mcast_sa_show(s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(mcast);

/**
 * struct stats - sums over all ids
 * @ids: of processes
 * @ulp_ids: of ULPs
 * @groups: memberships
 * @queued: events that wait for a process
 * @state: ids by state
 */
struct stats {
	u64 ids;
	u64 ulp_ids;
	u64 groups;
	u64 queued;
	u64 state[CMX_STATE_NUM];
};

static void count(struct cmx_priv *p, struct stats *st)
{
	mutex_lock(&p->lock);
	st->state[p->state]++;
	st->groups += cmx_mcast_count(p);
	mutex_unlock(&p->lock);
}

static int count_uid(struct cmx_uid *u, void *arg)
{
	struct stats *st = arg;

	st->ids++;
	st->queued += READ_ONCE(u->queued);
	count(&u->p, st);
	return 0;
}

static int count_ulp_id(struct cmx_priv *p, void *arg)
{
	struct stats *st = arg;

	st->ulp_ids++;
	count(p, st);
	return 0;
}

static int stats_show(struct seq_file *s, void *unused)
{
	struct stats st = {};
	int i;

	cmx_handles_for_each(count_uid, &st);
	cmx_ulp_for_each(count_ulp_id, &st);
	seq_printf(s, "process-ids %llu\nkernel-ids %llu\ngroups %llu\nqueued-events %llu\nclosing %u\n",
		   st.ids, st.ulp_ids, st.groups, st.queued, cmx_close_count());
	for (i = 0; i < CMX_STATE_NUM; i++)
		seq_printf(s, "state-%s %llu\n", cmx_state_name(i), st.state[i]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

int cmx_debugfs_init_module(void)
{
	dir = debugfs_create_dir("rdma_cmx", NULL);
	debugfs_create_file("ids", 0400, dir, NULL, &ids_fops);
	debugfs_create_file("paths", 0400, dir, NULL, &paths_fops);
	debugfs_create_file("mcast", 0400, dir, NULL, &mcast_fops);
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	return 0;
}

void cmx_debugfs_exit_module(void)
{
	debugfs_remove_recursive(dir);
}
