// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx monitor: connections, refusals and multicast groups, from the tracepoints of the module. It
 * uses a trace instance of its own, so that it disturbs no other user of tracefs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "args.h"
#include "cmx_monitor.h"
#include "device.h"
#include "file.h"
#include "json.h"

#define INSTANCES "/sys/kernel/tracing/instances/"
#define LINE_SIZE 4096
#define FIRST_EVENT "events/rdma_cmx/cmx_event"
/*
 * Values of enum rdma_cm_event_type: ADDR_ERROR, ROUTE_ERROR, CONNECT_RESPONSE (ESTABLISHED for a
 * process that connects), CONNECT_ERROR, UNREACHABLE, REJECTED, ESTABLISHED, DISCONNECTED,
 * DEVICE_REMOVAL, ADDR_CHANGE
 */
#define EVENT_FILTER "type == 1 || type == 3 || (type >= 5 && type <= 11) || type == 14"

/**
 * struct monitor_line - the values of a trace line; an empty string stands for none
 * @time: when it happened, in microseconds since 1970
 * @event: what happened
 * @dev: device and port of a refused request, of a group, or of an event of the port
 * @src: local address and port, of a refused request those that it is for
 * @dst: address and port of the peer
 * @gid: GID of the peer of a refused request
 * @group: MGID of a group
 * @reason: why
 * @pid: process that the id belongs to, or 0
 * @comm: its name, or in brackets the name of a kernel module
 * @trace_id: name of the id in traces
 */
struct monitor_line {
	long long time;
	const char *event;
	char dev[72], src[64], dst[64], gid[64], group[64], reason[64];
	int pid;
	char comm[TOOL_TEXT_MAX], trace_id[24];
};

struct monitor_reason {
	int status;
	const char *name;
};

/* enum ib_cm_rej_reason */
static const struct monitor_reason rej_reasons[] = {
	{ 1, "no-qp" }, { 3, "no-resources" }, { 4, "timeout" }, { 6, "invalid-comm-id" },
	{ 8, "invalid-service-id" }, { 10, "stale-connection" }, { 12, "invalid-gid" },
	{ 13, "invalid-lid" }, { 24, "port-cm-redirect" }, { 25, "port-redirect" },
	{ 26, "invalid-mtu" }, { 28, "consumer" }, { 31, "invalid-class-version" }, { 35, "ece" },
	{}
};

/* enum ib_cm_sidr_status: UNREACHABLE of an id for datagrams */
static const struct monitor_reason sidr_reasons[] = {
	{ 1, "sidr-unsupported" }, { 2, "sidr-reject" }, { 3, "sidr-no-qp" },
	{ 4, "sidr-redirect" }, { 5, "sidr-unsupported-version" },
	{}
};

static volatile sig_atomic_t monitor_stop;

static void monitor_handle_signal(int sig)
{
	(void)sig;
	monitor_stop = 1;
}

static void monitor_set_reason(struct monitor_line *l, const struct monitor_reason *reason,
			       int status)
{
	if (status < 0) {
		snprintf(l->reason, sizeof(l->reason), "%s", strerror(-status));
		return;
	}
	snprintf(l->reason, sizeof(l->reason), "%d", status);
	for (; reason->name; reason++)
		if (reason->status == status)
			snprintf(l->reason, sizeof(l->reason), "%s", reason->name);
}

/* "comm=NAME pid=PID" at the end. The name may contain anything. */
static void monitor_parse_owner(struct monitor_line *l, const char *text)
{
	const char *comm = strstr(text, " comm="), *pid = NULL, *at;

	if (!comm)
		return;
	comm += strlen(" comm=");
	for (at = comm; (at = strstr(at, " pid=")); at++)
		pid = at;
	if (!pid || pid == comm)
		return;
	l->pid = atoi(pid + strlen(" pid="));
	snprintf(l->comm, sizeof(l->comm), l->pid ? "%.*s" : "[%.*s]", (int)(pid - comm), comm);
}

static const struct {
	const char *type, *event;
} monitor_events[] = {
	{ "ADDR_ERROR", "addr-failed" }, { "ROUTE_ERROR", "route-failed" },
	{ "CONNECT_RESPONSE", "connected" }, { "CONNECT_ERROR", "error" },
	{ "UNREACHABLE", "unreachable" }, { "REJECTED", "rejected" },
	{ "ESTABLISHED", "connected" }, { "DISCONNECTED", "disconnected" },
	{ "DEVICE_REMOVAL", "device-removed" }, { "ADDR_CHANGE", "addr-changed" },
};

static bool monitor_parse_event(struct monitor_line *l, const char *text)
{
	char name[32];
	int status;
	size_t i;

	if (sscanf(text, "id=%23s %63s > %63s %31s status=%d", l->trace_id, l->src, l->dst, name,
		   &status) != 5)
		return false;
	for (i = 0; i < ARRAY_SIZE(monitor_events); i++)
		if (!strcmp(name, monitor_events[i].type))
			l->event = monitor_events[i].event;
	if (status)
		monitor_set_reason(l, strcmp(name, "UNREACHABLE") ? rej_reasons : sidr_reasons,
				   status);
	monitor_parse_owner(l, text);
	return l->event;
}

static bool monitor_parse_refused(struct monitor_line *l, const char *text)
{
	l->event = "refused";
	return sscanf(text, "%71s %63s > %63s %63s gid=%63s", l->dev, l->dst, l->src, l->reason,
		      l->gid) == 5;
}

static bool monitor_parse_mcast(struct monitor_line *l, const char *text)
{
	char name[16];
	int status;

	if (sscanf(text, "id=%23s %71s %15s mgid=%63s status=%d", l->trace_id, l->dev, name, l->group,
		   &status) != 5)
		return false;
	if (!strcmp(name, "rejoin"))
		l->event = status ? "rejoin-failed" : "rejoined";
	else if (!strcmp(name, "lost"))
		l->event = "lost";
	else if (status == -ENETRESET)
		l->event = "ended";
	else if (!strcmp(name, "join"))
		l->event = status ? "join-failed" : "joined";
	else
		l->event = "left";
	if (status)
		monitor_set_reason(l, rej_reasons, status);
	monitor_parse_owner(l, text);
	return true;
}

static bool monitor_parse_port(struct monitor_line *l, const char *text)
{
	l->event = "port";
	return sscanf(text, "%71s %63s", l->dev, l->reason) == 2;
}

static const struct monitor_source {
	const char *event;
	bool (*parse)(struct monitor_line *l, const char *text);
} monitor_sources[] = {
	{ "cmx_event", monitor_parse_event },
	{ "cmx_req_refused", monitor_parse_refused },
	{ "cmx_mcast", monitor_parse_mcast },
	{ "cmx_port_event", monitor_parse_port },
};

/* The kernel cannot print addresses of AF_IB: it has "(einval)" for them. "-" is no device. */
static bool monitor_value_is_known(const char *value)
{
	return *value && *value != '(' && *value != '-';
}

/* With the names of the columns of cmx show, where addresses have their port, too */
static void monitor_print_text(const struct monitor_line *l)
{
	char date[32], pid[16] = "", comm[TOOL_TEXT_MAX];
	const struct { const char *name, *value; } fields[] = {
		{ "dev", l->dev }, { "src", l->src }, { "dst", l->dst }, { "gid", l->gid },
		{ "group", l->group }, { "reason", l->reason }, { "pid", pid }, { "comm", comm },
		{ "trace-id", l->trace_id },
	};
	time_t sec = l->time / 1000000;
	struct tm tm;
	size_t i;

	if (l->pid)
		snprintf(pid, sizeof(pid), "%d", l->pid);
	snprintf(comm, sizeof(comm), "%s", l->comm);
	tool_text_escape(comm, sizeof(comm));
	localtime_r(&sec, &tm);
	strftime(date, sizeof(date), "%F %T", &tm);
	printf("%s.%06lld %-12s", date, l->time % 1000000, l->event);
	/* a name may begin with any character */
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].value == comm ? *comm : monitor_value_is_known(fields[i].value))
			printf(" %s %s", fields[i].name, fields[i].value);
	puts("");
}

/* "1.2.3.4:56" or "[fd77::1]:56" */
static void monitor_json_addr_put(const char *addr_name, const char *port_name, const char *value)
{
	char addr[64], *port;

	if (!monitor_value_is_known(value))
		return;
	snprintf(addr, sizeof(addr), "%s", value + (*value == '['));
	port = strrchr(addr, ':');
	if (!port)
		return;
	*port++ = 0;
	addr[strcspn(addr, "]")] = 0;
	json_string_put(addr_name, addr);
	json_number_put(port_name, "%s", port);
}

static void monitor_json_dev_put(const char *value)
{
	char dev[72], *port;

	if (!monitor_value_is_known(value))
		return;
	snprintf(dev, sizeof(dev), "%s", value);
	port = strchr(dev, '/');
	if (!port)
		return;
	*port++ = 0;
	json_string_put("dev", dev);
	json_number_put("port", "%s", port);
}

static void monitor_json_text_put(const char *name, const char *value)
{
	if (monitor_value_is_known(value))
		json_string_put(name, value);
}

static void monitor_print_json(const struct monitor_line *l)
{
	json_open(NULL, '{');
	json_number_put("time", "%lld.%06lld", l->time / 1000000, l->time % 1000000);
	json_string_put("event", l->event);
	monitor_json_dev_put(l->dev);
	monitor_json_addr_put("src-addr", "src-port", l->src);
	monitor_json_addr_put("dst-addr", "dst-port", l->dst);
	monitor_json_text_put("gid", l->gid);
	monitor_json_text_put("group", l->group);
	monitor_json_text_put("reason", l->reason);
	if (l->pid)
		json_number_put("pid", "%d", l->pid);
	if (*l->comm)
		json_string_put("comm", l->comm);
	monitor_json_text_put("trace-id", l->trace_id);
	json_close('}');
	json_end();
}

static long long monitor_clock_us(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/*
 * The stamp before @end, as microseconds since 1970. It is read backwards, as the name of the
 * process, which is in the same line, may contain anything.
 */
static long long monitor_parse_time(const char *line, const char *end)
{
	const char *stamp = end;
	long long sec, usec;

	while (stamp > line && strchr("0123456789.", stamp[-1]))
		stamp--;
	if (sscanf(stamp, "%lld.%lld", &sec, &usec) != 2)
		return monitor_clock_us(CLOCK_REALTIME);
	return sec * 1000000 + usec + monitor_clock_us(CLOCK_REALTIME) -
	       monitor_clock_us(CLOCK_MONOTONIC);
}

/* "CPU:0 [LOST 1 EVENTS]". Any other line ends with a value. */
static bool monitor_line_is_loss(const char *line)
{
	const char *lost = strstr(line, "[LOST ");

	return !strncmp(line, "CPU:", strlen("CPU:")) && lost && lost[strlen(lost) - 1] == ']';
}

/*
 * Finds the text that the tracepoint has printed. A process can have a name that looks like the
 * start of this text. A name is too short to contain all that must follow, so it is not taken for it.
 */
static const char *monitor_find_text(const struct monitor_source *source, const char *mark,
				     const char *line, struct monitor_line *l)
{
	while ((line = strstr(line, mark))) {
		line += strlen(mark);
		*l = (struct monitor_line){};
		if (source->parse(l, line))
			return line;
	}
	return NULL;
}

static void monitor_handle_line(const char *line, bool json)
{
	struct monitor_line l;
	const char *text;
	char mark[32];
	size_t i;

	if (monitor_line_is_loss(line)) {
		fprintf(stderr, "cmx: events were lost: %s\n", strstr(line, "[LOST "));
		return;
	}
	for (i = 0; i < ARRAY_SIZE(monitor_sources); i++) {
		snprintf(mark, sizeof(mark), ": %s: ", monitor_sources[i].event);
		text = monitor_find_text(&monitor_sources[i], mark, line, &l);
		if (text) {
			l.time = monitor_parse_time(line, text - strlen(mark));
			if (json)
				monitor_print_json(&l);
			else
				monitor_print_text(&l);
			return;
		}
	}
}

/* Handles the whole lines in @buf, and returns the length of the rest. */
static size_t monitor_handle_lines(char *buf, size_t len, bool json)
{
	char *line = buf, *end;

	while ((end = memchr(line, '\n', len))) {
		*end++ = 0;
		monitor_handle_line(line, json);
		len -= end - line;
		line = end;
	}
	memmove(buf, line, len);
	return len < LINE_SIZE ? len : 0;
}

/*
 * The signals are blocked except in ppoll(), so that none is missed. The events of the instance go
 * with the module, and are not enabled when it is loaded again. main() reports an error of stdout.
 */
static int monitor_read(const char *events, int fd, bool json)
{
	struct pollfd pfd[] = { { .fd = fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };
	struct timespec wait = { .tv_nsec = 200000000 };
	char buf[LINE_SIZE + 1];
	size_t len = 0;
	sigset_t none;
	ssize_t got;
	int ready;

	sigemptyset(&none);
	while (!monitor_stop && !ferror(stdout)) {
		got = read(fd, buf + len, LINE_SIZE - len);
		if (got > 0) {
			len = monitor_handle_lines(buf, len + got, json);
			fflush(stdout);
			continue;
		}
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return 1;
		ready = ppoll(pfd, ARRAY_SIZE(pfd), &wait, &none);
		/* the reader of the pipe has ended */
		if (ready > 0 && pfd[1].revents & POLLERR)
			return 0;
		if (!ready && access(events, F_OK)) {
			errno = ENODEV;
			return 1;
		}
	}
	return 0;
}

static int monitor_enable(const char *dir)
{
	char name[64];
	size_t i;

	if (tool_file_write_line(dir, "trace_clock", "mono") ||
	    tool_file_write_line(dir, FIRST_EVENT "/filter", EVENT_FILTER))
		return -1;
	for (i = 0; i < ARRAY_SIZE(monitor_sources); i++) {
		snprintf(name, sizeof(name), "events/rdma_cmx/%s/enable", monitor_sources[i].event);
		if (tool_file_write_line(dir, name, "1"))
			return -1;
	}
	return 0;
}

static int monitor_instance_run(const char *dir, bool json)
{
	char path[256];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/trace_pipe", dir);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 1;
	snprintf(path, sizeof(path), "%s/" FIRST_EVENT, dir);
	ret = monitor_enable(dir) ? 1 : monitor_read(path, fd, json);
	close(fd);
	return ret;
}

static void monitor_catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = monitor_handle_signal };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaddset(&set, signals[i]);
		sigaction(signals[i], &act, NULL);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* A reader that ends must not leave the instance behind. */
	signal(SIGPIPE, SIG_IGN);
}

int monitor_run(int argc, char **argv)
{
	struct tool_options options = {};
	char dir[64];
	int ret;

	if (tool_options_parse(&argc, &argv, "j", &options))
		return 2;
	if (argc)
		return tool_fail_usage(*argv, "unexpected");
	snprintf(dir, sizeof(dir), INSTANCES "cmx-%d", (int)getpid());
	monitor_catch_signals();
	if (mkdir(dir, 0700))
		return tool_fail(dir);
	ret = monitor_instance_run(dir, options.json);
	if (ret)
		tool_module_fail("monitor");
	rmdir(dir);
	return ret;
}
