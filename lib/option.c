// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Options: checked and kept by the kernel.
 */
#include <string.h>
#include "cmx_lib.h"

static void add_option(struct cmx_cmd *cmd, int level, int optname)
{
	cmx_cmd_u32(cmd, CMX_ATTR_OPT_LEVEL, level);
	cmx_cmd_u32(cmd, CMX_ATTR_OPT_NAME, optname);
}

/* What rdma_create_qp() goes by. */
static void keep(struct cmx_id *id, int optname, uint32_t val)
{
	if (optname == CMX_OPTION_ECE_POLICY)
		id->ece_policy = val;
	if (optname == CMX_OPTION_MCAST_LOOPBACK)
		id->mcast_block = !val;
}

int rdma_set_option(struct rdma_cm_id *cm_id, int level, int optname, void *optval, size_t optlen)
{
	struct cmx_id *id = to_cmx_id(cm_id);
	struct cmx_cmd cmd;
	uint32_t val;

	if (optlen > CMX_OPT_MAX_LEN)
		return cmx_err(EINVAL);
	if (optlen && !optval)
		return cmx_err(EFAULT);
	/* the kernel does not know of the QP */
	if (level == CMX_OPTION && optname == CMX_OPTION_MCAST_LOOPBACK && id->id.qp)
		return cmx_err(EISCONN);
	cmx_id_cmd(&cmd, id, CMX_ID_SET_OPTION);
	add_option(&cmd, level, optname);
	cmx_cmd_in(&cmd, CMX_ATTR_OPT_VALUE, optval, optlen);
	if (cmx_id_issue(&cmd, id))
		return -1;

	cmx_qp_forget_attrs(id);
	if (level == CMX_OPTION && optlen == sizeof(val)) {
		memcpy(&val, optval, sizeof(val));
		keep(id, optname, val);
	}
	return 0;
}

int rdma_cmx_get_option(struct rdma_cm_id *cm_id, int level, int optname, void *optval,
			size_t *optlen, uint32_t *flags)
{
	uint32_t count = 0, opt_flags = 0;
	struct cmx_cmd cmd;
	struct cmx_id *id;

	if (!cm_id || !optval || !optlen)
		return cmx_err(EINVAL);
	id = to_cmx_id(cm_id);
	cmx_id_cmd(&cmd, id, CMX_ID_GET_OPTION);
	add_option(&cmd, level, optname);
	cmx_cmd_out(&cmd, CMX_ATTR_OPT_OUT, optval,
		    *optlen < CMX_OPT_MAX_LEN ? *optlen : CMX_OPT_MAX_LEN);
	cmx_cmd_out(&cmd, CMX_ATTR_COUNT, &count, sizeof(count));
	cmx_cmd_out(&cmd, CMX_ATTR_OPT_FLAGS, &opt_flags, sizeof(opt_flags));
	if (cmx_id_issue(&cmd, id))
		return -1;
	*optlen = count;
	if (flags)
		*flags = opt_flags;
	return 0;
}
