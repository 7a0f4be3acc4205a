// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_CHANNEL.
 */
#include "ioctl.h"

static int channel_info(struct cmx_call *call)
{
	return cmx_call_out_u32(call, CMX_ATTR_VERSION, CMX_ABI_VERSION);
}

const struct cmx_method cmx_method_channel_info = {
	.call = channel_info,
	.attrs = {
		CMX_OUTPUT_U32(VERSION),
	},
};

static int claim(struct cmx_call *call)
{
	return cmx_file_claim(call->file);
}

const struct cmx_method cmx_method_claim = {
	.call = claim,
};

static int get_events(struct cmx_call *call)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, CMX_ATTR_EVENTS);
	struct cmx_event_resp __user *to = u64_to_user_ptr(attr->data);
	int ret;

	ret = cmx_queue_fetch(call->file, to, attr->len / sizeof(*to),
			      !(call->filp->f_flags & O_NONBLOCK));
	return ret < 0 ? ret : cmx_call_out_u32(call, CMX_ATTR_COUNT, ret);
}

const struct cmx_method cmx_method_get_events = {
	.call = get_events,
	.attrs = {
		CMX_OUTPUT(EVENTS, sizeof(struct cmx_event_resp)),
		CMX_OUTPUT_U32(COUNT),
	},
};
