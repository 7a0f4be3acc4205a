// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast: memberships of an id. One hash table finds them by the address of the group. Another
 * finds those with an attached QP by MGID, because several addresses may have the same MGID.
 */
#include <stdlib.h>
#include <string.h>
#include "cmx_lib.h"

#define MCAST_BUCKETS 256

static uint32_t cmxl_mcast_hash(const void *addr, size_t len)
{
	const uint8_t *byte = addr;
	uint32_t hash = 0;
	size_t i;

	for (i = 0; i < len; i++)
		hash = hash * 31 + byte[i];
	return hash % MCAST_BUCKETS;
}

static struct cmxl_mcast **cmxl_mcast_bucket(struct cmxl_id *id, const void *addr, socklen_t len)
{
	return &id->mcast[cmxl_mcast_hash(addr, len)];
}

static struct cmxl_mcast **cmxl_mcast_mgid_bucket(struct cmxl_id *id, const union ibv_gid *mgid)
{
	return &id->mcast[MCAST_BUCKETS + cmxl_mcast_hash(mgid, sizeof(*mgid))];
}

/* The newest membership in a group is the first to be left. */
static struct cmxl_mcast **cmxl_mcast_find(struct cmxl_id *id, const struct sockaddr *addr,
					   socklen_t len)
{
	struct cmxl_mcast **pos;

	if (!id->mcast)
		return NULL;
	for (pos = cmxl_mcast_bucket(id, addr, len); *pos; pos = &(*pos)->next)
		if (!memcmp(&(*pos)->addr, addr, len))
			return pos;
	return NULL;
}

static int cmxl_mcast_insert(struct cmxl_id *id, struct cmxl_mcast *mcast, socklen_t len)
{
	struct cmxl_mcast **bucket;

	if (!id->mcast)
		id->mcast = calloc(2 * MCAST_BUCKETS, sizeof(*id->mcast));
	if (!id->mcast)
		return cmxl_err(ENOMEM);
	bucket = cmxl_mcast_bucket(id, &mcast->addr, len);
	mcast->next = *bucket;
	*bucket = mcast;
	return 0;
}

void cmxl_mcast_free_all(struct cmxl_id *id)
{
	struct cmxl_mcast *mcast;
	int i;

	for (i = 0; id->mcast && i < MCAST_BUCKETS; i++) {
		while ((mcast = id->mcast[i])) {
			id->mcast[i] = mcast->next;
			free(mcast);
		}
	}
	free(id->mcast);
}

/* True if the QP is attached to the group for another membership. The lock of the id is held. */
static bool cmxl_mcast_is_shared(const struct cmxl_mcast *mcast)
{
	const struct cmxl_mcast *m = *cmxl_mcast_mgid_bucket(mcast->id, &mcast->mgid);

	for (; m; m = m->next_attached)
		if (m->mlid == mcast->mlid && !memcmp(&m->mgid, &mcast->mgid, sizeof(m->mgid)))
			return true;
	return false;
}

/* The id's lock is held. */
static int cmxl_mcast_attach(struct cmxl_mcast *mcast)
{
	struct ibv_qp *qp = mcast->id->id.qp;
	struct cmxl_mcast **bucket;
	int ret;

	if (!qp || mcast->attached || mcast->send_only)
		return 0;
	if (!cmxl_mcast_is_shared(mcast)) {
		ret = cmxl_verbs_err(ibv_attach_mcast(qp, &mcast->mgid, mcast->mlid));
		if (ret)
			return ret;
	}
	mcast->attached = true;
	bucket = cmxl_mcast_mgid_bucket(mcast->id, &mcast->mgid);
	mcast->next_attached = *bucket;
	*bucket = mcast;
	return 0;
}

/*
 * The program may have attached a QP that it created after the event of the join. Such a QP is
 * detached as well. The id's lock is held.
 */
static void cmxl_mcast_detach(struct cmxl_mcast *mcast)
{
	struct ibv_qp *qp = mcast->id->id.qp;
	struct cmxl_mcast **pos;

	if (mcast->attached) {
		pos = cmxl_mcast_mgid_bucket(mcast->id, &mcast->mgid);
		while (*pos != mcast)
			pos = &(*pos)->next_attached;
		*pos = mcast->next_attached;
		mcast->attached = false;
	}
	if (qp && mcast->joined && !mcast->send_only && !cmxl_mcast_is_shared(mcast))
		ibv_detach_mcast(qp, &mcast->mgid, mcast->mlid);
}

/* A QP that is attached to a group cannot be destroyed. The lock of the id is held. */
void cmxl_mcast_detach_all(struct cmxl_id *id)
{
	struct cmxl_mcast *mcast;
	int i;

	for (i = 0; id->mcast && i < MCAST_BUCKETS; i++)
		for (mcast = id->mcast[i]; mcast; mcast = mcast->next)
			cmxl_mcast_detach(mcast);
}

/*
 * Attaches the QP of the id when the join is reported. After a rejoin the group may have another
 * LID.
 */
int cmxl_mcast_joined(struct cmxl_mcast *mcast, const struct rdma_ud_param *ud)
{
	const struct ibv_ah_attr *ah = &ud->ah_attr;
	int ret = 0;

	pthread_mutex_lock(&mcast->id->lock);
	if (!mcast->left) {
		if (mcast->mlid != ah->dlid ||
		    memcmp(&mcast->mgid, &ah->grh.dgid, sizeof(mcast->mgid)))
			cmxl_mcast_detach(mcast);
		mcast->mgid = ah->grh.dgid;
		mcast->mlid = ah->dlid;
		mcast->joined = true;
		ret = cmxl_qp_set_qkey(mcast->id, ud->qkey) ?: cmxl_mcast_attach(mcast);
	}
	pthread_mutex_unlock(&mcast->id->lock);
	return ret;
}

/*
 * Adapters of rdmavt refuse the new LID while another QP of the port, perhaps of another process,
 * is attached with the old one. The library tries again when the kernel reports the membership
 * again. Returns whether the kernel will report it.
 */
bool cmxl_mcast_report_again(const struct cmxl_mcast *mcast)
{
	struct cmxl_cmd cmd;
	int err = errno;
	bool ok;

	cmxl_cmd_init(&cmd, CMX_OBJ_MCAST, CMX_MCAST_REPORT);
	cmxl_cmd_u32(&cmd, CMX_ATTR_MCAST_ID, mcast->handle);
	ok = !cmxl_cmd_issue(&cmd, mcast->id->id.channel->fd);
	errno = err;
	return ok;
}

static int cmxl_mcast_issue_join(struct cmxl_mcast *mcast, socklen_t len,
				 const struct cmx_mcast_attr *attr, size_t attr_size)
{
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_MCAST, CMX_MCAST_JOIN);
	cmxl_cmd_u32(&cmd, CMX_ATTR_ID, mcast->id->handle);
	cmxl_cmd_in(&cmd, CMX_ATTR_DST_ADDR, &mcast->addr, len);
	cmxl_cmd_u64(&cmd, CMX_ATTR_USER_DATA, (uintptr_t)mcast);
	if (attr)
		cmxl_cmd_in(&cmd, CMX_ATTR_MCAST, attr, attr_size);
	cmxl_cmd_out(&cmd, CMX_ATTR_OUT_ID, &mcast->handle, sizeof(mcast->handle));
	return cmxl_id_issue(&cmd, mcast->id);
}

/*
 * The lock of the id is held until the membership has its handle, because another thread may
 * already fetch the event and leave the group.
 */
int rdma_cmx_join_multicast(struct rdma_cm_id *cm_id, struct sockaddr *addr,
			    const struct cmx_mcast_attr *attr, size_t attr_size, void *context)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	socklen_t len = cmxl_addr_len(addr);
	struct cmxl_mcast *mcast;
	bool sync;
	int err;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_cmx_join_multicast, -1,
					(cm_id, addr, attr, attr_size, context));
	if (!len || (attr && attr_size < offsetof(struct cmx_mcast_attr, reserved)))
		return cmxl_err(EINVAL);
	if (attr && attr_size > UINT16_MAX)
		return cmxl_err(E2BIG);
	if (cmxl_id_create_in_kernel(id))
		return -1;
	mcast = calloc(1, sizeof(*mcast));
	if (!mcast)
		return cmxl_err(ENOMEM);
	mcast->id = id;
	mcast->context = context;
	mcast->send_only = attr && (attr->join_state == CMX_MCAST_SENDONLY_FULL ||
				    attr->join_state == CMX_MCAST_SENDONLY_NON);
	memcpy(&mcast->addr, addr, len);

	pthread_mutex_lock(&id->lock);
	if (cmxl_mcast_insert(id, mcast, len))
		goto err_free;
	if (cmxl_mcast_issue_join(mcast, len, attr, attr_size))
		goto err_remove;
	sync = id->sync;
	pthread_mutex_unlock(&id->lock);
	/* another thread may have destroyed the id meanwhile, see cmxl_id_run() */
	return sync ? cmxl_id_wait_event(id) : 0;

err_remove:
	*cmxl_mcast_bucket(id, &mcast->addr, len) = mcast->next;
err_free:
	err = errno;
	pthread_mutex_unlock(&id->lock);
	free(mcast);
	return cmxl_err(err);
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_join_multicast, -1, (id, addr, context));
	return rdma_cmx_join_multicast(id, addr, NULL, 0, context);
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *ex, void *context)
{
	struct cmx_mcast_attr attr = { .join_state = CMX_MCAST_SENDONLY_FULL };

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_join_multicast_ex, -1, (id, ex, context));
	if (ex->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED)
		return cmxl_err(ENOTSUP);
	if (!(ex->comp_mask & RDMA_CM_JOIN_MC_ATTR_ADDRESS) ||
	    !(ex->comp_mask & RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS) ||
	    ex->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return cmxl_err(EINVAL);
	return rdma_cmx_join_multicast(id, ex->addr, ex->join_flags ? &attr : NULL, sizeof(attr),
				       context);
}

static int cmxl_mcast_issue_leave(const struct cmxl_mcast *mcast, uint32_t *events)
{
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_MCAST, CMX_MCAST_LEAVE);
	cmxl_cmd_u32(&cmd, CMX_ATTR_MCAST_ID, mcast->handle);
	cmxl_cmd_out(&cmd, CMX_ATTR_COUNT, events, sizeof(*events));
	return cmxl_cmd_issue(&cmd, mcast->id->id.channel->fd);
}

int rdma_leave_multicast(struct rdma_cm_id *cm_id, struct sockaddr *addr)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	socklen_t len = cmxl_addr_len(addr);
	struct cmxl_mcast **pos, *mcast;
	uint32_t events = 0;
	int ret, err;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_leave_multicast, -1, (cm_id, addr));
	if (!len)
		return cmxl_err(EINVAL);
	pthread_mutex_lock(&id->lock);
	pos = cmxl_mcast_find(id, addr, len);
	if (!pos) {
		pthread_mutex_unlock(&id->lock);
		return cmxl_err(EADDRNOTAVAIL);
	}
	mcast = *pos;
	*pos = mcast->next;
	mcast->left = true;
	cmxl_mcast_detach(mcast);
	pthread_mutex_unlock(&id->lock);

	ret = cmxl_mcast_issue_leave(mcast, &events);
	err = errno;
	/* the kept event may be that of the join */
	if (id->sync)
		cmxl_event_ack_kept(id);
	cmxl_event_wait_acked(id, &mcast->events_completed, events);
	free(mcast);
	errno = err;
	return ret;
}
