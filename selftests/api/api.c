// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * api [-l] [-x] [PATTERN...]: tests of features that only rdma_cmx has. For the arguments see
 * ../lib/tap.h. -x adds the cases for iWARP devices, which need the addresses of the suite iwarp.
 */
#include <arpa/inet.h>
#include <glob.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include "../lib/address.h"
#include "../lib/slow.h"
#include "api.h"

#define CASE_SECONDS 30

struct rdma_conn_param plain = {
	.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
	.rnr_retry_count = 7,
};

void need_rig(void)
{
	if (getenv("CMX_DEV"))
		tap_case_skip("needs the interface of the suite");
}

struct rdma_cm_id *new_id(struct rdma_event_channel **ch, enum rdma_port_space ps)
{
	*ch = channel_create();
	return id_create(*ch, "id", ps);
}

struct rdma_cm_id *new_bound_id(struct rdma_event_channel **ch, enum rdma_port_space ps,
				const char *addr)
{
	struct rdma_cm_id *id = new_id(ch, ps);

	id_bind(id, addr, 0);
	return id;
}

void qp_make(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	attr.send_cq = ibv_create_cq(id->verbs, 1, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	WANT(attr.send_cq && !rdma_create_qp(id, NULL, &attr));
}

int file_write(const char *path, const char *format, ...)
{
	FILE *f = fopen(path, "w");
	va_list args;
	int ret;

	if (!f)
		return -1;
	va_start(args, format);
	ret = vfprintf(f, format, args) < 0 ? -1 : 0;
	va_end(args);
	return fclose(f) ? -1 : ret;
}

long port_stat_get(struct rdma_cm_id *id, const char *name)
{
	char path[256];
	long count;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/cmx%u/%s",
		 ibv_get_device_name(id->verbs->device), id->port_num, name);
	f = fopen(path, "r");
	WANT(f && fscanf(f, "%ld", &count) == 1);
	fclose(f);
	return count;
}

int module_sum_get(const char *name)
{
	FILE *f = fopen("/sys/kernel/debug/rdma_cmx/stats", "r");
	char found[64];
	int n;

	WANT(f);
	do {
		WANT(fscanf(f, "%63s %d", found, &n) == 2);
	} while (strcmp(found, name));
	fclose(f);
	return n;
}

int gauge_sum_get(const char *name)
{
	char pattern[128];
	int n, sum = 0;
	glob_t found;
	size_t i;
	FILE *f;

	snprintf(pattern, sizeof(pattern), "/sys/class/infiniband/*/cmx*/now_%s", name);
	WANT(!glob(pattern, 0, NULL, &found));
	for (i = 0; i < found.gl_pathc; i++) {
		f = fopen(found.gl_pathv[i], "r");
		WANT(f && fscanf(f, "%d", &n) == 1);
		fclose(f);
		sum += n;
	}
	globfree(&found);
	return sum;
}

void closing_wait(int tenths)
{
	int i;

	for (i = 0; i < slow_time(tenths) && gauge_sum_get("closing"); i++)
		usleep(100000);
	WANT(!gauge_sum_get("closing"));
}

struct cmx_ece_info ece_query(struct rdma_cm_id *id)
{
	struct cmx_ece_info info;

	WANT(!rdma_cmx_query_ece(id, &info, sizeof(info)));
	return info;
}

int set_u32(struct rdma_cm_id *id, int level, int name, uint32_t val)
{
	return rdma_set_option(id, level, name, &val, sizeof(val));
}

uint32_t get_u32(struct rdma_cm_id *id, int level, int name, uint32_t *flags)
{
	uint32_t val = 0;
	size_t len = sizeof(val);

	WANT(!rdma_cmx_get_option(id, level, name, &val, &len, flags));
	return val;
}

static int api_test_run(const struct test *test)
{
	plain.qp_num = (getpid() * 64) & 0xffffff;
	test->run();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct test *const groups[] = {
		addr_tests, option_tests, option_row_tests, ece_tests, ece_qp_tests, mcast_tests, qp_tests,
		route_tests, end_tests, device_tests, thread_tests, watch_tests, cancel_tests,
		port_tests, channel_tests, fork_tests, limit_tests, memory_tests,
		event_info_tests, addrinfo_tests, vrf_tests, gauge_tests, iwarp_tests,
		delay_tests,
	};
	static const struct test_program program = {
		.groups = groups,
		.num_groups = sizeof(groups) / sizeof(*groups),
		.num_extra = 2,
		.seconds = CASE_SECONDS,
		.run = api_test_run,
	};

	return tap_program_run(&program, argc, argv);
}
