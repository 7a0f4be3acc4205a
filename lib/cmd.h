/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Building ioctl commands. The library and cmx(8) share this file.
 *
 * A command is on the stack of its caller. The caller adds the attributes in order:
 * cmxl_cmd_init(), cmxl_cmd_*(), cmxl_cmd_issue(). The buffers must stay valid until the command
 * has been issued.
 */
#ifndef CMXL_CMD_H
#define CMXL_CMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <rdma/cmx_ioctl.h>

/* maximum number of attributes in a command of this library */
#define CMXL_CMD_ATTRS 9

struct cmxl_cmd {
	union {
		struct cmx_ioctl_hdr hdr;
		unsigned char buf[sizeof(struct cmx_ioctl_hdr) +
				  CMXL_CMD_ATTRS * sizeof(struct ib_uverbs_attr)];
	};
};

static inline void cmxl_cmd_init(struct cmxl_cmd *cmd, uint16_t object, uint16_t method)
{
	memset(&cmd->hdr, 0, sizeof(cmd->hdr));
	cmd->hdr.object_id = object;
	cmd->hdr.method_id = method;
	/* the kernel module refuses a version that it does not support */
	cmd->hdr.abi_version = CMX_ABI_VERSION;
}

static inline struct ib_uverbs_attr *cmxl_cmd_attr(struct cmxl_cmd *cmd, uint16_t id, size_t len,
						   uint16_t flags)
{
	struct ib_uverbs_attr *attr = &cmd->hdr.attrs[cmd->hdr.num_attrs++];

	memset(attr, 0, sizeof(*attr));
	attr->attr_id = id;
	attr->len = len;
	attr->flags = flags;
	return attr;
}

/* Up to eight bytes are stored in the attribute itself. */
static inline void cmxl_cmd_in(struct cmxl_cmd *cmd, uint16_t id, const void *buf, size_t len)
{
	struct ib_uverbs_attr *attr = cmxl_cmd_attr(cmd, id, len, UVERBS_ATTR_F_MANDATORY);

	if (len > sizeof(attr->data))
		attr->data = (uintptr_t)buf;
	else if (len)
		memcpy(&attr->data, buf, len);
}

static inline void cmxl_cmd_u32(struct cmxl_cmd *cmd, uint16_t id, uint32_t value)
{
	cmxl_cmd_in(cmd, id, &value, sizeof(value));
}

static inline void cmxl_cmd_u64(struct cmxl_cmd *cmd, uint16_t id, uint64_t value)
{
	cmxl_cmd_in(cmd, id, &value, sizeof(value));
}

static inline void cmxl_cmd_out(struct cmxl_cmd *cmd, uint16_t id, void *buf, size_t len)
{
	cmxl_cmd_attr(cmd, id, len, 0)->data = (uintptr_t)buf;
}

/* Requests only the start of struct cmx_id_info, and marks the rest as not valid. */
static inline void cmxl_cmd_out_start(struct cmxl_cmd *cmd, struct cmx_id_info *info)
{
	/* not needed, but valgrind does not know that the kernel writes it */
	memset(info, 0, offsetof(struct cmx_id_info, dst_addr));
	info->dst_addr.ss_family = 0;
	info->init_attr.qp_state = 0;
	cmxl_cmd_out(cmd, CMX_ATTR_INFO, info, offsetof(struct cmx_id_info, dst_addr));
}

/* 0, or -1 with errno */
int cmxl_cmd_issue(struct cmxl_cmd *cmd, int fd);

#endif
