// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The functions of the kernel that the sources under test call. Their declarations, and all that is
 * inline, are in the kernel's headers. A function that nothing under test calls is not here: the
 * program then does not link.
 */
#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/inetdevice.h>
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/swait.h>
#include <linux/sysfs.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include "libc.h"
#include "unit.h"

/* Memory, text and lists */

void *KERNEL(memchr_inv)(const void *s, int c, size_t n)
{
	const u8 *p;

	for (p = s; n; p++, n--)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}

int KERNEL(kstrtouint)(const char *s, unsigned int base, unsigned int *res)
{
	unsigned long long val;
	int ret = unit_parse_number(s, base, &val);

	if (ret)
		return ret > 0 ? -ERANGE : -EINVAL;
	if (val > UINT_MAX)
		return -ERANGE;
	*res = val;
	return 0;
}

int KERNEL(in4_pton)(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	return unit_parse_ip(4, src, dst);
}

int KERNEL(in6_pton)(const char *src, int srclen, u8 *dst, int delim, const char **end)
{
	return unit_parse_ip(6, src, dst);
}

/* No case reads a parameter as a file. */
int KERNEL(sysfs_emit)(char *buf, const char *fmt, ...)
{
	unit_abort("sysfs_emit() was called");
}

bool KERNEL(__list_add_valid_or_report)(struct list_head *new, struct list_head *prev,
					struct list_head *next)
{
	if (prev->next != next || next->prev != prev || new == prev || new == next)
		unit_abort("an item is added to a corrupted list, or twice");
	return true;
}

bool KERNEL(__list_del_entry_valid_or_report)(struct list_head *entry)
{
	if (entry->prev->next != entry || entry->next->prev != entry)
		unit_abort("an item is removed that is in no list, or in a corrupted one");
	return true;
}

/* The caller */

bool KERNEL(capable)(int cap)
{
	return true;
}

/* Network. No interface belongs to a VRF, and nothing looks for one in a table of the kernel. */

bool KERNEL(ipv6_mod_enabled)(void)
{
	return true;
}

/* Only whether the address is link-local is ever asked. */
int KERNEL(__ipv6_addr_type)(const struct in6_addr *addr)
{
	return (addr->s6_addr32[0] & htonl(0xffc00000)) == htonl(0xfe800000) ? IPV6_ADDR_LINKLOCAL : 0;
}

int KERNEL(l3mdev_master_ifindex_rcu)(const struct net_device *dev)
{
	return 0;
}

struct net_device *KERNEL(dev_get_by_index_rcu)(struct net *net, int ifindex)
{
	unit_abort("dev_get_by_index_rcu() was called");
}

struct net_device *KERNEL(__ip_dev_find)(struct net *net, __be32 addr, bool devref)
{
	unit_abort("__ip_dev_find() was called");
}

int KERNEL(ipv6_chk_addr)(struct net *net, const struct in6_addr *addr,
			  const struct net_device *dev, int strict)
{
	unit_abort("ipv6_chk_addr() was called");
}

/* Time, which stands still */

unsigned long volatile KERNEL(jiffies) = INITIAL_JIFFIES;

unsigned int KERNEL(jiffies_to_msecs)(const unsigned long j)
{
	return j * (MSEC_PER_SEC / HZ);
}

unsigned long KERNEL(__msecs_to_jiffies)(const unsigned int m)
{
	return DIV_ROUND_UP(m, MSEC_PER_SEC / HZ);
}

ktime_t KERNEL(ktime_get)(void)
{
	return 0;
}

void KERNEL(__const_udelay)(unsigned long xloops)
{
	unit_sleep_us(xloops / 0x10c7);
}

/* The same numbers each time */
u32 KERNEL(get_random_u32)(void)
{
	static u64 x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x >> 16;
}

/* Locks. A thread that waits for one spins on it. */

atomic_t KERNEL(__num_online_cpus) = ATOMIC_INIT(2);

static void lock_word_take(atomic_t *word, int busy, int taken)
{
	int old;

	do {
		old = atomic_read(word);
		cpu_relax();
	} while (old & busy || atomic_cmpxchg(word, old, old + taken) != old);
}

static void lock_word_give(atomic_t *word, int taken)
{
	if (atomic_sub_return(taken, word) < 0)
		unit_abort("a lock is released that is not held");
}

void KERNEL(__mutex_init)(struct mutex *lock, const char *name, struct lock_class_key *key)
{
	atomic_long_set(&lock->owner, 0);
}

void KERNEL(mutex_lock)(struct mutex *lock)
{
	if (atomic_long_xchg(&lock->owner, 1))
		unit_abort("a mutex is locked twice");
}

void KERNEL(mutex_unlock)(struct mutex *lock)
{
	if (!atomic_long_xchg(&lock->owner, 0))
		unit_abort("a mutex is unlocked that is not held");
}

void KERNEL(_raw_spin_lock)(raw_spinlock_t *lock)
{
	lock_word_take(&lock->raw_lock.val, 1, 1);
}

void KERNEL(_raw_spin_unlock)(raw_spinlock_t *lock)
{
	lock_word_give(&lock->raw_lock.val, 1);
}

/* A writer is bit 0. */
void KERNEL(_raw_read_lock_bh)(rwlock_t *lock)
{
	lock_word_take(&lock->raw_lock.cnts, 1, 2);
}

void KERNEL(_raw_read_unlock_bh)(rwlock_t *lock)
{
	lock_word_give(&lock->raw_lock.cnts, 2);
}

void KERNEL(_raw_write_lock_bh)(rwlock_t *lock)
{
	lock_word_take(&lock->raw_lock.cnts, ~0, 1);
}

void KERNEL(_raw_write_unlock_bh)(rwlock_t *lock)
{
	lock_word_give(&lock->raw_lock.cnts, 1);
}

static int rcu_readers;

void KERNEL(__rcu_read_lock)(void)
{
	rcu_readers++;
}

void KERNEL(__rcu_read_unlock)(void)
{
	if (--rcu_readers < 0)
		unit_abort("the RCU read lock is released that is not held");
}

/* cond_resched() is a call that the kernel patches */
struct static_call_key KERNEL(__SCK__cond_resched);

int KERNEL(__SCT__cond_resched)(void)
{
	return 0;
}

/* Work items and completions. Each work item gets a thread. */

struct workqueue_struct *KERNEL(system_unbound_wq);
/* two names of one queue: the second one since an update of 6.12 */
struct workqueue_struct *KERNEL(system_wq), *KERNEL(system_percpu_wq);

static void work_thread(void *arg)
{
	struct work_struct *work = arg;

	work->func(work);
	clear_bit_unlock(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
}

bool KERNEL(queue_work_on)(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	unit_thread_start(work_thread, work);
	return true;
}

bool KERNEL(flush_work)(struct work_struct *work)
{
	while (test_bit_acquire(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		cpu_relax();
	return true;
}

void KERNEL(__init_swait_queue_head)(struct swait_queue_head *q, const char *name,
				     struct lock_class_key *key)
{
}

void KERNEL(complete)(struct completion *x)
{
	/* pairs with wait_for_completion() */
	smp_store_release(&x->done, 1);
}

void KERNEL(wait_for_completion)(struct completion *x)
{
	/* pairs with complete() */
	while (!smp_load_acquire(&x->done))
		cpu_relax();
}

/*
 * A delayed work item runs when it is flushed. A program that simulates time has its own version of the
 * functions that start and cancel it.
 */

void KERNEL(init_timer_key)(struct timer_list *timer, void (*func)(struct timer_list *timer),
			    unsigned int flags, const char *name, struct lock_class_key *key)
{
}

void KERNEL(delayed_work_timer_fn)(struct timer_list *timer)
{
}

bool __weak KERNEL(queue_delayed_work_on)(int cpu, struct workqueue_struct *wq,
					  struct delayed_work *dwork, unsigned long delay)
{
	return !test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&dwork->work));
}

bool __weak KERNEL(cancel_delayed_work)(struct delayed_work *dwork)
{
	return test_and_clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&dwork->work));
}

bool KERNEL(cancel_delayed_work_sync)(struct delayed_work *dwork)
{
	return cancel_delayed_work(dwork);
}

bool KERNEL(flush_delayed_work)(struct delayed_work *dwork)
{
	if (!cancel_delayed_work(dwork))
		return false;
	dwork->work.func(&dwork->work);
	return true;
}
