/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_IOCTL_H
#define CMX_IOCTL_H

#include <linux/fs.h>
#include "attr.h"
#include "channel.h"

/**
 * struct cmx_call - a command that is being executed
 * @filp: the open file
 * @channel: its channel
 * @index: which attributes are given
 * @attrs: the attributes. Inputs are truncated to the length that the method
 *	knows; one of at most eight bytes is then stored in the attribute
 */
struct cmx_call {
	struct file *filp;
	struct cmx_channel *channel;
	struct cmx_attr_index index;
	struct ib_uverbs_attr attrs[CMX_MAX_ATTRS];
};

/**
 * struct cmx_method - one method
 * @call: handler, or NULL
 * @id_call: handler if @call is NULL. It works on the id of %CMX_ATTR_ID, which
 *	the engine has looked up, or without it on a new one
 * @attrs: attributes that it takes
 */
struct cmx_method {
	int (*call)(struct cmx_call *call);
	int (*id_call)(struct cmx_call *call, struct cmx_user_id *user_id);
	struct cmx_attr_spec attrs[CMX_METHOD_ATTRS];
};

/*
 * Minimum size of each structure: it includes the last field that is mandatory in the first
 * version. These sizes never increase.
 */
#define CMX_MIN_CONN_PARAM	offsetofend(struct cmx_conn_param, valid)
#define CMX_MIN_ECE		offsetofend(struct cmx_ece, options)
#define CMX_MIN_ECE_INFO	offsetofend(struct cmx_ece_info, flags)
#define CMX_MIN_EVENT		offsetofend(struct cmx_event_resp, param)
#define CMX_MIN_EVENT_SIZES	offsetofend(struct cmx_event_sizes, info)
#define CMX_MIN_ID_RECORD	offsetofend(struct cmx_id_record, device)
#define CMX_MIN_INFO		offsetofend(struct cmx_id_info, src_addr)
#define CMX_MIN_MCAST_ATTR	offsetofend(struct cmx_mcast_attr, scope)
#define CMX_MIN_MODULE_INFO	offsetofend(struct cmx_module_info, max_attrs)
#define CMX_MIN_QP_ATTR		offsetofend(struct ib_uverbs_qp_attr, reserved)
#define CMX_MIN_SERVICE_REC	offsetofend(struct cmx_service_rec, lease)

#define CMX_OUTPUT_INFO CMX_OUTPUT_OPT(INFO, CMX_MIN_INFO)

long cmx_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);

/* call.c */
int cmx_call_prepare(struct cmx_call *call, const struct cmx_attr_spec *spec);

/* Returns the attribute, or NULL if it was not given. */
static inline const struct ib_uverbs_attr *
cmx_call_attr(const struct cmx_call *call, enum cmx_attr id)
{
	return call->index.at[id] ? &call->attrs[call->index.at[id] - 1] : NULL;
}

u64 cmx_call_u64(const struct cmx_call *call, enum cmx_attr id);

static inline u32 cmx_call_u32(const struct cmx_call *call, enum cmx_attr id)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, id);

	return attr ? *(const u32 *)&attr->data : 0;
}

int cmx_ioctl_copy_out(void __user *to, const void *from, size_t size, size_t asked);
int cmx_call_in(const struct cmx_call *call, enum cmx_attr id, void *to, size_t size);
int cmx_call_in_addr(const struct cmx_call *call, enum cmx_attr id, struct sockaddr_storage *to);
int cmx_call_out(const struct cmx_call *call, enum cmx_attr id, const void *from, size_t size);
int cmx_call_out_u32(const struct cmx_call *call, enum cmx_attr id, u32 value);
int cmx_call_out_info(const struct cmx_call *call, struct cmx_user_id *user_id);

#define CMX_METHOD(object, method, name) extern const struct cmx_method cmx_method_##name;
#include "method_rows.h"

/* ioctl_id.c */
int cmx_call_new_id(struct cmx_call *call, int (*id_call)(struct cmx_call *, struct cmx_user_id *));

#endif
