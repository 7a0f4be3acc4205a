// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_cmx_query_event(), and the errno that stands for an event
 */
#include <arpa/inet.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>
#include "api.h"

static struct rdma_cmx_event_info info_next(struct rdma_event_channel *ch,
					    enum rdma_cm_event_type type, struct rdma_cm_id **id)
{
	struct rdma_cm_event *ev = event_next(ch, 15000);
	struct rdma_cmx_event_info info;

	WANT(ev && ev->event == type);
	WANT(!rdma_cmx_query_event(ev, &info, sizeof(info)));
	if (id)
		*id = ev->id;
	rdma_ack_cm_event(ev);
	return info;
}

static bool path_is_of(const struct rdma_cmx_event_info *info, const struct rdma_cm_id *id)
{
	return info->num_paths == 1 && id->route.num_paths == 1 &&
	       !memcmp(info->path, id->route.path_rec, sizeof(info->path[0]));
}

static void test_connection_info(void)
{
	struct ibv_ece ece = { .vendor_id = 0x4711, .options = 5 };
	struct rdma_conn_param par = plain;
	struct rdma_cmx_event_info info;
	struct pair p = { .param = plain };

	pair_prepare(&p, RDMA_PS_TCP);
	WANT(!rdma_set_local_ece(p.id, &ece));
	WANT(!rdma_connect(p.id, &par));
	info = info_next(p.lch, RDMA_CM_EVENT_CONNECT_REQUEST, &p.child);
	WANT(info.event == RDMA_CM_EVENT_CONNECT_REQUEST && !info.status && !info.flags);
	WANT(info.ece.vendor_id == 0x4711 && info.ece.options == 5);
	WANT(path_is_of(&info, p.child));

	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	info = info_next(p.ch, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL);
	WANT(info.event == RDMA_CM_EVENT_CONNECT_RESPONSE && path_is_of(&info, p.id));
	WANT(!rdma_establish(p.id));
	info = info_next(p.lch, RDMA_CM_EVENT_ESTABLISHED, NULL);
	WANT(info.event == RDMA_CM_EVENT_ESTABLISHED && !info.num_paths && !info.ece.vendor_id);
}

/* The library moves the QP after a response, and reports the result as ESTABLISHED. */
static void test_response_info(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_cmx_event_info info;
	struct pair p = { .param = plain };

	pair_prepare(&p, RDMA_PS_TCP);
	qp_make(p.id);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	par.qp_num++;
	WANT(!rdma_accept(p.child, &par));
	info = info_next(p.ch, RDMA_CM_EVENT_ESTABLISHED, NULL);
	WANT(info.event == RDMA_CM_EVENT_CONNECT_RESPONSE && !info.status);
}

static void test_reject_info(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_cmx_event_info info;
	struct pair p = { .param = plain };

	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(!rdma_reject(p.child, NULL, 0));
	info = info_next(p.ch, RDMA_CM_EVENT_REJECTED, NULL);
	WANT(info.event == RDMA_CM_EVENT_REJECTED && info.status == 28);
}

static void test_info_sizes(void)
{
	struct {
		struct rdma_cmx_event_info info;
		uint64_t more;
	} grown;
	const size_t least = offsetof(struct rdma_cmx_event_info, ece);
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	struct rdma_cm_event *ev;

	WANT(!rdma_resolve_addr(id, NULL, ip_addr("10.77.0.1", 7), 2000));
	ev = event_next(ch, 15000);
	WANT(ev);
	memset(&grown, 0xa5, sizeof(grown));
	WANT(!rdma_cmx_query_event(ev, &grown.info, sizeof(grown)));
	WANT(!grown.more && !grown.info.num_paths);
	memset(&grown, 0xa5, sizeof(grown));
	WANT(!rdma_cmx_query_event(ev, &grown.info, least));
	WANT(!grown.info.status && grown.info.ece.vendor_id == 0xa5a5a5a5);
	WANT(rdma_cmx_query_event(ev, &grown.info, least - 1) && errno == EINVAL);
	WANT(rdma_cmx_query_event(NULL, &grown.info, least) && errno == EINVAL);
	WANT(rdma_cmx_query_event(ev, NULL, least) && errno == EINVAL);
	rdma_ack_cm_event(ev);
}

/* Other structs that can grow, longer and shorter than this library knows them */
static void test_struct_sizes(void)
{
	struct {
		struct cmx_ece_info ece;
		uint64_t more;
	} info;
	struct {
		struct cmx_mcast_attr attr;
		uint32_t more[2];
	} join = {};
	struct sockaddr *group;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_UDP);
	size_t least = offsetof(struct cmx_ece_info, policy);

	memset(&info, 0xa5, sizeof(info));
	WANT(!rdma_cmx_query_ece(id, &info.ece, sizeof(info)) && !info.ece.policy && !info.more);
	memset(&info, 0xa5, sizeof(info));
	WANT(!rdma_cmx_query_ece(id, &info.ece, least));
	WANT(!info.ece.flags && info.ece.policy == 0xa5a5a5a5);
	WANT(rdma_cmx_query_ece(id, &info.ece, least - 1) && errno == EINVAL);
	WANT(rdma_cmx_query_ece(id, &info.ece, 0x10000 + least) && errno == EINVAL);

	WANT(!rdma_bind_addr(id, ip_addr("10.77.0.1", 0)));
	group = ip_addr("239.1.2.9", 0);
	join.more[1] = 1;
	WANT(rdma_cmx_join_multicast(id, group, &join.attr, sizeof(join), NULL) && errno == E2BIG);
	WANT(rdma_cmx_join_multicast(id, group, &join.attr, 0x10000, NULL) && errno == E2BIG);
	least = offsetof(struct cmx_mcast_attr, reserved);
	WANT(rdma_cmx_join_multicast(id, group, &join.attr, least - 1, NULL) && errno == EINVAL);
	join.attr.reserved = 1;
	WANT(!rdma_cmx_join_multicast(id, group, &join.attr, least, NULL));
	WANT(!event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	WANT(!rdma_leave_multicast(id, group));
	join.attr.reserved = 0;
	join.more[1] = 0;
	WANT(!rdma_cmx_join_multicast(id, group, &join.attr, sizeof(join), NULL));
	WANT(!event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
}

/* The program has put another id on the channel of a listener. The event of that id is a reject. */
static void test_request_refused(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_cm_id *listener, *id;
	struct pair p = { .param = plain };

	WANT(!rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(listener, ip_addr("10.77.0.1", 0)) && !rdma_listen(listener, 1));
	p.ch = listener->channel;
	WANT(!rdma_create_id(p.ch, &p.id, NULL, RDMA_PS_TCP));
	pair_prepare(&p, RDMA_PS_TCP);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(!rdma_reject(p.child, NULL, 0));
	WANT(rdma_get_request(listener, &id) == -1 && errno == ECONNREFUSED);
	WANT(listener->event->id == p.id && listener->event->event == RDMA_CM_EVENT_REJECTED);
}

/* The server has as many files open as it may. Its error is that of accept(2), and the request is not lost. */
static void test_request_without_file(void)
{
	struct rdma_cm_id *listener, *id;
	struct rdma_conn_param par = plain;
	struct rlimit limit, none;
	struct pair p = { .param = plain };
	int file;

	WANT(!rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP));
	WANT(!rdma_bind_addr(listener, ip_addr("10.77.0.1", 0)) && !rdma_listen(listener, 1));
	p.id = new_id(&p.ch, RDMA_PS_TCP);
	id_resolve(p.ch, p.id, "10.77.0.1", ntohs(rdma_get_src_port(listener)));
	WANT(!rdma_connect(p.id, &par));
	file = dup(STDIN_FILENO);
	WANT(file >= 0 && !close(file) && !getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = file;
	WANT(!setrlimit(RLIMIT_NOFILE, &none));
	WANT(rdma_get_request(listener, &id) == -1 && errno == EMFILE);
	WANT(!setrlimit(RLIMIT_NOFILE, &limit));
	WANT(!event_next(p.ch, 0));
	WANT(!rdma_get_request(listener, &id) && !rdma_reject(id, NULL, 0));
	WANT(event_expect(p.ch, RDMA_CM_EVENT_REJECTED) == 28);
	WANT(!rdma_destroy_id(id) && !rdma_destroy_id(listener) && !rdma_destroy_id(p.id));
}

const struct test event_info_tests[] = {
	{ "event: the events of a connection have their info", test_connection_info },
	{ "event: a response that the library has followed", test_response_info },
	{ "event: a reject", test_reject_info },
	{ "event: a reject instead of a request", test_request_refused },
	{ "event: a request, and no file for its id", test_request_without_file },
	{ "event: info of any size", test_info_sizes },
	{ "structs of any size", test_struct_sizes },
	{ },
};
