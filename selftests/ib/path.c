// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * path: addresses, paths and connections on InfiniBand. It uses only the public API, so that it
 * runs on either stack.
 *
 *	path serve ADDR PORT		listen, accept one connection
 *	path connect ADDR PORT [SRC]	to such a listener
 *	path given ADDR PORT [N]	the same, with IB_PATH instead of resolving the route; N is
 *					added to the LIDs of the SA
 *	path routes ADDR PORT N MS [RETRIES]
 *					N ids resolve the route, one after the other
 *	path giveup ADDR PORT N S	N ids resolve their routes at once, and every second one is
 *					destroyed when its reply is due; repeated for S seconds
 *	path bind ADDR PORT PS		prints the result of a bind (PS: tcp udp ib ipoib)
 *	path closing PREFIX PORT N	connects one QP number to PREFIX1 to PREFIXN, which are of this host,
 *					and ends these connections; prints how long a connection to PREFIX1
 *					then waits, after the last but one and after the last
 *
 * ADDR is an IP address, ib:GID or ib:GID/PKEY. The first two bytes of the private data of AF_IB
 * requests are zero, because other requests have the version of the CMA header there.
 *
 * Options come first:
 *	-mN	"routes" requests the MTU N (enum ibv_mtu)
 *	-a	the private data of "connect" looks like a CMA header
 *	-e, -u	"serve" and "connect" use QP numbers without QPs; -e negotiates ECE, -u is for
 *		datagrams. With both, "serve" answers with ECE that was not offered
 *	-t	"connect" withdraws its request at once
 *	-d	"connect" sends data that fails
 *	-g	"given" uses a record with another GID than that of the peer
 *	-q	the kernel soon stops repeating unanswered messages
 *	-s	"connect" keeps its id until then
 *	-x	"connect" ends without rdma_disconnect(); "serve" disconnects and ends before the RTU
 *	-w	"connect" waits until the peer disconnects
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <rdma/rdma_cmx.h>
#include "../lib/address.h"
#include "../lib/die.h"
#include "../lib/now.h"
#include "../lib/pair.h"

#define GIVE_UP_MAX 64

static const char hello[] = "\0\0hello from here";
static const char like_header[] = "\0\100hello from here";
static const char welcome[] = "welcome";
static int with_ece, with_ud, with_like_header, with_mtu, with_data, with_wrong_gid;
static int take_back, quick, stay, leave, wait_for_peer;
static struct ibv_ece offer = { .vendor_id = 0x15b3, .options = 0x30000001 };
static struct ibv_ece answer = { .vendor_id = 0x15b3, .options = 0x30000000 };

static struct sockaddr *addr_parse(const char *text, int port, enum rdma_port_space ps)
{
	struct sockaddr_storage *ss = calloc(1, sizeof(*ss));
	struct sockaddr_ib *sib = (void *)ss;
	char gid[64] = "", *pkey;

	if (!strncmp(text, "ib:", 3)) {
		strncpy(gid, text + 3, sizeof(gid) - 1);
		pkey = strchr(gid, '/');
		if (pkey)
			*pkey++ = 0;
		sib->sib_family = AF_IB;
		sib->sib_pkey = htons(pkey ? strtol(pkey, NULL, 0) : 0xffff);
		inet_pton(AF_INET6, gid, &sib->sib_addr);
		sib->sib_sid = htobe64(((uint64_t)ps << 16) + port);
		sib->sib_sid_mask = htobe64(port ? ~0ULL : ~0xffffULL);
	} else {
		*ss = address_parse(text, port);
	}
	return (struct sockaddr *)ss;
}

static const char *addr_text(struct sockaddr *addr)
{
	static char text[2][128];
	static int i;
	char host[64] = "?";

	i = !i;
	switch (addr->sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &((struct sockaddr_in *)addr)->sin_addr, host, sizeof(host));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)addr)->sin6_addr, host, sizeof(host));
		break;
	case AF_IB:
		inet_ntop(AF_INET6, &((struct sockaddr_ib *)addr)->sib_addr, host, sizeof(host));
		snprintf(text[i], sizeof(text[i]), "ib:%s/%#x sid=%#llx", host,
			 ntohs(((struct sockaddr_ib *)addr)->sib_pkey),
			 (unsigned long long)be64toh(((struct sockaddr_ib *)addr)->sib_sid));
		return text[i];
	}
	snprintf(text[i], sizeof(text[i]), "%s", host);
	return text[i];
}

void event_report(const struct rdma_cm_event *ev, bool expected)
{
	if (!expected)
		return;
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		printf("request %s\n", (const char *)ev->param.conn.private_data + 2);
	if (ev->event == RDMA_CM_EVENT_ESTABLISHED && ev->param.conn.private_data)
		printf("answer %s\n", (const char *)ev->param.conn.private_data);
	if (ev->event == RDMA_CM_EVENT_ESTABLISHED && with_ud)
		printf("datagrams to qpn=%#x qkey=%#x dlid=%u\n", ev->param.ud.qp_num,
		       ev->param.ud.qkey, ev->param.ud.ah_attr.dlid);
}

static enum rdma_port_space addr_port_space(const char *addr)
{
	if (with_ud)
		return RDMA_PS_UDP;
	return strncmp(addr, "ib:", 3) ? RDMA_PS_TCP : RDMA_PS_IB;
}

static struct rdma_cm_id *id_create_on_channel(struct rdma_event_channel **ch, enum rdma_port_space ps)
{
	*ch = channel_create();
	return id_create(*ch, "id", ps);
}

/* Prints the ECE of the peer. */
static void ece_print(struct rdma_cm_id *id)
{
	struct ibv_ece ece = { };

	CALL(rdma_get_remote_ece(id, &ece), "get_remote_ece");
	printf("ece vendor=%#x options=%#x\n", ece.vendor_id, ece.options);
}

static void ece_set(struct rdma_cm_id *id, struct ibv_ece *ece, struct rdma_conn_param *param)
{
	param->qp_num = 0x400000 + getpid() % 0x400000;
	CALL(rdma_set_local_ece(id, ece), "set_local_ece");
}

static void qp_make(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	CALL(rdma_create_qp(id, NULL, &attr), "create_qp");
}

/* Sends without a posted receive at the peer, so that the QP fails. */
static void qp_send_failing(struct rdma_cm_id *id)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_wc wc;

	if (ibv_post_send(id->qp, &wr, &bad))
		die("post_send");
	while (!ibv_poll_cq(id->send_cq, 1, &wc))
		usleep(1000);
	printf("data: %s\n", ibv_wc_status_str(wc.status));
}

static void path_print(struct rdma_cm_id *id)
{
	const struct ibv_sa_path_rec *rec = id->route.path_rec;

	printf("paths=%d pkey=%#x sl=%u mtu=%u rate=%u life=%u slid=%u dlid=%u hops=%u\n",
	       id->route.num_paths, ntohs(rec->pkey), rec->sl, rec->mtu, rec->rate,
	       rec->packet_life_time, ntohs(rec->slid), ntohs(rec->dlid), rec->hop_limit);
}

static void qp_print(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!id->qp)
		return;
	if (ibv_query_qp(id->qp, &attr, IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_AV, &init))
		die("query_qp");
	printf("qp mtu=%d sl=%u dlid=%u bits=%u global=%u timeout=%u rate=%u\n", attr.path_mtu,
	       attr.ah_attr.sl, attr.ah_attr.dlid, attr.ah_attr.src_path_bits,
	       attr.ah_attr.is_global, attr.timeout, attr.ah_attr.static_rate);
}

static void run_serve(const char *addr, int port)
{
	enum rdma_port_space ps = addr_port_space(addr);
	struct rdma_conn_param param = { .private_data = welcome,
					 .private_data_len = sizeof(welcome) };
	struct rdma_cm_id *listener, *id;
	struct rdma_event_channel *ch;

	listener = id_create_on_channel(&ch, ps);
	if (rdma_bind_addr(listener, addr_parse(addr, port, ps)) || rdma_listen(listener, 4))
		die("bind or listen");
	printf("listening\n");
	id = event_expect_request(ch, "request");
	printf("local %s peer %s\n", addr_text(rdma_get_local_addr(id)),
	       addr_text(rdma_get_peer_addr(id)));
	if (with_ud) {
		const union ibv_gid *gid = &id->route.addr.addr.ibaddr.sgid;

		printf("gid 0x%016llx\n", (long long)be64toh(gid->global.interface_id));
		param.qp_num = 0x4711;
		if (with_ece && rdma_set_local_ece(id, &answer))
			die("set_local_ece");
		CALL(rdma_accept(id, &param), "accept");
		return;
	}
	path_print(id);
	if (with_ece) {
		ece_print(id);
		ece_set(id, &answer, &param);
	} else {
		qp_make(id);
	}
	CALL(rdma_accept(id, &param), "accept");
	if (leave) {
		/* as if a message had arrived on the QP */
		CALL(rdma_notify(id, IBV_EVENT_COMM_EST), "notify");
		event_expect(ch, RDMA_CM_EVENT_ESTABLISHED);
		rdma_disconnect(id);
		event_expect(ch, RDMA_CM_EVENT_DISCONNECTED);
		exit(0);
	}
	event_expect(ch, RDMA_CM_EVENT_ESTABLISHED);
	qp_print(id);
	event_expect(ch, RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(id);
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
}

static struct rdma_cm_id *id_create_resolved(struct rdma_event_channel **ch, const char *addr,
					     int port, const char *src)
{
	enum rdma_port_space ps = addr_port_space(addr);
	struct rdma_cm_id *id = id_create_on_channel(ch, ps);

	CALL(rdma_resolve_addr(id, src ? addr_parse(src, 0, ps) : NULL, addr_parse(addr, port, ps), 5000),
	     "resolve_addr");
	if (event_expect(*ch, RDMA_CM_EVENT_ADDR_RESOLVED))
		exit(1);
	return id;
}

static void route_resolve(struct rdma_event_channel *ch, struct rdma_cm_id *id)
{
	CALL(rdma_resolve_route(id, 5000), "resolve_route");
	if (event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED))
		exit(1);
}

/*
 * Sets IB_PATH to the path of another id, with @more added to its LIDs. The record is the second of
 * two; the first one is for one direction only.
 */
static void path_give(struct rdma_event_channel *ch, struct rdma_cm_id *id, const char *addr,
		      int port, int more)
{
	struct rdma_event_channel *och;
	struct rdma_cm_id *other = id_create_resolved(&och, addr, port, NULL);
	const struct ibv_sa_path_rec *rec;
	struct ibv_path_data data[] = {
		{ .flags = IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_OUTBOUND },
		{ .flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
			   IBV_PATH_FLAG_BIDIRECTIONAL },
	};
	struct ibv_path_record *path = &data[1].path;

	route_resolve(och, other);
	rec = other->route.path_rec;
	path->dgid = rec->dgid;
	if (with_wrong_gid)
		path->dgid.raw[15] ^= 0x80;
	path->sgid = rec->sgid;
	path->dlid = htons(ntohs(rec->dlid) + more);
	path->slid = htons(ntohs(rec->slid) + more);
	path->reversible_numpath = 0x80 | 1;
	path->pkey = rec->pkey;
	path->qosclass_sl = htobe16(rec->sl);
	path->mtu = 2 << 6 | IBV_MTU_1024;
	path->rate = 2 << 6 | rec->rate;
	path->packetlifetime = 2 << 6 | 10;
	CALL(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, sizeof(data)), "set_option IB_PATH");
	event_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED);
	rdma_destroy_id(other);
}

static void option_set(struct rdma_cm_id *id, int name, uint32_t val)
{
	CALL(rdma_set_option(id, CMX_OPTION, name, &val, sizeof(val)), "set_option");
}

static void run_connect(const char *addr, int port, const char *src, int given, int more)
{
	struct rdma_conn_param param = {
		.private_data = with_like_header ? like_header : hello,
		.private_data_len = sizeof(hello),
		.retry_count = 7,
	};
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_resolved(&ch, addr, port, src);

	if (given)
		path_give(ch, id, addr, port, more);
	else
		route_resolve(ch, id);
	path_print(id);
	if (with_ece)
		ece_set(id, &offer, &param);
	else if (!with_ud)
		qp_make(id);
	if (quick) {
		option_set(id, CMX_OPTION_CM_RESPONSE_TIMEOUT, 17);
		option_set(id, CMX_OPTION_CM_RETRIES, 1);
	}
	CALL(rdma_connect(id, &param), "connect");
	if (take_back) {
		CALL(rdma_reject(id, NULL, 0), "reject");
		exit(0);
	}
	if (with_ece) {
		event_expect(ch, RDMA_CM_EVENT_CONNECT_RESPONSE);
		ece_print(id);
		CALL(rdma_establish(id), "establish");
	} else {
		event_expect(ch, RDMA_CM_EVENT_ESTABLISHED);
	}
	printf("local %s peer %s\n", addr_text(rdma_get_local_addr(id)),
	       addr_text(rdma_get_peer_addr(id)));
	qp_print(id);
	if (!with_ud) {
		/* give the RTU time: it has no effect if a DREQ overtakes it */
		usleep(100000);
		if (with_data)
			qp_send_failing(id);
		if (leave)
			exit(0);
		if (!wait_for_peer)
			rdma_disconnect(id);
		event_expect(ch, RDMA_CM_EVENT_DISCONNECTED);
		if (stay)
			event_expect(ch, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	}
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

static void run_routes(const char *addr, int port, int n, int ms, int retries)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	long begin;

	while (n--) {
		id = id_create_resolved(&ch, addr, port, NULL);
		if (retries)
			option_set(id, CMX_OPTION_RESOLVE_RETRIES, retries);
		if (with_mtu)
			option_set(id, CMX_OPTION_PATH_MTU, with_mtu);
		begin = now_ms();
		if (rdma_resolve_route(id, ms)) {
			printf("resolve_route: %s\n", strerror(errno));
		} else if (rdma_get_cm_event(ch, &ev)) {
			die("get_cm_event");
		} else {
			printf("%s %d\n", rdma_event_str(ev->event), ev->status);
			rdma_ack_cm_event(ev);
		}
		printf("after %ld s\n", (now_ms() - begin + 500) / 1000);
		rdma_destroy_id(id);
		rdma_destroy_event_channel(ch);
	}
}

static void id_end(struct rdma_event_channel *ch, struct rdma_cm_id *id)
{
	rdma_destroy_id(id);
	rdma_destroy_event_channel(ch);
}

/* The SA replies in the order of the queries. */
static void run_giveup(const char *addr, int port, int n)
{
	struct rdma_event_channel *ch[GIVE_UP_MAX];
	struct rdma_cm_id *id[GIVE_UP_MAX];
	struct pollfd p = { .events = POLLIN };
	int i;

	for (i = 0; i < n; i++)
		id[i] = id_create_resolved(&ch[i], addr, port, NULL);
	for (i = 0; i < n; i++)
		CALL(rdma_resolve_route(id[i], 5000), "resolve_route");
	for (i = 0; i + 1 < n; i += 2) {
		p.fd = ch[i]->fd;
		poll(&p, 1, 10000);
		usleep(rand() % 500);
		id_end(ch[i + 1], id[i + 1]);
		event_expect(ch[i], RDMA_CM_EVENT_ROUTE_RESOLVED);
		id_end(ch[i], id[i]);
	}
}

#define CLOSING_QPN 0x300000

static struct rdma_cm_id *closing_connect(struct rdma_event_channel **ch, const char *prefix, int n, int port)
{
	struct rdma_conn_param param = { .qp_num = CLOSING_QPN, .private_data = hello,
					 .private_data_len = sizeof(hello) };
	struct rdma_cm_id *id;
	char addr[64];
	long begin;

	snprintf(addr, sizeof(addr), "%s%d", prefix, n);
	id = id_create_resolved(ch, addr, port, NULL);
	route_resolve(*ch, id);
	begin = now_ms();
	CALL(rdma_connect(id, &param), "connect");
	printf("waited %ld s\n", (now_ms() - begin + 500) / 1000);
	return id;
}

static void closing_begin(struct rdma_event_channel *lch, const char *prefix, int n, int port)
{
	struct rdma_conn_param param = { .qp_num = CLOSING_QPN + n };
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = closing_connect(&ch, prefix, n, port), *child;

	child = event_expect_request(lch, "request");
	CALL(rdma_accept(child, &param), "accept");
	event_expect(ch, RDMA_CM_EVENT_CONNECT_RESPONSE);
	CALL(rdma_establish(id), "establish");
	event_expect(lch, RDMA_CM_EVENT_ESTABLISHED);
	rdma_disconnect(id);
	id_end(ch, id);
	event_expect(lch, RDMA_CM_EVENT_DISCONNECTED);
	/* the peer takes another connection of the QP */
	rdma_disconnect(child);
	rdma_destroy_id(child);
}

/* Nobody listens on the port after @port: the duration of rdma_connect() is measured. */
static void run_closing(const char *prefix, int port, int n)
{
	struct rdma_event_channel *ch, *lch;
	struct rdma_cm_id *id, *listener = id_create_on_channel(&lch, RDMA_PS_TCP);
	int i;

	if (rdma_bind_addr(listener, addr_parse("0.0.0.0", port, RDMA_PS_TCP)) || rdma_listen(listener, 4))
		die("bind or listen");
	for (i = 1; i <= n; i++) {
		closing_begin(lch, prefix, i, port);
		if (i < n - 1)
			continue;
		printf("after %d: ", i);
		id = closing_connect(&ch, prefix, 1, port + 1);
		event_expect(ch, RDMA_CM_EVENT_REJECTED);
		id_end(ch, id);
	}
}

static void run_bind(const char *addr, int port, const char *space)
{
	enum rdma_port_space ps = !strcmp(space, "udp") ? RDMA_PS_UDP :
				  !strcmp(space, "ib") ? RDMA_PS_IB :
				  !strcmp(space, "ipoib") ? RDMA_PS_IPOIB : RDMA_PS_TCP;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = id_create_on_channel(&ch, ps);

	CALL(rdma_bind_addr(id, addr_parse(addr, port, ps)), "bind");
	printf("%s on %s\n", addr_text(rdma_get_local_addr(id)),
	       id->verbs ? ibv_get_device_name(id->verbs->device) : "no device");
	rdma_destroy_id(id);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	event_wait_ms = -1;
	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		if (argv[1][1] == 'e')
			with_ece = 1;
		else if (argv[1][1] == 'u')
			with_ud = 1;
		else if (argv[1][1] == 't')
			take_back = 1;
		else if (argv[1][1] == 'd')
			with_data = 1;
		else if (argv[1][1] == 'g')
			with_wrong_gid = 1;
		else if (argv[1][1] == 'q')
			quick = 1;
		else if (argv[1][1] == 's')
			stay = 1;
		else if (argv[1][1] == 'x')
			leave = 1;
		else if (argv[1][1] == 'w')
			wait_for_peer = 1;
		else if (argv[1][1] == 'm')
			with_mtu = atoi(argv[1] + 2);
		else
			with_like_header = 1;
	}
	if (argc >= 4 && !strcmp(argv[1], "serve"))
		run_serve(argv[2], atoi(argv[3]));
	else if (argc >= 4 && !strcmp(argv[1], "connect"))
		run_connect(argv[2], atoi(argv[3]), argc > 4 ? argv[4] : NULL, 0, 0);
	else if (argc >= 4 && !strcmp(argv[1], "given"))
		run_connect(argv[2], atoi(argv[3]), NULL, 1, argc > 4 ? atoi(argv[4]) : 0);
	else if (argc >= 6 && !strcmp(argv[1], "routes"))
		run_routes(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]),
			   argc > 6 ? atoi(argv[6]) : 0);
	else if (argc >= 6 && !strcmp(argv[1], "giveup"))
		for (long end = now_ms() + atoi(argv[5]) * 1000; now_ms() < end; )
			run_giveup(argv[2], atoi(argv[3]), atoi(argv[4]) % (GIVE_UP_MAX + 1));
	else if (argc >= 5 && !strcmp(argv[1], "bind"))
		run_bind(argv[2], atoi(argv[3]), argv[4]);
	else if (argc >= 5 && !strcmp(argv[1], "closing"))
		run_closing(argv[2], atoi(argv[3]), atoi(argv[4]));
	else
		return 2;
	return 0;
}
