// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * both stock|ours: a program that uses the extensions, on the stack that its argument names
 */
#include <stdio.h>
#include <string.h>
#include <rdma/rdma_cmx.h>

#define IS_NOT_THERE(call) (errno = 0, (call) && errno == ENOSYS)

/* The system's library has none of the functions, so no device is needed. */
static int stock_is_right(void)
{
	return !IS_NOT_THERE(!rdma_cmx_get_version()) ||
	       !IS_NOT_THERE(rdma_cmx_get_option(NULL, 0, 0, NULL, NULL, NULL)) ||
	       !IS_NOT_THERE(rdma_cmx_query_ece(NULL, NULL, 0)) ||
	       !IS_NOT_THERE(rdma_cmx_join_multicast(NULL, NULL, NULL, 0, NULL)) ||
	       !IS_NOT_THERE(rdma_cmx_get_events(NULL, NULL, 0)) ||
	       !IS_NOT_THERE(rdma_cmx_query_event(NULL, NULL, 0));
}

static int ours_is_right(void)
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
	return strcmp(argv[1], "stock") ? ours_is_right() : stock_is_right();
}
