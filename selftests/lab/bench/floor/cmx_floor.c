// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Measures connections of ib_cm alone: REQ, REP, RTU, DREQ and DREP between two ends in one kernel.
 * The callbacks make the next call, without user space, addresses and events. No CM that uses ib_cm
 * can be faster. Loading the module measures, and writes to the kernel log:
 *
 *	cmx_floor: connectWINDOW_us NNN.NN
 *	cmx_floor: setup_per_s NNN
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>

static char *device = "rxe0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "RDMA device to connect over");

static int connections = 640;
module_param(connections, int, 0444);
MODULE_PARM_DESC(connections, "how many to make");

static int held = 10000;
module_param(held, int, 0444);
MODULE_PARM_DESC(held, "how many to hold");

#define SERVICE_ID cpu_to_be64(0x00000000fade0001ULL)

static struct ib_device *ibdev;
static const struct ib_gid_attr *gid;
static struct sa_path_rec path;
static atomic_t to_start;
static atomic_t to_finish;
/* number of ids of both ends that still exist */
static atomic_t live;
static atomic_t qpn;
static struct ib_cm_id **held_ids;	/* clients that stay connected; NULL: none */
static atomic_t num_held;
static int failure;
static DECLARE_COMPLETION(finished);

static int conn_start(void);

static void floor_fail(int err)
{
	WRITE_ONCE(failure, err);
	complete(&finished);
}

/* Counts an id as gone. Returns the value that makes ib_cm destroy the id after the callback. */
static int id_let_go(void)
{
	atomic_dec(&live);
	return 1;
}

static int server_event(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct ib_cm_rep_param rep = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.rnr_retry_count = 7,
	};

	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		rep.qp_num = atomic_inc_return(&qpn) & 0xffffff;
		atomic_inc(&live);
		return ib_send_cm_rep(id, &rep) ? id_let_go() : 0;
	case IB_CM_RTU_RECEIVED:
		return 0;
	case IB_CM_DREQ_RECEIVED:
		ib_send_cm_drep(id, NULL, 0);
		return id_let_go();
	default:
		floor_fail(-ECONNRESET);
		return id_let_go();
	}
}

/* A connection is established or has ended. */
static void conn_complete(void)
{
	int ret;

	if (atomic_dec_and_test(&to_finish))
		complete(&finished);
	ret = conn_start();
	if (ret)
		floor_fail(ret);
}

static int client_event(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	int ret;

	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		ret = ib_send_cm_rtu(id, NULL, 0);
		if (!ret && !held_ids)
			ret = ib_send_cm_dreq(id, NULL, 0);
		if (ret) {
			floor_fail(ret);
			return id_let_go();
		}
		if (held_ids) {
			held_ids[atomic_inc_return(&num_held) - 1] = id;
			conn_complete();
		}
		return 0;
	case IB_CM_DREP_RECEIVED:
		conn_complete();
		return id_let_go();
	default:
		floor_fail(-ECONNREFUSED);
		return id_let_go();
	}
}

/* Starts the next connection, if any is left. */
static int conn_start(void)
{
	struct ib_cm_req_param req = {
		.primary_path = &path,
		.ppath_sgid_attr = gid,
		.service_id = SERVICE_ID,
		.qp_num = atomic_inc_return(&qpn) & 0xffffff,
		.qp_type = IB_QPT_RC,
		.responder_resources = 1,
		.initiator_depth = 1,
		.remote_cm_response_timeout = 20,
		.local_cm_response_timeout = 20,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.max_cm_retries = 15,
	};
	struct ib_cm_id *id;
	int ret;

	if (atomic_dec_return(&to_start) < 0)
		return 0;
	id = ib_create_cm_id(ibdev, client_event, NULL);
	if (IS_ERR(id))
		return PTR_ERR(id);
	atomic_inc(&live);
	ret = ib_send_cm_req(id, &req);
	if (ret) {
		ib_destroy_cm_id(id);
		atomic_dec(&live);
	}
	return ret;
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
	if (!wait_for_completion_timeout(&finished, 30 * HZ))
		return -ETIMEDOUT;
	*ns = ktime_to_ns(ktime_sub(ktime_get(), start));
	return failure;
}

static int rate_measure(int window)
{
	u64 ns;
	int ret = conns_make(connections, window, &ns);

	if (ret)
		return ret;
	ns = div_u64(ns, connections);
	pr_info("cmx_floor: connect%d_us %llu.%02llu\n", window, ns / 1000, ns % 1000 / 10);
	return 0;
}

static int held_measure(void)
{
	int i, ret;
	u64 ns;

	held_ids = vzalloc(array_size(held, sizeof(*held_ids)));
	if (!held_ids)
		return -ENOMEM;
	ret = conns_make(held, 64, &ns);
	if (!ret)
		pr_info("cmx_floor: setup_per_s %llu\n", div64_u64((u64)held * NSEC_PER_SEC, ns));
	for (i = 0; i < atomic_read(&num_held); i++) {
		ib_destroy_cm_id(held_ids[i]);
		atomic_dec(&live);
	}
	/* after a failure, callbacks may still use the array */
	if (!ret)
		vfree(held_ids);
	return ret;
}

/* Finds the first RoCE v2 GID of port 1 with an IPv4 address, and the path from it to itself. */
static int path_find(void)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < 16 && !gid; i++) {
		attr = rdma_get_gid_attr(ibdev, 1, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    ipv6_addr_v4mapped((struct in6_addr *)&attr->gid))
			gid = attr;
		else
			rdma_put_gid_attr(attr);
	}
	if (!gid)
		return -EADDRNOTAVAIL;

	path.rec_type = SA_PATH_REC_TYPE_ROCE_V2;
	path.sgid = gid->gid;
	path.dgid = gid->gid;
	path.hop_limit = 64;
	path.reversible = 1;
	path.pkey = cpu_to_be16(0xffff);
	path.mtu_selector = IB_SA_EQ;
	path.mtu = IB_MTU_1024;
	path.rate_selector = IB_SA_EQ;
	path.rate = IB_RATE_PORT_CURRENT;
	path.packet_life_time_selector = IB_SA_EQ;
	path.packet_life_time = 16;
	path.roce.route_resolved = true;
	rcu_read_lock();
	if (gid->ndev)
		ether_addr_copy(path.roce.dmac, READ_ONCE(gid->ndev)->dev_addr);
	rcu_read_unlock();
	return 0;
}

static int __init cmx_floor_init(void)
{
	struct ib_cm_id *listener;
	int i, ret;

	ibdev = ib_device_get_by_name(device, RDMA_DRIVER_UNKNOWN);
	if (!ibdev)
		return -ENODEV;
	/* ib_cm refuses numbers of connections in TIMEWAIT */
	atomic_set(&qpn, (ktime_to_ms(ktime_get()) * 16) & 0xffffff);
	ret = path_find();
	if (ret)
		goto put_device;
	listener = ib_cm_insert_listen(ibdev, server_event, SERVICE_ID);
	if (IS_ERR(listener)) {
		ret = PTR_ERR(listener);
		goto put_gid;
	}
	ret = rate_measure(1);
	if (!ret)
		ret = rate_measure(32);
	if (!ret)
		ret = rate_measure(64);
	if (!ret)
		ret = held_measure();
	ib_destroy_cm_id(listener);

	/* all ids must be gone before the module is unloaded */
	for (i = 0; i < 300 && atomic_read(&live); i++)
		msleep(100);
	if (atomic_read(&live)) {
		pr_err("cmx_floor: ids are left over: staying\n");
		__module_get(THIS_MODULE);
		ret = 0;
	}
	/* the last callbacks may still be returning */
	msleep(100);
put_gid:
	rdma_put_gid_attr(gid);
put_device:
	ib_device_put(ibdev);
	return ret;
}

static void __exit cmx_floor_exit(void)
{
}

module_init(cmx_floor_init);
module_exit(cmx_floor_exit);
MODULE_DESCRIPTION("The time of a connection through ib_cm alone");
MODULE_LICENSE("Dual BSD/GPL");
