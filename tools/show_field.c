// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fields of an id as text. Filters compare this text.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <endian.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "cmx_show.h"
#include "file.h"

#ifndef AF_IB
#define AF_IB 27
#endif

/* struct sockaddr_ib, which only the kernel's headers have */
struct show_sockaddr_ib {
	uint16_t family;
	uint16_t pkey;
	uint32_t flow_info;
	uint8_t addr[16];
	uint64_t sid;
};

/* in the order of Documentation/states.rst */
static const char * const states[] = {
	"idle", "bound", "addr-query", "addr-resolved", "route-query", "route-resolved", "listen",
	"connect", "disconnect", "removed", "dead",
};

static const char * const transports[] = {
	[CMX_ID_TRANSPORT_IB] = "InfiniBand",
	[CMX_ID_TRANSPORT_ROCE_V1] = "RoCE v1",
	[CMX_ID_TRANSPORT_ROCE_V2] = "RoCE v2",
	[CMX_ID_TRANSPORT_IWARP] = "iWARP",
};

static const char * const qp_types[] = {
	[IB_UVERBS_QPT_RC] = "RC", [IB_UVERBS_QPT_UC] = "UC", [IB_UVERBS_QPT_UD] = "UD",
	[IB_UVERBS_QPT_XRC_INI] = "XRC_INI", [IB_UVERBS_QPT_XRC_TGT] = "XRC_TGT",
};

/* The state that has two names, depending on CMX_ID_F_ESTABLISHED */
#define STATE_CONNECT 7
#define ESTABLISHED "established"

static bool is_busy(const struct cmx_id_record *r)
{
	return r->flags & CMX_ID_F_BUSY;
}

static bool number_text(uint32_t value, char *to, size_t size)
{
	return snprintf(to, size, "%u", value) > 0;
}

/* The number, if a newer module has a value that this program does not know */
static bool name_text(const char * const *names, size_t num, uint32_t value, char *to, size_t size)
{
	if (value >= num || !names[value])
		return number_text(value, to, size);
	return snprintf(to, size, "%s", names[value]) > 0;
}

static bool handle_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->handle && number_text(r->handle, to, size);
}

static bool pid_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->pid > 0 && number_text(r->pid, to, size);
}

static bool comm_text(const struct cmx_id_record *r, char *to, size_t size)
{
	bool kernel = r->flags & CMX_ID_F_KERNEL;

	if (!*r->comm)
		return kernel && snprintf(to, size, "kernel") > 0;
	return snprintf(to, size, kernel ? "[%.*s]" : "%.*s", (int)sizeof(r->comm), r->comm) > 0;
}

static bool uid_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return !(r->flags & CMX_ID_F_KERNEL) && number_text(r->uid, to, size);
}

static bool netns_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return number_text(r->netns, to, size);
}

static bool trace_id_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->trace_id && snprintf(to, size, "%016llx", (unsigned long long)r->trace_id) > 0;
}

static bool state_text(const struct cmx_id_record *r, char *to, size_t size)
{
	if (r->state == STATE_CONNECT && r->flags & CMX_ID_F_ESTABLISHED)
		return snprintf(to, size, ESTABLISHED) > 0;
	return name_text(states, ARRAY_SIZE(states), r->state, to, size);
}

static bool age_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return number_text(r->age, to, size);
}

static bool addr_text(const struct __kernel_sockaddr_storage *addr, char *to, size_t size)
{
	const struct show_sockaddr_ib *ib = (const void *)addr;
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	switch (addr->ss_family) {
	case AF_INET:
		return inet_ntop(AF_INET, &in->sin_addr, to, size);
	case AF_INET6:
		return inet_ntop(AF_INET6, &in6->sin6_addr, to, size);
	case AF_IB:
		return inet_ntop(AF_INET6, ib->addr, to, size);
	default:
		return false;
	}
}

static bool port_text(const struct __kernel_sockaddr_storage *addr, char *to, size_t size)
{
	const struct show_sockaddr_ib *ib = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	switch (addr->ss_family) {
	case AF_INET:
	case AF_INET6:
		return number_text(ntohs(in->sin_port), to, size);
	case AF_IB:
		return number_text(be64toh(ib->sid) & 0xffff, to, size);
	default:
		return false;
	}
}

static bool src_addr_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return addr_text(&r->src_addr, to, size);
}

static bool src_port_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return port_text(&r->src_addr, to, size);
}

static bool dst_addr_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return addr_text(&r->dst_addr, to, size);
}

static bool dst_port_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return port_text(&r->dst_addr, to, size);
}

static bool dev_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return *r->device && snprintf(to, size, "%.*s", (int)sizeof(r->device), r->device) > 0;
}

static bool dev_port_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->port_num && number_text(r->port_num, to, size);
}

static bool transport_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->transport &&
	       name_text(transports, ARRAY_SIZE(transports), r->transport, to, size);
}

static bool ps_text(const struct cmx_id_record *r, char *to, size_t size)
{
	switch (r->ps) {
	case RDMA_PS_IPOIB:
		return snprintf(to, size, "IPOIB") > 0;
	case RDMA_PS_IB:
		return snprintf(to, size, "IB") > 0;
	case RDMA_PS_TCP:
		return snprintf(to, size, "TCP") > 0;
	case RDMA_PS_UDP:
		return snprintf(to, size, "UDP") > 0;
	default:
		return number_text(r->ps, to, size);
	}
}

static bool qp_type_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return name_text(qp_types, ARRAY_SIZE(qp_types), r->qp_type, to, size);
}

static bool lqpn_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->qp_num && number_text(r->qp_num, to, size);
}

static bool groups_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return !is_busy(r) && number_text(r->groups, to, size);
}

static bool queued_text(const struct cmx_id_record *r, char *to, size_t size)
{
	return number_text(r->queued, to, size);
}

/* The names that rdma(8) has too are the same as there. */
const struct show_field show_fields[] = {
	{ .name = "handle", .text = handle_text, .number = true },
	{ .name = "pid", .text = pid_text, .number = true, .filter = true },
	{ .name = "comm", .text = comm_text },
	{ .name = "trace-id", .text = trace_id_text, .detail = true },
	{ .name = "uid", .text = uid_text, .number = true, .detail = true },
	{ .name = "netns", .text = netns_text, .number = true, .detail = true },
	{ .name = "state", .text = state_text, .filter = true },
	{ .name = "age", .text = age_text, .number = true },
	{ .name = "src-addr", .text = src_addr_text, .filter = true },
	{ .name = "src-port", .text = src_port_text, .number = true, .filter = true },
	{ .name = "dst-addr", .text = dst_addr_text, .filter = true },
	{ .name = "dst-port", .text = dst_port_text, .number = true, .filter = true },
	{ .name = "dev", .text = dev_text, .filter = true },
	{ .name = "port", .text = dev_port_text, .number = true, .filter = true },
	{ .name = "transport", .text = transport_text },
	{ .name = "ps", .text = ps_text },
	{ .name = "qp-type", .text = qp_type_text },
	{ .name = "lqpn", .text = lqpn_text, .number = true, .filter = true },
	{ .name = "groups", .text = groups_text, .number = true },
	{ .name = "queued", .text = queued_text, .number = true },
	{}
};

const struct show_field *show_field_find(const char *name)
{
	const struct show_field *field;

	for (field = show_fields; field->name; field++)
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}

static bool state_exists(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (!strcmp(states[i], name))
			return true;
	return !strcmp(name, ESTABLISHED);
}

/* Addresses in the form that the fields have */
static bool addr_parse(const char *value, char *to, size_t size)
{
	unsigned char addr[16];
	int family = strchr(value, ':') ? AF_INET6 : AF_INET;

	return inet_pton(family, value, addr) == 1 && inet_ntop(family, addr, to, size);
}

/* Decimal, or hexadecimal with 0x */
static bool number_parse(const char *value, char *to, size_t size)
{
	unsigned long long n;
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	n = strtoull(value, &end, tolower((unsigned char)value[1]) == 'x' ? 16 : 10);
	return !*end && n <= UINT32_MAX && snprintf(to, size, "%llu", n) > 0;
}

/**
 * show_filter_parse() - bring the value of a filter into the form of the field
 * @field: the field
 * @value: the value, as the user has written it
 * @to: receives the text that the field of a matching id has
 * @size: size of @to
 *
 * Return: false if the field can never have this value.
 */
bool show_filter_parse(const struct show_field *field, const char *value, char *to, size_t size)
{
	if (field->number)
		return number_parse(value, to, size);
	if (field->text == src_addr_text || field->text == dst_addr_text)
		return addr_parse(value, to, size);
	if (field->text == state_text && !state_exists(value))
		return false;
	return snprintf(to, size, "%s", value) < (int)size;
}

const struct cmx_id_option *show_options(const struct cmx_id_record *r)
{
	return (const void *)(r + 1);
}
