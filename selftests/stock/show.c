// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include "util.h"
#include <arpa/inet.h>
#include <endian.h>
#include <net/if.h>
#include <fcntl.h>
#include <poll.h>
#include <infiniband/ib.h>

const char *event_name(int event)
{
	static const char *const names[] = {
		[RDMA_CM_EVENT_ADDR_RESOLVED] = "ADDR_RESOLVED",
		[RDMA_CM_EVENT_ADDR_ERROR] = "ADDR_ERROR",
		[RDMA_CM_EVENT_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[RDMA_CM_EVENT_ROUTE_ERROR] = "ROUTE_ERROR",
		[RDMA_CM_EVENT_CONNECT_REQUEST] = "CONNECT_REQUEST",
		[RDMA_CM_EVENT_CONNECT_RESPONSE] = "CONNECT_RESPONSE",
		[RDMA_CM_EVENT_CONNECT_ERROR] = "CONNECT_ERROR",
		[RDMA_CM_EVENT_UNREACHABLE] = "UNREACHABLE",
		[RDMA_CM_EVENT_REJECTED] = "REJECTED",
		[RDMA_CM_EVENT_ESTABLISHED] = "ESTABLISHED",
		[RDMA_CM_EVENT_DISCONNECTED] = "DISCONNECTED",
		[RDMA_CM_EVENT_DEVICE_REMOVAL] = "DEVICE_REMOVAL",
		[RDMA_CM_EVENT_MULTICAST_JOIN] = "MULTICAST_JOIN",
		[RDMA_CM_EVENT_MULTICAST_ERROR] = "MULTICAST_ERROR",
		[RDMA_CM_EVENT_ADDR_CHANGE] = "ADDR_CHANGE",
		[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "TIMEWAIT_EXIT",
	};

	if (event < 0 || event >= (int)ARRAY_SIZE(names))
		return "UNKNOWN";
	return names[event];
}

static int is_ephemeral(int port)
{
	return port >= 32768;
}

static const char *port_str(int port)
{
	static char text[4][8];
	static unsigned int turn;
	char *s = text[turn++ % ARRAY_SIZE(text)];

	if (is_ephemeral(port))
		return "eph";
	snprintf(s, sizeof(text[0]), "%d", port_shown(port));
	return s;
}

static const char *gid_str(const union ibv_gid *gid)
{
	static char text[4][INET6_ADDRSTRLEN];
	static unsigned int turn;
	char *s = text[turn++ % ARRAY_SIZE(text)];

	inet_ntop(AF_INET6, gid->raw, s, sizeof(text[0]));
	return s;
}

static const char *addr_str(const struct sockaddr *sa)
{
	static char text[4][128];
	static unsigned int turn;
	char *s = text[turn++ % ARRAY_SIZE(text)];
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_ib *sib = (const void *)sa;
	char name[IF_NAMESIZE] = "", host[INET6_ADDRSTRLEN];

	switch (sa->sa_family) {
	case 0:
		return "-";
	case AF_INET:
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(s, sizeof(text[0]), "%s:%s", host, port_str(ntohs(in->sin_port)));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		if (in6->sin6_scope_id)
			if_indextoname(in6->sin6_scope_id, name);
		snprintf(s, sizeof(text[0]), "[%s%s%s]:%s", host, *name ? "%" : "", name,
			 port_str(ntohs(in6->sin6_port)));
		break;
	case AF_IB:
		inet_ntop(AF_INET6, &sib->sib_addr, host, sizeof(host));
		snprintf(s, sizeof(text[0]), "ib[%s] pkey=%#x sid=%#llx:%s", host,
			 ntohs(sib->sib_pkey),
			 (unsigned long long)be64toh(sib->sib_sid) >> 16,
			 port_str(be64toh(sib->sib_sid) & 0xffff));
		break;
	default:
		snprintf(s, sizeof(text[0]), "family %d", sa->sa_family);
	}
	return s;
}

/* The flow label of RoCE v2 is a hash of both ports, beginning with that of the active side. */
static uint32_t flow_hash(int from, int to)
{
	return (from * 31 + to) & 0xfffff;
}

static const char *flow_str(struct rdma_cm_id *id, uint32_t label)
{
	int src = ntohs(rdma_get_src_port(id)), dst = ntohs(rdma_get_dst_port(id));
	static char text[32];
	const char *what = "other";

	/* librdmacm adds four bits of the MAC address, which only the device of the suite fixes */
	if (getenv("CMX_DEV"))
		label &= 0xfffff;
	if ((label & 0xfffff) == flow_hash(src, dst))
		what = "ours";
	else if ((label & 0xfffff) == flow_hash(dst, src))
		what = "peer's";
	else if (!label)
		what = "0";
	snprintf(text, sizeof(text), "%s+%#x", what, label >> 20);
	return label >> 20 ? text : what;
}

void show_id(struct rdma_cm_id *id)
{
	struct rdma_addr *addr = &id->route.addr;

	tap_note_print("%s: dev=%s port=%d ps=%#x qpt=%d qp=%s src=%s dst=%s", id_name(id),
		       id->verbs ? ibv_get_device_name(id->verbs->device) : "-", id->port_num, id->ps,
		       id->qp_type, id->qp ? qpn_name(id->qp->qp_num) : "-", addr_str(&addr->src_addr),
		       addr_str(&addr->dst_addr));
	tap_note_print("%s: sgid=%s dgid=%s pkey=%#x paths=%d", id_name(id),
		       gid_str(&addr->addr.ibaddr.sgid), gid_str(&addr->addr.ibaddr.dgid),
		       ntohs(addr->addr.ibaddr.pkey), id->route.num_paths);
	show_path(id);
}

/* The default depends on the kernel: 18 in 6.1, 16 in 6.12. */
static const char *life_str(int life)
{
	static char text[8];

	if (life == 16 || life == 18)
		return "default";
	snprintf(text, sizeof(text), "%d", life);
	return text;
}

/* Twice the packet lifetime of the path. */
static const char *timeout_str(int timeout)
{
	static char text[8];

	if (timeout == 17 || timeout == 19)
		return "default";
	snprintf(text, sizeof(text), "%d", timeout);
	return text;
}

void show_path(struct rdma_cm_id *id)
{
	int i;

	for (i = 0; i < id->route.num_paths; i++) {
		struct ibv_sa_path_rec *p = &id->route.path_rec[i];

		tap_note_print("%s: path dgid=%s sgid=%s raw=%d flow=%s hop=%d tclass=%#x",
			       id_name(id), gid_str(&p->dgid), gid_str(&p->sgid), p->raw_traffic,
			       flow_str(id, ntohl(p->flow_label)), p->hop_limit, p->traffic_class);
		tap_note_print("%s: path rev=%d numb=%d pkey=%#x sl=%d mtu=%d/%d rate=%d/%d life=%d/%s",
			       id_name(id), p->reversible, p->numb_path, ntohs(p->pkey), p->sl,
			       p->mtu_selector, p->mtu, p->rate_selector, p->rate,
			       p->packet_life_time_selector, life_str(p->packet_life_time));
	}
}

void show_ports(struct rdma_cm_id *id)
{
	tap_note_print("%s: src_port=%s dst_port=%s", id_name(id),
		       port_str(ntohs(rdma_get_src_port(id))), port_str(ntohs(rdma_get_dst_port(id))));
}

/* The SA may choose the last 80 bits of an MGID, and chooses others each time. */
static const char *dgid_str(const union ibv_gid *gid)
{
	union ibv_gid shown = *gid;

	if (gid->raw[0] == 0xff && gid->raw[2] == 0xa0 && gid->raw[3] == 0x1b)
		memset(shown.raw + 6, 0, sizeof(shown.raw) - 6);
	return gid_str(&shown);
}

/* The SA chooses the LID of a group. */
static const char *lid_str(int lid)
{
	static char text[8];

	snprintf(text, sizeof(text), "%#x", lid);
	return lid >= 0xc000 && lid != 0xffff ? "group's" : text;
}

static void show_ah(const struct ibv_ah_attr *ah)
{
	tap_note_print("  ah dgid=%s flow=%s sgid_index=%d hop=%d tclass=%#x", dgid_str(&ah->grh.dgid),
		       ah->grh.flow_label ? "set" : "0", ah->grh.sgid_index, ah->grh.hop_limit,
		       ah->grh.traffic_class);
	tap_note_print("  ah dlid=%s sl=%d bits=%d rate=%d global=%d port=%d", lid_str(ah->dlid),
		       ah->sl, ah->src_path_bits, ah->static_rate, ah->is_global, ah->port_num);
}

/* Sequence numbers are random. */
static const char *psn_str(uint32_t psn)
{
	return psn ? "set" : "0";
}

void show_attr(const struct ibv_qp_attr *attr, int mask)
{
	char text[512] = "";
	size_t len = 0;

#define ADD(bit, ...) do {									\
	if (mask & (bit))									\
		len += snprintf(text + len, sizeof(text) - len, " " __VA_ARGS__);		\
} while (0)
	ADD(IBV_QP_STATE, "state=%d", attr->qp_state);
	ADD(IBV_QP_PKEY_INDEX, "pkey_index=%d", attr->pkey_index);
	ADD(IBV_QP_PORT, "port=%d", attr->port_num);
	ADD(IBV_QP_ACCESS_FLAGS, "access=%#x", attr->qp_access_flags);
	ADD(IBV_QP_QKEY, "qkey=%#x", attr->qkey);
	ADD(IBV_QP_PATH_MTU, "mtu=%d", attr->path_mtu);
	ADD(IBV_QP_TIMEOUT, "timeout=%s", timeout_str(attr->timeout));
	ADD(IBV_QP_RETRY_CNT, "retry=%d", attr->retry_cnt);
	ADD(IBV_QP_RNR_RETRY, "rnr_retry=%d", attr->rnr_retry);
	ADD(IBV_QP_MIN_RNR_TIMER, "min_rnr=%d", attr->min_rnr_timer);
	ADD(IBV_QP_MAX_QP_RD_ATOMIC, "rd=%d", attr->max_rd_atomic);
	ADD(IBV_QP_MAX_DEST_RD_ATOMIC, "dest_rd=%d", attr->max_dest_rd_atomic);
	ADD(IBV_QP_RQ_PSN, "rq_psn=%s", psn_str(attr->rq_psn));
	ADD(IBV_QP_SQ_PSN, "sq_psn=%s", psn_str(attr->sq_psn));
	ADD(IBV_QP_DEST_QPN, "dest=%s", qpn_name(attr->dest_qp_num));
	ADD(IBV_QP_ALT_PATH, "alt_port=%d", attr->alt_port_num);
#undef ADD
	tap_note_print("  attr mask=%#x%s", mask, text);
	if (mask & IBV_QP_AV)
		show_ah(&attr->ah_attr);
}

void show_qp(struct ibv_qp *qp)
{
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int ret;

	if (!qp) {
		tap_note_print("no qp");
		return;
	}
	memset(&attr, 0, sizeof(attr));
	ret = ibv_query_qp(qp, &attr, mask, &init);
	if (ret) {
		call_report(ret, 0, "query_qp");
		return;
	}
	if (qp->qp_type == IBV_QPT_UD) {
		mask |= IBV_QP_QKEY;
	} else {
		mask |= IBV_QP_ACCESS_FLAGS;
		if (attr.qp_state == IBV_QPS_RTR || attr.qp_state == IBV_QPS_RTS)
			mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		if (attr.qp_state == IBV_QPS_RTS)
			mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
	}
	tap_note_print("qp %s:", qpn_name(qp->qp_num));
	show_attr(&attr, mask);
}

static int is_zero(const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len && !*p++)
		len--;
	return !len;
}

/* Prints the length, the start of the zero padding, a checksum and the first bytes. */
static void show_data(const void *data, int len)
{
	const unsigned char *p = data;
	unsigned int sum = 0;
	char text[20] = "";
	int i, end = 0;

	for (i = 0; p && i < len; i++) {
		sum = sum * 31 + p[i];
		if (p[i])
			end = i + 1;
		if (i < 8)
			snprintf(text + 2 * i, 3, "%02x", p[i]);
	}
	tap_note_print("  data len=%d%s used=%d sum=%#x %s", len, p ? "" : " null", end, sum, text);
}

static int is_ud(const struct rdma_cm_event *ev)
{
	return ev->id && ev->id->qp_type == IBV_QPT_UD;
}

void show_event(const struct rdma_cm_event *ev)
{
	tap_note_print("event %s %s status=%d%s%s", id_name(ev->id), event_name(ev->event), ev->status,
		       ev->listen_id ? " listen=" : "", ev->listen_id ? id_name(ev->listen_id) : "");
	if (ev->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
	    ev->event == RDMA_CM_EVENT_MULTICAST_ERROR) {
		tap_note_print("  ud context=%s qpn=%#x qkey=%#x",
			       (const char *)ev->param.ud.private_data, ev->param.ud.qp_num,
			       ev->param.ud.qkey);
		show_ah(&ev->param.ud.ah_attr);
	} else if (is_zero(&ev->param, sizeof(ev->param))) {
		return;
	} else if (is_ud(ev)) {
		tap_note_print("  ud qpn=%s qkey=%#x", qpn_name(ev->param.ud.qp_num),
			       ev->param.ud.qkey);
		show_ah(&ev->param.ud.ah_attr);
		show_data(ev->param.ud.private_data, ev->param.ud.private_data_len);
	} else {
		const struct rdma_conn_param *c = &ev->param.conn;

		tap_note_print("  conn rr=%d depth=%d flow=%d retry=%d rnr=%d srq=%d qpn=%s",
			       c->responder_resources, c->initiator_depth, c->flow_control,
			       c->retry_count, c->rnr_retry_count, c->srq, qpn_name(c->qp_num));
		show_data(c->private_data, c->private_data_len);
	}
}

void show_init_attr(struct rdma_cm_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask = 0;

	if (!CALL(rdma_init_qp_attr(id, &attr, &mask), "init_qp_attr %s state=%d", id_name(id),
		  state))
		show_attr(&attr, mask);
}

int channel_poll(struct rdma_event_channel *ch, int ms)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

struct rdma_cm_event *event_fetch(struct rdma_event_channel *ch, int ms)
{
	struct rdma_cm_event *event = event_next(ch, ms);

	if (!event && errno == EAGAIN)
		tap_note_print("event: timeout");
	return event;
}

void event_report(const struct rdma_cm_event *event, bool expected)
{
	if (!quiet || event->status || !expected)
		show_event(event);
}

int event_trace(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *event = event_fetch(ch, 5000);
	int type;

	if (!event)
		return -1;
	type = event->event;
	event_report(event, true);
	rdma_ack_cm_event(event);
	return type;
}

void event_expect_none(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *event = event_next(ch, 300);

	if (!event) {
		tap_note_print("no event");
		return;
	}
	tap_note_print("an event:");
	show_event(event);
	rdma_ack_cm_event(event);
}
