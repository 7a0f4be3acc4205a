// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program that uses an extension where there is one. It is linked with the system's library.
 *   optional stock|ours
 */
#include <stdio.h>
#include <string.h>

#define RDMA_CMX_OPTIONAL
#include <rdma/rdma_cmx.h>

/* The in-tree stack needs no device for this: the functions are not there. */
static int on_stock(void)
{
	return rdma_cmx_get_version() ||
	       !rdma_cmx_get_option(NULL, 0, 0, NULL, NULL, NULL) || errno != ENOSYS ||
	       !rdma_cmx_query_ece(NULL, NULL, 0) || errno != ENOSYS ||
	       !rdma_cmx_join_multicast(NULL, NULL, NULL, 0, NULL) || errno != ENOSYS ||
	       rdma_cmx_get_events(NULL, NULL, 0) >= 0 || errno != ENOSYS ||
	       !rdma_cmx_query_event(NULL, NULL, 0) || errno != ENOSYS;
}

static int on_ours(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	uint8_t tos = 8, got = 0;
	size_t len = sizeof(got);

	return !channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	       !rdma_cmx_get_version() ||
	       rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) ||
	       rdma_cmx_get_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &got, &len, NULL) ||
	       got != tos;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return strcmp(argv[1], "stock") ? on_ours() : on_stock();
}
