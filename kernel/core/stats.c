// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters, gauges and latencies of each port: /sys/class/infiniband/DEVICE/cmxPORT.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <rdma/ib_cm.h>
#include "device.h"
#include "event.h"
#include "mcast.h"
#include "stats.h"
#include "transport.h"

/**
 * cmx_stats_count() - count an event of an id
 * @id_priv: the id
 * @stat: the counter
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_stats_count(const struct cmx_id_private *id_priv, enum cmx_stat stat)
{
	lockdep_assert_held(&id_priv->lock);
	atomic64_inc(id_priv->dev_port ? &id_priv->dev_port->stats->count[stat] :
					 &cmx_stats_unattached.count[stat]);
}

static enum cmx_stat stats_of_reject(const struct cmx_id_private *id_priv, int status)
{
	if (id_priv->conn_ops && status == id_priv->conn_ops->consumer_reject)
		return CMX_STAT_REJECTED_CONSUMER;
	switch (status) {
	case IB_CM_REJ_INVALID_SERVICE_ID:
		return CMX_STAT_REJECTED_NO_LISTENER;
	case IB_CM_REJ_STALE_CONN:
		return CMX_STAT_REJECTED_STALE;
	case IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED:
		return CMX_STAT_REJECTED_ECE;
	default:
		return CMX_STAT_REJECTED_OTHER;
	}
}

/* Returns the counter of an event, or CMX_STAT_NUM. */
static enum cmx_stat stats_of_event(const struct cmx_event *ev)
{
	int status = ev->ev.status;
	bool timeout = status == -ETIMEDOUT;

	/* also UNREACHABLE of a connection, whose peer has another MAC address now */
	if (ev->is_watch)
		return CMX_STAT_ADDR_CHANGED;
	switch (ev->ev.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return CMX_STAT_ADDR_RESOLVED;
	case RDMA_CM_EVENT_ADDR_ERROR:
		return timeout ? CMX_STAT_ADDR_TIMEOUT : CMX_STAT_ADDR_ERROR;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return CMX_STAT_ROUTE_RESOLVED;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return timeout ? CMX_STAT_ROUTE_TIMEOUT : CMX_STAT_ROUTE_ERROR;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return CMX_STAT_REQUEST;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
		return ev->id_priv->passive ? CMX_STAT_ACCEPTED : CMX_STAT_CONNECTED;
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return timeout ? CMX_STAT_CONNECT_TIMEOUT : CMX_STAT_CONNECT_ERROR;
	case RDMA_CM_EVENT_REJECTED:
		return stats_of_reject(ev->id_priv, status);
	case RDMA_CM_EVENT_DISCONNECTED:
		return CMX_STAT_DISCONNECTED;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		/* sa_member_restore() counts a rejoin; the event may be posted later */
		return ev->flags & CMX_EVENT_F_REJOIN ? CMX_STAT_NUM : CMX_STAT_GROUP_JOINED;
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		if (status == -ENETRESET)
			return CMX_STAT_GROUP_ENDED;
		return timeout ? CMX_STAT_GROUP_TIMEOUT : CMX_STAT_GROUP_ERROR;
	default:
		return CMX_STAT_NUM;
	}
}

static void stats_add_latency(const struct cmx_id_private *id_priv, enum cmx_stage stage, u32 start)
{
	struct cmx_latency *latency = &id_priv->dev_port->stats->latency[stage];
	u32 us = cmx_stats_now() - start;
	int bucket = us < 64 ? 0 : min((ilog2(us) - 4) / 2, CMX_LATENCY_BUCKETS - 1);

	atomic64_add(us, &latency->sum);
	atomic64_inc(&latency->bucket[bucket]);
}

/**
 * cmx_stats_count_event() - count an event that is passed to the consumer
 * @ev: the event
 *
 * Context: Caller must hold the lock of the id.
 */
void cmx_stats_count_event(const struct cmx_event *ev)
{
	static const enum cmx_stage stages[CMX_STAT_NUM] = {
		[CMX_STAT_ADDR_RESOLVED] = CMX_STAGE_ADDR,
		[CMX_STAT_ROUTE_RESOLVED] = CMX_STAGE_ROUTE,
		[CMX_STAT_CONNECTED] = CMX_STAGE_CONNECT,
		[CMX_STAT_ACCEPTED] = CMX_STAGE_ACCEPT,
	};
	struct cmx_id_private *id_priv = ev->id_priv;
	enum cmx_stat stat = stats_of_event(ev);

	if (stat == CMX_STAT_NUM)
		return;
	cmx_stats_count(id_priv, stat);
	if (!id_priv->dev_port)
		return;
	if (stat == CMX_STAT_GROUP_JOINED) {
		stats_add_latency(id_priv, CMX_STAGE_JOIN, ev->mc->start);
	} else if (id_priv->stage_start && (stages[stat] || stat == CMX_STAT_ADDR_RESOLVED)) {
		stats_add_latency(id_priv, stages[stat], id_priv->stage_start);
		id_priv->stage_start = 0;
	}
}

/**
 * cmx_stats_count_refused() - count an incoming request that is refused
 * @device: the device
 * @port: the port
 * @ret: the reason, -errno
 *
 * Context: Process context.
 */
void cmx_stats_count_refused(struct ib_device *device, u32 port, int ret)
{
	struct cmx_device *dev = cmx_device_find(device);
	struct cmx_stats *stats = NULL;
	enum cmx_stat stat;

	if (!dev)
		return;
	switch (ret) {
	case -ECONNREFUSED:
	case -EADDRNOTAVAIL:
		stat = CMX_STAT_REFUSED_NO_LISTENER;
		break;
	case -EAGAIN:
		stat = CMX_STAT_REFUSED_BACKLOG;
		break;
	case -EDQUOT:
		stat = CMX_STAT_REFUSED_QUOTA;
		break;
	case -EOPNOTSUPP:
		stat = CMX_STAT_REFUSED_ECE;
		break;
	default:
		stat = CMX_STAT_REFUSED_OTHER;
		break;
	}
	if (rdma_is_port_valid(device, port))
		stats = cmx_device_port(dev, port)->stats;
	if (stats)
		atomic64_inc(&stats->count[stat]);
	cmx_device_put(dev);
}

static ssize_t stats_latency_print(const struct cmx_latency *latency, char *buf)
{
	ssize_t len = sysfs_emit(buf, "%lld", atomic64_read(&latency->sum));
	int i;

	for (i = 0; i < CMX_LATENCY_BUCKETS; i++)
		len += sysfs_emit_at(buf, len, " %lld", atomic64_read(&latency->bucket[i]));
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf);

static const struct kobj_attribute stats_files[] = {
#define CMX_STAT(label, file, text) { { .name = file, .mode = 0444 }, .show = stats_show },
#define CMX_GAUGE(label, file, text) { { .name = file, .mode = 0444 }, .show = stats_show },
#define CMX_STAGE(label, file, text) { { .name = file, .mode = 0444 }, .show = stats_show },
#include "stat_rows.h"
};

static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct cmx_stats *stats = container_of(kobj, struct cmx_stats, kobj);
	unsigned int index = attr - stats_files;

	if (index < CMX_STAT_NUM)
		return sysfs_emit(buf, "%lld\n", atomic64_read(&stats->count[index]));
	index -= CMX_STAT_NUM;
	if (index < CMX_GAUGE_NUM)
		return sysfs_emit(buf, "%d\n", atomic_read(&stats->gauge[index]));
	return stats_latency_print(&stats->latency[index - CMX_GAUGE_NUM], buf);
}

static void stats_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct cmx_stats, kobj));
}

static const struct kobj_type stats_type = {
	.release = stats_release,
	.sysfs_ops = &kobj_sysfs_ops,
};

/**
 * cmx_stats_new() - create the counters of a port
 * @device: the device
 * @port: the port
 *
 * A device can be used without the folder in sysfs, so this error is only logged.
 *
 * Return: the counters, or NULL if there is not enough memory.
 */
struct cmx_stats *cmx_stats_new(struct ib_device *device, u32 port)
{
	struct cmx_stats *stats = kzalloc(sizeof(*stats), GFP_KERNEL);
	int i, ret;

	if (!stats)
		return NULL;
	/* The type is not const in older kernels. */
	ret = kobject_init_and_add(&stats->kobj, (void *)&stats_type, &device->dev.kobj, "cmx%u",
				   port);
	for (i = 0; !ret && i < ARRAY_SIZE(stats_files); i++)
		ret = sysfs_create_file(&stats->kobj, &stats_files[i].attr);
	if (ret)
		ibdev_warn(device, "rdma_cmx: no counters of port %u in sysfs: %d\n", port, ret);
	return stats;
}

/**
 * cmx_stats_put() - remove the counters of a port
 * @stats: the counters, or NULL
 */
void cmx_stats_put(struct cmx_stats *stats)
{
	if (stats)
		kobject_put(&stats->kobj);
}
