// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_ID: creation, addresses, routes, queries, migration, destruction.
 */
#include <linux/file.h>
#include <linux/nsproxy.h>
#include "compat.h"
#include "ioctl.h"
#include "quota.h"
#include "teardown.h"

#define INPUT_ADDR(attr)							\
	CMX_INPUT(attr, sizeof(struct sockaddr), sizeof(struct sockaddr_storage))
#define INPUT_ADDR_OPT(attr)							\
	CMX_INPUT_OPT(attr, sizeof(struct sockaddr), sizeof(struct sockaddr_storage))
/* Attributes for a method that creates its id. CMX_ATTR_ID is not given then. */
#define INPUT_NEW_ID								\
	CMX_INPUT_OPT(USER_DATA, sizeof(u64), sizeof(u64)),				\
	CMX_INPUT_OPT(PS, sizeof(u32), sizeof(u32)),				\
	CMX_INPUT_OPT(QP_TYPE, sizeof(u32), sizeof(u32)),			\
	CMX_OUTPUT_OPT(OUT_ID, sizeof(u32)),					\
	CMX_OUTPUT_OPT(COUNT, sizeof(u32)),					\
	CMX_INPUT_OPT(ID, sizeof(u32), sizeof(u32))

/* The caller chooses the QP type in the InfiniBand port space only. */
static int ioctl_qp_type_choose(u32 ps, u32 *qp_type)
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
	case 0:		/* a listener for all types */
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

/* Allocate an id for a process and charge it to the user who opened the file. */
static struct cmx_id_private *ioctl_id_alloc(struct cmx_call *call, u32 ps, u32 qp_type)
{
	struct cmx_quota *quota = call->channel->quota;
	struct cmx_id_private *id_priv;
	int ret;

	ret = cmx_quota_charge(quota);
	if (ret)
		return ERR_PTR(ret);
	id_priv = cmx_id_new(current->nsproxy->net_ns, &cmx_user_consumer_ops, ps, qp_type,
			     GFP_KERNEL_ACCOUNT);
	if (IS_ERR(id_priv))
		cmx_quota_uncharge(quota);
	else
		id_priv->quota = quota;
	return id_priv;
}

/* The command that creates the id has ended: another thread may move the id. */
static void ioctl_id_end_creation(struct cmx_user_id *user_id)
{
	WRITE_ONCE(user_id->creating, false);
	if (wq_has_sleeper(&user_id->calls_wait))
		wake_up_all(&user_id->calls_wait);
}

/* Destroy a new id. Returns the number of events that were fetched for it. */
static u32 ioctl_id_undo(struct cmx_call *call, struct cmx_user_id *new)
{
	struct cmx_user_id *user_id = cmx_handle_take_id(call->channel, new->handle);
	u32 fetched = 0;

	/* another thread may have destroyed it */
	if (!IS_ERR(user_id))
		fetched = cmx_user_id_destroy(user_id, call->channel);
	ioctl_id_end_creation(new);
	return fetched;
}

/*
 * Create an id with a handle. Returns it with a reference for the caller, or an ERR_PTR. Caller
 * must call ioctl_id_end_creation() or ioctl_id_undo().
 */
static struct cmx_user_id *ioctl_id_new(struct cmx_call *call)
{
	u32 qp_type = cmx_call_u32(call, CMX_ATTR_QP_TYPE);
	u32 ps = cmx_call_u32(call, CMX_ATTR_PS);
	struct cmx_id_private *id_priv;
	struct cmx_user_id *user_id;
	int ret;

	ret = ioctl_qp_type_choose(ps, &qp_type);
	if (ret)
		return ERR_PTR(ret);
	id_priv = ioctl_id_alloc(call, ps, qp_type);
	if (IS_ERR(id_priv))
		return ERR_CAST(id_priv);
	user_id = to_user_id(id_priv);
	user_id->user_data = cmx_call_u64(call, CMX_ATTR_USER_DATA);
	user_id->creating = true;
	ret = cmx_handle_add_id(user_id, call->channel);
	if (!ret)
		return user_id;
	cmx_id_shutdown(id_priv);
	cmx_id_put(id_priv);
	return ERR_PTR(ret);
}

/**
 * cmx_call_new_id() - create an id and run a method on it
 * @call: the command, without %CMX_ATTR_ID
 * @id_call: handler of the method
 *
 * The handle is written to user space before @id_call runs, because another
 * thread may fetch the event of @id_call first. The id is destroyed again if
 * @id_call fails. An event of it may have been fetched by then, such as the
 * removal of its device, so %CMX_ATTR_COUNT is written as by %CMX_ID_DESTROY.
 *
 * Return: 0, or the error of the creation or of @id_call.
 */
int cmx_call_new_id(struct cmx_call *call, int (*id_call)(struct cmx_call *, struct cmx_user_id *))
{
	struct cmx_user_id *user_id;
	int ret;

	if (!cmx_call_attr(call, CMX_ATTR_USER_DATA) || !cmx_call_attr(call, CMX_ATTR_PS) ||
	    !cmx_call_attr(call, CMX_ATTR_QP_TYPE) || !cmx_call_attr(call, CMX_ATTR_OUT_ID))
		return -EINVAL;
	user_id = ioctl_id_new(call);
	if (IS_ERR(user_id))
		return PTR_ERR(user_id);
	ret = cmx_call_out_u32(call, CMX_ATTR_OUT_ID, user_id->handle);
	if (!ret)
		ret = id_call(call, user_id);
	if (ret)
		cmx_call_out_u32(call, CMX_ATTR_COUNT, ioctl_id_undo(call, user_id));
	else
		ioctl_id_end_creation(user_id);
	cmx_user_id_put(user_id);
	return ret;
}

/* The engine has created the id. */
static int ioctl_id_create(struct cmx_call *call, struct cmx_user_id *user_id)
{
	return 0;
}

const struct cmx_method cmx_method_create = {
	.id_call = ioctl_id_create,
	.attrs = {
		CMX_INPUT(USER_DATA, sizeof(u64), sizeof(u64)),
		CMX_INPUT_U32(PS),
		CMX_INPUT_U32(QP_TYPE),
		CMX_OUTPUT_U32(OUT_ID),
	},
};

static int ioctl_id_destroy(struct cmx_call *call)
{
	struct cmx_user_id *user_id =
		cmx_handle_take_id(call->channel, cmx_call_u32(call, CMX_ATTR_ID));

	if (IS_ERR(user_id))
		return PTR_ERR(user_id);
	return cmx_call_out_u32(call, CMX_ATTR_COUNT, cmx_user_id_destroy(user_id, call->channel));
}

const struct cmx_method cmx_method_destroy = {
	.call = ioctl_id_destroy,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_OUTPUT_U32(COUNT),
	},
};

static int ioctl_id_bind(struct cmx_call *call, struct cmx_user_id *user_id)
{
	struct sockaddr_storage src __uninitialized;
	int ret;

	ret = cmx_call_in_addr(call, CMX_ATTR_SRC_ADDR, &src);
	if (!ret)
		ret = cmx_bind_addr(&user_id->id_priv.id, (struct sockaddr *)&src);
	return ret ?: cmx_call_out_info(call, user_id);
}

const struct cmx_method cmx_method_bind = {
	.id_call = ioctl_id_bind,
	.attrs = {
		CMX_OUTPUT_INFO,
		INPUT_ADDR(SRC_ADDR),
		INPUT_NEW_ID,
	},
};

static int ioctl_id_resolve_addr(struct cmx_call *call, struct cmx_user_id *user_id)
{
	struct sockaddr_storage src __uninitialized, dst __uninitialized;
	int ret;

	if (cmx_user_id_queue_is_full(user_id))
		return -ENOBUFS;
	ret = cmx_call_in_addr(call, CMX_ATTR_SRC_ADDR, &src);
	if (!ret)
		ret = cmx_call_in_addr(call, CMX_ATTR_DST_ADDR, &dst);
	if (!ret)
		ret = cmx_resolve_addr(&user_id->id_priv.id,
				       src.ss_family ? (struct sockaddr *)&src : NULL,
				       (struct sockaddr *)&dst,
				       cmx_call_u32(call, CMX_ATTR_TIMEOUT));
	return ret ?: cmx_call_out_info(call, user_id);
}

const struct cmx_method cmx_method_resolve_addr = {
	.id_call = ioctl_id_resolve_addr,
	.attrs = {
		CMX_OUTPUT_INFO,
		INPUT_ADDR_OPT(SRC_ADDR),
		INPUT_ADDR(DST_ADDR),
		CMX_INPUT_U32(TIMEOUT),
		INPUT_NEW_ID,
	},
};

static int ioctl_id_resolve_route(struct cmx_call *call, struct cmx_user_id *user_id)
{
	int ret;

	if (cmx_user_id_queue_is_full(user_id))
		return -ENOBUFS;
	ret = cmx_resolve_route(&user_id->id_priv.id, cmx_call_u32(call, CMX_ATTR_TIMEOUT));
	return ret ?: cmx_call_out_info(call, user_id);
}

const struct cmx_method cmx_method_resolve_route = {
	.id_call = ioctl_id_resolve_route,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_U32(TIMEOUT),
		CMX_OUTPUT_INFO,
	},
};

static int ioctl_id_query(struct cmx_call *call, struct cmx_user_id *user_id)
{
	struct cmx_ece_info ece;
	int ret;

	ret = cmx_call_out_info(call, user_id);
	if (ret || !cmx_call_attr(call, CMX_ATTR_ECE_INFO))
		return ret;
	memset(&ece, 0, sizeof(ece));
	cmx_query_ece(&user_id->id_priv.id, &ece);
	return cmx_call_out(call, CMX_ATTR_ECE_INFO, &ece, sizeof(ece));
}

const struct cmx_method cmx_method_query = {
	.id_call = ioctl_id_query,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_OUTPUT_INFO,
		CMX_OUTPUT_OPT(ECE_INFO, CMX_MIN_ECE_INFO),
	},
};

static int ioctl_id_migrate(struct cmx_call *call)
{
	u32 handle = cmx_call_u32(call, CMX_ATTR_ID);
	struct cmx_channel *from;
	struct file *filp;
	u32 fetched = 0;
	int ret;

	/* the reference keeps the other channel open */
	filp = fget(cmx_call_u32(call, CMX_ATTR_FD));
	if (!filp)
		return -ENOENT;
	/* NULL: not an open file of the char device */
	from = filp->f_op == call->filp->f_op ? filp->private_data : NULL;
	if (!from)
		ret = -EINVAL;
	else if (!cmx_channel_is_own(from))
		ret = -EACCES;
	else
		ret = cmx_user_id_migrate(from, handle, call->channel, &fetched);
	fput(filp);
	if (!ret)
		ret = cmx_call_out_u32(call, CMX_ATTR_OUT_ID, handle);
	return ret ?: cmx_call_out_u32(call, CMX_ATTR_COUNT, fetched);
}

const struct cmx_method cmx_method_migrate = {
	.call = ioctl_id_migrate,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT(FD, sizeof(s32), sizeof(s32)),
		CMX_OUTPUT_U32(OUT_ID),
		CMX_OUTPUT_U32(COUNT),
	},
};

/*
 * The process itself can fill the queue this way, so there is a limit. Only the lock of the id
 * keeps two of its threads from exceeding it.
 */
static int ioctl_event_post(struct cmx_user_id *user_id, struct cmx_event *ev)
{
	lockdep_assert_held(&user_id->id_priv.lock);
	/* another thread may be destroying the id, and has taken its events */
	if (user_id->not_accepted || user_id->id_priv.state == CMX_DEAD)
		return -EINVAL;
	if (READ_ONCE(user_id->queued) >= CMX_MAX_QUEUED)
		return -ENOBUFS;
	cmx_event_post(ev);
	return 0;
}

static int ioctl_id_write_event(struct cmx_call *call, struct cmx_user_id *user_id)
{
	u32 type = cmx_call_u32(call, CMX_ATTR_EVENT);
	struct cmx_event *ev;
	int ret;

	if (type != CMX_EVENT_USER && type != CMX_EVENT_ADDRINFO_RESOLVED)
		return -EINVAL;
	ev = cmx_event_alloc(&user_id->id_priv, (enum rdma_cm_event_type)type,
			     (int)cmx_call_u32(call, CMX_ATTR_STATUS), GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;
	ev->arg = cmx_call_u64(call, CMX_ATTR_ARG);
	mutex_lock(&user_id->id_priv.lock);
	ret = ioctl_event_post(user_id, ev);
	mutex_unlock(&user_id->id_priv.lock);
	if (ret)
		cmx_event_free(ev);
	return ret;
}

const struct cmx_method cmx_method_write_event = {
	.id_call = ioctl_id_write_event,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_U32(EVENT),
		CMX_INPUT(STATUS, sizeof(s32), sizeof(s32)),
		CMX_INPUT(ARG, sizeof(u64), sizeof(u64)),
	},
};
