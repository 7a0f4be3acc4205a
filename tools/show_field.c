// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fields of an id as text. Filters compare this text.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "args.h"
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

static bool show_id_is_busy(const struct cmx_id_record *r)
{
	return r->flags & CMX_ID_F_BUSY;
}

static bool show_number_write(uint32_t value, char *to, size_t size)
{
	return snprintf(to, size, "%u", value) > 0;
}

/* The number, if a newer module has a value that this program does not know */
static bool show_name_write(const char * const *names, size_t num, uint32_t value, char *to,
			    size_t size)
{
	if (value >= num || !names[value])
		return show_number_write(value, to, size);
	return snprintf(to, size, "%s", names[value]) > 0;
}

static bool show_handle_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->handle && show_number_write(r->handle, to, size);
}

static bool show_pid_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->pid > 0 && show_number_write(r->pid, to, size);
}

static bool show_comm_write(const struct cmx_id_record *r, char *to, size_t size)
{
	bool kernel = r->flags & CMX_ID_F_KERNEL;

	if (!*r->comm)
		return kernel && snprintf(to, size, "kernel") > 0;
	return snprintf(to, size, kernel ? "[%.*s]" : "%.*s", (int)sizeof(r->comm), r->comm) > 0;
}

static bool show_uid_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return !(r->flags & CMX_ID_F_KERNEL) && show_number_write(r->uid, to, size);
}

static bool show_netns_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return show_number_write(r->netns, to, size);
}

static bool show_trace_id_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->trace_id && snprintf(to, size, "%016llx", (unsigned long long)r->trace_id) > 0;
}

static bool show_state_write(const struct cmx_id_record *r, char *to, size_t size)
{
	if (r->state == STATE_CONNECT && r->flags & CMX_ID_F_ESTABLISHED)
		return snprintf(to, size, ESTABLISHED) > 0;
	return show_name_write(states, ARRAY_SIZE(states), r->state, to, size);
}

static bool show_age_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return show_number_write(r->age, to, size);
}

static bool show_addr_write(const struct __kernel_sockaddr_storage *addr, char *to, size_t size)
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

static bool show_port_write(const struct __kernel_sockaddr_storage *addr, char *to, size_t size)
{
	const struct show_sockaddr_ib *ib = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	switch (addr->ss_family) {
	case AF_INET:
	case AF_INET6:
		return show_number_write(ntohs(in->sin_port), to, size);
	case AF_IB:
		return show_number_write(be64toh(ib->sid) & 0xffff, to, size);
	default:
		return false;
	}
}

static bool show_src_addr_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return show_addr_write(&r->src_addr, to, size);
}

static bool show_src_port_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return show_port_write(&r->src_addr, to, size);
}

static bool show_dst_addr_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return show_addr_write(&r->dst_addr, to, size);
}

static bool show_dst_port_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return show_port_write(&r->dst_addr, to, size);
}

static bool show_dev_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return *r->device && snprintf(to, size, "%.*s", (int)sizeof(r->device), r->device) > 0;
}

static bool show_dev_port_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->port_num && show_number_write(r->port_num, to, size);
}

static bool show_transport_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->transport &&
	       show_name_write(transports, ARRAY_SIZE(transports), r->transport, to, size);
}

const char *show_ps_name(uint32_t ps)
{
	switch (ps) {
	case CMX_PS_IPOIB:
		return "IPOIB";
	case CMX_PS_IB:
		return "IB";
	case CMX_PS_TCP:
		return "TCP";
	case CMX_PS_UDP:
		return "UDP";
	default:
		return NULL;
	}
}

static bool show_ps_write(const struct cmx_id_record *r, char *to, size_t size)
{
	const char *name = show_ps_name(r->ps);

	return name ? snprintf(to, size, "%s", name) > 0 : show_number_write(r->ps, to, size);
}

static bool show_qp_type_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return show_name_write(qp_types, ARRAY_SIZE(qp_types), r->qp_type, to, size);
}

static bool show_lqpn_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return r->qp_num && show_number_write(r->qp_num, to, size);
}

static bool show_groups_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return !show_id_is_busy(r) && show_number_write(r->groups, to, size);
}

static bool show_queued_write(const struct cmx_id_record *r, char *to, size_t size)
{
	return show_number_write(r->queued, to, size);
}

/* The names that rdma(8) has too are the same as there. */
const struct show_field show_fields[] = {
	{ .name = "handle", .write = show_handle_write, .number = true, .filter = true },
	{ .name = "pid", .write = show_pid_write, .number = true, .filter = true },
	{ .name = "comm", .write = show_comm_write },
	{ .name = "trace-id", .write = show_trace_id_write, .detail = true },
	{ .name = "uid", .write = show_uid_write, .number = true, .detail = true },
	{ .name = "netns", .write = show_netns_write, .number = true, .detail = true, .filter = true },
	{ .name = "state", .write = show_state_write, .filter = true },
	{ .name = "age", .write = show_age_write, .number = true },
	{ .name = "src-addr", .write = show_src_addr_write, .filter = true },
	{ .name = "src-port", .write = show_src_port_write, .number = true, .filter = true },
	{ .name = "dst-addr", .write = show_dst_addr_write, .filter = true },
	{ .name = "dst-port", .write = show_dst_port_write, .number = true, .filter = true },
	{ .name = "dev", .write = show_dev_write, .filter = true },
	{ .name = "port", .write = show_dev_port_write, .number = true, .filter = true },
	{ .name = "transport", .write = show_transport_write },
	{ .name = "ps", .write = show_ps_write },
	{ .name = "qp-type", .write = show_qp_type_write },
	{ .name = "lqpn", .write = show_lqpn_write, .number = true, .filter = true },
	{ .name = "groups", .write = show_groups_write, .number = true },
	{ .name = "queued", .write = show_queued_write, .number = true },
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

const char *show_state_name(size_t i)
{
	if (i < ARRAY_SIZE(states))
		return states[i];
	return i == ARRAY_SIZE(states) ? ESTABLISHED : NULL;
}

static bool show_state_exists(const char *name)
{
	const char *state;
	size_t i;

	for (i = 0; (state = show_state_name(i)); i++)
		if (!strcmp(state, name))
			return true;
	return false;
}

/* Addresses in the form that the fields have */
static bool show_addr_parse(const char *value, char *to, size_t size)
{
	unsigned char addr[16];
	int family = strchr(value, ':') ? AF_INET6 : AF_INET;

	return inet_pton(family, value, addr) == 1 && inet_ntop(family, addr, to, size);
}

static bool show_number_parse(const char *value, char *to, size_t size)
{
	uint64_t n;

	return tool_number_parse(value, 0, UINT32_MAX, &n) &&
	       snprintf(to, size, "%llu", (unsigned long long)n) > 0;
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
		return show_number_parse(value, to, size);
	if (field->write == show_src_addr_write || field->write == show_dst_addr_write)
		return show_addr_parse(value, to, size);
	if (field->write == show_state_write && !show_state_exists(value))
		return false;
	return snprintf(to, size, "%s", value) < (int)size;
}

const struct cmx_id_option *show_options(const struct cmx_id_record *r)
{
	return (const void *)(r + 1);
}
