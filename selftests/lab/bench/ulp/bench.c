// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Measures the connections of a kernel ULP, with the calls of <rdma/rdma_cm.h>. It is compiled
 * without a change for the in-tree stack, and with other names (<rdma/cmx_names.h>) for
 * ours. The module contains both ends. There are no QPs, so that only the CM is measured. Loading
 * the module measures, and writes lines "MODULE: KEY VALUE" to the kernel log.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <rdma/rdma_cm.h>

static char *address = "10.77.0.1";
module_param(address, charp, 0444);
MODULE_PARM_DESC(address, "IPv4 address of an RDMA device");

static int connections = 1280;
module_param(connections, int, 0444);
MODULE_PARM_DESC(connections, "how many to make for a rate");

static int held = 10000;
module_param(held, int, 0444);
MODULE_PARM_DESC(held, "how many to hold");

#define LIMIT (180 * HZ)
#define TIMEOUT_MS 10000

static struct sockaddr_storage addr;
static atomic_t to_start;
static atomic_t to_finish;
static atomic_t at_server;	/* number of ids of requests */
static atomic_t qpn;
static bool hold;		/* connections stay established */
static struct rdma_cm_id **ids;	/* ids of these connections */
static atomic_t held_ids;
static int failure;
static DECLARE_COMPLETION(finished);

static int conn_start(void);

static int bench_fail(int err)
{
	if (!err)
		return 0;
	WRITE_ONCE(failure, err);
	complete(&finished);
	return 0;
}

static struct rdma_conn_param param_init(void)
{
	return (struct rdma_conn_param) {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = atomic_inc_return(&qpn) & 0xffffff,
	};
}

static int server_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct rdma_conn_param param = param_init();

	switch (ev->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (rdma_accept(id, &param))
			return 1;
		atomic_inc(&at_server);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		rdma_disconnect(id);
		atomic_dec(&at_server);
		return 1;
	}
}

static void conn_complete(void)
{
	if (atomic_dec_and_test(&to_finish))
		complete(&finished);
	bench_fail(conn_start());
}

static int conn_handle_established(struct rdma_cm_id *id)
{
	int ret = rdma_accept(id, NULL);

	if (ret || !hold)
		return ret ?: rdma_disconnect(id);
	ids[atomic_inc_return(&held_ids) - 1] = id;
	conn_complete();
	return 0;
}

static int client_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct rdma_conn_param param = param_init();

	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return bench_fail(rdma_resolve_route(id, TIMEOUT_MS));
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return bench_fail(rdma_connect_locked(id, &param));
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return bench_fail(conn_handle_established(id));
	case RDMA_CM_EVENT_DISCONNECTED:
		if (hold)
			return 0;
		conn_complete();
		return 1;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		pr_err("event %d, %d\n", ev->event, ev->status);
		return bench_fail(-EPROTO);
	}
}

static int conn_start(void)
{
	struct rdma_cm_id *id;

	if (atomic_dec_return(&to_start) < 0)
		return 0;
	id = rdma_create_id(&init_net, client_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	return rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, TIMEOUT_MS);
}

static int conns_make(int count, int window, u64 *ns)
{
	ktime_t start;
	int i, ret;

	reinit_completion(&finished);
	atomic_set(&to_start, count);
	atomic_set(&to_finish, count);
	start = ktime_get();
	for (i = 0; i < window; i++) {
		ret = conn_start();
		if (ret)
			return ret;
	}
	if (!wait_for_completion_timeout(&finished, LIMIT))
		return -ETIMEDOUT;
	*ns = ktime_to_ns(ktime_sub(ktime_get(), start));
	return failure;
}

static void server_is_empty(void)
{
	unsigned long end = jiffies + LIMIT;

	while (atomic_read(&at_server) > 0 && time_before(jiffies, end))
		usleep_range(500, 1000);
}

static int rate_measure(int window)
{
	u64 ns;
	int ret;

	ret = conns_make(connections, window, &ns);
	server_is_empty();
	if (ret)
		return ret;
	ns = div_u64(ns, connections);
	pr_info("ulp%d_us %llu.%02llu\n", window, ns / 1000, ns % 1000 / 10);
	return 0;
}

static int many_measure(void)
{
	long before = si_mem_available(), after;
	ktime_t start;
	int i, ret;
	u64 ns;

	hold = true;
	ret = conns_make(held, 64, &ns);
	if (!ret) {
		after = si_mem_available();
		pr_info("ulp_setup_per_s %llu\n",
			div64_u64((u64)held * NSEC_PER_SEC, ns));
		pr_info("ulp_memory_bytes %ld\n",
			(before - after) * (long)PAGE_SIZE / (2 * held));
	}
	start = ktime_get();
	for (i = 0; i < atomic_read(&held_ids); i++)
		rdma_destroy_id(ids[i]);
	pr_info("ulp_destroy_ms %lld\n", ktime_ms_delta(ktime_get(), start));
	server_is_empty();
	pr_info("ulp_teardown_ms %lld\n", ktime_ms_delta(ktime_get(), start));
	return ret;
}

static int __init bench_init(void)
{
	struct rdma_cm_id *listener;
	int ret;

	ids = vzalloc(array_size(held, sizeof(*ids)));
	if (!ids)
		return -ENOMEM;
	/* the CM refuses numbers of connections in TIMEWAIT */
	atomic_set(&qpn, ktime_to_ms(ktime_get()) * 64);
	ret = inet_pton_with_scope(&init_net, AF_INET, address, "7800", &addr);
	if (ret)
		goto free;
	listener = rdma_create_id(&init_net, server_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(listener)) {
		ret = PTR_ERR(listener);
		goto free;
	}
	ret = rdma_bind_addr(listener, (struct sockaddr *)&addr);
	if (!ret)
		ret = rdma_listen(listener, 1024);
	if (!ret)
		ret = rate_measure(1);
	if (!ret)
		ret = rate_measure(64);
	if (!ret && held)
		ret = many_measure();
	rdma_destroy_id(listener);
	/* the last handlers may still be returning */
	msleep(500);
	pr_info("done, %d; %d ids of requests are left\n", ret,
		atomic_read(&at_server));
	if (ret) {
		/* ids of failed clients are not tracked, so the module must stay */
		__module_get(THIS_MODULE);
		return 0;
	}
free:
	vfree(ids);
	return ret;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("The time of a connection of a kernel ULP");
MODULE_LICENSE("Dual BSD/GPL");
