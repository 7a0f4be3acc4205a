// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Enhanced connection establishment (ECE): vendor options negotiated with REQ and REP.
 *
 * If the id has a QP, the library negotiates. The active end offers the options of its QP. The
 * passive end applies the offer when it creates its QP, and replies with the options that the QP
 * accepted. The active end then applies the reply. If the id has no QP, the application negotiates.
 *
 * A provider without ECE (EOPNOTSUPP) is treated as vendor 0.
 */
#include "cmx_lib.h"

static bool cmxl_ece_is_off(const struct cmxl_id *id)
{
	return id->ece_policy == CMX_ECE_OFF;
}

static int cmxl_ece_query_qp(struct ibv_qp *qp, struct ibv_ece *ece)
{
	int ret;

	*ece = (struct ibv_ece) {};
	ret = ibv_query_ece(qp, ece);
	if (ret == EOPNOTSUPP)
		*ece = (struct ibv_ece) {};
	else if (ret)
		return cmxl_verbs_err(ret);
	return 0;
}

static int cmxl_ece_set_qp(struct ibv_qp *qp, uint32_t vendor, uint32_t options)
{
	struct ibv_ece ece = { .vendor_id = vendor, .options = options };
	int ret;

	ret = ibv_set_ece(qp, &ece);
	return ret == EOPNOTSUPP ? 0 : cmxl_verbs_err(ret);
}

/*
 * The QP is new and not yet in INIT. Query its options. At the passive end, apply the offer of the
 * peer, or no options if the peer has another vendor.
 */
int cmxl_ece_qp_created(struct cmxl_id *id, struct ibv_qp *qp)
{
	uint32_t options = 0;
	struct ibv_ece ece;

	if (cmxl_ece_is_off(id))
		return 0;
	if (cmxl_ece_query_qp(qp, &ece))
		return -1;
	id->local_ece.vendor_id = ece.vendor_id;
	id->local_ece.options = ece.options;
	if (!id->remote_ece.vendor_id)
		return 0;
	if (ece.vendor_id == id->remote_ece.vendor_id)
		options = id->remote_ece.options;
	return cmxl_ece_set_qp(qp, ece.vendor_id, options);
}

/* Queries which of the applied options the QP accepted. */
int cmxl_ece_qp_settled(struct cmxl_id *id, struct ibv_qp *qp)
{
	struct ibv_ece ece;

	if (cmxl_ece_is_off(id))
		return 0;
	if (cmxl_ece_query_qp(qp, &ece))
		return -1;
	id->local_ece.options = ece.options;
	return 0;
}

/*
 * The active end received a REP: apply its ECE before RTR. Without ECE, or with that of another
 * vendor, no options are used; with CMX_ECE_REQUIRE the connection then fails.
 */
int cmxl_ece_apply_reply(struct cmxl_id *id, struct ibv_qp *qp)
{
	bool agreed = id->remote_ece.vendor_id &&
		      id->remote_ece.vendor_id == id->local_ece.vendor_id;

	if (cmxl_ece_is_off(id))
		return 0;
	if (!agreed && id->ece_policy == CMX_ECE_REQUIRE)
		return cmxl_err(EINVAL);
	return cmxl_ece_set_qp(qp, id->local_ece.vendor_id, agreed ? id->remote_ece.options : 0);
}

static void cmxl_ece_add(struct cmxl_cmd *cmd, uint32_t vendor, uint32_t options)
{
	struct cmx_ece ece = { .vendor_id = vendor, .options = options };

	if (vendor)
		cmxl_cmd_in(cmd, CMX_ATTR_ECE, &ece, sizeof(ece));
}

void cmxl_ece_add_req(const struct cmxl_id *id, struct cmxl_cmd *cmd)
{
	if (!cmxl_ece_is_off(id))
		cmxl_ece_add(cmd, id->local_ece.vendor_id, id->local_ece.options);
}

/* The reply has the vendor of the offer. */
void cmxl_ece_add_rep(const struct cmxl_id *id, struct cmxl_cmd *cmd)
{
	if (!cmxl_ece_is_off(id))
		cmxl_ece_add(cmd, id->remote_ece.vendor_id, id->local_ece.options);
}

int rdma_set_local_ece(struct rdma_cm_id *cm_id, struct ibv_ece *ece)
{
	struct cmxl_id *id;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_set_local_ece, -1, (cm_id, ece));
	if (!cm_id || cm_id->qp || !ece || !ece->vendor_id || ece->comp_mask)
		return cmxl_err(EINVAL);
	id = to_cmxl_id(cm_id);
	id->local_ece.vendor_id = ece->vendor_id;
	id->local_ece.options = ece->options;
	return 0;
}

int rdma_get_remote_ece(struct rdma_cm_id *cm_id, struct ibv_ece *ece)
{
	struct cmxl_id *id;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_get_remote_ece, -1, (cm_id, ece));
	if (!cm_id || cm_id->qp || !ece)
		return cmxl_err(EINVAL);
	id = to_cmxl_id(cm_id);
	ece->vendor_id = id->remote_ece.vendor_id;
	ece->options = id->remote_ece.options;
	ece->comp_mask = 0;
	return 0;
}

int rdma_cmx_query_ece(struct rdma_cm_id *cm_id, struct cmx_ece_info *info, size_t size)
{
	struct cmxl_id *id;
	struct cmxl_cmd cmd;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_cmx_query_ece, -1, (cm_id, info, size));
	if (!cm_id || !info || size < offsetof(struct cmx_ece_info, policy) || size > UINT16_MAX)
		return cmxl_err(EINVAL);
	id = to_cmxl_id(cm_id);
	cmxl_id_cmd(&cmd, id, CMX_ID_QUERY);
	cmxl_cmd_out(&cmd, CMX_ATTR_ECE_INFO, info, size);
	return cmxl_id_issue(&cmd, id);
}
