// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Translation of names and services to RDMA addresses, with getaddrinfo(3).
 */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include "cmx_lib.h"

static int cmxl_rai_socktype(int qp_type)
{
	switch (qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return SOCK_STREAM;
	case IBV_QPT_UD:
		return SOCK_DGRAM;
	default:
		return 0;
	}
}

static int cmxl_rai_protocol(int port_space, int socktype)
{
	switch (port_space) {
	case RDMA_PS_TCP:
		return IPPROTO_TCP;
	case RDMA_PS_IPOIB:
	case RDMA_PS_UDP:
		return IPPROTO_UDP;
	case RDMA_PS_IB:
		if (socktype == SOCK_STREAM)
			return IPPROTO_TCP;
		return socktype == SOCK_DGRAM ? IPPROTO_UDP : 0;
	default:
		return 0;
	}
}

/* Do addresses in the result have the family AF_IB? */
static bool cmxl_rai_wants_ib(const struct rdma_addrinfo *hints)
{
	return hints->ai_flags & RAI_FAMILY && hints->ai_flags & RAI_NUMERICHOST &&
	       hints->ai_family == AF_IB;
}

static void cmxl_ai_from_hints(struct addrinfo *ai, const struct rdma_addrinfo *hints)
{
	memset(ai, 0, sizeof(*ai));
	if (hints->ai_flags & RAI_PASSIVE)
		ai->ai_flags |= AI_PASSIVE;
	if (hints->ai_flags & RAI_NUMERICHOST)
		ai->ai_flags |= AI_NUMERICHOST;
	/* a GID is written as an IPv6 address */
	if (cmxl_rai_wants_ib(hints))
		ai->ai_family = AF_INET6;
	else if (hints->ai_family != AF_IB)
		ai->ai_family = hints->ai_family;
	ai->ai_socktype = cmxl_rai_socktype(hints->ai_qp_type);
	ai->ai_protocol = cmxl_rai_protocol(hints->ai_port_space, ai->ai_socktype);
}

static int cmxl_rai_copy_addr(struct sockaddr **dst, socklen_t *dst_len, const void *src,
			      socklen_t len)
{
	*dst = malloc(len);
	if (!*dst)
		return EAI_MEMORY;
	memcpy(*dst, src, len);
	*dst_len = len;
	return 0;
}

static int cmxl_rai_copy_addr_ib(struct sockaddr **dst, socklen_t *dst_len,
				 const struct sockaddr *src, int port_space)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)src;
	struct sockaddr_ib *ib;

	ib = calloc(1, sizeof(*ib));
	if (!ib)
		return EAI_MEMORY;
	ib->sib_family = AF_IB;
	ib->sib_pkey = htobe16(0xffff);
	ib->sib_flowinfo = in6->sin6_flowinfo;
	memcpy(&ib->sib_addr, &in6->sin6_addr, sizeof(ib->sib_addr));
	ib->sib_sid = htobe64(((uint64_t)port_space << 16) + be16toh(in6->sin6_port));
	if (port_space)
		ib->sib_sid_mask |= htobe64(RDMA_IB_IP_PS_MASK);
	if (in6->sin6_port)
		ib->sib_sid_mask |= htobe64(RDMA_IB_IP_PORT_MASK);
	ib->sib_scope_id = in6->sin6_scope_id;
	*dst = (struct sockaddr *)ib;
	*dst_len = sizeof(*ib);
	return 0;
}

static int cmxl_rai_from_ai(struct rdma_addrinfo *rai, const struct rdma_addrinfo *hints,
			    const struct addrinfo *ai)
{
	bool passive = ai->ai_flags & AI_PASSIVE;
	bool ib = cmxl_rai_wants_ib(hints);
	struct sockaddr **addr = passive ? &rai->ai_src_addr : &rai->ai_dst_addr;
	socklen_t *len = passive ? &rai->ai_src_len : &rai->ai_dst_len;
	char **name = passive ? &rai->ai_src_canonname : &rai->ai_dst_canonname;

	rai->ai_qp_type = hints->ai_qp_type;
	if (!rai->ai_qp_type && ai->ai_socktype == SOCK_STREAM)
		rai->ai_qp_type = IBV_QPT_RC;
	else if (!rai->ai_qp_type && ai->ai_socktype == SOCK_DGRAM)
		rai->ai_qp_type = IBV_QPT_UD;

	rai->ai_port_space = hints->ai_port_space;
	if (!rai->ai_port_space && ai->ai_protocol == IPPROTO_TCP)
		rai->ai_port_space = RDMA_PS_TCP;
	else if (!rai->ai_port_space && ai->ai_protocol == IPPROTO_UDP)
		rai->ai_port_space = RDMA_PS_UDP;

	if (passive)
		rai->ai_flags = RAI_PASSIVE;
	if (ai->ai_canonname)
		*name = strdup(ai->ai_canonname);
	rai->ai_family = ib ? AF_IB : ai->ai_family;
	if (ib)
		return cmxl_rai_copy_addr_ib(addr, len, ai->ai_addr, rai->ai_port_space);
	return cmxl_rai_copy_addr(addr, len, ai->ai_addr, ai->ai_addrlen);
}

static int cmxl_rai_resolve_names(const char *node, const char *service,
				  const struct rdma_addrinfo *hints, struct rdma_addrinfo *rai)
{
	static const struct rdma_addrinfo no_hints;
	struct addrinfo ai_hints, *ai;
	int ret;

	if (hints)
		cmxl_ai_from_hints(&ai_hints, hints);
	ret = getaddrinfo(node, service, hints ? &ai_hints : NULL, &ai);
	if (ret)
		return ret;
	ret = cmxl_rai_from_ai(rai, hints ? hints : &no_hints, ai);
	freeaddrinfo(ai);
	return ret;
}

static bool cmxl_ai_is_sa(const struct rdma_addrinfo *hints)
{
	return hints && hints->ai_flags & RAI_SA;
}

static int cmxl_rai_copy_hints(struct rdma_addrinfo *rai, const struct rdma_addrinfo *hints)
{
	rai->ai_flags = hints->ai_flags;
	rai->ai_family = hints->ai_family;
	rai->ai_qp_type = hints->ai_qp_type;
	rai->ai_port_space = hints->ai_port_space;
	if (!hints->ai_dst_len)
		return 0;
	return cmxl_rai_copy_addr(&rai->ai_dst_addr, &rai->ai_dst_len, hints->ai_dst_addr,
				  hints->ai_dst_len);
}

/* Returns 0, -1 with errno set, or an EAI_ code for gai_strerror(3). */
int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *rai;
	int ret;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_getaddrinfo, -1, (node, service, hints, res));
	if (!res || (!service && !node && !hints))
		return cmxl_err(EINVAL);
	if (cmxl_ai_is_sa(hints))
		return node || hints->ai_flags & RAI_DNS ? cmxl_err(EOPNOTSUPP) :
			cmxl_service_getaddrinfo(service, res);
	if (cmxl_devices_init())
		return -1;
	rai = calloc(1, sizeof(*rai));
	if (!rai)
		return cmxl_err(ENOMEM);

	if (node || service)
		ret = cmxl_rai_resolve_names(node, service, hints, rai);
	else
		ret = cmxl_rai_copy_hints(rai, hints);
	if (!ret && hints && !rai->ai_src_len && hints->ai_src_len)
		ret = cmxl_rai_copy_addr(&rai->ai_src_addr, &rai->ai_src_len, hints->ai_src_addr,
					 hints->ai_src_len);
	if (ret) {
		rdma_freeaddrinfo(rai);
		return ret == EAI_MEMORY ? cmxl_err(ENOMEM) : ret;
	}
	*res = rai;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct rdma_addrinfo *next;

	if (cmxl_system_is_used()) {
		CMXL_SYSTEM_CALL(rdma_freeaddrinfo, (void)0, (res));
		return;
	}
	for (; res; res = next) {
		next = res->ai_next;
		free(res->ai_connect);
		free(res->ai_route);
		free(res->ai_src_canonname);
		free(res->ai_dst_canonname);
		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res);
	}
}

/* Sets errno for the result of rdma_getaddrinfo(). */
static int cmxl_rai_error(int ret)
{
	switch (ret) {
	case -1:
	case EAI_SYSTEM:
		return -1;
	case EAI_AGAIN:
		return cmxl_err(EAGAIN);
	case EAI_FAMILY:
		return cmxl_err(EAFNOSUPPORT);
	default:
		return cmxl_err(ENOENT);
	}
}

/* False if the result of an earlier call was not taken yet. */
static bool cmxl_ai_begin(struct cmxl_id *id)
{
	bool begun;

	pthread_mutex_lock(&id->lock);
	begun = !id->resolving_ai;
	id->resolving_ai = true;
	pthread_mutex_unlock(&id->lock);
	return begun;
}

void cmxl_ai_end(struct cmxl_id *id)
{
	pthread_mutex_lock(&id->lock);
	id->resolving_ai = false;
	pthread_mutex_unlock(&id->lock);
}

static void cmxl_ai_set(struct cmxl_id *id, struct rdma_addrinfo *rai)
{
	pthread_mutex_lock(&id->lock);
	id->resolved_ai = rai;
	pthread_mutex_unlock(&id->lock);
}

bool cmxl_ai_is_known(struct cmxl_id *id)
{
	bool known;

	pthread_mutex_lock(&id->lock);
	known = id->resolved_ai;
	pthread_mutex_unlock(&id->lock);
	return known;
}

/* Fetches the result of the SA. Returns 0, or -1 with errno set. */
int cmxl_ai_fetch(struct cmxl_id *id)
{
	struct rdma_addrinfo *rai = cmxl_service_fetch(id);

	if (!rai)
		return -1;
	cmxl_ai_set(id, rai);
	return 0;
}

/* NULL if there is no result. */
static struct rdma_addrinfo *cmxl_ai_take(struct cmxl_id *id)
{
	struct rdma_addrinfo *rai;

	pthread_mutex_lock(&id->lock);
	rai = id->resolved_ai;
	if (rai) {
		id->resolved_ai = NULL;
		id->resolving_ai = false;
	}
	pthread_mutex_unlock(&id->lock);
	return rai;
}

static int cmxl_ai_resolve(struct cmxl_id *id, const char *node, const char *service,
			   const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *rai;
	int ret;

	if (cmxl_ai_is_sa(hints)) {
		ret = node || hints->ai_flags & RAI_DNS ? cmxl_err(EOPNOTSUPP) :
			cmxl_service_resolve(id, service);
		if (ret)
			cmxl_ai_end(id);
		return ret;
	}
	/* -1 is also EAI_BADFLAGS */
	errno = EINVAL;
	ret = rdma_getaddrinfo(node, service, hints, &rai);
	if (ret) {
		cmxl_ai_end(id);
		return cmxl_rai_error(ret);
	}
	/* another thread may fetch the event at once, and query the result */
	cmxl_ai_set(id, rai);
	ret = cmxl_event_write(id, CMX_EVENT_ADDRINFO_RESOLVED, 0, 0);
	if (ret) {
		ret = errno;
		rdma_freeaddrinfo(cmxl_ai_take(id));
		return cmxl_err(ret);
	}
	return 0;
}

int rdma_resolve_addrinfo(struct rdma_cm_id *cm_id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints)
{
	struct cmxl_id *id;
	bool sync;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_resolve_addrinfo, -1, (cm_id, node, service, hints));
	if (!cm_id)
		return cmxl_err(EINVAL);
	id = to_cmxl_id(cm_id);
	if (!cmxl_ai_begin(id))
		return cmxl_err(EBUSY);
	sync = id->sync;
	if (cmxl_ai_resolve(id, node, service, hints))
		return -1;
	/* another thread may have destroyed the id meanwhile, see cmxl_id_run() */
	return sync ? cmxl_id_wait_event(id) : 0;
}

int rdma_query_addrinfo(struct rdma_cm_id *cm_id, struct rdma_addrinfo **info)
{
	struct rdma_addrinfo *rai;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_query_addrinfo, -1, (cm_id, info));
	if (!cm_id || !info)
		return cmxl_err(EINVAL);
	rai = cmxl_ai_take(to_cmxl_id(cm_id));
	if (!rai)
		return cmxl_err(ENOENT);
	*info = rai;
	return 0;
}
