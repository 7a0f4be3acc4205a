// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx stats: counters and latencies of the ports, from sysfs, where the module has a folder for
 * each port of a device. A counter that this program does not know is printed as well. The counters
 * of ids that are attached to no port are in the folder of the char device.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmx_stats.h"
#include "device.h"
#include "file.h"

#define CHARDEV "/sys/class/misc/rdma_cmx"
#define LATENCY "latency_"
/* Settings in the same folder, see cmx_default.c */
#define DEFAULT "default_"
/* More than a line of the module has */
#define MAX_NUMBERS 64

/**
 * struct stats_entry - a file of a port
 * @device: RDMA device; empty for ids that are attached to no port
 * @port: port, a decimal number, or empty as well
 * @name: name of the counter, or of the latency
 * @n: number of numbers
 * @number: the counter; of a latency the sum in microseconds, then the number of latencies in each
 *	bucket: below 64 us, below four times that, and so on; the last bucket has no limit
 */
struct stats_entry {
	char *device, *port, *name;
	int n;
	unsigned long long number[MAX_NUMBERS];
};

static struct stats_entry *entries;
static size_t num_entries;

/* The name of a stage, or NULL if it is a counter */
static const char *stats_entry_stage(const struct stats_entry *e)
{
	return strncmp(e->name, LATENCY, strlen(LATENCY)) ? NULL : e->name + strlen(LATENCY);
}

static unsigned long long stats_entry_latency_count(const struct stats_entry *e)
{
	unsigned long long count = 0;
	int i;

	for (i = 1; i < e->n; i++)
		count += e->number[i];
	return count;
}

/* Upper limit of a bucket in microseconds */
static unsigned long long stats_bucket_limit(int bucket)
{
	return 64ULL << 2 * bucket;
}

static int stats_entry_read(const char *device, const char *port, const char *dir, const char *name)
{
	struct stats_entry *e;
	FILE *f;

	if (!strncmp(name, DEFAULT, strlen(DEFAULT)))
		return 0;
	f = tool_file_open(dir, name, "re");
	/* the device has been removed meanwhile, or the module is older than this program */
	if (!f)
		return 0;
	e = realloc(entries, (num_entries + 1) * sizeof(*entries));
	if (!e) {
		fclose(f);
		return -1;
	}
	entries = e;
	e += num_entries;
	for (e->n = 0; e->n < MAX_NUMBERS && fscanf(f, "%llu", &e->number[e->n]) == 1; e->n++)
		;
	fclose(f);
	if (!e->n)
		return 0;
	e->device = strdup(device);
	e->port = strdup(port);
	e->name = strdup(name);
	if (!e->device || !e->port || !e->name)
		return -1;
	num_entries++;
	return 0;
}

/**
 * struct stats_walk - the port whose files are read
 * @filter: DEVICE or DEVICE/PORT, or NULL for all
 * @device: device
 * @port: port
 */
struct stats_walk {
	const char *filter, *device, *port;
};

static int stats_walk_file(const char *dir, const char *name, void *arg)
{
	const struct stats_walk *walk = arg;

	return stats_entry_read(walk->device, walk->port, dir, name);
}

static bool stats_walk_wants(const struct stats_walk *walk)
{
	size_t len = strlen(walk->device);

	return !walk->filter || (!strncmp(walk->filter, walk->device, len) &&
				 (!walk->filter[len] || (walk->filter[len] == '/' &&
				  !strcmp(walk->filter + len + 1, walk->port))));
}

static int stats_walk_port(const char *dir, const char *name, void *arg)
{
	struct stats_walk *walk = arg;
	char path[600];

	walk->port = name + 3;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!stats_walk_wants(walk))
		return 0;
	return tool_folder_walk(path, tool_name_is_visible, stats_walk_file, walk);
}

static int stats_walk_device(const char *dir, const char *name, void *arg)
{
	struct stats_walk *walk = arg;
	char path[300];

	walk->device = name;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return tool_folder_walk(path, tool_name_is_port, stats_walk_port, walk);
}

/* The folder has other files too. */
static int stats_read_unattached(void)
{
	return stats_entry_read("", "", CHARDEV, "addr_timeouts") ?:
	       stats_entry_read("", "", CHARDEV, "addr_errors");
}

/* The limit of the bucket in which the given share of the latencies ends; 0: there is no limit */
static unsigned long long stats_entry_quantile(const struct stats_entry *e, int percent)
{
	unsigned long long count = stats_entry_latency_count(e), seen = 0;
	int i;

	for (i = 1; i < e->n - 1; i++) {
		seen += e->number[i];
		if (seen * 100 >= count * percent)
			return stats_bucket_limit(i - 1);
	}
	return 0;
}

static void stats_print_quantile(const struct stats_entry *e, int percent)
{
	unsigned long long limit = stats_entry_quantile(e, percent);

	if (limit)
		printf(" %d%% <%lluus", percent, limit);
	else
		printf(" %d%% >=%lluus", percent, stats_bucket_limit(e->n - 3));
}

/* Counters that are 0 are left out. */
static void stats_print_text(void)
{
	const struct stats_entry *e;
	unsigned long long count;

	for (e = entries; e < entries + num_entries; e++) {
		count = stats_entry_stage(e) ? stats_entry_latency_count(e) : e->number[0];
		if (!count)
			continue;
		printf(*e->device ? "%s/%s %s %llu" : "unattached%s%s %s %llu", e->device, e->port,
		       e->name, count);
		if (stats_entry_stage(e)) {
			printf(" mean %lluus", e->number[0] / count);
			stats_print_quantile(e, 50);
			stats_print_quantile(e, 99);
		}
		puts("");
	}
}

static void stats_print_json_latency(const struct stats_entry *e)
{
	int i;

	printf("{\"count\":%llu,\"sum_us\":%llu,\"below_us\":{", stats_entry_latency_count(e),
	       e->number[0]);
	for (i = 1; i < e->n - 1; i++)
		printf("%s\"%llu\":%llu", i > 1 ? "," : "", stats_bucket_limit(i - 1),
		       e->number[i]);
	printf("},\"above\":%llu}", e->number[e->n - 1]);
}

static void stats_print_json(void)
{
	const struct stats_entry *e, *last = NULL;

	printf("[");
	for (e = entries; e < entries + num_entries; last = e++) {
		if (!last || strcmp(e->device, last->device) || strcmp(e->port, last->port))
			printf(*e->device ? "%s{\"device\":\"%s\",\"port\":%s" :
					    "%s{\"unattached\":true%s%s",
			       last ? "}," : "", e->device, e->port);
		printf(",\"%s\":", e->name);
		if (stats_entry_stage(e))
			stats_print_json_latency(e);
		else
			printf("%llu", e->number[0]);
	}
	puts(last ? "}]" : "]");
}

static void stats_print_metric_latency(const struct stats_entry *e)
{
	unsigned long long count = 0;
	int i;

	for (i = 1; i < e->n; i++) {
		count += e->number[i];
		printf("rdma_cmx_%s_seconds_bucket{device=\"%s\",port=\"%s\",le=\"", e->name,
		       e->device, e->port);
		if (i < e->n - 1)
			printf("%g\"} %llu\n", stats_bucket_limit(i - 1) / 1e6, count);
		else
			printf("+Inf\"} %llu\n", count);
	}
	printf("rdma_cmx_%s_seconds_sum{device=\"%s\",port=\"%s\"} %.6f\n", e->name, e->device,
	       e->port, e->number[0] / 1e6);
	printf("rdma_cmx_%s_seconds_count{device=\"%s\",port=\"%s\"} %llu\n", e->name, e->device,
	       e->port, count);
}

static int stats_entry_compare(const void *a, const void *b)
{
	const struct stats_entry *x = a, *y = b;

	return strcmp(x->name, y->name) ?: strcmp(x->device, y->device) ?: strcmp(x->port, y->port);
}

static void stats_print_metric_up(bool up)
{
	printf("# TYPE rdma_cmx_up gauge\nrdma_cmx_up %d\n", up);
}

/*
 * The text format of Prometheus, which wants the values of one metric together. Counters of ids
 * that are attached to no port have names of their own, so that sums over the ports stay right.
 */
static void stats_print_metrics(void)
{
	const struct stats_entry *e, *last = NULL;
	const char *prefix;
	bool latency;

	stats_print_metric_up(true);
	qsort(entries, num_entries, sizeof(*entries), stats_entry_compare);
	for (e = entries; e < entries + num_entries; last = e++) {
		latency = stats_entry_stage(e);
		prefix = *e->device ? "" : "unattached_";
		if (!last || strcmp(e->name, last->name) || !*last->device)
			printf("# TYPE rdma_cmx_%s%s%s %s\n", prefix, e->name,
			       latency ? "_seconds" : "_total", latency ? "histogram" : "counter");
		if (latency)
			stats_print_metric_latency(e);
		else if (*e->device)
			printf("rdma_cmx_%s_total{device=\"%s\",port=\"%s\"} %llu\n", e->name,
			       e->device, e->port, e->number[0]);
		else
			printf("rdma_cmx_%s%s_total %llu\n", prefix, e->name, e->number[0]);
	}
}

int stats_run(int argc, char **argv)
{
	void (*print)(void) = stats_print_text;
	struct stats_walk walk = {};
	int i;

	for (i = 1; i < argc; i++) {
		if (argv[i][0] != '-' && !walk.filter)
			walk.filter = argv[i];
		else if (!strcmp(argv[i], "-j"))
			print = stats_print_json;
		else if (!strcmp(argv[i], "-m"))
			print = stats_print_metrics;
		else
			return tool_fail_usage(argv[i], "unexpected");
	}
	if (tool_folder_walk(TOOL_DEVICES, tool_name_is_visible, stats_walk_device, &walk) ||
	    (!walk.filter && stats_read_unattached()))
		return tool_fail(TOOL_DEVICES);
	if (!num_entries && tool_module_is_missing()) {
		if (print == stats_print_metrics)
			stats_print_metric_up(false);
		return 1;
	}
	if (walk.filter && !num_entries) {
		fprintf(stderr, "cmx: %s: no such port of rdma_cmx\n", walk.filter);
		return 1;
	}
	print();
	return 0;
}
