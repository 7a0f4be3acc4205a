// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cache of the path records from the SA, one for each port
 *
 * A record is dropped when an event of the port or of the SA may invalidate it (ib_port.c), when a
 * connection that uses it fails, and when it expires. It must expire because a port is not notified
 * when another port gets a new LID or MTU.
 */
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "param.h"
#include "path_cache.h"

#define BUCKETS 256

CMX_PARAM(path_cache, 0, 1048576, 1024,
	  "maximum number of path records kept for each InfiniBand port; 0 for none");
CMX_PARAM(path_cache_seconds, 0, 86400, 60, "how long a path record is kept, in seconds");

/**
 * struct path_cache_entry - a path record
 * @node: in the bucket of its key
 * @dgid_node: in the bucket of its DGID
 * @item: on &cmx_path_cache.entries
 * @added: jiffies when it was added
 * @key: the query
 * @rec: the record from the reply
 */
struct path_cache_entry {
	struct hlist_node node;
	struct hlist_node dgid_node;
	struct list_head item;
	unsigned long added;
	struct cmx_path_key key;
	struct sa_path_rec rec;
};

/**
 * struct cmx_path_cache - path records of a port
 * @lock: protects all members. Leaf lock: no other lock is taken while holding it
 * @entries: the records, oldest first
 * @count: number of records
 * @hits: lookups that found a record
 * @misses: lookups that found none
 * @drops: how often all records were dropped: replies to earlier queries are not added
 * @seed: of both hashes, because users choose the service ID and other fields of queries
 * @bucket: the records by key
 * @dgid_bucket: the records by DGID
 */
struct cmx_path_cache {
	spinlock_t lock;	/* protects all members */
	struct list_head entries;
	u32 count;
	u64 hits;
	u64 misses;
	u64 drops;
	u32 seed;
	struct hlist_head bucket[BUCKETS];
	struct hlist_head dgid_bucket[BUCKETS];
};

struct cmx_path_cache *cmx_path_cache_new(void)
{
	struct cmx_path_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL);

	if (!cache)
		return NULL;
	spin_lock_init(&cache->lock);
	INIT_LIST_HEAD(&cache->entries);
	cache->seed = get_random_u32();
	return cache;
}

static void path_cache_remove(struct cmx_path_cache *cache, struct path_cache_entry *entry)
{
	hlist_del(&entry->node);
	hlist_del(&entry->dgid_node);
	list_del(&entry->item);
	cache->count--;
	kfree(entry);
}

/* Remove all but the newest @keep records. */
static void path_cache_shrink(struct cmx_path_cache *cache, u32 keep)
{
	while (cache->count > keep)
		path_cache_remove(cache,
				  list_first_entry(&cache->entries, struct path_cache_entry, item));
}

/**
 * cmx_path_cache_free() - free the cache of a port
 * @cache: the cache, or NULL
 */
void cmx_path_cache_free(struct cmx_path_cache *cache)
{
	if (cache)
		path_cache_shrink(cache, 0);
	kfree(cache);
}

static struct hlist_head *path_cache_bucket(struct cmx_path_cache *cache,
					    const struct cmx_path_key *key)
{
	return &cache->bucket[jhash(key, sizeof(*key), cache->seed) % BUCKETS];
}

static struct hlist_head *path_cache_dgid_bucket(struct cmx_path_cache *cache,
						 const union ib_gid *dgid)
{
	return &cache->dgid_bucket[jhash(dgid, sizeof(*dgid), cache->seed) % BUCKETS];
}

static struct path_cache_entry *path_cache_find(struct cmx_path_cache *cache,
						const struct cmx_path_key *key)
{
	struct path_cache_entry *entry;

	hlist_for_each_entry(entry, path_cache_bucket(cache, key), node)
		if (!memcmp(&entry->key, key, sizeof(*key)))
			return entry;
	return NULL;
}

static bool path_cache_entry_expired(const struct path_cache_entry *entry)
{
	return time_after_eq(jiffies, entry->added + cmx_param_get(&path_cache_seconds) * HZ);
}

/**
 * cmx_path_cache_get() - look up a record
 * @cache: cache of the port
 * @key: the query
 * @rec: receives the record if there is one
 * @drops: receives the number of drops for cmx_path_cache_add()
 *
 * Return: true if there is a record.
 */
bool cmx_path_cache_get(struct cmx_path_cache *cache, const struct cmx_path_key *key,
			struct sa_path_rec *rec, u64 *drops)
{
	struct path_cache_entry *entry;

	spin_lock(&cache->lock);
	*drops = cache->drops;
	entry = cmx_param_get(&path_cache) ? path_cache_find(cache, key) : NULL;
	if (entry && path_cache_entry_expired(entry)) {
		path_cache_remove(cache, entry);
		entry = NULL;
	}
	if (entry) {
		*rec = entry->rec;
		cache->hits++;
	} else {
		cache->misses++;
	}
	spin_unlock(&cache->lock);
	return entry;
}

/**
 * cmx_path_cache_add() - add a record from the SA
 * @cache: cache of the port
 * @key: the query
 * @rec: the record from the reply
 * @drops: from cmx_path_cache_get(), before the query was sent
 */
void cmx_path_cache_add(struct cmx_path_cache *cache, const struct cmx_path_key *key,
			const struct sa_path_rec *rec, u64 drops)
{
	u32 max = cmx_param_get(&path_cache);
	struct path_cache_entry *entry, *old;

	/* without I/O, see cmx_charge_begin() */
	entry = max ? kmalloc(sizeof(*entry), GFP_NOIO) : NULL;
	if (!entry)
		return;
	entry->added = jiffies;
	entry->key = *key;
	entry->rec = *rec;

	spin_lock(&cache->lock);
	if (drops != cache->drops) {
		kfree(entry);
	} else {
		old = path_cache_find(cache, key);
		if (old)
			path_cache_remove(cache, old);
		path_cache_shrink(cache, max - 1);
		hlist_add_head(&entry->node, path_cache_bucket(cache, key));
		hlist_add_head(&entry->dgid_node, path_cache_dgid_bucket(cache, &key->rec.dgid));
		list_add_tail(&entry->item, &cache->entries);
		cache->count++;
	}
	spin_unlock(&cache->lock);
}

/**
 * cmx_path_cache_drop_all() - drop all records, since any of them may be wrong
 * @cache: cache of the port
 */
void cmx_path_cache_drop_all(struct cmx_path_cache *cache)
{
	spin_lock(&cache->lock);
	path_cache_shrink(cache, 0);
	cache->drops++;
	spin_unlock(&cache->lock);
}

/**
 * cmx_path_cache_drop_dgid() - drop the records that lead to a port, since they may be wrong
 * @cache: cache of the port at which they begin
 * @dgid: GID of the port to which they lead
 *
 * Processes can cause this as often as they like, so only the bucket of the DGID is walked.
 */
void cmx_path_cache_drop_dgid(struct cmx_path_cache *cache, const union ib_gid *dgid)
{
	struct path_cache_entry *entry;
	struct hlist_node *next;

	spin_lock(&cache->lock);
	hlist_for_each_entry_safe(entry, next, path_cache_dgid_bucket(cache, dgid), dgid_node)
		if (!memcmp(&entry->key.rec.dgid, dgid, sizeof(*dgid)))
			path_cache_remove(cache, entry);
	spin_unlock(&cache->lock);
}

/**
 * cmx_path_cache_show() - print the counters of a cache
 * @cache: the cache
 * @s: receives " ENTRIES HITS MISSES DROPS"
 */
void cmx_path_cache_show(struct cmx_path_cache *cache, struct seq_file *s)
{
	spin_lock(&cache->lock);
	seq_printf(s, " %u %llu %llu %llu", cache->count, cache->hits, cache->misses, cache->drops);
	spin_unlock(&cache->lock);
}
