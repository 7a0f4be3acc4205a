// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The queue of an event channel, and the ids of processes as owners of events.
 *
 * An event goes to the channel that its id belongs to at that moment; the
 * request that a listener got, to the listener's. Posters find the channel
 * under RCU and check again under its lock. What finds no channel is an orphan:
 * it can't be freed under the lock of its id, so a work item does. The end of
 * cmx_wq waits for it.
 */
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_marshall.h>
#include "eventq.h"
#include "info.h"
#include "ioctl.h"
#include "join.h"
#include "quota.h"
#include "teardown.h"

static void orphans_work(struct work_struct *work);

static LIST_HEAD(orphans);
static DEFINE_SPINLOCK(orphans_lock);	/* protects orphans */
static DECLARE_WORK(orphans_job, orphans_work);

/* ids come by the thousand, and no power of two fits their size */
static struct kmem_cache *uid_cache;

/* The id that an event counts for: of a request, the listener. */
static struct cmx_uid *event_owner(const struct cmx_event *ev)
{
	return to_uid(ev->listener ?: ev->p);
}

/* The owner will not see @ev. A new id that it brought has no owner then. */
static void event_discard(struct cmx_event *ev)
{
	if (ev->listener) {
		cmx_id_kill(ev->p);
		cmx_id_put(ev->p);
	}
	cmx_event_free(ev);
}

static void discard_all(struct list_head *events)
{
	struct cmx_event *ev, *next;

	list_for_each_entry_safe(ev, next, events, item)
		event_discard(ev);
}

static void orphans_work(struct work_struct *work)
{
	LIST_HEAD(events);

	spin_lock(&orphans_lock);
	list_splice_init(&orphans, &events);
	spin_unlock(&orphans_lock);
	discard_all(&events);
}

static void orphan(struct cmx_event *ev)
{
	spin_lock(&orphans_lock);
	list_add_tail(&ev->item, &orphans);
	spin_unlock(&orphans_lock);
	queue_work(cmx_wq, &orphans_job);
}

static void wake(struct cmx_file *file)
{
	wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
}

/* False when @u has left the channel. In an RCU read section. */
static bool enqueue(struct cmx_file *file, struct cmx_uid *u, struct cmx_event *ev)
{
	bool mine;

	spin_lock(&file->lock);
	mine = file == u->file;
	if (mine) {
		list_add_tail(&ev->item, &file->events);
		u->queued++;
	}
	spin_unlock(&file->lock);
	if (mine)
		wake(file);
	return mine;
}

/*
 * A process gets the index of the GID. A reference must not wait in its queue:
 * it would outlive the device.
 */
static void drop_gid(struct cmx_event *ev)
{
	if (ev->ev.event == RDMA_CM_EVENT_ESTABLISHED && ev->p->id.qp_type == IB_QPT_UD)
		rdma_destroy_ah_attr(&ev->ev.param.ud.ah_attr);
}

static void user_post(struct cmx_event *ev)
{
	struct cmx_uid *u = event_owner(ev);
	struct cmx_file *file = NULL;

	drop_gid(ev);
	rcu_read_lock();
	if (!READ_ONCE(u->muted))
		while ((file = READ_ONCE(u->file)) && !enqueue(file, u, ev))
			;
	rcu_read_unlock();
	if (!file)
		orphan(ev);
}

static struct cmx_priv *user_alloc(gfp_t gfp)
{
	struct cmx_uid *u = kmem_cache_zalloc(uid_cache, gfp | __GFP_ACCOUNT);

	if (!u)
		return NULL;
	INIT_LIST_HEAD(&u->groups);
	u->p.user = 1;
	return &u->p;
}

/* A request of @u's listener is over: it can take another one. */
static void backlog_return(struct cmx_uid *u)
{
	struct cmx_uid *listener = u->from;

	if (!listener)
		return;
	u->from = NULL;
	atomic_inc(&listener->backlog);
	cmx_uid_put(listener);
}

static void user_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(uid_cache, to_uid(container_of(rcu, struct cmx_priv, rcu)));
}

static void user_free(struct cmx_priv *p)
{
	backlog_return(to_uid(p));
	cmx_quota_uncharge(p->quota);
	call_rcu(&p->rcu, user_free_rcu);
}

/*
 * Until it is accepted, the new id is muted: an owner who does not know it yet
 * could not make sense of its events. An accept will fail, if there was one.
 */
static int user_adopt(struct cmx_priv *child, struct cmx_priv *listener)
{
	struct cmx_uid *u = to_uid(child), *l = to_uid(listener);

	if (!READ_ONCE(l->file))
		return -ECONNABORTED;
	if (!atomic_add_unless(&l->backlog, -1, 0))
		return -EAGAIN;
	if (cmx_quota_charge(listener->quota)) {
		atomic_inc(&l->backlog);
		return -EAGAIN;
	}
	child->quota = listener->quota;
	cmx_id_get(listener);
	u->from = l;
	u->muted = true;
	return 0;
}

static void user_flush(struct cmx_priv *p)
{
	/* posting has delivered it */
}

const struct cmx_sink cmx_user_sink = {
	.alloc = user_alloc,
	.free = user_free,
	.adopt = user_adopt,
	.post = user_post,
	.flush = user_flush,
	.flush_later = user_flush,
};

/*
 * Takes the events of @u, or, with @mc, those of that membership, from the
 * queue. The queue's lock is held, and so is its mutex, or else @u belongs to
 * no channel.
 */
static void take_events(struct cmx_file *file, struct cmx_uid *u, const struct cmx_mcast *mc,
			struct list_head *events)
{
	struct cmx_event *ev, *next;

	lockdep_assert_held(&file->lock);
	list_for_each_entry_safe(ev, next, &file->events, item)
		if (event_owner(ev) == u && (!mc || ev->mc == mc))
			list_move_tail(&ev->item, events);
}

/**
 * cmx_queue_move() - change the channel of an id
 * @u: the id; it has a channel. The lock of the handle table is held
 * @to: new channel, with whose queue the events that wait go too; or NULL:
 *	they stay for cmx_uid_destroy() and cmx_file_close()
 */
void cmx_queue_move(struct cmx_uid *u, struct cmx_file *to)
{
	struct cmx_file *from = u->file;
	LIST_HEAD(events);

	spin_lock(&from->lock);
	WRITE_ONCE(u->file, to);
	if (to && u->queued)
		take_events(from, u, NULL, &events);
	spin_unlock(&from->lock);
	if (list_empty(&events))
		return;
	spin_lock(&to->lock);
	list_splice_tail(&events, &to->events);
	spin_unlock(&to->lock);
	wake(to);
}

/**
 * cmx_uid_destroy() - end an id
 * @u: the id, from cmx_handle_take_id(); the owner's reference goes
 * @file: channel that it belonged to
 *
 * The events that wait for it go too, with the ids that those bring. A fetch
 * may have to wait for the memory of its process for ever: who is killed
 * meanwhile leaves them to cmx_file_close().
 *
 * Return: how many events were fetched for it.
 */
u32 cmx_uid_destroy(struct cmx_uid *u, struct cmx_file *file)
{
	LIST_HEAD(events);
	u32 fetched = 0;

	cmx_id_kill(&u->p);
	if (mutex_lock_killable(&file->mutex))
		goto out;
	if (u->queued) {
		spin_lock(&file->lock);
		take_events(file, u, NULL, &events);
		spin_unlock(&file->lock);
	}
	fetched = u->fetched;
	mutex_unlock(&file->mutex);
	discard_all(&events);
out:
	cmx_uid_put(u);
	return fetched;
}

/**
 * cmx_uid_leave() - end a membership
 * @file: channel of its id
 * @handle: handle of the membership
 * @fetched: how many events were fetched for it
 *
 * Return: 0, -ENOENT, or -EINTR when the caller has been killed.
 */
int cmx_uid_leave(struct cmx_file *file, u32 handle, u32 *fetched)
{
	struct cmx_mcast *mc;
	struct cmx_event *ev;
	LIST_HEAD(events);
	struct cmx_uid *u;

	/* holding the mutex keeps the id from moving to another channel */
	if (mutex_lock_killable(&file->mutex))
		return -EINTR;
	mc = cmx_handle_take_mcast(file, handle);
	if (IS_ERR(mc)) {
		mutex_unlock(&file->mutex);
		return PTR_ERR(mc);
	}
	u = to_uid(mc->p);
	cmx_mcast_leave(mc);
	if (READ_ONCE(u->queued)) {
		spin_lock(&file->lock);
		take_events(file, u, mc, &events);
		list_for_each_entry(ev, &events, item)
			u->queued--;
		spin_unlock(&file->lock);
	}
	*fetched = mc->fetched;
	mutex_unlock(&file->mutex);
	discard_all(&events);
	cmx_mcast_put(mc);
	return 0;
}

/**
 * cmx_uid_migrate() - give an id to another channel
 * @from: its channel
 * @handle: its handle, which stays the same
 * @to: new channel
 * @fetched: how many events were fetched for it so far
 *
 * Return: 0, -ENOENT or -ERESTARTSYS.
 */
int cmx_uid_migrate(struct cmx_file *from, u32 handle, struct cmx_file *to, u32 *fetched)
{
	struct cmx_uid *u = cmx_handle_get_id(from, handle);
	int ret;

	if (IS_ERR(u))
		return PTR_ERR(u);
	/* interruptible: a fetch of the other process may be slow */
	ret = mutex_lock_interruptible(&from->mutex);
	if (ret) {
		cmx_uid_put(u);
		return -ERESTARTSYS;
	}
	mutex_lock(&u->p.lock);
	/* once it has moved, a reader of the other channel counts */
	*fetched = u->fetched;
	ret = cmx_handle_move_id(u, from, to);
	mutex_unlock(&u->p.lock);
	mutex_unlock(&from->mutex);
	cmx_uid_put(u);
	return ret;
}

static void fill_conn(struct rdma_ucm_conn_param *to, const struct rdma_conn_param *from)
{
	if (from->private_data_len)
		memcpy(to->private_data, from->private_data, from->private_data_len);
	to->private_data_len = from->private_data_len;
	to->qp_num = from->qp_num;
	to->srq = from->srq;
	to->responder_resources = from->responder_resources;
	to->initiator_depth = from->initiator_depth;
	to->flow_control = from->flow_control;
	to->retry_count = from->retry_count;
	to->rnr_retry_count = from->rnr_retry_count;
}

static void fill_ud(struct cmx_priv *p, struct rdma_ucm_ud_param *to, struct rdma_ud_param *from)
{
	if (from->private_data_len)
		memcpy(to->private_data, from->private_data, from->private_data_len);
	to->private_data_len = from->private_data_len;
	to->qp_num = from->qp_num;
	to->qkey = from->qkey;
	mutex_lock(&p->lock);
	if (p->dev)
		ib_copy_ah_attr_to_user(p->id.device, &to->ah_attr, &from->ah_attr);
	mutex_unlock(&p->lock);
}

static u32 wanted(const struct cmx_event *ev)
{
	switch (ev->ev.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return CMX_EVENT_F_INFO | CMX_EVENT_F_QP;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return CMX_EVENT_F_INFO;
	default:
		return 0;
	}
}

/* Structs of other headers are within ours: they must not grow there. */
static_assert(offsetofend(struct cmx_event_resp, param) == 344);
static_assert(offsetofend(struct cmx_event_resp, rts) == 632);
static_assert(offsetofend(struct cmx_id_info, init_attr) == 600);

/* To @file->record, as far as @room wants it. @handle: of the new id, for CONNECT_REQUEST */
static void record_fill(struct cmx_file *file, struct cmx_event *ev, u32 handle,
			const struct cmx_event_room *room)
{
	struct cmx_event_resp *to = &file->record.resp;
	struct cmx_uid *u = event_owner(ev);
	u32 want = wanted(ev);

	memset(to, 0, offsetof(struct cmx_event_resp, rtr));
	memset_after(to, 0, rts);
	to->event = ev->ev.event;
	to->status = ev->ev.status;
	to->flags = ev->flags;
	to->ece = ev->ev.ece;
	if (ev->mc) {
		to->flags |= CMX_EVENT_F_MCAST;
		to->uid = ev->mc->uid;
		to->id = ev->mc->handle;
	} else {
		to->uid = READ_ONCE(u->uid);
		to->id = ev->listener ? handle : u->handle;
		to->listen_id = ev->listener ? u->handle : 0;
	}
	if (ev->p->id.qp_type == IB_QPT_UD) {
		to->flags |= CMX_EVENT_F_UD;
		fill_ud(ev->p, &to->param.ud, &ev->ev.param.ud);
	} else {
		fill_conn(&to->param.conn, &ev->ev.param.conn);
	}
	if (want & CMX_EVENT_F_INFO && room->sizes.info) {
		cmx_info_fill(to_uid(ev->p), &file->record.info, room->sizes.info);
		to->flags |= CMX_EVENT_F_INFO;
	}
	if (want & CMX_EVENT_F_QP && ev->p->id.qp_type != IB_QPT_UD &&
	    room->sizes.resp > offsetof(struct cmx_event_resp, rtr) &&
	    !cmx_info_qp_attr(ev->p, IB_QPS_RTR, &to->rtr) &&
	    !cmx_info_qp_attr(ev->p, IB_QPS_RTS, &to->rts))
		to->flags |= CMX_EVENT_F_QP;
}

static int copy_part(void __user *to, const void *from, size_t start, size_t end)
{
	return start < end ? cmx_copy_out(to + start, from + start, end - start) : 0;
}

/* The process knows more than this kernel does. */
static int clear_rest(void __user *to, size_t size, size_t asked)
{
	return asked > size && clear_user(to + size, asked - size) ? -EFAULT : 0;
}

/*
 * Most events are short: QP attributes are only written when the flags announce
 * them, and no more private data than there is.
 */
static int copy_resp(void __user *to, const struct cmx_event_resp *from, size_t asked)
{
	const size_t qp = offsetof(struct cmx_event_resp, rtr);
	const size_t qp_end = offsetofend(struct cmx_event_resp, rts);
	size_t data = offsetof(struct cmx_event_resp, param.conn.private_data);
	size_t len = from->param.conn.private_data_len;
	size_t known = min(asked, sizeof(*from));

	if (from->flags & CMX_EVENT_F_UD) {
		data = offsetof(struct cmx_event_resp, param.ud.private_data);
		len = from->param.ud.private_data_len;
	}
	return copy_part(to, from, 0, data + len) ?:
	       copy_part(to, from, data + RDMA_MAX_PRIVATE_DATA, qp) ?:
	       copy_part(to, from, from->flags & CMX_EVENT_F_QP ? qp : qp_end,
			 min(known, qp_end)) ?:
	       copy_part(to, from, qp_end, known) ?: clear_rest(to, sizeof(*from), asked);
}

static int copy_record(void __user *to, const struct cmx_event_record *from,
		       const struct cmx_event_sizes *asked)
{
	int ret = copy_resp(to, &from->resp, asked->resp);

	if (ret || !(from->resp.flags & CMX_EVENT_F_INFO))
		return ret;
	to += asked->resp;
	return copy_part(to, &from->info, 0, min_t(size_t, asked->info, sizeof(from->info))) ?:
	       clear_rest(to, sizeof(from->info), asked->info);
}

/* The process has the event now: nothing can fail any more. */
static void fetched(struct cmx_file *file, struct cmx_event *ev, u32 handle)
{
	struct cmx_uid *u = event_owner(ev);

	spin_lock(&file->lock);
	list_del(&ev->item);
	u->queued--;
	spin_unlock(&file->lock);
	u->fetched++;
	if (ev->mc)
		ev->mc->fetched++;
	if (ev->listener) {
		backlog_return(to_uid(ev->p));
		cmx_handle_publish_id(to_uid(ev->p), handle, file);
	}
	cmx_event_free(ev);
}

/* Only a holder of the mutex takes events away, so the first one stays. */
static int fetch_one(struct cmx_file *file, const struct cmx_event_room *room, u32 n)
{
	void __user *to = room->to + n * (room->sizes.resp + room->sizes.info);
	struct cmx_event *ev;
	u32 handle = 0;
	int ret;

	lockdep_assert_held(&file->mutex);
	spin_lock(&file->lock);
	ev = list_first_entry_or_null(&file->events, struct cmx_event, item);
	spin_unlock(&file->lock);
	if (!ev)
		return -EAGAIN;
	if (ev->listener) {
		ret = cmx_handle_reserve(&handle);
		if (ret)
			return ret;
	}
	record_fill(file, ev, handle, room);
	ret = copy_record(to, &file->record, &room->sizes);
	if (ret) {
		if (ev->listener)
			cmx_handle_abort(handle);
		return ret;
	}
	fetched(file, ev, handle);
	return 0;
}

/**
 * cmx_queue_fetch() - give events to the process
 * @file: the channel
 * @room: where they go
 * @block: wait for the first one
 *
 * Return: how many, or -EAGAIN, -ERESTARTSYS, -ENOMEM, -EFAULT; then the
 * event is still there.
 */
int cmx_queue_fetch(struct cmx_file *file, const struct cmx_event_room *room, bool block)
{
	u32 n = 0;
	int ret;

	do {
		if (block && wait_event_interruptible(file->wait, !list_empty(&file->events)))
			return -ERESTARTSYS;
		if (mutex_lock_interruptible(&file->mutex))
			return -ERESTARTSYS;
		do {
			ret = fetch_one(file, room, n);
		} while (!ret && ++n < room->max);
		mutex_unlock(&file->mutex);
	} while (block && !n && ret == -EAGAIN);
	return n ? n : ret;
}

/**
 * cmx_file_new() - make a channel
 *
 * Return: the channel, or NULL.
 */
struct cmx_file *cmx_file_new(void)
{
	struct cmx_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return NULL;
	file->quota = cmx_quota_open();
	if (IS_ERR(file->quota)) {
		kfree(file);
		return NULL;
	}
	mutex_init(&file->mutex);
	spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->events);
	init_waitqueue_head(&file->wait);
	INIT_LIST_HEAD(&file->ids);
	file->pid = task_tgid_nr(current);
	return file;
}

/**
 * cmx_file_claim() - keep a channel to the caller's address space
 * @file: the channel
 *
 * Return: 0, also when the caller has it already, or -EACCES.
 */
int cmx_file_claim(struct cmx_file *file)
{
	struct mm_struct *mm = current->mm;

	if (READ_ONCE(file->mm))
		return cmx_file_usable(file) ? 0 : -EACCES;
	/* The pointer must not become that of another process. */
	mmgrab(mm);
	if (!cmpxchg(&file->mm, NULL, mm))
		return 0;
	mmdrop(mm);
	return cmx_file_usable(file) ? 0 : -EACCES;
}

/**
 * cmx_file_close() - destroy a channel and all that is in it
 * @file: the channel; nobody uses it any more but posters of events
 */
void cmx_file_close(struct cmx_file *file)
{
	struct cmx_uid *u;

	while ((u = cmx_handle_take_any(file))) {
		cmx_id_kill(&u->p);
		cmx_uid_put(u);
	}
	discard_all(&file->events);
	if (file->mm)
		mmdrop(file->mm);
	cmx_quota_put(file->quota);
	mutex_destroy(&file->mutex);
	kfree_rcu(file, rcu);
}

int cmx_uid_init_module(void)
{
	uid_cache = KMEM_CACHE(cmx_uid, 0);
	return uid_cache ? 0 : -ENOMEM;
}

void cmx_uid_exit_module(void)
{
	rcu_barrier();
	kmem_cache_destroy(uid_cache);
}
