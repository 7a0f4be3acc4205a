/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The parts of the kernel that kernel/core/sa_queue.c needs, for a program with one thread and a
 * simulated time.
 */
#ifndef MODEL_KERNEL_H
#define MODEL_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t u32;

#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, val) ((x) = (val))
#define min(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a < _b ? _a : _b; })
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#define cond_resched() do { } while (0)

#define spinlock_t int
#define spin_lock_init(lock) ((void)(lock))
#define spin_lock(lock) ((void)(lock))
#define spin_unlock(lock) ((void)(lock))

/* milliseconds */
extern unsigned long jiffies;
#define msecs_to_jiffies(ms) ((unsigned long)(ms))
#define jiffies_to_msecs(j) ((unsigned int)(j))
#define time_after(a, b) ((long)((b) - (a)) < 0)
u32 get_random_u32(void);

struct cmx_param {
	unsigned int val;
};

#define CMX_PARAM(name, min, max, def, text) struct cmx_param name = { def }
static inline unsigned int cmx_param_get(const struct cmx_param *param)
{
	return param->val;
}

struct work_struct {
	void (*func)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
	unsigned int number;	/* of the last time that it was scheduled */
	bool pending;
};

#define to_delayed_work(w) container_of(w, struct delayed_work, work)
#define INIT_DELAYED_WORK(w, f) (*(w) = (struct delayed_work){ .work.func = (f) })
void schedule_delayed_work(struct delayed_work *work, unsigned long delay);
bool cancel_delayed_work(struct delayed_work *work);
#define cancel_delayed_work_sync(w) cancel_delayed_work(w)

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add_tail(struct list_head *item, struct list_head *head)
{
	item->prev = head->prev;
	item->next = head;
	head->prev->next = item;
	head->prev = item;
}

static inline void list_del_init(struct list_head *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	INIT_LIST_HEAD(item);
}

static inline void list_move_tail(struct list_head *item, struct list_head *head)
{
	list_del_init(item);
	list_add_tail(item, head);
}

static inline void list_splice_init(struct list_head *from, struct list_head *to)
{
	if (list_empty(from))
		return;
	from->next->prev = to;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	to->next = from->next;
	INIT_LIST_HEAD(from);
}

#define list_first_entry_or_null(head, type, member)					\
	(list_empty(head) ? NULL : container_of((head)->next, type, member))
#define list_for_each_entry(pos, head, member)						\
	for (pos = container_of((head)->next, typeof(*pos), member); &pos->member != (head); \
	     pos = container_of(pos->member.next, typeof(*pos), member))

#endif
