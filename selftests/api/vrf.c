// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * VRFs and the option BIND_DEVICE. The interfaces v10 of vrf10 and v20 of vrf20 have the same
 * addresses, and v10 some of its own. So have d0.10 and d0.20, which share the RDMA device of d0.
 * The interface v30 belongs to no VRF and to the subnet of d0. v10 has its address, too.
 */
#include <net/if.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "api.h"

#define V4 "10.90.0.1"
#define V6 "fd90::1"
#define V10_ONLY "10.91.0.1"
#define V10_ONLY_6 "fd91::1"
#define LL "fe80::90"
#define D0 "10.77.0.1"
#define V30 "10.77.0.31"
#define VLAN "10.93.0.1"

static void need_vrf(void)
{
	need_rig();
	if (!if_nametoindex("vrf10"))
		tap_case_skip("needs VRFs in the kernel");
}

static int bind_device(struct rdma_cm_id *id, const char *name)
{
	return set_u32(id, CMX_OPTION, CMX_OPTION_BIND_DEVICE, if_nametoindex(name));
}

static struct rdma_cm_id *new_id_on(struct rdma_event_channel **ch, enum rdma_port_space ps,
				    const char *name)
{
	struct rdma_cm_id *id = new_id(ch, ps);

	WANT(!name || !bind_device(id, name));
	return id;
}

static bool id_is_on(struct rdma_cm_id *id, const char *device)
{
	return id->verbs && !strcmp(ibv_get_device_name(id->verbs->device), device);
}

static int listen_at(struct pair *p, const char *name, const char *addr, int port)
{
	p->listener = new_id_on(&p->lch, RDMA_PS_TCP, name);
	return rdma_bind_addr(p->listener, ip_addr(addr, port)) ?: rdma_listen(p->listener, 8);
}

static int listener_port(const struct pair *p)
{
	return ntohs(rdma_get_src_port(p->listener));
}

/*
 * ib_core resolves the address to which ib_cm replies. Before Linux 6.18 it does not take an
 * address in a VRF for a local one, and the replies of this host to itself are lost.
 */
static bool vrf_has_replies(void)
{
	struct utsname u;
	int major = 0, minor = 0;

	WANT(!uname(&u) && sscanf(u.release, "%d.%d", &major, &minor) == 2);
	return major * 100 + minor >= 618;
}

static void need_replies(void)
{
	need_vrf();
	if (!vrf_has_replies())
		tap_case_skip("ib_core does not reply in a VRF of the same host");
}

/* Connects an id that is bound to @name or @src to the listener, which must get the request. */
static void vrf_connect(const struct pair *to, const char *name, const char *src, const char *dst,
			const char *device)
{
	struct pair p = { .lch = to->lch, .listener = to->listener, .param = plain };
	struct rdma_conn_param par = plain;

	p.id = new_id_on(&p.ch, RDMA_PS_TCP, name);
	WANT(!src || !rdma_bind_addr(p.id, ip_addr(src, 0)));
	id_resolve(p.ch, p.id, dst, listener_port(to));
	WANT(id_is_on(p.id, device));
	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(id_is_on(p.child, device));
	if (strcmp(device, "rxev30") && !vrf_has_replies()) {
		WANT(!rdma_destroy_id(p.id) && !rdma_destroy_id(p.child));
		return;
	}
	pair_connect(&p, RDMA_PS_TCP);
	WANT(!rdma_destroy_id(p.id));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(!rdma_destroy_id(p.child));
}

/* Without the option: the address selects the VRF. */
static void test_by_address(void)
{
	static const char *const addrs[] = { V10_ONLY, V10_ONLY_6, LL "%v10", LL "%v20" };
	struct pair one, any = {};
	unsigned int i;

	need_vrf();
	WANT(!listen_at(&any, NULL, "::", 0));
	for (i = 0; i < 4; i++) {
		const char *device = strchr(addrs[i], '2') ? "rxev20" : "rxev10";

		one = (struct pair){};
		WANT(!listen_at(&one, NULL, addrs[i], 0));
		vrf_connect(&one, NULL, addrs[i], addrs[i], device);
		vrf_connect(&any, NULL, addrs[i], addrs[i], device);
	}
}

/* Two VRFs have the same address, and listeners on the same port. */
static void vrf_listen_twice(const char *listen_addr, const char *dst)
{
	struct pair p10 = {}, p20 = {};

	WANT(!listen_at(&p10, "vrf10", listen_addr, 0));
	WANT(!listen_at(&p20, "vrf20", listen_addr, listener_port(&p10)));
	vrf_connect(&p10, "vrf10", NULL, dst, "rxev10");
	vrf_connect(&p20, "vrf20", NULL, dst, "rxev20");
	vrf_connect(&p10, "v10", dst, dst, "rxev10");
	vrf_connect(&p20, "v20", dst, dst, "rxev20");
}

static void test_same_address(void)
{
	need_vrf();
	vrf_listen_twice(V4, V4);
	vrf_listen_twice(V6, V6);
}

static void test_same_wildcard(void)
{
	need_vrf();
	vrf_listen_twice("0.0.0.0", V4);
	vrf_listen_twice("::", V6);
}

static void vrf20_is_refused(const struct pair *to, const char *dst)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id_on(&ch, RDMA_PS_TCP, "vrf20");

	id_resolve(ch, id, dst, listener_port(to));
	WANT(!rdma_connect(id, &par));
	WANT(event_expect(ch, RDMA_CM_EVENT_REJECTED));
	WANT(!event_next(to->lch, 0));
}

/* The requests of one VRF are not for a listener in another one. */
static void test_no_listener(void)
{
	struct pair p = { .param = plain };

	need_replies();
	WANT(!listen_at(&p, "vrf10", "0.0.0.0", 0));
	vrf20_is_refused(&p, V4);
}

/* A listener without the option is in the VRF of its interface, the first one with the address. */
static void test_one_device(void)
{
	struct pair p = { .param = plain };

	need_replies();
	WANT(!listen_at(&p, NULL, VLAN, 0));
	vrf_connect(&p, "vrf10", NULL, VLAN, "rxe0");
	vrf20_is_refused(&p, VLAN);
}

/* Without the option, an address is rather on an interface that is in no VRF. */
static void test_in_none(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	need_vrf();
	WANT(id_is_on(new_bound_id(&ch, RDMA_PS_TCP, V30), "rxev30"));
	id = new_id_on(&ch, RDMA_PS_TCP, "vrf10");
	WANT(!rdma_bind_addr(id, ip_addr(V30, 0)) && id_is_on(id, "rxev10"));
}

static void test_conflict(void)
{
	struct pair p = {}, other = {};
	int port;

	need_vrf();
	WANT(!listen_at(&p, "vrf10", V4, 0));
	port = listener_port(&p);
	WANT(listen_at(&other, "vrf10", V4, port) && errno == EADDRINUSE);
	WANT(listen_at(&other, NULL, V4, port) && errno == EADDRINUSE);
	WANT(listen_at(&other, NULL, "0.0.0.0", port) && errno == EADDRNOTAVAIL);
	WANT(!listen_at(&other, "v10", V4, port));
	WANT(!listen_at(&other, "d0", "0.0.0.0", port));
}

/* A service of datagrams is found in its VRF, too. */
static void test_datagrams(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_event_channel *ch, *lch;
	struct rdma_cm_id *id, *listener = new_id(&lch, RDMA_PS_UDP);
	struct rdma_cm_event *ev;

	need_replies();
	WANT(!bind_device(listener, "vrf20"));
	WANT(!rdma_bind_addr(listener, ip_addr(V6, 0)) && !rdma_listen(listener, 1));
	id = new_id_on(&ch, RDMA_PS_UDP, "vrf20");
	id_resolve(ch, id, V6, ntohs(rdma_get_src_port(listener)));
	WANT(!rdma_connect(id, &par));
	ev = event_next(lch, 10000);
	WANT(ev && ev->event == RDMA_CM_EVENT_CONNECT_REQUEST && id_is_on(ev->id, "rxev20"));
	WANT(!rdma_accept(ev->id, &par));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ESTABLISHED));
	rdma_ack_cm_event(ev);
}

static void vrf_join(const char *name, const char *group, const char *proc)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id_on(&ch, RDMA_PS_UDP, name);

	WANT(!rdma_resolve_addr(id, NULL, ip_addr(group, 0), 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	WANT(id_is_on(id, "rxev10"));
	WANT(!rdma_join_multicast(id, ip_addr(group, 0), NULL));
	WANT(!event_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	WANT(!system(proc));
	WANT(!rdma_destroy_id(id));
}

/* An IPv6 group needs an interface, as that of a socket. */
static void test_groups(void)
{
	need_vrf();
	vrf_join("vrf10", "239.90.0.1", "ip maddr show dev v10 | grep -q 239.90.0.1");
	vrf_join("v10", "ff15::90", "ip maddr show dev v10 | grep -q ff15::90");
	vrf_join("vrf10", "ff12::90%v10", "ip maddr show dev v10 | grep -q ff12::90");
}

/* As with TCP, both ends are on the link of the scope. */
static void test_scope(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;

	need_vrf();
	id = new_bound_id(&ch, RDMA_PS_TCP, LL "%v10");
	WANT(rdma_resolve_addr(id, NULL, ip_addr(LL "%v20", 7), 2000) && errno == EINVAL);
	id_resolve(ch, id, LL "%v10", 7);

	id = new_id_on(&ch, RDMA_PS_TCP, "vrf20");
	WANT(rdma_bind_addr(id, ip_addr(LL "%v10", 0)) && errno == EINVAL);
	WANT(rdma_resolve_addr(id, NULL, ip_addr(LL "%v10", 7), 2000) && errno == EINVAL);
	id_resolve(ch, id, LL "%v20", 7);
	WANT(id_is_on(id, "rxev20"));

	/* the option stands in for the scope */
	id = new_id_on(&ch, RDMA_PS_TCP, "v20");
	WANT(!rdma_bind_addr(id, ip_addr(LL, 0)) && id_is_on(id, "rxev20"));
	WANT(((struct sockaddr_in6 *)rdma_get_local_addr(id))->sin6_scope_id ==
	     if_nametoindex("v20"));
	id_resolve(ch, id, LL, 7);
}

/* Two adapters have addresses of one subnet, and the routing table knows one of them. */
static void test_one_subnet(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	struct pair p = { .param = plain };

	need_rig();
	id_resolve(ch, id, "10.77.0.99", 7);
	WANT(id_is_on(id, "rxe0"));
	id = new_id_on(&ch, RDMA_PS_TCP, "v30");
	id_resolve(ch, id, "10.77.0.99", 7);
	WANT(id_is_on(id, "rxev30"));
	WANT(!listen_at(&p, "v30", "0.0.0.0", 0));
	vrf_connect(&p, "v30", NULL, V30, "rxev30");
}

static void test_inherited(void)
{
	struct rdma_conn_param par = plain;
	struct pair p = { .id = new_id_on(&p.ch, RDMA_PS_TCP, "d0"),
			  .listener = new_id_on(&p.lch, RDMA_PS_TCP, "d0") };
	uint32_t flags;

	need_rig();
	pair_prepare(&p, RDMA_PS_TCP);
	pair_request_with(&p, RDMA_PS_TCP, &par);
	WANT(get_u32(p.child, CMX_OPTION, CMX_OPTION_BIND_DEVICE, &flags) == if_nametoindex("d0"));
	WANT(flags & CMX_OPT_F_SET);
}

static void test_errors(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	need_rig();
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_BIND_DEVICE, 99999) && errno == ENODEV);
	WANT(!bind_device(id, "v30"));
	WANT(rdma_bind_addr(id, ip_addr("127.0.0.1", 0)) && errno == EADDRNOTAVAIL);
	WANT(rdma_bind_addr(id, ip_addr(D0, 0)) && errno == EADDRNOTAVAIL);
	WANT(rdma_resolve_addr(id, NULL, ip_addr("127.0.0.1", 7), 2000) && errno == EADDRNOTAVAIL);
	WANT(rdma_resolve_addr(id, NULL, ip_addr("0.0.0.0", 7), 2000) && errno == EADDRNOTAVAIL);
	WANT(!bind_device(id, "lo"));
	WANT(rdma_bind_addr(id, ip_addr(D0, 0)) && errno == EADDRNOTAVAIL);
	WANT(!set_u32(id, CMX_OPTION, CMX_OPTION_BIND_DEVICE, 0));
	WANT(!rdma_bind_addr(id, ip_addr(D0, 0)));
	WANT(bind_device(id, "d0") && errno == EINVAL);
}

/* As with SO_BINDTODEVICE, a user chooses once. */
static void test_user(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	need_rig();
	WANT(!setuid(65534));
	WANT(!bind_device(id, "d0"));
	WANT(bind_device(id, "v30") && errno == EPERM);
	WANT(set_u32(id, CMX_OPTION, CMX_OPTION_BIND_DEVICE, 0) && errno == EPERM);
	WANT(!rdma_bind_addr(id, ip_addr(D0, 0)));
}

const struct test vrf_tests[] = {
	{ "vrf: connections, the address selects the VRF", test_by_address },
	{ "vrf: listeners with the same address and port in two VRFs", test_same_address },
	{ "vrf: listeners with the same port and any address in two VRFs", test_same_wildcard },
	{ "vrf: a request from another VRF", test_no_listener },
	{ "vrf: a request from another one on the same device", test_one_device },
	{ "vrf: an address that an interface in none has, too", test_in_none },
	{ "vrf: conflicts of ports", test_conflict },
	{ "vrf: datagrams", test_datagrams },
	{ "vrf: groups", test_groups },
	{ "vrf: link-local addresses of another link", test_scope },
	{ "BIND_DEVICE: two adapters in one subnet", test_one_subnet },
	{ "BIND_DEVICE: inherited by requests", test_inherited },
	{ "BIND_DEVICE: errors", test_errors },
	{ "BIND_DEVICE: a user chooses once", test_user },
	{}
};
