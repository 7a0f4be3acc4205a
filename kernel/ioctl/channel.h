/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_CHANNEL_H
#define CMX_CHANNEL_H

#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include "event.h"
#include "handle.h"

/**
 * struct cmx_channel - an event channel: one open file
 * @mutex: serialises fetches and the removal of events. Taken outside the
 *	locks of ids; never taken to post an event
 * @lock: protects @events and &cmx_user_id.events, and &cmx_user_id.channel while an event
 *	is posted
 * @events: events to be fetched, in order
 * @wait: waiters for an event
 * @ids: list of &cmx_user_id.item, protected by the lock of the table of ids
 * @quota: quota of the user who opened it
 * @pid: process that opened it
 * @pid_start: time at which that process began, because another one may get its ID later
 * @memcg: memory cgroup that opened it, with a reference; NULL: the root
 * @uid: user that opened it
 * @mm: address space of that process, with a reference, so that its address is not used again
 * @record: event that is being fetched, protected by @mutex
 * @rcu: delays freeing, because posting an event may still access the channel
 */
struct cmx_channel {
	struct mutex mutex;	/* serialises fetches and removals */
	spinlock_t lock;	/* protects the queue */
	struct list_head events;
	wait_queue_head_t wait;
	struct list_head ids;
	struct cmx_quota *quota;
	struct mem_cgroup *memcg;
	pid_t pid;
	u64 pid_start;
	kuid_t uid;
	struct mm_struct *mm;
	struct cmx_event_record record;
	struct rcu_head rcu;
};

/**
 * struct cmx_event_buf - buffer of a process for events
 * @to: array of records
 * @max: number of records
 * @sizes: sizes of the parts of each record
 */
struct cmx_event_buf {
	void __user *to;
	u32 max;
	struct cmx_event_sizes sizes;
};

unsigned int cmx_channel_num_queued(void);
struct cmx_channel *cmx_channel_new(void);
void cmx_channel_close(struct cmx_channel *channel);
struct task_struct *cmx_channel_process(const struct cmx_channel *channel);

/*
 * Returns true if the caller has the address space of the process that opened the channel, in which
 * user data may be addresses.
 */
static inline bool cmx_channel_is_own(const struct cmx_channel *channel)
{
	return channel->mm == current->mm;
}

/* Returns true if the process has left so many events that calls which add one to the id fail. */
static inline bool cmx_user_id_queue_is_full(const struct cmx_user_id *user_id)
{
	return READ_ONCE(user_id->queued) >= 2 * CMX_MAX_QUEUED;
}

int cmx_channel_fetch_events(struct cmx_channel *channel, const struct cmx_event_buf *room,
			     bool block);

/* The id whose channel gets the event. For a CONNECT_REQUEST, this is the listener. */
static inline struct cmx_user_id *cmx_event_user_id(const struct cmx_event *ev)
{
	return to_user_id(ev->listener ?: ev->id_priv);
}

bool cmx_channel_add_event(struct cmx_channel *channel, struct cmx_user_id *user_id,
			   struct cmx_event *ev);
void cmx_channel_take_events(struct cmx_channel *channel, struct cmx_user_id *user_id,
			     const struct cmx_mcast *mc, struct list_head *events);
void cmx_channel_move_events(struct cmx_user_id *user_id, struct cmx_channel *from,
			     struct cmx_channel *to);
void cmx_channel_discard_event(struct cmx_event *ev);
void cmx_channel_discard_events(struct list_head *events);

/* user_id.c */
extern const struct cmx_id_consumer_ops cmx_user_consumer_ops;
u32 cmx_user_id_destroy(struct cmx_user_id *user_id, struct cmx_channel *channel);
int cmx_user_id_leave_group(struct cmx_channel *channel, u32 handle, u32 *fetched);
int cmx_user_id_migrate(struct cmx_channel *from, u32 handle, struct cmx_channel *to, u32 *fetched);
int cmx_user_id_init_module(void);
void cmx_user_id_exit_module(void);

/* event_record.c */
void cmx_event_record_fill(struct cmx_event_record *record, struct cmx_event *ev,
			   struct cmx_user_id *user_id, u32 handle,
			   const struct cmx_event_sizes *sizes);
int cmx_event_record_copy(void __user *to, const struct cmx_event_record *from,
			  const struct cmx_event_sizes *asked);

#endif
