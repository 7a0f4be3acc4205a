// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx stats: counters, gauges and latencies. They are in sysfs: each port of a device has a folder,
 * and the folder of the char device has one for the host. A file that this program does not know is
 * printed as well.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "args.h"
#include "cmx_default.h"
#include "cmx_stats.h"
#include "device.h"
#include "file.h"
#include "json.h"
#include "stat_table.h"

#define HOST "/sys/class/misc/rdma_cmx/stats"
/* Settings in the same folder, see cmx_default.c */
#define DEFAULT "default_"
/* More than a line of the module has */
#define MAX_NUMBERS 64

enum stats_kind {
	COUNTER, GAUGE, LATENCY, NUM_KINDS
};

/*
 * How the files of a kind begin, the name of their object in JSON, their type in Prometheus, and how
 * their name ends there
 */
static const struct {
	const char *prefix, *object, *type, *suffix;
} kinds[NUM_KINDS] = {
	[COUNTER] = { "", "counters", "counter", "_total" },
	[GAUGE] = { "now_", "gauges", "gauge", "" },
	[LATENCY] = { "latency_", "latencies", "histogram", "_seconds" },
};

/**
 * struct stats_entry - a file of a port or of the host
 * @device: RDMA device; empty for the host
 * @port: port, a decimal number, or empty as well
 * @name: name of the file
 * @kind: its kind
 * @n: number of numbers
 * @number: the counter or gauge; of a latency the sum in microseconds, then the number of latencies
 *	in each bucket: below 64 us, below four times that, and so on; the last bucket has no limit
 */
struct stats_entry {
	char *device, *port, *name;
	enum stats_kind kind;
	int n;
	unsigned long long number[MAX_NUMBERS];
};

static struct stats_entry *entries;
static size_t num_entries;

static enum stats_kind stats_kind_of(const char *name)
{
	enum stats_kind kind = NUM_KINDS - 1;

	while (strncmp(name, kinds[kind].prefix, strlen(kinds[kind].prefix)))
		kind--;
	return kind;
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
	/* the device has been removed meanwhile */
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
	e->kind = stats_kind_of(name);
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

	walk->port = tool_name_port(name);
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

static int stats_walk_host(void)
{
	struct stats_walk walk = { .device = "", .port = "" };

	return tool_folder_walk(HOST, tool_name_is_visible, stats_walk_file, &walk);
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

/* What is 0 is left out. */
static void stats_print_text(void)
{
	const struct stats_entry *e;
	unsigned long long count;

	for (e = entries; e < entries + num_entries; e++) {
		count = e->kind == LATENCY ? stats_entry_latency_count(e) : e->number[0];
		if (!count)
			continue;
		if (*e->device)
			printf("%s/%s %s %llu", e->device, e->port, e->name, count);
		else
			printf("host %s %llu", e->name, count);
		if (e->kind == LATENCY) {
			printf(" mean %lluus", e->number[0] / count);
			stats_print_quantile(e, 50);
			stats_print_quantile(e, 99);
		}
		puts("");
	}
}

static void stats_put_latency(const char *name, const struct stats_entry *e)
{
	char limit[32];
	int i;

	json_open(name, '{');
	json_number_put("count", "%llu", stats_entry_latency_count(e));
	json_number_put("sum-us", "%llu", e->number[0]);
	json_open("below-us", '{');
	for (i = 1; i < e->n - 1; i++) {
		snprintf(limit, sizeof(limit), "%llu", stats_bucket_limit(i - 1));
		json_number_put(limit, "%llu", e->number[i]);
	}
	json_close('}');
	json_number_put("above", "%llu", e->number[e->n - 1]);
	json_close('}');
}

/* Writes the entries of a port or of the host that are of a kind, if there are any. */
static void stats_put_kind(const struct stats_entry *first, const struct stats_entry *end,
			   enum stats_kind kind)
{
	const struct stats_entry *e;
	bool begun = false;
	const char *name;

	for (e = first; e < end; e++) {
		if (e->kind != kind)
			continue;
		if (!begun)
			json_open(kinds[kind].object, '{');
		begun = true;
		name = e->name + strlen(kinds[kind].prefix);
		if (kind == LATENCY)
			stats_put_latency(name, e);
		else
			json_number_put(name, "%llu", e->number[0]);
	}
	if (begun)
		json_close('}');
}

static void stats_print_json(void)
{
	const struct stats_entry *e, *end = entries + num_entries, *next;
	enum stats_kind kind;

	json_open(NULL, '[');
	for (e = entries; e < end; e = next) {
		for (next = e; next < end && !strcmp(next->device, e->device) &&
			       !strcmp(next->port, e->port); next++)
			;
		json_open(NULL, '{');
		if (*e->device) {
			json_string_put("dev", e->device);
			json_number_put("port", "%s", e->port);
		}
		for (kind = 0; kind < NUM_KINDS; kind++)
			stats_put_kind(e, next, kind);
		json_close('}');
	}
	json_close(']');
	json_end();
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

static void stats_print_metric_head(const struct stats_entry *e)
{
	const char *suffix = kinds[e->kind].suffix;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cmx_stat_rows); i++)
		if (!strcmp(cmx_stat_rows[i].file, e->name))
			printf("# HELP rdma_cmx_%s%s %s\n", e->name, suffix, cmx_stat_rows[i].text);
	printf("# TYPE rdma_cmx_%s%s %s\n", e->name, suffix, kinds[e->kind].type);
}

static void stats_print_metrics_module(void)
{
	char version[128];
	bool up = !tool_file_read_line(CMX_MODULE, "version", version, sizeof(version));

	printf("# HELP rdma_cmx_up 1 if the module is loaded\n"
	       "# TYPE rdma_cmx_up gauge\n"
	       "rdma_cmx_up %d\n", up);
	if (up)
		printf("# HELP rdma_cmx_build_info version of the loaded module\n"
		       "# TYPE rdma_cmx_build_info gauge\n"
		       "rdma_cmx_build_info{version=\"%s\"} 1\n", version);
}

/*
 * The text format of Prometheus, which wants the values of one metric together. Those of the host
 * have other names than those of ports, so that sums over the ports stay right.
 */
static void stats_print_metrics(void)
{
	const struct stats_entry *e, *last = NULL;

	stats_print_metrics_module();
	qsort(entries, num_entries, sizeof(*entries), stats_entry_compare);
	for (e = entries; e < entries + num_entries; last = e++) {
		if (!last || strcmp(e->name, last->name))
			stats_print_metric_head(e);
		if (e->kind == LATENCY)
			stats_print_metric_latency(e);
		else if (*e->device)
			printf("rdma_cmx_%s%s{device=\"%s\",port=\"%s\"} %llu\n", e->name,
			       kinds[e->kind].suffix, e->device, e->port, e->number[0]);
		else
			printf("rdma_cmx_%s%s %llu\n", e->name, kinds[e->kind].suffix,
			       e->number[0]);
	}
}

int stats_run(int argc, char **argv)
{
	struct tool_options options = {};
	struct stats_walk walk = {};

	if (tool_options_parse(&argc, &argv, "jpm", &options))
		return 2;
	if (argc > 1)
		return tool_fail_usage(argv[1], "unexpected");
	walk.filter = argc ? argv[0] : NULL;
	if (tool_folder_walk(TOOL_DEVICES, tool_name_is_visible, stats_walk_device, &walk) ||
	    (!walk.filter && stats_walk_host()))
		return tool_fail(TOOL_DEVICES);
	/* that the module is not loaded is a metric as well */
	if (!num_entries && !options.metrics && tool_module_is_missing())
		return 1;
	if (walk.filter && !num_entries && !access(CMX_MODULE, F_OK)) {
		fprintf(stderr, "cmx: %s: no such port of rdma_cmx\n", walk.filter);
		return 1;
	}
	if (options.metrics)
		stats_print_metrics();
	else if (options.json)
		stats_print_json();
	else
		stats_print_text();
	return 0;
}
