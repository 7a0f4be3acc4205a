// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RAI_SA: the SA of a subnet tells which ports offer a service, with ServiceRecords.
 */
#include <stdlib.h>
#include <string.h>
#include "cmx_lib.h"

/* A service is a number, or else a name. */
static bool cmxl_service_is_id(const char *service, uint64_t *id)
{
	char *end;

	errno = 0;
	*id = strtoull(service, &end, 0);
	return !errno && end != service && !*end;
}

int cmxl_service_resolve(struct cmxl_id *id, const char *service)
{
	struct cmxl_cmd cmd;
	uint64_t number;

	if (!service || !*service)
		return cmxl_err(EINVAL);
	/* the kernel checks the exact limit; the length must fit into an attribute */
	if (strlen(service) > UINT16_MAX)
		return cmxl_err(E2BIG);
	cmxl_id_cmd(&cmd, id, CMX_ID_RESOLVE_SERVICE);
	if (cmxl_service_is_id(service, &number))
		cmxl_cmd_u64(&cmd, CMX_ATTR_SERVICE_ID, htobe64(number));
	else
		cmxl_cmd_in(&cmd, CMX_ATTR_SERVICE_NAME, service, strlen(service));
	if (!cmxl_id_issue(&cmd, id))
		return 0;
	/* an older module does not know the method */
	return errno == EPROTONOSUPPORT ? cmxl_err(EOPNOTSUPP) : -1;
}

static struct rdma_addrinfo *cmxl_service_to_rai(const struct cmx_service_rec *rec)
{
	struct rdma_addrinfo *rai = calloc(1, sizeof(*rai));
	struct sockaddr_ib *ib = calloc(1, sizeof(*ib));

	if (!rai || !ib) {
		free(rai);
		free(ib);
		return NULL;
	}
	ib->sib_family = AF_IB;
	ib->sib_pkey = htobe16(rec->pkey);
	memcpy(&ib->sib_addr, rec->gid, sizeof(ib->sib_addr));
	ib->sib_sid = rec->service_id;
	ib->sib_sid_mask = htobe64(UINT64_MAX);
	rai->ai_flags = RAI_SA;
	rai->ai_family = AF_IB;
	rai->ai_port_space = RDMA_PS_IB;
	rai->ai_dst_addr = (struct sockaddr *)ib;
	rai->ai_dst_len = sizeof(*ib);
	return rai;
}

/* The records that the kernel has for the id, or NULL with errno set. */
static struct cmx_service_rec *cmxl_service_query(struct cmxl_id *id, uint32_t *count)
{
	struct cmx_service_rec *recs;
	struct cmxl_cmd cmd;
	uint32_t max;

	*count = 8;
	do {
		max = *count;
		recs = calloc(max, sizeof(*recs));
		if (!recs)
			return NULL;
		cmxl_id_cmd(&cmd, id, CMX_ID_QUERY_SERVICES);
		cmxl_cmd_u32(&cmd, CMX_ATTR_RECORD_SIZE, sizeof(*recs));
		cmxl_cmd_out(&cmd, CMX_ATTR_SERVICES, recs, max * sizeof(*recs));
		cmxl_cmd_out(&cmd, CMX_ATTR_COUNT, count, sizeof(*count));
		if (!cmxl_id_issue(&cmd, id) && *count <= max)
			return recs;
		free(recs);
	} while (*count > max);
	return NULL;
}

/* The result of the SA, or NULL with errno set. */
struct rdma_addrinfo *cmxl_service_fetch(struct cmxl_id *id)
{
	struct rdma_addrinfo *first = NULL, **next = &first;
	struct cmx_service_rec *recs;
	uint32_t count, i;

	recs = cmxl_service_query(id, &count);
	for (i = 0; recs && i < count; i++) {
		*next = cmxl_service_to_rai(&recs[i]);
		if (!*next) {
			rdma_freeaddrinfo(first);
			first = NULL;
			errno = ENOMEM;
			break;
		}
		next = &(*next)->ai_next;
	}
	free(recs);
	return first;
}

static int cmxl_service_bind(struct rdma_cm_id *id, struct ibv_context *verbs, uint8_t port,
			     struct sockaddr_ib *src)
{
	struct ibv_port_attr attr;
	union ibv_gid gid;

	if (ibv_query_port(verbs, port, &attr) || attr.link_layer != IBV_LINK_LAYER_INFINIBAND ||
	    attr.state < IBV_PORT_ACTIVE || ibv_query_gid(verbs, port, 0, &gid))
		return cmxl_err(ENOENT);
	memset(src, 0, sizeof(*src));
	src->sib_family = AF_IB;
	src->sib_pkey = htobe16(0xffff);
	memcpy(&src->sib_addr, &gid, sizeof(src->sib_addr));
	return rdma_bind_addr(id, (struct sockaddr *)src);
}

/* Asks the SA of one port. */
static int cmxl_service_ask(struct ibv_context *verbs, uint8_t port, const char *service,
			    struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *rai;
	struct sockaddr_ib src;
	struct rdma_cm_id *id;
	int ret;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_IB))
		return -1;
	ret = cmxl_service_bind(id, verbs, port, &src);
	if (!ret)
		ret = cmxl_service_resolve(to_cmxl_id(id), service);
	if (!ret)
		ret = cmxl_id_wait_event(to_cmxl_id(id));
	if (!ret)
		ret = rdma_query_addrinfo(id, res);
	for (rai = ret ? NULL : *res; rai; rai = rai->ai_next) {
		rai->ai_src_addr = malloc(sizeof(src));
		if (!rai->ai_src_addr)
			continue;
		src.sib_pkey = ((struct sockaddr_ib *)rai->ai_dst_addr)->sib_pkey;
		memcpy(rai->ai_src_addr, &src, sizeof(src));
		rai->ai_src_len = sizeof(src);
	}
	rdma_destroy_id(id);
	return ret;
}

/* Asks the SA of each active InfiniBand port, until one knows the service. */
int cmxl_service_getaddrinfo(const char *service, struct rdma_addrinfo **res)
{
	struct ibv_context **list;
	struct ibv_device_attr attr;
	int i, port, err = ENOENT;

	if (!service)
		return cmxl_err(EINVAL);
	list = rdma_get_devices(NULL);
	if (!list)
		return -1;
	for (i = 0; list[i]; i++) {
		if (ibv_query_device(list[i], &attr))
			continue;
		for (port = 1; port <= attr.phys_port_cnt; port++) {
			if (!cmxl_service_ask(list[i], port, service, res)) {
				rdma_free_devices(list);
				return 0;
			}
			if (errno == EOPNOTSUPP)
				err = EOPNOTSUPP;
		}
	}
	rdma_free_devices(list);
	return cmxl_err(err);
}
