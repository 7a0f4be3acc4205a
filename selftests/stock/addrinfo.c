// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Prints the results of rdma_getaddrinfo() for a table of inputs.
 *
 * The library needs an RDMA device before it resolves a name. This program replaces the list of
 * devices of libibverbs by one with a fake device.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

static struct ibv_device device = { .name = "none0", .dev_name = "none0" };

#undef ibv_get_device_list
struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = calloc(2, sizeof(*list));

	if (list)
		list[0] = &device;
	if (num_devices)
		*num_devices = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

__be64 ibv_get_device_guid(struct ibv_device *dev)
{
	(void)dev;
	return htobe64(1);
}

int ibv_get_device_index(struct ibv_device *dev)
{
	(void)dev;
	return 0;
}

static struct sockaddr_in source = {
	.sin_family = AF_INET,
	.sin_port = 0x3412,
	.sin_addr = { 0x0100007f },
};

/* names of services that are longer than the name in a ServiceRecord, which has 63 bytes */
#define ZEROS_20 "00000000000000000000"
#define NAME_60 "a-service-of-sixty-bytes-which-neither-etc-services-has-nor-"
#define NAME_64 NAME_60 "NSS."
#define NAME_255 NAME_60 NAME_60 NAME_60 NAME_60 "fifteen-bytes.."

static const struct {
	const char *node, *service;
	struct rdma_addrinfo hints;
	int no_hints;
} cases[] = {
	{ .no_hints = 1 },
	{ "127.0.0.1", "7471", .no_hints = 1 },
	{ "127.0.0.1", NULL, .no_hints = 1 },
	{ NULL, "7471", .no_hints = 1 },
	{ "::1", "7471", .no_hints = 1 },
	{ "no.such.name.invalid", "7471", { .ai_flags = RAI_NUMERICHOST } },
	{ "127.0.0.1", "no-such-service", .no_hints = 1 },
	{ "127.0.0.1", NAME_64, .no_hints = 1 },
	{ "127.0.0.1", NAME_255, .no_hints = 1 },
	{ "127.0.0.1", NAME_255 "x", .no_hints = 1 },
	{ NULL, NAME_64, { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP } },
	{ "127.0.0.1", ZEROS_20 ZEROS_20 ZEROS_20 "7471", .no_hints = 1 },
	{ "127.0.0.1", "7471", {} },
	{ "127.0.0.1", "7471", { .ai_flags = RAI_NUMERICHOST } },
	{ "127.0.0.1", "7471", { .ai_flags = RAI_PASSIVE } },
	{ "127.0.0.1", "7471", { .ai_port_space = RDMA_PS_TCP } },
	{ "127.0.0.1", "7471", { .ai_port_space = RDMA_PS_UDP } },
	{ "127.0.0.1", "7471", { .ai_port_space = RDMA_PS_IPOIB } },
	{ "127.0.0.1", "7471", { .ai_port_space = RDMA_PS_IB } },
	{ "127.0.0.1", "7471", { .ai_port_space = RDMA_PS_IB, .ai_qp_type = IBV_QPT_RC } },
	{ "127.0.0.1", "7471", { .ai_port_space = RDMA_PS_IB, .ai_qp_type = IBV_QPT_UD } },
	{ "127.0.0.1", "7471", { .ai_port_space = RDMA_PS_UDP, .ai_qp_type = IBV_QPT_RC } },
	{ "127.0.0.1", "7471", { .ai_port_space = 0x7777 } },
	{ "127.0.0.1", "7471", { .ai_qp_type = IBV_QPT_RC } },
	{ "127.0.0.1", "7471", { .ai_qp_type = IBV_QPT_UC } },
	{ "127.0.0.1", "7471", { .ai_qp_type = IBV_QPT_UD } },
	{ "127.0.0.1", "7471", { .ai_qp_type = IBV_QPT_XRC_SEND } },
	{ "127.0.0.1", "7471", { .ai_qp_type = IBV_QPT_XRC_RECV, .ai_flags = RAI_PASSIVE } },
	{ "127.0.0.1", "7471", { .ai_qp_type = 77 } },
	{ "127.0.0.1", "7471", { .ai_family = AF_INET6 } },
	{ "::1", "7471", { .ai_family = AF_INET6 } },
	{ "::1", "7471", { .ai_family = AF_INET } },
	{ "127.0.0.1", "7471", { .ai_family = 77 } },
	{ NULL, "7471", { .ai_flags = RAI_PASSIVE } },
	{ NULL, "7471", { .ai_flags = RAI_PASSIVE, .ai_family = AF_INET6 } },
	{ NULL, "7471", { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_UDP } },
	{ NULL, "7471", { .ai_flags = RAI_NOROUTE } },
	{ "fe80::1", "7471", { .ai_flags = RAI_NUMERICHOST | RAI_FAMILY, .ai_family = AF_IB } },
	{ "fe80::1", "7471", { .ai_flags = RAI_NUMERICHOST | RAI_FAMILY | RAI_PASSIVE,
			       .ai_family = AF_IB, .ai_port_space = RDMA_PS_TCP } },
	{ "fe80::1", NULL, { .ai_flags = RAI_NUMERICHOST | RAI_FAMILY, .ai_family = AF_IB,
			     .ai_port_space = RDMA_PS_UDP } },
	{ "fe80::1", "7471", { .ai_family = AF_IB } },
	{ "127.0.0.1", "7471", { .ai_flags = RAI_FAMILY, .ai_family = AF_INET } },
	{ "127.0.0.1", "7471", { .ai_src_addr = (struct sockaddr *)&source,
				 .ai_src_len = sizeof(source) } },
	{ "127.0.0.1", "7471", { .ai_flags = RAI_PASSIVE,
				 .ai_src_addr = (struct sockaddr *)&source,
				 .ai_src_len = sizeof(source) } },
	{ NULL, NULL, { .ai_flags = RAI_PASSIVE | RAI_NUMERICHOST, .ai_family = AF_INET,
			.ai_qp_type = IBV_QPT_UD, .ai_port_space = RDMA_PS_UDP,
			.ai_src_addr = (struct sockaddr *)&source,
			.ai_src_len = sizeof(source) } },
	{ NULL, NULL, { .ai_dst_addr = (struct sockaddr *)&source,
			.ai_dst_len = sizeof(source) } },
	{ NULL, NULL, {} },
};

static void addr_print(const char *name, const struct sockaddr *addr, socklen_t len)
{
	const unsigned char *byte = (const void *)addr;
	socklen_t i;

	printf(" %s %u:", name, len);
	for (i = 0; addr && i < len; i++)
		printf("%02x", byte[i]);
}

static void addrinfo_print(const struct rdma_addrinfo *rai)
{
	for (; rai; rai = rai->ai_next) {
		printf("   flags %#x family %d qp %d ps %#x", rai->ai_flags, rai->ai_family,
		       rai->ai_qp_type, rai->ai_port_space);
		addr_print("src", rai->ai_src_addr, rai->ai_src_len);
		addr_print("dst", rai->ai_dst_addr, rai->ai_dst_len);
		printf(" names %s %s route %zu connect %zu\n",
		       rai->ai_src_canonname ? rai->ai_src_canonname : "-",
		       rai->ai_dst_canonname ? rai->ai_dst_canonname : "-",
		       rai->ai_route_len, rai->ai_connect_len);
	}
}

int main(void)
{
	struct rdma_addrinfo *res;
	unsigned int i;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		res = NULL;
		errno = 0;
		ret = rdma_getaddrinfo(cases[i].node, cases[i].service,
				       cases[i].no_hints ? NULL : &cases[i].hints, &res);
		/* errno is valid only after -1 */
		printf("%u: %d errno %d\n", i, ret, ret == -1 ? errno : 0);
		if (ret)
			continue;
		addrinfo_print(res);
		rdma_freeaddrinfo(res);
	}
	return 0;
}
