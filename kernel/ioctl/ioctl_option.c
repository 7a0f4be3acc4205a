// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_ID: options.
 */
#include "compat.h"
#include "ioctl.h"

static int ioctl_option_set_value(struct cmx_call *call, struct cmx_user_id *user_id,
				  const void *value, size_t len)
{
	return cmx_set_option(&user_id->id_priv.id, cmx_call_u32(call, CMX_ATTR_OPT_LEVEL),
			      cmx_call_u32(call, CMX_ATTR_OPT_NAME), value, len);
}

static noinline_for_stack int ioctl_option_set_long(struct cmx_call *call,
						    struct cmx_user_id *user_id, size_t len)
{
	/* Aligned, because it is read as path records. Clearing it takes long. */
	u8 value[CMX_OPT_MAX_LEN] __aligned(8) __uninitialized;
	int ret = cmx_call_in(call, CMX_ATTR_OPT_VALUE, value, len);

	return ret < 0 ? ret : ioctl_option_set_value(call, user_id, value, len);
}

static int ioctl_option_set(struct cmx_call *call, struct cmx_user_id *user_id)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, CMX_ATTR_OPT_VALUE);

	/* an integer is inline in the attribute */
	if (attr->len <= sizeof(attr->data))
		return ioctl_option_set_value(call, user_id, &attr->data, attr->len);
	return ioctl_option_set_long(call, user_id, attr->len);
}

const struct cmx_method cmx_method_set_option = {
	.id_call = ioctl_option_set,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_U32(OPT_LEVEL),
		CMX_INPUT_U32(OPT_NAME),
		CMX_INPUT(OPT_VALUE, 0, CMX_OPT_MAX_LEN),
	},
};

static int ioctl_option_get(struct cmx_call *call, struct cmx_user_id *user_id)
{
	const struct ib_uverbs_attr *out = cmx_call_attr(call, CMX_ATTR_OPT_OUT);
	u8 value[CMX_OPT_MAX_LEN] __aligned(8) __uninitialized;
	size_t len = min_t(size_t, out->len, sizeof(value));
	u32 flags = 0;
	int ret;

	memset(value, 0, len);
	ret = cmx_get_option(&user_id->id_priv.id, cmx_call_u32(call, CMX_ATTR_OPT_LEVEL),
			     cmx_call_u32(call, CMX_ATTR_OPT_NAME), value, &len, &flags);
	if (!ret)
		ret = cmx_call_out(call, CMX_ATTR_OPT_OUT, value, len);
	if (!ret)
		ret = cmx_call_out_u32(call, CMX_ATTR_COUNT, len);
	return ret ?: cmx_call_out_u32(call, CMX_ATTR_OPT_FLAGS, flags);
}

const struct cmx_method cmx_method_get_option = {
	.id_call = ioctl_option_get,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_U32(OPT_LEVEL),
		CMX_INPUT_U32(OPT_NAME),
		CMX_OUTPUT(OPT_OUT, 1),
		CMX_OUTPUT_U32(COUNT),
		CMX_OUTPUT_OPT(OPT_FLAGS, sizeof(u32)),
	},
};
