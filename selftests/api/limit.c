// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a user without privileges may have, and that others are none the worse for it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "api.h"

#define USER_IDS "/sys/module/rdma_cmx/parameters/user_ids"
#define LIMIT 4

/* A shell would not keep what seteuid() gives. */
static int set_limit(unsigned int n)
{
	FILE *f;

	if (seteuid(0))
		return -1;
	f = fopen(USER_IDS, "w");
	if (!f)
		return -1;
	fprintf(f, "%u", n);
	return fclose(f);
}

static void reset_limit(void)
{
	set_limit(65536);
}

static struct rdma_event_channel *channel_as(uid_t uid)
{
	struct rdma_event_channel *ch;

	WANT(!seteuid(0) && !setresuid(uid, uid, 0));
	ch = rdma_create_event_channel();
	WANT(ch);
	return ch;
}

/* The library makes the kernel's id only when it has something to say of it. */
static int bound_id(struct rdma_event_channel *ch, enum rdma_port_space ps, struct rdma_cm_id **id)
{
	WANT(!rdma_create_id(ch, id, NULL, ps));
	return rdma_bind_addr(*id, addr_of("10.77.0.1", 0));
}

static void ids_of_a_user(void)
{
	struct rdma_event_channel *ch, *other;
	struct rdma_cm_id *id[LIMIT + 1];
	int i;

	atexit(reset_limit);
	WANT(!set_limit(LIMIT));
	ch = channel_as(65534);
	for (i = 0; i < LIMIT; i++)
		WANT(!bound_id(ch, RDMA_PS_TCP, &id[i]));
	WANT(bound_id(ch, RDMA_PS_TCP, &id[i]) && errno == EMFILE);
	/* one file more is no help */
	other = channel_as(65534);
	WANT(bound_id(other, RDMA_PS_TCP, &id[i]) && errno == EMFILE);
	other = channel_as(65533);
	WANT(!bound_id(other, RDMA_PS_TCP, &id[i]));
	other = channel_as(0);
	for (i = 0; i <= LIMIT; i++)
		WANT(!bound_id(other, RDMA_PS_TCP, &id[i]));
}

static void groups_of_a_user(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	char addr[] = "239.9.9.0";
	int i;

	atexit(reset_limit);
	WANT(!set_limit(LIMIT));
	ch = channel_as(65534);
	WANT(!bound_id(ch, RDMA_PS_UDP, &id));
	for (i = 1; i < LIMIT; i++) {
		addr[sizeof(addr) - 2]++;
		WANT(!rdma_join_multicast(id, addr_of(addr, 0), NULL));
		WANT(!expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	}
	WANT(rdma_join_multicast(id, addr_of("239.9.8.1", 0), NULL) && errno == EMFILE);
	WANT(!rdma_leave_multicast(id, addr_of(addr, 0)));
	WANT(!rdma_join_multicast(id, addr_of("239.9.8.1", 0), NULL));
	WANT(!expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN));
	/* all is given back */
	WANT(!rdma_destroy_id(id));
	for (i = 0; i < LIMIT; i++)
		WANT(!bound_id(ch, RDMA_PS_TCP, &id));
}

/* A request that would be one too many is dropped; the peer asks again. */
static void requests_of_a_user(void)
{
	struct rdma_conn_param par = plain;
	struct rdma_cm_id *id[LIMIT];
	struct pair p = {};
	long refused;
	int i;

	atexit(reset_limit);
	WANT(!set_limit(LIMIT));
	p.lch = channel_as(65534);
	WANT(!rdma_create_id(p.lch, &p.listener, NULL, RDMA_PS_TCP));
	p.ch = channel_as(0);
	WANT(!rdma_create_id(p.ch, &p.id, NULL, RDMA_PS_TCP));
	/* 16 tries every 2 s: the last one comes after the wait below, also on a slow machine */
	WANT(!set_u32(p.id, CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 19));
	pair_resolve(&p, RDMA_PS_TCP);
	for (i = 0; i < LIMIT - 1; i++)
		WANT(!bound_id(p.lch, RDMA_PS_TCP, &id[i]));
	refused = port_stat_get(p.id, "refused_quota");
	WANT(!rdma_connect(p.id, &par));
	WANT(!next_event(p.lch, 300));
	WANT(port_stat_get(p.id, "refused_quota") > refused);
	WANT(!rdma_destroy_id(id[0]));
	WANT(!expect(p.lch, RDMA_CM_EVENT_CONNECT_REQUEST));
}

static void pair_of_user(struct pair *p, uid_t uid)
{
	p->lch = channel_as(uid);
	WANT(!rdma_create_id(p->lch, &p->listener, NULL, RDMA_PS_TCP));
	p->ch = channel_as(uid);
	WANT(!rdma_create_id(p->ch, &p->id, NULL, RDMA_PS_TCP));
	pair_resolve(p, RDMA_PS_TCP);
}

static long connect_ms(struct rdma_cm_id *id)
{
	struct rdma_conn_param par = plain;
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	WANT(!rdma_connect(id, &par));
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
}

/* A QP that is used again waits for its last connection, but not for one of another user. */
static void number_of_another_user(void)
{
	struct pair closing = {}, other = {}, same = {};

	pair_of_user(&closing, 65534);
	pair_of_user(&other, 65533);
	pair_of_user(&same, 65534);
	pair_connect(&closing);
	WANT(!rdma_disconnect(closing.id));
	WANT(!expect(closing.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(connect_ms(other.id) < 1000);
	WANT(connect_ms(same.id) >= 1500);
}

const struct test limit_tests[] = {
	{ "limit: ids of a user", ids_of_a_user },
	{ "limit: groups of a user", groups_of_a_user },
	{ "limit: requests to a user", requests_of_a_user },
	{ "limit: a QP number that another user has chosen, too", number_of_another_user },
	{}
};
