// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_ID: life, addresses, routes.
 */
#include <linux/file.h>
#include <linux/nsproxy.h>
#include "chardev.h"
#include "ioctl.h"
#include "quota.h"
#include "teardown.h"

#define INPUT_ADDR(attr)							\
	CMX_INPUT(attr, sizeof(struct sockaddr), sizeof(struct sockaddr_storage))
#define INPUT_ADDR_OPT(attr)							\
	CMX_INPUT_OPT(attr, sizeof(struct sockaddr), sizeof(struct sockaddr_storage))
/* In place of the id: make one. */
#define INPUT_NEW_ID								\
	CMX_INPUT_OPT(UID, sizeof(u64), sizeof(u64)),				\
	CMX_INPUT_OPT(PS, sizeof(u32), sizeof(u32)),				\
	CMX_INPUT_OPT(QP_TYPE, sizeof(u32), sizeof(u32)),			\
	CMX_OUTPUT_OPT(OUT_ID, sizeof(u32)),					\
	CMX_INPUT_OPT(ID, sizeof(u32), sizeof(u32))

/* Only in the InfiniBand port space has the caller a choice. */
static int choose_qp_type(u32 ps, u32 *qp_type)
{
	switch (ps) {
	case RDMA_PS_TCP:
		*qp_type = IB_QPT_RC;
		return 0;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		*qp_type = IB_QPT_UD;
		return 0;
	case RDMA_PS_IB:
		break;
	default:
		return -EINVAL;
	}
	switch (*qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return 0;
	default:
		return -EINVAL;
	}
}

/* The id of a process, charged to who has opened the file */
static struct cmx_priv *new_id(struct cmx_call *call, u32 ps, u32 qp_type)
{
	struct cmx_quota *quota = call->file->quota;
	struct cmx_priv *p;
	int ret;

	ret = cmx_quota_charge(quota);
	if (ret)
		return ERR_PTR(ret);
	p = cmx_id_new(current->nsproxy->net_ns, &cmx_user_sink, ps, qp_type, GFP_KERNEL_ACCOUNT);
	if (IS_ERR(p))
		cmx_quota_uncharge(quota);
	else
		p->quota = quota;
	return p;
}

/* Returns the new id with a reference for the caller, or an ERR_PTR. */
static struct cmx_uid *create_id(struct cmx_call *call, u32 *handle)
{
	u32 qp_type = cmx_call_u32(call, CMX_ATTR_QP_TYPE);
	u32 ps = cmx_call_u32(call, CMX_ATTR_PS);
	struct cmx_priv *p;
	int ret;

	ret = choose_qp_type(ps, &qp_type);
	if (ret)
		return ERR_PTR(ret);
	p = new_id(call, ps, qp_type);
	if (IS_ERR(p))
		return ERR_CAST(p);
	to_uid(p)->uid = cmx_call_u64(call, CMX_ATTR_UID);
	cmx_id_get(p);
	ret = cmx_handle_add_id(to_uid(p), call->file, handle);
	if (ret) {
		cmx_id_kill(p);
		cmx_id_put(p);
	} else {
		ret = cmx_call_out_u32(call, CMX_ATTR_OUT_ID, *handle);
	}
	if (!ret)
		return to_uid(p);
	cmx_id_put(p);
	return ERR_PTR(ret);
}

static int create(struct cmx_call *call)
{
	struct cmx_uid *u;
	u32 handle;

	u = create_id(call, &handle);
	if (IS_ERR(u))
		return PTR_ERR(u);
	cmx_uid_put(u);
	return 0;
}

/**
 * cmx_call_new_id() - a method that can bring its id into being
 * @call: the command, without %CMX_ATTR_ID
 * @id_call: of the method
 *
 * The process has the handle before @id_call, whose event another thread may
 * see first. The id goes again if that fails.
 *
 * Return: what creating it or @id_call says.
 */
int cmx_call_new_id(struct cmx_call *call, int (*id_call)(struct cmx_call *, struct cmx_uid *))
{
	struct cmx_uid *u;
	u32 handle;
	int ret;

	if (!call->at[CMX_ATTR_UID] || !call->at[CMX_ATTR_PS] || !call->at[CMX_ATTR_QP_TYPE] ||
	    !call->at[CMX_ATTR_OUT_ID])
		return -EINVAL;
	u = create_id(call, &handle);
	if (IS_ERR(u))
		return PTR_ERR(u);
	ret = id_call(call, u);
	cmx_uid_put(u);
	if (!ret)
		return 0;
	u = cmx_handle_take_id(call->file, handle);
	if (!IS_ERR(u))
		cmx_uid_destroy(u, call->file);
	return ret;
}

const struct cmx_method cmx_method_create = {
	.call = create,
	.attrs = {
		CMX_INPUT(UID, sizeof(u64), sizeof(u64)),
		CMX_INPUT_U32(PS),
		CMX_INPUT_U32(QP_TYPE),
		CMX_OUTPUT_U32(OUT_ID),
	},
};

static int destroy(struct cmx_call *call)
{
	struct cmx_uid *u = cmx_handle_take_id(call->file, cmx_call_u32(call, CMX_ATTR_ID));

	if (IS_ERR(u))
		return PTR_ERR(u);
	return cmx_call_out_u32(call, CMX_ATTR_COUNT, cmx_uid_destroy(u, call->file));
}

const struct cmx_method cmx_method_destroy = {
	.call = destroy,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_OUTPUT_U32(COUNT),
	},
};

static int bind(struct cmx_call *call, struct cmx_uid *u)
{
	struct sockaddr_storage src __uninitialized;
	int ret;

	ret = cmx_call_in_addr(call, CMX_ATTR_SRC_ADDR, &src);
	if (!ret)
		ret = cmx_bind_addr(&u->p.id, (struct sockaddr *)&src);
	return ret ?: cmx_call_out_info(call, u);
}

const struct cmx_method cmx_method_bind = {
	.id_call = bind,
	.attrs = {
		CMX_OUTPUT_INFO,
		INPUT_ADDR(SRC_ADDR),
		INPUT_NEW_ID,
	},
};

static int resolve_addr(struct cmx_call *call, struct cmx_uid *u)
{
	struct sockaddr_storage src __uninitialized, dst __uninitialized;
	int ret;

	ret = cmx_call_in_addr(call, CMX_ATTR_SRC_ADDR, &src);
	if (!ret)
		ret = cmx_call_in_addr(call, CMX_ATTR_DST_ADDR, &dst);
	if (!ret)
		ret = cmx_resolve_addr(&u->p.id, src.ss_family ? (struct sockaddr *)&src : NULL,
				       (struct sockaddr *)&dst,
				       cmx_call_u32(call, CMX_ATTR_TIMEOUT));
	return ret ?: cmx_call_out_info(call, u);
}

const struct cmx_method cmx_method_resolve_addr = {
	.id_call = resolve_addr,
	.attrs = {
		INPUT_NEW_ID,
		INPUT_ADDR_OPT(SRC_ADDR),
		INPUT_ADDR(DST_ADDR),
		CMX_INPUT_U32(TIMEOUT),
		CMX_OUTPUT_INFO,
	},
};

static int resolve_route(struct cmx_call *call, struct cmx_uid *u)
{
	int ret = cmx_resolve_route(&u->p.id, cmx_call_u32(call, CMX_ATTR_TIMEOUT));

	return ret ?: cmx_call_out_info(call, u);
}

const struct cmx_method cmx_method_resolve_route = {
	.id_call = resolve_route,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_U32(TIMEOUT),
		CMX_OUTPUT_INFO,
	},
};

static int query(struct cmx_call *call, struct cmx_uid *u)
{
	struct cmx_ece_info ece;
	int ret;

	ret = cmx_call_out_info(call, u);
	if (ret || !cmx_call_attr(call, CMX_ATTR_ECE_INFO))
		return ret;
	memset(&ece, 0, sizeof(ece));
	cmx_query_ece(&u->p.id, &ece);
	return cmx_call_out(call, CMX_ATTR_ECE_INFO, &ece, sizeof(ece));
}

const struct cmx_method cmx_method_query = {
	.id_call = query,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_OUTPUT_INFO,
		CMX_OUTPUT_OPT(ECE_INFO, CMX_MIN_ECE_INFO),
	},
};

static int migrate(struct cmx_call *call)
{
	u32 handle = cmx_call_u32(call, CMX_ATTR_ID);
	struct cmx_file *from;
	struct file *filp;
	u32 fetched = 0;
	int ret;

	/* keeps the other channel open meanwhile */
	filp = fget(cmx_call_u32(call, CMX_ATTR_FD));
	if (!filp)
		return -ENOENT;
	from = cmx_file_of(filp);
	if (!from)
		ret = -EINVAL;
	else if (!cmx_file_usable(from))
		ret = -EACCES;
	else
		ret = cmx_uid_migrate(from, handle, call->file, &fetched);
	fput(filp);
	if (!ret)
		ret = cmx_call_out_u32(call, CMX_ATTR_OUT_ID, handle);
	return ret ?: cmx_call_out_u32(call, CMX_ATTR_COUNT, fetched);
}

const struct cmx_method cmx_method_migrate = {
	.call = migrate,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT(FD, sizeof(s32), sizeof(s32)),
		CMX_OUTPUT_U32(OUT_ID),
		CMX_OUTPUT_U32(COUNT),
	},
};
