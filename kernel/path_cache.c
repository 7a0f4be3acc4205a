// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Path records that the SA gave, for each port.
 *
 * A record is good until something happens to the port or to the SA
 * (device.c), until a connection by it fails, or until it is old: that another
 * port got a new LID or MTU is not told to this one.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "path_cache.h"

#define BUCKETS 256

static unsigned int path_cache = 1024;
module_param(path_cache, uint, 0644);
MODULE_PARM_DESC(path_cache, "path records kept for each InfiniBand port, 0: none (1024)");

static unsigned int path_cache_seconds = 60;
module_param(path_cache_seconds, uint, 0644);
MODULE_PARM_DESC(path_cache_seconds, "how long a path record is kept (60)");

/**
 * struct entry - a record
 * @node: in its bucket
 * @item: on &cmx_path_cache.entries
 * @born: jiffies
 * @key: what was asked for
 * @rec: the answer
 */
struct entry {
	struct hlist_node node;
	struct list_head item;
	unsigned long born;
	struct cmx_path_key key;
	struct sa_path_rec rec;
};

/**
 * struct cmx_path_cache - the records of a port
 * @lock: protects all of it; innermost
 * @entries: oldest first
 * @count: how many
 * @epoch: changes when all are dropped: what was asked before is not kept
 * @hits: questions that were answered here
 * @misses: questions that were not
 * @drops: times that all were dropped
 * @bucket: by key
 */
struct cmx_path_cache {
	spinlock_t lock;	/* protects what follows */
	struct list_head entries;
	u32 count;
	u32 epoch;
	u64 hits;
	u64 misses;
	u64 drops;
	struct hlist_head bucket[BUCKETS];
};

struct cmx_path_cache *cmx_path_cache_new(void)
{
	struct cmx_path_cache *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->entries);
	return c;
}

static void remove(struct cmx_path_cache *c, struct entry *e)
{
	hlist_del(&e->node);
	list_del(&e->item);
	c->count--;
	kfree(e);
}

/* All but the newest @keep. */
static void shrink(struct cmx_path_cache *c, u32 keep)
{
	while (c->count > keep)
		remove(c, list_first_entry(&c->entries, struct entry, item));
}

/**
 * cmx_path_cache_free() - free the cache of a port
 * @c: the cache, or NULL
 */
void cmx_path_cache_free(struct cmx_path_cache *c)
{
	if (c)
		shrink(c, 0);
	kfree(c);
}

static struct hlist_head *bucket_of(struct cmx_path_cache *c, const struct cmx_path_key *key)
{
	return &c->bucket[cmx_path_key_hash(key) % BUCKETS];
}

static struct entry *find(struct cmx_path_cache *c, const struct cmx_path_key *key)
{
	struct entry *e;

	hlist_for_each_entry(e, bucket_of(c, key), node)
		if (cmx_path_key_equal(&e->key, key))
			return e;
	return NULL;
}

static bool old(const struct entry *e)
{
	return time_after_eq(jiffies, e->born + READ_ONCE(path_cache_seconds) * HZ);
}

/**
 * cmx_path_cache_get() - look for a record
 * @c: the cache of the port
 * @key: what would be asked for
 * @rec: the record, if there is one
 * @epoch: for cmx_path_cache_add(), if there is none
 *
 * Return: whether there is one.
 */
bool cmx_path_cache_get(struct cmx_path_cache *c, const struct cmx_path_key *key,
			struct sa_path_rec *rec, u32 *epoch)
{
	bool hit = false;
	struct entry *e;

	spin_lock(&c->lock);
	*epoch = c->epoch;
	e = READ_ONCE(path_cache) ? find(c, key) : NULL;
	if (e && old(e)) {
		remove(c, e);
	} else if (e) {
		*rec = e->rec;
		hit = true;
	}
	if (hit)
		c->hits++;
	else
		c->misses++;
	spin_unlock(&c->lock);
	return hit;
}

/**
 * cmx_path_cache_add() - keep what the SA answered
 * @c: the cache of the port
 * @key: what was asked for
 * @rec: the answer
 * @epoch: from cmx_path_cache_get(), before the SA was asked
 */
void cmx_path_cache_add(struct cmx_path_cache *c, const struct cmx_path_key *key,
			const struct sa_path_rec *rec, u32 epoch)
{
	u32 max = READ_ONCE(path_cache);
	struct entry *e, *before;

	e = max ? kmalloc(sizeof(*e), GFP_KERNEL) : NULL;
	if (!e)
		return;
	e->born = jiffies;
	e->key = *key;
	e->rec = *rec;

	spin_lock(&c->lock);
	if (epoch != c->epoch) {
		kfree(e);
	} else {
		before = find(c, key);
		if (before)
			remove(c, before);
		shrink(c, max - 1);
		hlist_add_head(&e->node, bucket_of(c, key));
		list_add_tail(&e->item, &c->entries);
		c->count++;
	}
	spin_unlock(&c->lock);
}

/**
 * cmx_path_cache_drop() - all records may be wrong
 * @c: the cache of the port
 */
void cmx_path_cache_drop(struct cmx_path_cache *c)
{
	spin_lock(&c->lock);
	shrink(c, 0);
	c->epoch++;
	c->drops++;
	spin_unlock(&c->lock);
}

/**
 * cmx_path_cache_forget() - the records that lead to a port may be wrong
 * @c: the cache of the port that they begin at
 * @dgid: the peer's
 */
void cmx_path_cache_forget(struct cmx_path_cache *c, const union ib_gid *dgid)
{
	struct entry *e, *next;

	spin_lock(&c->lock);
	list_for_each_entry_safe(e, next, &c->entries, item)
		if (!memcmp(&e->key.dgid, dgid, sizeof(*dgid)))
			remove(c, e);
	spin_unlock(&c->lock);
}

/**
 * cmx_path_cache_show() - figures, for people
 * @c: the cache
 * @s: gets " ENTRIES HITS MISSES DROPS"
 */
void cmx_path_cache_show(struct cmx_path_cache *c, struct seq_file *s)
{
	spin_lock(&c->lock);
	seq_printf(s, " %u %llu %llu %llu", c->count, c->hits, c->misses, c->drops);
	spin_unlock(&c->lock);
}
