/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_STATS_H
#define CMX_STATS_H

#include <linux/atomic.h>
#include <linux/kobject.h>
#include <linux/ktime.h>
#include <linux/types.h>

struct cmx_event;
struct cmx_id_private;
struct ib_device;

enum cmx_stat {
#define CMX_STAT(label, ...) CMX_STAT_##label,
#include "stat_rows.h"
	CMX_STAT_NUM,
};

enum cmx_gauge {
#define CMX_GAUGE(label, ...) CMX_GAUGE_##label,
#include "stat_rows.h"
	CMX_GAUGE_NUM,
};

enum cmx_stage {
#define CMX_STAGE(label, ...) CMX_STAGE_##label,
#include "stat_rows.h"
	CMX_STAGE_NUM,
};

/* Upper limits are 64 us * 4^n; the last bucket has no limit. */
#define CMX_LATENCY_BUCKETS 12

/**
 * struct cmx_latency - latencies of one stage
 * @sum: sum in microseconds
 * @bucket: number of latencies below each limit and not below the limit before
 */
struct cmx_latency {
	atomic64_t sum;
	atomic64_t bucket[CMX_LATENCY_BUCKETS];
};

/**
 * struct cmx_stats - counters of a port
 * @kobj: their folder in sysfs
 * @count: by enum cmx_stat
 * @gauge: by enum cmx_gauge
 * @latency: by enum cmx_stage
 */
struct cmx_stats {
	struct kobject kobj;
	atomic64_t count[CMX_STAT_NUM];
	atomic_t gauge[CMX_GAUGE_NUM];
	struct cmx_latency latency[CMX_STAGE_NUM];
};

/*
 * Of ids that are attached to no port, without a folder: failed address resolutions, and listeners
 * for all devices. Defined in gauge.c
 */
extern struct cmx_stats cmx_stats_unattached;

/* Microseconds, for differences of less than an hour; never 0 */
static inline u32 cmx_stats_now(void)
{
	return ktime_to_us(ktime_get()) | 1;
}

void cmx_stats_count(const struct cmx_id_private *id_priv, enum cmx_stat stat);
void cmx_stats_count_event(const struct cmx_event *ev);
void cmx_stats_count_refused(struct ib_device *device, u32 port, int ret);
struct cmx_stats *cmx_stats_new(struct ib_device *device, u32 port);
void cmx_stats_put(struct cmx_stats *stats);

void cmx_gauge_recount(struct cmx_id_private *id_priv); /* gauge.c */

#endif
