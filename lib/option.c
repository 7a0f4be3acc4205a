// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Options: the kernel checks and stores them. The library keeps those that rdma_create_qp() needs.
 */
#include <string.h>
#include "cmx_lib.h"

static void cmxl_option_add(struct cmxl_cmd *cmd, int level, int optname)
{
	cmxl_cmd_u32(cmd, CMX_ATTR_OPT_LEVEL, level);
	cmxl_cmd_u32(cmd, CMX_ATTR_OPT_NAME, optname);
}

/* Saves the options that rdma_create_qp() uses. */
static void cmxl_option_save(struct cmxl_id *id, int optname, uint32_t val)
{
	if (optname == CMX_OPTION_ECE_POLICY)
		id->ece_policy = val;
	if (optname == CMX_OPTION_MCAST_LOOPBACK)
		id->mcast_block = !val;
}

int rdma_set_option(struct rdma_cm_id *cm_id, int level, int optname, void *optval, size_t optlen)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	struct cmxl_cmd cmd;
	uint32_t val;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_set_option, -1,
					(cm_id, level, optname, optval, optlen));
	if (optlen > CMX_OPT_MAX_LEN)
		return cmxl_err(EINVAL);
	if (optlen && !optval)
		return cmxl_err(EFAULT);
	/* the kernel does not know the QP, which may have the ECE options of the request already */
	if (level == CMX_OPTION && id->id.qp &&
	    (optname == CMX_OPTION_MCAST_LOOPBACK ||
	     (optname == CMX_OPTION_ECE_POLICY && id->remote_ece.vendor_id)))
		return cmxl_err(EISCONN);
	cmxl_id_cmd(&cmd, id, CMX_ID_SET_OPTION);
	cmxl_option_add(&cmd, level, optname);
	cmxl_cmd_in(&cmd, CMX_ATTR_OPT_VALUE, optval, optlen);
	if (cmxl_id_issue(&cmd, id))
		return -1;

	/* IB_PATH: its event brings new attributes, and another thread may destroy the id with it */
	if (level != RDMA_OPTION_IB)
		cmxl_qp_forget_attrs(id);
	if (level == CMX_OPTION && optlen == sizeof(val)) {
		memcpy(&val, optval, sizeof(val));
		cmxl_option_save(id, optname, val);
	}
	return 0;
}

int rdma_cmx_get_option(struct rdma_cm_id *cm_id, int level, int optname, void *optval,
			size_t *optlen, uint32_t *flags)
{
	uint32_t count = 0, opt_flags = 0;
	struct cmxl_cmd cmd;
	struct cmxl_id *id;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_cmx_get_option, -1,
					(cm_id, level, optname, optval, optlen, flags));
	if (!cm_id || !optval || !optlen)
		return cmxl_err(EINVAL);
	id = to_cmxl_id(cm_id);
	cmxl_id_cmd(&cmd, id, CMX_ID_GET_OPTION);
	cmxl_option_add(&cmd, level, optname);
	cmxl_cmd_out(&cmd, CMX_ATTR_OPT_OUT, optval,
		     *optlen < CMX_OPT_MAX_LEN ? *optlen : CMX_OPT_MAX_LEN);
	cmxl_cmd_out(&cmd, CMX_ATTR_COUNT, &count, sizeof(count));
	cmxl_cmd_out(&cmd, CMX_ATTR_OPT_FLAGS, &opt_flags, sizeof(opt_flags));
	if (cmxl_id_issue(&cmd, id))
		return -1;
	*optlen = count;
	if (flags)
		*flags = opt_flags;
	return 0;
}
