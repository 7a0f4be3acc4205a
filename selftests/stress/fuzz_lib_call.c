// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The calls of the library. Most of their arguments are valid.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../lib/task.h"
#include "fuzz_lib.h"

/* Mostly returns @usual. */
static int int_pick(struct stress_rand *rnd, int usual)
{
	static const int odd[] = { 0, 1, -1, INT_MAX, INT_MIN, 255, 256, 65535, 65536 };

	return stress_rand_percent(rnd, 97) ? usual : odd[stress_rand_below(rnd, ARRAY_SIZE(odd))];
}

static struct sockaddr *addr_pick(struct stress_rand *rnd, struct sockaddr_storage *addr,
				  bool local)
{
	stress_addr_pick(rnd, addr, local);
	if (stress_rand_percent(rnd, 1))
		addr->ss_family = stress_rand_below(rnd, 32);
	return stress_rand_percent(rnd, 1) ? NULL : (struct sockaddr *)addr;
}

static struct sockaddr *group_pick(struct stress_rand *rnd, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (void *)addr;
	struct sockaddr_in *in4 = (void *)addr;

	memset(addr, 0, sizeof(*addr));
	if (stress_rand_percent(rnd, 70)) {
		in4->sin_family = AF_INET;
		in4->sin_addr.s_addr = htonl(0xe0010300 + stress_rand_below(rnd, 3));
	} else {
		in6->sin6_family = AF_INET6;
		inet_pton(AF_INET6, "ff0e::4711:100", &in6->sin6_addr);
		in6->sin6_addr.s6_addr[15] = stress_rand_below(rnd, 3);
	}
	if (stress_rand_percent(rnd, 1))
		addr->ss_family = stress_rand_below(rnd, 32);
	return stress_rand_percent(rnd, 1) ? NULL : (struct sockaddr *)addr;
}

/* An id with a QP may have no parameters. */
static struct rdma_conn_param *param_pick(struct stress_rand *rnd, const struct rdma_cm_id *id,
					  struct rdma_conn_param *param)
{
	static const char data[UINT8_MAX];

	*param = (struct rdma_conn_param){
		.private_data = data, .private_data_len = stress_rand_below(rnd, 50),
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
		.rnr_retry_count = 7, .qp_num = stress_qpn_next(),
	};
	if (stress_rand_percent(rnd, 3))
		param->private_data_len = stress_rand_u32(rnd);
	if (stress_rand_percent(rnd, 3))
		param->responder_resources = stress_rand_u32(rnd);
	if (stress_rand_percent(rnd, 3))
		param->initiator_depth = stress_rand_u32(rnd);
	return stress_rand_percent(rnd, id->qp ? 30 : 1) ? NULL : param;
}

static struct ibv_qp_init_attr qp_attr_make(struct stress_rand *rnd, enum ibv_qp_type type)
{
	static const uint32_t odd[] = { 2, 17, INT_MAX, UINT32_MAX };
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (stress_rand_percent(rnd, 3))
		attr.qp_type = IBV_QPT_RC + stress_rand_below(rnd, 4);
	if (stress_rand_percent(rnd, 3))
		attr.cap.max_send_wr = odd[stress_rand_below(rnd, ARRAY_SIZE(odd))];
	if (stress_rand_percent(rnd, 3))
		attr.cap.max_recv_sge = odd[stress_rand_below(rnd, ARRAY_SIZE(odd))];
	return attr;
}

static int ep_create(struct stress_rand *rnd, struct slot *slot)
{
	bool passive = stress_rand_percent(rnd, 40), ud = stress_rand_percent(rnd, 20);
	struct rdma_addrinfo info = {
		.ai_flags = passive ? RAI_PASSIVE : 0,
		.ai_port_space = int_pick(rnd, ud ? RDMA_PS_UDP : RDMA_PS_TCP),
		.ai_qp_type = ud ? IBV_QPT_UD : IBV_QPT_RC,
	};
	struct ibv_qp_init_attr attr = qp_attr_make(rnd, info.ai_qp_type);
	struct sockaddr_storage src, dst;
	static char data[UINT8_MAX];

	if (passive || stress_rand_percent(rnd, 15))
		info.ai_src_addr = addr_pick(rnd, &src, true);
	if (!passive)
		info.ai_dst_addr = addr_pick(rnd, &dst, false);
	if (stress_rand_percent(rnd, 20)) {
		info.ai_connect = data;
		info.ai_connect_len = stress_rand_below(rnd, stress_rand_percent(rnd, 90) ? 30 : 256);
	}
	if (stress_rand_percent(rnd, 3)) {
		info.ai_route = data;
		info.ai_route_len = stress_rand_below(rnd, 200);
	}
	return rdma_create_ep(&slot->id, &info, NULL, stress_rand_percent(rnd, 70) ? &attr : NULL);
}

int fuzz_id_create(struct stress_rand *rnd, struct slot *slot, enum call call)
{
	static const enum rdma_port_space spaces[] = {
		RDMA_PS_TCP, RDMA_PS_TCP, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_UDP, RDMA_PS_IPOIB,
		RDMA_PS_IB,
	};
	int ret;

	slot->sync = call != CREATE;
	slot->stage = IDLE;
	if (call == CREATE_EP)
		ret = ep_create(rnd, slot);
	else
		ret = rdma_create_id(slot->sync ? NULL : fuzz_channel_pick(rnd), &slot->id, slot,
				     int_pick(rnd, spaces[stress_rand_below(rnd, ARRAY_SIZE(spaces))]));
	if (ret) {
		slot->id = NULL;
	} else if (call == CREATE_EP) {
		slot->id->context = slot;
		slot->stage = slot->id->route.num_paths ? ROUTE : BOUND;
	}
	return ret;
}

static int qp_create(struct stress_rand *rnd, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = qp_attr_make(rnd, id->qp_type);

	return rdma_create_qp(id, NULL, &attr);
}

static int qp_destroy(struct rdma_cm_id *id)
{
	if (!id->qp)
		return -1;
	rdma_destroy_qp(id);
	return 0;
}

static int srq_create(struct stress_rand *rnd, struct rdma_cm_id *id)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	if (stress_rand_percent(rnd, 5))
		attr.attr.max_wr = UINT32_MAX;
	/* an id has at most one SRQ, and its QP still uses it */
	return id->srq || id->qp ? -1 : rdma_create_srq(id, NULL, &attr);
}

static int srq_destroy(struct rdma_cm_id *id)
{
	if (!id->srq || id->qp)
		return -1;
	rdma_destroy_srq(id);
	return 0;
}

static int id_destroy(struct slot *slot, bool ep)
{
	struct rdma_cm_id *id = slot->id;
	int ret = 0;

	/* the id must not be used any more, even after an error */
	slot->id = NULL;
	if (id->qp)
		qp_destroy(id);
	if (ep) {
		rdma_destroy_ep(id);
	} else {
		if (id->srq)
			rdma_destroy_srq(id);
		ret = rdma_destroy_id(id);
	}
	return ret;
}

static int id_migrate(struct stress_rand *rnd, struct slot *slot)
{
	bool sync = stress_rand_percent(rnd, 10);
	int ret;

	ret = rdma_migrate_id(slot->id, sync ? NULL : fuzz_channel_pick(rnd));
	if (!ret)
		slot->sync = sync;
	return ret;
}

int fuzz_id_change(struct stress_rand *rnd, struct slot *slot, enum call call)
{
	switch (call) {
	case DESTROY:
	case DESTROY_EP:
		return id_destroy(slot, call == DESTROY_EP);
	case MIGRATE:
		return id_migrate(rnd, slot);
	case CREATE_QP:
		return qp_create(rnd, slot->id);
	case DESTROY_QP:
		return qp_destroy(slot->id);
	case CREATE_SRQ:
		return srq_create(rnd, slot->id);
	default:
		return srq_destroy(slot->id);
	}
}

static int option_call(struct stress_rand *rnd, struct rdma_cm_id *id, bool set)
{
	static const uint8_t bounds[] = {
		0, 31, 15, 23, 200, 15, 15, 255, 255, 2, 255, 5, 2, 1, 1, 8,
	};
	uint32_t name = stress_rand_below(rnd, ARRAY_SIZE(bounds)), flags;
	uint32_t value = stress_rand_below(rnd, bounds[name] + 1);
	char path[CMX_OPT_MAX_LEN + 8] = {};
	size_t len = sizeof(value);

	if (!set)
		return rdma_cmx_get_option(id, CMX_OPTION, int_pick(rnd, name), &value, &len, &flags);
	if (stress_rand_percent(rnd, 5)) {
		path[0] = stress_rand_u32(rnd);
		return rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path,
				       stress_rand_below(rnd, sizeof(path)));
	}
	if (stress_rand_percent(rnd, 5))
		len = stress_rand_below(rnd, 4);
	if (stress_rand_percent(rnd, 70))
		return rdma_set_option(id, CMX_OPTION, name, &value, len);
	value &= 1;
	return rdma_set_option(id, RDMA_OPTION_ID, stress_rand_below(rnd, 4), &value, len);
}

static int ece_call(struct stress_rand *rnd, struct rdma_cm_id *id, enum call call)
{
	struct ibv_ece ece = { .vendor_id = 1 + stress_rand_below(rnd, 3), .options = 5 };
	struct cmx_ece_info info;

	if (call == QUERY_ECE)
		return rdma_cmx_query_ece(id, &info, sizeof(info));
	return call == SET_ECE ? rdma_set_local_ece(id, &ece) : rdma_get_remote_ece(id, &ece);
}

static int group_join(struct stress_rand *rnd, struct slot *slot, enum call call)
{
	struct cmx_mcast_attr attr = { .join_state = int_pick(rnd, stress_rand_below(rnd, 4)) };
	struct sockaddr_storage storage;
	struct rdma_cm_join_mc_attr_ex ex = {
		.comp_mask = int_pick(rnd, RDMA_CM_JOIN_MC_ATTR_ADDRESS |
					   RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS),
		.join_flags = int_pick(rnd, stress_rand_below(rnd, 2)),
		.addr = group_pick(rnd, &storage),
	};

	if (call == JOIN)
		return rdma_join_multicast(slot->id, ex.addr, slot);
	if (call == JOIN_EX)
		return rdma_join_multicast_ex(slot->id, &ex, slot);
	return rdma_cmx_join_multicast(slot->id, ex.addr, &attr, sizeof(attr), slot);
}

static int id_connect(struct stress_rand *rnd, struct rdma_cm_id *id, enum call call)
{
	struct rdma_conn_param param, *p = param_pick(rnd, id, &param);

	switch (call) {
	case CONNECT:
		return rdma_connect(id, p);
	case ACCEPT:
		return rdma_accept(id, p);
	case REJECT:
		return rdma_reject(id, param.private_data, param.private_data_len);
	default:
		return rdma_reject_ece(id, param.private_data, param.private_data_len);
	}
}

static int addrinfo_resolve(struct stress_rand *rnd, struct rdma_cm_id *id)
{
	const struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST | (stress_rand_percent(rnd, 90) ? RAI_DNS : RAI_SA),
		.ai_port_space = RDMA_PS_TCP,
	};

	return rdma_resolve_addrinfo(id, stress_rand_percent(rnd, 90) ? "127.0.0.1" : "none", "7",
				     &hints);
}

static int addrinfo_query(struct rdma_cm_id *id)
{
	struct rdma_addrinfo *rai;

	if (rdma_query_addrinfo(id, &rai))
		return -1;
	rdma_freeaddrinfo(rai);
	return 0;
}

int fuzz_id_use(struct stress_rand *rnd, struct slot *slot, enum call call)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT + stress_rand_below(rnd, 3) };
	struct sockaddr_storage src, dst;
	struct rdma_cm_id *id = slot->id;
	int mask;

	switch (call) {
	case BIND:
		return rdma_bind_addr(id, addr_pick(rnd, &src, true));
	case RESOLVE_ADDR:
		return rdma_resolve_addr(id, stress_rand_percent(rnd, 85) ? NULL :
					 addr_pick(rnd, &src, true), addr_pick(rnd, &dst, false),
					 int_pick(rnd, stress_rand_percent(rnd, 80) ? 2000 : 5));
	case RESOLVE_ROUTE:
		return rdma_resolve_route(id, int_pick(rnd, stress_rand_percent(rnd, 80) ? 2000 : 5));
	case LISTEN:
		return rdma_listen(id, int_pick(rnd, stress_rand_below(rnd, 20)));
	case CONNECT:
	case ACCEPT:
	case REJECT:
	case REJECT_ECE:
		return id_connect(rnd, id, call);
	case ESTABLISH:
		return rdma_establish(id);
	case DISCONNECT:
		return rdma_disconnect(id);
	case NOTIFY:
		return rdma_notify(id, int_pick(rnd, IBV_EVENT_COMM_EST));
	case INIT_QP_ATTR:
		return rdma_init_qp_attr(id, &attr, &mask);
	case SET_OPTION:
	case GET_OPTION:
		return option_call(rnd, id, call == SET_OPTION);
	case QUERY_ECE:
	case SET_ECE:
	case GET_ECE:
		return ece_call(rnd, id, call);
	case PORTS:
		return rdma_get_src_port(id) | rdma_get_dst_port(id) ? 0 : -1;
	case LEAVE:
		return rdma_leave_multicast(id, group_pick(rnd, &dst));
	case RESOLVE_AI:
		return addrinfo_resolve(rnd, id);
	case QUERY_AI:
		return addrinfo_query(id);
	case WRITE_EVENT:
		return rdma_write_cm_event(id, int_pick(rnd, CMX_EVENT_USER), 0, 1);
	default:
		return group_join(rnd, slot, call);
	}
}

static int addrinfo_call(struct stress_rand *rnd)
{
	static const char *const nodes[] = {
		"127.0.0.1", "10.77.0.1", "::1", "fe80::1", "", "not an address", NULL,
	};
	static const char *const services[] = { "7000", "0", "99999", "-1", "", NULL };
	struct sockaddr_storage src = { .ss_family = AF_INET };
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST | stress_rand_below(rnd, 16),
		.ai_port_space = int_pick(rnd, RDMA_PS_TCP),
		.ai_qp_type = stress_rand_below(rnd, 12),
		.ai_family = stress_rand_percent(rnd, 20) ? AF_IB : 0,
	}, *info;
	int ret;

	if (stress_rand_percent(rnd, 20)) {
		hints.ai_src_addr = (struct sockaddr *)&src;
		hints.ai_src_len = sizeof(struct sockaddr_in);
	}
	ret = rdma_getaddrinfo(nodes[stress_rand_below(rnd, ARRAY_SIZE(nodes))],
			       services[stress_rand_below(rnd, ARRAY_SIZE(services))],
			       &hints, &info);
	if (!ret)
		rdma_freeaddrinfo(info);
	return ret;
}

static int devices_call(void)
{
	struct ibv_device_attr attr;
	struct ibv_context **list;
	int n, i;

	list = rdma_get_devices(&n);
	if (!list)
		return -1;
	for (i = 0; i < n; i++)
		ibv_query_device(list[i], &attr);
	rdma_free_devices(list);
	return 0;
}

struct waiter {
	struct rdma_event_channel *channel;
	atomic_int tid;
};

static void *waiter_run(void *arg)
{
	struct waiter *waiter = arg;
	struct rdma_cm_event *event;

	waiter->tid = gettid();
	/* this channel never gets an event */
	if (!rdma_get_cm_event(waiter->channel, &event))
		abort();
	return NULL;
}

/* Destroys a channel while a thread waits for an event. The thread waits until it is cancelled. */
static int channel_wait(struct rdma_event_channel *channel)
{
	struct waiter waiter = { .channel = channel };
	pthread_t thread;
	int tries = 40;

	if (pthread_create(&thread, NULL, waiter_run, &waiter)) {
		rdma_destroy_event_channel(channel);
		return -1;
	}
	/* before the waiter is in its ioctl, its file descriptor could be reused */
	while (task_syscall(waiter.tid) != SYS_ioctl && --tries)
		usleep(100);
	if (tries)
		rdma_destroy_event_channel(channel);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	if (!tries)
		rdma_destroy_event_channel(channel);
	return 0;
}

static int channel_call(bool waited)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel)
		return -1;
	if (waited)
		return channel_wait(channel);
	rdma_destroy_event_channel(channel);
	return 0;
}

int fuzz_host_use(struct stress_rand *rnd, enum call call)
{
	if (call == ADDRINFO)
		return addrinfo_call(rnd);
	return call == DEVICES ? devices_call() : channel_call(call == CHANNEL_WAITED);
}
