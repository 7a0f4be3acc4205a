// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_CHANNEL.
 */
#include "compat.h"
#include "ioctl.h"
#include "option.h"

static const struct cmx_module_info ioctl_module_info = {
#ifdef CMX_HAVE_SA_SERVICE_REC
	.features = CMX_FEATURE_SERVICES,
#endif
	.max_attrs = CMX_MAX_ATTRS,
	.max_queued = CMX_MAX_QUEUED,
	.max_option_len = CMX_OPT_MAX_LEN,
	.num_options = CMX_OPT_NUM,
};

static int ioctl_channel_info(struct cmx_call *call)
{
	struct cmx_id_option options[CMX_OPT_NUM] __uninitialized;
	int ret;

	/* librdmacm asks for nothing: for each new id it checks that it may use the channel */
	if (!call->index.outputs)
		return 0;
	ret = cmx_call_out_u32(call, CMX_ATTR_VERSION, CMX_ABI_VERSION);
	ret = ret ?: cmx_call_out_u32(call, CMX_ATTR_VERSION_MIN, CMX_ABI_VERSION_MIN);
	ret = ret ?: cmx_call_out(call, CMX_ATTR_MODULE_INFO, &ioctl_module_info,
				  sizeof(ioctl_module_info));
	if (ret || !cmx_call_attr(call, CMX_ATTR_OPTIONS))
		return ret;
	cmx_opt_list_defaults(options);
	return cmx_call_out(call, CMX_ATTR_OPTIONS, options, sizeof(options));
}

const struct cmx_method cmx_method_channel_info = {
	.call = ioctl_channel_info,
	.attrs = {
		CMX_OUTPUT_OPT(VERSION, sizeof(u32)),
		CMX_OUTPUT_OPT(VERSION_MIN, sizeof(u32)),
		CMX_OUTPUT_OPT(MODULE_INFO, CMX_MIN_MODULE_INFO),
		CMX_OUTPUT_OPT(OPTIONS, sizeof(struct cmx_id_option)),
	},
};

static bool ioctl_event_size_is_valid(u32 size, size_t min)
{
	return size >= min && IS_ALIGNED(size, sizeof(u64));
}

static int ioctl_channel_get_events(struct cmx_call *call)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, CMX_ATTR_EVENTS);
	struct cmx_event_buf room = { .to = u64_to_user_ptr(attr->data) };
	int ret;

	cmx_call_in(call, CMX_ATTR_EVENT_SIZES, &room.sizes, sizeof(room.sizes));
	if (!ioctl_event_size_is_valid(room.sizes.resp, CMX_MIN_EVENT) ||
	    (room.sizes.info && !ioctl_event_size_is_valid(room.sizes.info, CMX_MIN_INFO)))
		return -EINVAL;
	/* at least one record; the length has 16 bits, so that the sum below cannot overflow */
	if (room.sizes.resp > attr->len || room.sizes.info > attr->len - room.sizes.resp)
		return -ENOSPC;
	room.max = attr->len / (room.sizes.resp + room.sizes.info);
	ret = cmx_channel_fetch_events(call->channel, &room, !(call->filp->f_flags & O_NONBLOCK));
	return ret < 0 ? ret : cmx_call_out_u32(call, CMX_ATTR_COUNT, ret);
}

const struct cmx_method cmx_method_get_events = {
	.call = ioctl_channel_get_events,
	.attrs = {
		CMX_INPUT(EVENT_SIZES, CMX_MIN_EVENT_SIZES, sizeof(struct cmx_event_sizes)),
		CMX_OUTPUT(EVENTS, CMX_MIN_EVENT),
		CMX_OUTPUT_U32(COUNT),
	},
};
