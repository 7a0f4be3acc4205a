// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_ID: options.
 */
#include "compat.h"
#include "ioctl.h"

/*
 * An integer is used where it is, in the attribute. Path records are copied. Clearing the space for
 * them takes long.
 */
static int ioctl_option_set(struct cmx_call *call, struct cmx_user_id *user_id)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, CMX_ATTR_OPT_VALUE);
	u8 copy[CMX_OPT_MAX_LEN] __aligned(8) __uninitialized;
	const void *value = &attr->data;

	if (attr->len > sizeof(attr->data)) {
		value = copy;
		if (cmx_call_in(call, CMX_ATTR_OPT_VALUE, copy, attr->len) < 0)
			return -EFAULT;
	}
	return cmx_set_option(&user_id->id_priv.id, cmx_call_u32(call, CMX_ATTR_OPT_LEVEL),
			      cmx_call_u32(call, CMX_ATTR_OPT_NAME), value, attr->len);
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
