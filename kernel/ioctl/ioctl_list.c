// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CMX_CHANNEL_LIST_IDS and CMX_CHANNEL_KILL: the ids of all files that the caller may see or end.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include "connect.h"
#include "device.h"
#include "ece.h"
#include "event.h"
#include "id_table.h"
#include "ioctl.h"
#include "option.h"
#include "sockaddr.h"
#include "teardown.h"
#include "transport.h"
#include "ulp.h"

/* Limits for one call: ids that are examined, and milliseconds of waiting for locked ids */
#define LIST_CALL_IDS 4096
#define LIST_CALL_PATIENCE_MS 20

/**
 * struct list_caller - rights of the caller
 * @net: its network namespace
 * @all: it may see the ids of every namespace
 * @all_in_net: it may see the ids of @net
 * @trace_id: it may see how traces name an id
 */
struct list_caller {
	struct net *net;
	bool all;
	bool all_in_net;
	bool trace_id;
};

/**
 * struct list_entry - one id, as it is copied to the caller
 * @record: without the options
 * @options: its options
 */
struct list_entry {
	struct cmx_id_record record;
	struct cmx_id_option options[CMX_OPT_NUM];
};

/* The shortest buffer has space for the longest record. */
static_assert(CMX_LIST_MAX_RECORD + CMX_OPT_NUM * sizeof(struct cmx_id_option) <= CMX_LIST_MIN_LEN);
static_assert(sizeof(((struct cmx_id_record *)0)->comm) == TASK_COMM_LEN);
static_assert(sizeof(((struct cmx_id_record *)0)->device) == IB_DEVICE_NAME_MAX);

static void list_caller_init(struct list_caller *caller)
{
	caller->net = current->nsproxy->net_ns;
	caller->trace_id = capable(CAP_NET_ADMIN);
	caller->all_in_net = ns_capable(caller->net->user_ns, CAP_NET_ADMIN);
	caller->all = caller->all_in_net && net_eq(caller->net, &init_net);
}

/*
 * Returns false if the caller may not see the id, or if it has been destroyed and no longer holds
 * its network namespace. RCU keeps the namespace for this function.
 */
static bool list_caller_may_see(const struct list_caller *caller,
				const struct cmx_id_private *id_priv, kuid_t uid, u32 *netns)
{
	const struct net *net;
	bool visible = false;

	rcu_read_lock();
	net = READ_ONCE(id_priv->id.route.addr.dev_addr.net);
	if (net) {
		*netns = net->ns.inum;
		visible = caller->all || (net_eq(net, caller->net) &&
					  (caller->all_in_net ||
					   (id_priv->user && uid_eq(uid, current_euid()))));
	}
	rcu_read_unlock();
	return visible;
}

/* The name that a trace prints, which is a hash of the address */
static u64 list_trace_id(const struct cmx_id_private *id_priv)
{
	char name[2 * sizeof(void *) + 1];
	u64 hash;

	snprintf(name, sizeof(name), "%p", id_priv);
	return kstrtou64(name, 16, &hash) ? 0 : hash;
}

/*
 * The user and the process whose channel the id is in. @uid receives the user. Returns false if the
 * id has no channel.
 */
static bool list_process_fill(struct cmx_id_record *to, struct cmx_user_id *user_id, kuid_t *uid)
{
	const struct cmx_channel *channel;
	struct task_struct *task;

	to->handle = user_id->handle;
	to->queued = READ_ONCE(user_id->queued);
	rcu_read_lock();
	channel = READ_ONCE(user_id->channel);
	if (channel) {
		*uid = channel->uid;
		to->uid = from_kuid_munged(current_user_ns(), channel->uid);
		task = cmx_channel_process(channel);
		to->pid = task ? task_tgid_vnr(task) : 0;
		if (to->pid)
			get_task_comm(to->comm, task);
	}
	rcu_read_unlock();
	return channel;
}

/* Caller must hold id_priv->lock. */
static enum cmx_id_transport list_id_transport(const struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	switch (id_priv->dev_port->transport->bit) {
	case CMX_TRANSPORT_IB:
		return CMX_ID_TRANSPORT_IB;
	case CMX_TRANSPORT_IWARP:
		return CMX_ID_TRANSPORT_IWARP;
	default:
		return id_priv->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP ? CMX_ID_TRANSPORT_ROCE_V2 :
									 CMX_ID_TRANSPORT_ROCE_V1;
	}
}

static void list_locked_fill(struct list_entry *entry, struct cmx_id_private *id_priv)
{
	struct cmx_id_record *to = &entry->record;
	const char *owner = id_priv->user ? NULL : cmx_ulp_owner(id_priv);

	lockdep_assert_held(&id_priv->lock);
	if (owner)
		strscpy(to->comm, owner, sizeof(to->comm));
	to->groups = id_priv->num_groups;
	to->ece_flags = id_priv->ece_flags;
	to->ece_local = cmx_ece_to_user(&id_priv->ece_local);
	to->ece_remote = cmx_ece_to_user(&id_priv->ece_remote);
	memcpy(&to->src_addr, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	memcpy(&to->dst_addr, cmx_dst(id_priv), cmx_addr_size(cmx_dst(id_priv)));
	if (id_priv->dev) {
		to->transport = list_id_transport(id_priv);
		to->port_num = id_priv->id.port_num;
		strscpy(to->device, dev_name(&id_priv->id.device->dev), sizeof(to->device));
	}
	if (id_priv->conn_ops && id_priv->conn_ops->is_waiting &&
	    id_priv->conn_ops->is_waiting(id_priv))
		to->flags |= CMX_ID_F_WAITING;
	to->num_options = cmx_opt_list(id_priv, entry->options);
}

static u32 list_id_flags(const struct cmx_id_private *id_priv)
{
	return (id_priv->user ? 0 : CMX_ID_F_KERNEL) |
	       /* if another thread has locked the id, as the record says, those of a moment ago */
	       data_race((id_priv->established ? CMX_ID_F_ESTABLISHED : 0) |
			 (id_priv->passive ? CMX_ID_F_PASSIVE : 0));
}

/* Fields that can be read while another thread has locked the id */
static void list_unlocked_fill(struct cmx_id_record *to, const struct cmx_id_private *id_priv,
			       const struct list_caller *caller)
{
	memset(to, 0, sizeof(*to));
	to->known = sizeof(*to);
	to->trace_id = caller->trace_id ? list_trace_id(id_priv) : 0;
	to->flags = list_id_flags(id_priv);
	to->age = (u32)ktime_get_seconds() - id_priv->created;
	to->state = READ_ONCE(id_priv->state);
	to->ps = id_priv->id.ps;
	to->qp_num = READ_ONCE(id_priv->qp_num);
	to->qp_type = id_priv->id.qp_type;
}

/* Returns false if the caller may not see the id, or if it is being destroyed. */
static bool list_entry_fill(struct list_entry *entry, struct cmx_id_private *id_priv,
			    const struct list_caller *caller, unsigned int *lock_wait_ms)
{
	kuid_t uid = INVALID_UID;

	list_unlocked_fill(&entry->record, id_priv, caller);
	if (id_priv->user && !list_process_fill(&entry->record, to_user_id(id_priv), &uid))
		return false;
	if (!list_caller_may_see(caller, id_priv, uid, &entry->record.netns))
		return false;
	if (!cmx_id_walk_trylock(id_priv, lock_wait_ms)) {
		entry->record.flags |= CMX_ID_F_BUSY;
		return true;
	}
	/* once more: these may have changed before the id was locked */
	entry->record.state = id_priv->state;
	entry->record.flags = list_id_flags(id_priv);
	list_locked_fill(entry, id_priv);
	mutex_unlock(&id_priv->lock);
	return true;
}

/* Returns the length of the record, 0 if there is no space for it, or -EFAULT. */
static int list_entry_copy(void __user *to, size_t space, struct list_entry *entry, u32 asked)
{
	size_t options = entry->record.num_options * sizeof(entry->options[0]);

	if (asked + options > space)
		return 0;
	entry->record.size = asked + options;
	if (cmx_ioctl_copy_out(to, &entry->record, sizeof(entry->record), asked) ||
	    cmx_ioctl_copy_out(to + asked, entry->options, options, options))
		return -EFAULT;
	return asked + options;
}

/* Returns the number of records or -EFAULT. @pos receives the next position, 0 at the end. */
static int list_ids_copy(const struct ib_uverbs_attr *list, u32 asked, struct list_entry *entry,
			 u64 *pos)
{
	void __user *to = u64_to_user_ptr(list->data);
	unsigned int lock_wait_ms = LIST_CALL_PATIENCE_MS;
	struct cmx_id_private *id_priv;
	struct list_caller caller;
	size_t space = list->len;
	u32 examined, n = 0;
	bool visible;
	int len;

	list_caller_init(&caller);
	for (examined = 0; examined < LIST_CALL_IDS; examined++, ++*pos) {
		id_priv = cmx_id_walk_next(pos);
		if (!id_priv) {
			*pos = 0;
			break;
		}
		visible = list_entry_fill(entry, id_priv, &caller, &lock_wait_ms);
		/* user memory is accessed without a lock or a reference */
		cmx_id_put(id_priv);
		len = visible ? list_entry_copy(to, space, entry, asked) : 0;
		if (len < 0)
			return len;
		if (visible && !len)
			break;
		to += len;
		space -= len;
		n += visible;
		cond_resched();
	}
	return n;
}

static int ioctl_list_ids(struct cmx_call *call)
{
	u32 asked = cmx_call_u32(call, CMX_ATTR_RECORD_SIZE);
	u64 pos = cmx_call_u64(call, CMX_ATTR_CURSOR);
	struct list_entry *entry;
	int n, ret;

	if (asked < CMX_MIN_ID_RECORD || asked > CMX_LIST_MAX_RECORD ||
	    !IS_ALIGNED(asked, sizeof(u64)))
		return -EINVAL;
	entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	n = list_ids_copy(cmx_call_attr(call, CMX_ATTR_LIST), asked, entry, &pos);
	kfree(entry);
	if (n < 0)
		return n;
	ret = cmx_call_out_u32(call, CMX_ATTR_COUNT, n);
	return ret ?: cmx_call_out(call, CMX_ATTR_NEXT_CURSOR, &pos, sizeof(pos));
}

const struct cmx_method cmx_method_list_ids = {
	.call = ioctl_list_ids,
	.attrs = {
		CMX_INPUT_U32(RECORD_SIZE),
		CMX_INPUT(CURSOR, sizeof(u64), sizeof(u64)),
		CMX_OUTPUT(LIST, CMX_LIST_MIN_LEN),
		CMX_OUTPUT_U32(COUNT),
		CMX_OUTPUT(NEXT_CURSOR, sizeof(u64)),
	},
};

/* Returns 0, or why the caller may not end the id. */
static int kill_check(const struct list_caller *caller, const struct cmx_id_private *id_priv)
{
	u32 netns;

	if (!list_caller_may_see(caller, id_priv, INVALID_UID, &netns))
		return -ENOENT;
	return id_priv->user ? 0 : -EOPNOTSUPP;
}

/*
 * The program of a connection must not take its device for removed, as it may have thousands of
 * others there. DISCONNECTED does not wait for the peer, so that the next call ends the id if the
 * program has ignored the event. Caller must hold id_priv->lock, which is released meanwhile on
 * iWARP. *@ev becomes NULL if it has been queued.
 */
static int kill_locked(struct cmx_id_private *id_priv, struct cmx_event **ev)
{
	lockdep_assert_held(&id_priv->lock);
	if (id_priv->state == CMX_CONNECT && id_priv->established &&
	    id_priv->id.qp_type != IB_QPT_UD)
		return cmx_disconnect_locked(id_priv, true);
	if (!cmx_id_set_removed(id_priv, *ev))
		return -EINVAL;
	*ev = NULL;
	cmx_id_release_device(id_priv);
	return 0;
}

static int kill_user_id(struct cmx_user_id *user_id)
{
	struct cmx_id_private *id_priv = &user_id->id_priv;
	struct cmx_event *ev;
	int ret;

	ret = cmx_user_id_begin_call(user_id);
	if (ret)
		return ret;
	ev = cmx_event_alloc(id_priv, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, GFP_KERNEL_ACCOUNT);
	ret = ev ? mutex_lock_killable(&id_priv->lock) : -ENOMEM;
	if (!ret) {
		ret = kill_locked(id_priv, &ev);
		mutex_unlock(&id_priv->lock);
	}
	cmx_user_id_end_call(user_id);
	cmx_event_free(ev);
	return ret;
}

static int ioctl_kill(struct cmx_call *call)
{
	struct cmx_id_private *id_priv;
	struct list_caller caller;
	int ret;

	/* first, so that nobody learns which handles others have */
	list_caller_init(&caller);
	if (!caller.all_in_net)
		return -EPERM;
	id_priv = cmx_id_table_get(cmx_call_u32(call, CMX_ATTR_ID));
	if (!id_priv)
		return -ENOENT;
	ret = kill_check(&caller, id_priv) ?: kill_user_id(to_user_id(id_priv));
	cmx_id_put(id_priv);
	return ret;
}

const struct cmx_method cmx_method_kill = {
	.call = ioctl_kill,
	.attrs = {
		CMX_INPUT_U32(ID),
	},
};
