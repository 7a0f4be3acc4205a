// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The part of the demo that uses the API: options that can be read back, and an ECE negotiation
 * between two ids of this process.
 *
 *   tour ADDRESS COMMAND	COMMAND is run while both ids are connected
 */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cmx.h>

#define PORT "7471"
#define DO(call) do { if (call) { perror(#call); exit(1); } } while (0)

static const struct option {
	const char *name;
	int level;
	int nr;
	uint32_t val;
} table[] = {
	{ "TOS", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 104 },
	{ "ACK_TIMEOUT", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 17 },
	{ "MIN_RNR_TIMER", CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 12 },
	{ "CM_RETRIES", CMX_OPTION, CMX_OPTION_CM_RETRIES, 7 },
	{ "CONNECT_DEADLINE_MS", CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 1500 },
	{ "SL", CMX_OPTION, CMX_OPTION_SL, 3 },
	{ "FLOW_LABEL", CMX_OPTION, CMX_OPTION_FLOW_LABEL, 0x12345 },
};

/* The program creates no QPs, so their numbers are fake. */
static struct rdma_conn_param active = { .qp_num = 0x77, .retry_count = 7, .rnr_retry_count = 7 };
static struct rdma_conn_param passive = { .qp_num = 0x78, .retry_count = 7, .rnr_retry_count = 7 };

static void option_print(struct rdma_cm_id *id, const struct option *o, const char *when)
{
	uint32_t val = 0, flags = 0;
	size_t len = o->level == RDMA_OPTION_ID ? 1 : sizeof(val);

	if (rdma_cmx_get_option(id, o->level, o->nr, &val, &len, &flags))
		printf("  %-20s %-7s cannot be read: %s\n", o->name, when, strerror(errno));
	else
		printf("  %-20s %-7s %u%s\n", o->name, when, val,
		       flags & CMX_OPT_F_SET ? "" : " (default)");
}

static void options_show(struct rdma_cm_id *id)
{
	const struct option *o;

	for (o = table; o < table + sizeof(table) / sizeof(*table); o++) {
		size_t len = o->level == RDMA_OPTION_ID ? 1 : sizeof(o->val);

		option_print(id, o, "before");
		DO(rdma_set_option(id, o->level, o->nr, (void *)&o->val, len));
		option_print(id, o, "after");
	}
}

static void ece_show(const char *who, struct rdma_cm_id *id)
{
	struct cmx_ece_info info;

	DO(rdma_cmx_query_ece(id, &info, sizeof(info)));
	printf("  %s: local vendor 0x%x options 0x%x, peer vendor 0x%x options 0x%x%s%s%s\n", who,
	       info.local.vendor_id, info.local.attr_mod, info.remote.vendor_id,
	       info.remote.attr_mod, info.flags & CMX_ECE_F_OFFERED ? ", offered" : "",
	       info.flags & CMX_ECE_F_REMOTE ? ", peer has it" : "",
	       info.flags & CMX_ECE_F_APPLIED ? ", applied" : "");
}

static void *listener_run(void *listener)
{
	/* this end supports all options of the offer except the lowest bit */
	struct ibv_ece ece;
	struct rdma_cm_id *id;

	DO(rdma_get_request(listener, &id));
	DO(rdma_get_remote_ece(id, &ece));
	ece.options &= ~1u;
	DO(rdma_set_local_ece(id, &ece));
	DO(rdma_accept(id, &passive));
	return id;
}

int main(int argc, char **argv)
{
	struct ibv_ece offer = { .vendor_id = 0x15b3, .options = 0x30000003 };
	struct rdma_cm_id *listener, *id;
	struct addrinfo *ai;
	pthread_t thread;
	void *child;

	if (argc != 3)
		return 2;
	DO(getaddrinfo(argv[1], PORT, NULL, &ai));
	DO(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP));
	DO(rdma_bind_addr(listener, ai->ai_addr));
	DO(rdma_listen(listener, 1));
	DO(pthread_create(&thread, NULL, listener_run, listener));

	DO(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	printf("Options, before and after they are set:\n");
	options_show(id);
	DO(rdma_resolve_addr(id, NULL, ai->ai_addr, 2000));
	DO(rdma_resolve_route(id, 2000));
	printf("ECE: the active end offers vendor 0x%x options 0x%x\n", offer.vendor_id,
	       offer.options);
	DO(rdma_set_local_ece(id, &offer));
	DO(rdma_connect(id, &active));
	DO(rdma_establish(id));
	DO(pthread_join(thread, &child));
	ece_show("active ", id);
	ece_show("passive", child);
	fflush(stdout);
	return system(argv[2]) != 0;
}
