/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The meaning of the counters, gauges and latencies that this version knows.
 */
#ifndef CMX_STAT_TABLE_H
#define CMX_STAT_TABLE_H

static const struct {
	const char *file, *text;
} cmx_stat_rows[] = {
#define CMX_STAT(label, file, text) { file, text },
#define CMX_GAUGE(label, file, text) { file, text },
#define CMX_STAGE(label, file, text) { file, text },
#include "../kernel/core/stat_rows.h"
	/* of the host: kernel/ioctl/chardev.c */
	{ "unattached_addr_timeouts", "address resolutions that nobody answered in time, of ids without a port" },
	{ "unattached_addr_errors", "other address resolutions that failed, of ids without a port" },
	{ "now_unattached_listening", "ids at the moment that listen on all devices" },
	{ "now_queued_events", "events at the moment that processes have not fetched" },
};

#endif
