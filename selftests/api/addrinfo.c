// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The functions of RDMACM_1.4 and 1.5: rdma_resolve_addrinfo(), rdma_query_addrinfo(),
 * rdma_write_cm_event(), repoll_*(). <rdma/rdma_cma.h> may be too old to declare them.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <infiniband/ib.h>
#include "api.h"

static const struct rdma_addrinfo numeric = {
	.ai_flags = RAI_NUMERICHOST | RAI_DNS, .ai_port_space = RDMA_PS_TCP,
};

static enum rdma_cm_event_type event_type_cast(enum cmx_event_type type)
{
	return (enum rdma_cm_event_type)type;
}

/* Returns the IPv4 address of the device as text. */
static const char *device_addr_text(void)
{
	static char text[INET_ADDRSTRLEN];
	const struct sockaddr_in *in = (void *)ip_addr("10.77.0.1", 0);

	if (in->sin_family != AF_INET)
		tap_case_skip("needs an IPv4 address");
	inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
	return text;
}

static void test_resolved(void)
{
	struct rdma_addrinfo *rai, *none = NULL;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);
	const struct sockaddr_in *in;

	WANT(rdma_query_addrinfo(id, &none) && errno == ENOENT);
	WANT(!rdma_resolve_addrinfo(id, device_addr_text(), "4711", &numeric));
	WANT(rdma_resolve_addrinfo(id, device_addr_text(), "4712", &numeric) && errno == EBUSY);
	WANT(!event_expect(ch, event_type_cast(CMX_EVENT_ADDRINFO_RESOLVED)));
	WANT(!rdma_query_addrinfo(id, &rai));
	WANT(rdma_query_addrinfo(id, &none) && errno == ENOENT && !none);
	in = (const struct sockaddr_in *)rai->ai_dst_addr;
	WANT(rai->ai_dst_len == sizeof(*in) && in->sin_port == htons(4711));
	WANT(!memcmp(in, ip_addr("10.77.0.1", 4711), sizeof(*in)));
	WANT(!rdma_resolve_addr(id, NULL, rai->ai_dst_addr, 2000));
	WANT(!event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	rdma_freeaddrinfo(rai);

	/* a result that is not queried */
	WANT(!rdma_resolve_addrinfo(id, device_addr_text(), "1", &numeric));
	WANT(!event_expect(ch, event_type_cast(CMX_EVENT_ADDRINFO_RESOLVED)));
	WANT(!rdma_destroy_id(id));
}

/* The in-tree library returns the GID ::, or bytes that follow an IPv4 address in memory. */
static void test_any_gid(void)
{
	static const struct rdma_addrinfo hints = {
		.ai_flags = RAI_PASSIVE | RAI_NUMERICHOST | RAI_FAMILY, .ai_family = AF_IB,
		.ai_port_space = RDMA_PS_TCP,
	};
	static const struct ib_addr any;
	const struct sockaddr_ib *sib;
	struct rdma_addrinfo *rai;

	WANT(!rdma_getaddrinfo(NULL, "4711", &hints, &rai));
	WANT(rai->ai_family == AF_IB && rai->ai_src_len == sizeof(*sib));
	sib = (const struct sockaddr_ib *)rai->ai_src_addr;
	WANT(!memcmp(&sib->sib_addr, &any, sizeof(any)));
	WANT(sib->sib_sid == htobe64(RDMA_IB_IP_PS_TCP + 4711));
	rdma_freeaddrinfo(rai);
}

static void test_refused(void)
{
	const struct rdma_addrinfo sa = { .ai_flags = RAI_SA, .ai_port_space = RDMA_PS_IB };
	struct rdma_addrinfo *rai = NULL;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_TCP);

	WANT(rdma_resolve_addrinfo(id, "no address", "1", &numeric) && errno == ENOENT);
	WANT(rdma_resolve_addrinfo(id, NULL, NULL, NULL) && errno == EINVAL);
	WANT(rdma_resolve_addrinfo(NULL, device_addr_text(), "1", &numeric) && errno == EINVAL);
	/* the id has no port whose SA could be queried, and a RoCE port has no SA */
	WANT(rdma_resolve_addrinfo(id, NULL, "1", &sa) && errno == EINVAL);
	WANT(rdma_resolve_addrinfo(id, NULL, NULL, &sa) && errno == EINVAL);
	WANT(rdma_resolve_addrinfo(id, device_addr_text(), "1", &sa) && errno == EOPNOTSUPP);
	WANT(!rdma_bind_addr(id, ip_addr("10.77.0.1", 0)));
	WANT(rdma_resolve_addrinfo(id, NULL, "1", &sa) && errno == EOPNOTSUPP);
	WANT(rdma_getaddrinfo(NULL, "1", &sa, &rai) == -1 && errno == ENOENT && !rai);
	WANT(rdma_getaddrinfo(NULL, "1", &sa, NULL) == -1 && errno == EINVAL);
	WANT(rdma_getaddrinfo(device_addr_text(), "1", &numeric, NULL) == -1 && errno == EINVAL);
	WANT(rdma_query_addrinfo(id, &rai) && errno == ENOENT);
	WANT(rdma_query_addrinfo(id, NULL) && errno == EINVAL);
	WANT(!event_next(ch, 0));
	WANT(!rdma_resolve_addrinfo(id, device_addr_text(), "1", &numeric));
	WANT(!event_expect(ch, event_type_cast(CMX_EVENT_ADDRINFO_RESOLVED)));
}

/* A device of switchdev mode may have more ports than the field can count. */
static void test_many_ports(void)
{
	const struct rdma_addrinfo sa = { .ai_flags = RAI_SA, .ai_port_space = RDMA_PS_IB };
	struct rdma_addrinfo *rai;

	many_ports = true;
	WANT(rdma_getaddrinfo(NULL, "1", &sa, &rai) == -1 && errno == ENOENT);
}

/* The in-tree library cuts a name that is too long, and may find another service. */
static void test_long_name(void)
{
	const struct rdma_addrinfo sa = { .ai_flags = RAI_SA, .ai_port_space = RDMA_PS_IB };
	static const size_t lengths[] = { 64, 255, 256, 0xffff, 0x10000, 0x10001 };
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, RDMA_PS_IB);
	static char name[0x10002];
	size_t i;

	memset(name, 'x', 63);
	/* the id is not bound */
	WANT(rdma_resolve_addrinfo(id, NULL, name, &sa) && errno == EINVAL);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(name, 'x', lengths[i]);
		WANT(rdma_resolve_addrinfo(id, NULL, name, &sa) && errno == E2BIG);
	}
	WANT(!rdma_destroy_id(id));
}

static void test_awaited(void)
{
	struct rdma_addrinfo *rai;
	struct rdma_cm_id *id;

	WANT(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	WANT(!rdma_resolve_addrinfo(id, device_addr_text(), "4711", &numeric));
	WANT(id->event && id->event->event == event_type_cast(CMX_EVENT_ADDRINFO_RESOLVED));
	WANT(!rdma_query_addrinfo(id, &rai));
	rdma_freeaddrinfo(rai);
	WANT(!rdma_destroy_id(id));
}

static void *user_event_write(void *id)
{
	rdma_write_cm_event(id, event_type_cast(CMX_EVENT_USER), -3, 0x123456789abcdef0);
	return NULL;
}

static void user_event_check(enum rdma_port_space ps)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = new_id(&ch, ps);
	struct rdma_cmx_event_info info;
	struct rdma_cm_event *ev;
	pthread_t thread;
	uint64_t arg;

	WANT(!pthread_create(&thread, NULL, user_event_write, id));
	WANT(!rdma_get_cm_event(ch, &ev));
	WANT(!pthread_join(thread, NULL));
	memcpy(&arg, &ev->param, sizeof(arg));
	WANT(ev->event == event_type_cast(CMX_EVENT_USER) && ev->id == id && ev->status == -3);
	WANT(arg == 0x123456789abcdef0);
	WANT(!rdma_cmx_query_event(ev, &info, sizeof(info)) && info.arg == arg);
	WANT(!strcmp(rdma_event_str(ev->event), "RDMA_CM_EVENT_USER"));
	WANT(!rdma_ack_cm_event(ev));
	WANT(rdma_write_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, 0) && errno == EINVAL);
	WANT(rdma_write_cm_event(id, event_type_cast(CMX_EVENT_ADDRINFO_RESOLVED), 0, 0) &&
	     errno == EINVAL);
	WANT(rdma_write_cm_event(NULL, event_type_cast(CMX_EVENT_USER), 0, 0) && errno == EINVAL);
	WANT(!event_next(ch, 0));
	/* an event that is not fetched */
	WANT(!rdma_write_cm_event(id, event_type_cast(CMX_EVENT_USER), 0, 0));
	WANT(!rdma_destroy_id(id));
	WANT(!event_next(ch, 0));
}

static void test_user_event(void)
{
	user_event_check(RDMA_PS_TCP);
	user_event_check(RDMA_PS_UDP);
}

static void test_versions(void)
{
	static const struct {
		const char *name;
		const char *version;
	} functions[] = {
		{ "rdma_query_addrinfo", "RDMACM_1.4" }, { "rdma_resolve_addrinfo", "RDMACM_1.4" },
		{ "rdma_write_cm_event", "RDMACM_1.4" }, { "repoll_create", "RDMACM_1.5" },
		{ "repoll_ctl", "RDMACM_1.5" }, { "repoll_wait", "RDMACM_1.5" },
	};
	int (*create)(int flags);
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!dlvsym(RTLD_DEFAULT, functions[i].name, functions[i].version))
			tap_note_print("no %s", functions[i].name);
		WANT(dlvsym(RTLD_DEFAULT, functions[i].name, functions[i].version));
	}
	/* the system's library may be too old to have repoll_create() */
	create = dlsym(RTLD_DEFAULT, "repoll_create");
	WANT(create(0) >= 0 || errno == ENOSYS);
}

const struct test addrinfo_tests[] = {
	{ "addrinfo: resolved", test_resolved },
	{ "addrinfo: refused", test_refused },
	{ "addrinfo: long names of services", test_long_name },
	{ "addrinfo: a device with 255 ports", test_many_ports },
	{ "addrinfo: wildcard of AF_IB", test_any_gid },
	{ "addrinfo: id without a channel", test_awaited },
	{ "a program's own event", test_user_event },
	{ "versions of functions", test_versions },
	{ },
};
