// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_MCAST.
 */
#include "compat.h"
#include "ioctl.h"
#include "join.h"
#include "quota.h"

static struct cmx_mcast *
ioctl_mcast_start_join(struct cmx_call *call, struct cmx_user_id *user_id, u32 handle)
{
	struct cmx_mcast_attr attr;
	struct sockaddr_storage addr __uninitialized;
	int ret;

	ret = cmx_call_in_addr(call, CMX_ATTR_DST_ADDR, &addr);
	if (ret)
		return ERR_PTR(ret);
	ret = cmx_call_in(call, CMX_ATTR_MCAST, &attr, sizeof(attr));
	if (ret < 0)
		return ERR_PTR(ret);
	return cmx_mcast_start_join(&user_id->id_priv, (struct sockaddr *)&addr,
				    ret ? &attr : NULL, NULL,
				    cmx_call_u64(call, CMX_ATTR_USER_DATA), handle);
}

/*
 * The event of the join contains the handle and can be fetched at once, so the handle is reserved
 * before the join starts. It is published when nothing can fail any more.
 */
static int ioctl_mcast_join(struct cmx_call *call, struct cmx_user_id *user_id)
{
	struct cmx_mcast *mc;
	u32 handle;
	int ret;

	ret = cmx_quota_charge(user_id->id_priv.quota);
	if (ret)
		return ret;
	ret = cmx_handle_reserve(&handle);
	if (ret)
		goto err_quota;
	/* a join may post its event at once, and must not fail after that */
	ret = cmx_call_out_u32(call, CMX_ATTR_OUT_ID, handle);
	if (ret)
		goto err_handle;
	mc = ioctl_mcast_start_join(call, user_id, handle);
	if (IS_ERR(mc)) {
		ret = PTR_ERR(mc);
		goto err_handle;
	}
	ret = cmx_handle_publish_mcast(mc);
	if (ret)
		goto err_join;
	return 0;

err_join:
	cmx_mcast_end(mc);
	cmx_mcast_put(mc);
err_handle:
	cmx_handle_abort(handle);
err_quota:
	cmx_quota_uncharge(user_id->id_priv.quota);
	return ret;
}

const struct cmx_method cmx_method_join = {
	.id_call = ioctl_mcast_join,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT(DST_ADDR, sizeof(struct sockaddr), sizeof(struct sockaddr_storage)),
		CMX_INPUT(USER_DATA, sizeof(u64), sizeof(u64)),
		CMX_INPUT_OPT(MCAST, CMX_MIN_MCAST_ATTR, sizeof(struct cmx_mcast_attr)),
		CMX_OUTPUT_U32(OUT_ID),
	},
};

static int ioctl_mcast_leave(struct cmx_call *call)
{
	u32 fetched;
	int ret;

	ret = cmx_user_id_leave_group(call->channel, cmx_call_u32(call, CMX_ATTR_MCAST_ID),
				      &fetched);
	return ret ?: cmx_call_out_u32(call, CMX_ATTR_COUNT, fetched);
}

const struct cmx_method cmx_method_leave = {
	.call = ioctl_mcast_leave,
	.attrs = {
		CMX_INPUT_U32(MCAST_ID),
		CMX_OUTPUT_U32(COUNT),
	},
};

static int ioctl_mcast_report(struct cmx_call *call)
{
	struct cmx_user_id *user_id;
	struct cmx_mcast *mc;
	int ret;

	mc = cmx_handle_get_mcast(call->channel, cmx_call_u32(call, CMX_ATTR_MCAST_ID));
	if (IS_ERR(mc))
		return PTR_ERR(mc);
	user_id = to_user_id(mc->id_priv);
	ret = cmx_user_id_begin_call(user_id);
	if (!ret) {
		if (cmx_user_id_queue_is_full(user_id))
			ret = -ENOBUFS;
		else
			cmx_mcast_report_again(mc);
		cmx_user_id_end_call(user_id);
	}
	cmx_mcast_put(mc);
	return ret;
}

const struct cmx_method cmx_method_report = {
	.call = ioctl_mcast_report,
	.attrs = {
		CMX_INPUT_U32(MCAST_ID),
	},
};
