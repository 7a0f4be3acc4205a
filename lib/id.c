// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creation, migration and destruction of an rdma_cm_id.
 *
 * The kernel returns the address of an id with each of its events (CMX_ATTR_USER_DATA) and counts the
 * fetched events. An id is freed when all of them are acknowledged. The id of a request has no
 * events before it is accepted; accepting it passes its address to the kernel.
 */
#include <stdlib.h>
#include <string.h>
#include "cmx_lib.h"

void cmxl_id_cmd(struct cmxl_cmd *cmd, const struct cmxl_id *id, uint16_t method)
{
	cmxl_cmd_init(cmd, CMX_OBJ_ID, method);
	cmxl_cmd_u32(cmd, CMX_ATTR_ID, id->handle);
}

static void cmxl_id_add_create_attrs(struct cmxl_cmd *cmd, struct cmxl_id *id)
{
	cmxl_cmd_u64(cmd, CMX_ATTR_USER_DATA, (uintptr_t)id);
	cmxl_cmd_u32(cmd, CMX_ATTR_PS, id->id.ps);
	cmxl_cmd_u32(cmd, CMX_ATTR_QP_TYPE, id->id.qp_type);
	cmxl_cmd_out(cmd, CMX_ATTR_OUT_ID, &id->handle, sizeof(id->handle));
}

/* Creates the id in the kernel, at its first use. */
int cmxl_id_create_in_kernel(struct cmxl_id *id)
{
	struct cmxl_cmd cmd;
	int ret = 0;

	if (__atomic_load_n(&id->handle, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&id->lock);
	if (!id->handle) {
		cmxl_cmd_init(&cmd, CMX_OBJ_ID, CMX_ID_CREATE);
		cmxl_id_add_create_attrs(&cmd, id);
		ret = cmxl_cmd_issue(&cmd, id->id.channel->fd);
	}
	pthread_mutex_unlock(&id->lock);
	return ret;
}

/* For commands that begin with CMX_ATTR_ID. */
int cmxl_id_issue(struct cmxl_cmd *cmd, struct cmxl_id *id)
{
	if (cmxl_id_create_in_kernel(id))
		return -1;
	/* independent of the byte order, as in cmxl_cmd_u32() */
	memcpy(&cmd->hdr.attrs[0].data, &id->handle, sizeof(id->handle));
	return cmxl_cmd_issue(cmd, id->id.channel->fd);
}

/*
 * For commands that can also create the id. The kernel writes the handle before an event can
 * arrive, and destroys the id again if the command fails.
 */
int cmxl_id_issue_new(struct cmxl_cmd *cmd, struct cmxl_id *id)
{
	struct ib_uverbs_attr *first = &cmd->hdr.attrs[0];
	uint32_t events = 0;
	int ret;

	if (__atomic_load_n(&id->handle, __ATOMIC_ACQUIRE))
		return cmxl_id_issue(cmd, id);
	pthread_mutex_lock(&id->lock);
	if (id->handle) {
		pthread_mutex_unlock(&id->lock);
		return cmxl_id_issue(cmd, id);
	}
	/* CMX_ATTR_ID is the first attribute. It is not needed, and the last one takes its place. */
	*first = cmd->hdr.attrs[--cmd->hdr.num_attrs];
	cmxl_id_add_create_attrs(cmd, id);
	cmxl_cmd_out(cmd, CMX_ATTR_COUNT, &events, sizeof(events));
	ret = cmxl_cmd_issue(cmd, id->id.channel->fd);
	if (ret)
		id->handle = 0;
	id->events_before += events;
	pthread_mutex_unlock(&id->lock);
	return ret;
}

/*
 * Issues a command that leads to an event. Another thread may fetch that event and destroy the id
 * before the command returns, unless the id is synchronous.
 */
int cmxl_id_run(struct cmxl_cmd *cmd, struct cmxl_id *id)
{
	bool sync = id->sync;

	if (cmxl_id_issue(cmd, id))
		return -1;
	return sync ? cmxl_id_wait_event(id) : 0;
}

/* The same check as in the kernel, which creates the id later. */
static int cmxl_id_check_type(enum rdma_port_space ps, enum ibv_qp_type qp_type)
{
	switch (ps) {
	case RDMA_PS_TCP:
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return 0;
	case RDMA_PS_IB:
		break;
	default:
		return cmxl_err(EINVAL);
	}
	switch ((int)qp_type) {
	case 0:		/* a listener for all types */
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return 0;
	default:
		return cmxl_err(EINVAL);
	}
}

static struct cmxl_id *cmxl_id_alloc(struct rdma_event_channel *channel, void *context,
				     enum rdma_port_space ps, enum ibv_qp_type qp_type)
{
	struct cmxl_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->id.channel = channel;
	id->id.context = context;
	id->id.ps = ps;
	id->id.qp_type = qp_type;
	id->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	return id;
}

static void cmxl_id_free(struct cmxl_id *id)
{
	cmxl_mcast_free_all(id);
	if (id->dev)
		cmxl_device_put(id->dev);
	pthread_mutex_destroy(&id->lock);
	if (id->sync)
		rdma_destroy_event_channel(id->id.channel);
	if (id->request_channel)
		rdma_destroy_event_channel(id->request_channel);
	free(id->qp_init_attr);
	free(id->known);
	free(id->connect);
	rdma_freeaddrinfo(id->resolved_ai);
	free(id);
}

int cmxl_id_create(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps, enum ibv_qp_type qp_type)
{
	bool sync = !channel;
	struct cmxl_id *new;
	int err;

	if (cmxl_devices_init() || cmxl_id_check_type(ps, qp_type))
		return -1;
	if (sync) {
		channel = rdma_create_event_channel();
		if (!channel)
			return -1;
	}
	if (cmxl_channel_check(channel))
		goto err;
	new = cmxl_id_alloc(channel, context, ps, qp_type);
	if (!new) {
		errno = ENOMEM;
		goto err;
	}
	new->sync = sync;
	*id = &new->id;
	return 0;

err:
	err = errno;
	if (sync)
		rdma_destroy_event_channel(channel);
	return cmxl_err(err);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	bool ud = ps == RDMA_PS_IPOIB || ps == RDMA_PS_UDP;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_create_id, -1, (channel, id, context, ps));
	return cmxl_id_create(channel, id, context, ps, ud ? IBV_QPT_UD : IBV_QPT_RC);
}

/* The id for the handle of a CONNECT_REQUEST; NULL on ENOMEM. */
struct cmxl_id *cmxl_id_from_request(struct rdma_event_channel *channel,
				     const struct cmxl_id *listener, uint32_t handle)
{
	struct cmxl_id *id;

	id = cmxl_id_alloc(channel, listener->id.context, listener->id.ps, listener->id.qp_type);
	if (!id)
		return NULL;
	id->handle = handle;
	id->ece_policy = listener->ece_policy;
	id->mcast_block = listener->mcast_block;
	return id;
}

static int cmxl_id_issue_destroy(int fd, uint32_t handle, uint32_t *events)
{
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_ID, CMX_ID_DESTROY);
	cmxl_cmd_u32(&cmd, CMX_ATTR_ID, handle);
	cmxl_cmd_out(&cmd, CMX_ATTR_COUNT, events, sizeof(*events));
	return cmxl_cmd_issue(&cmd, fd);
}

/* For a handle without a struct cmxl_id. */
void cmxl_id_destroy_handle(int fd, uint32_t handle)
{
	uint32_t events;

	cmxl_id_issue_destroy(fd, handle, &events);
}

int rdma_destroy_id(struct rdma_cm_id *cm_id)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);
	uint32_t events = 0;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_destroy_id, -1, (cm_id));
	if (id->handle && cmxl_id_issue_destroy(cm_id->channel->fd, id->handle, &events)) {
		if (errno != EACCES)
			return -1;
		/*
		 * In a child of fork() the device belongs to the parent, too, and a thread of the
		 * parent may have held the locks.
		 */
		id->dev = NULL;
		if (cm_id->event)
			free(container_of(cm_id->event, struct cmxl_event, event));
		cmxl_id_free(id);
		return 0;
	}
	if (cm_id->event)
		rdma_ack_cm_event(cm_id->event);
	/* An id without a handle had no event; in a child of fork() its lock may be held for ever. */
	if (id->handle || id->events_before)
		cmxl_event_wait_acked(id, &id->events_completed, id->events_before + events);
	cmxl_id_free(id);
	return 0;
}

/* Waits until the events fetched so far are acknowledged. */
static int cmxl_id_migrate(struct cmxl_id *id, struct rdma_event_channel *channel, bool sync)
{
	struct rdma_cm_id *cm_id = &id->id;
	struct rdma_event_channel *old = cm_id->channel;
	uint32_t events = 0, handle = 0;
	bool was_sync = id->sync;
	struct cmxl_cmd cmd;

	cmxl_id_cmd(&cmd, id, CMX_ID_MIGRATE);
	cmxl_cmd_u32(&cmd, CMX_ATTR_FD, old->fd);
	cmxl_cmd_out(&cmd, CMX_ATTR_OUT_ID, &handle, sizeof(handle));
	cmxl_cmd_out(&cmd, CMX_ATTR_COUNT, &events, sizeof(events));
	if (cmxl_cmd_issue(&cmd, channel->fd))
		return -1;

	pthread_mutex_lock(&id->lock);
	id->handle = handle;
	id->sync = sync;
	cm_id->channel = channel;
	pthread_mutex_unlock(&id->lock);

	if (was_sync) {
		cmxl_event_ack_kept(id);
		rdma_destroy_event_channel(old);
	}
	cmxl_event_wait_acked(id, &id->events_completed, id->events_before + events);
	return 0;
}

/* Moves an id to a channel of its own: @channel, or a new one if that is NULL. Destroys it on failure. */
int cmxl_id_make_sync(struct cmxl_id *id, struct rdma_event_channel *channel)
{
	int err;

	if (!channel)
		channel = rdma_create_event_channel();
	if (!channel)
		return -1;
	if (!cmxl_id_migrate(id, channel, true))
		return 0;
	err = errno;
	rdma_destroy_event_channel(channel);
	return cmxl_err(err);
}

/* If @channel is NULL, the id gets a channel of its own and becomes synchronous. */
int rdma_migrate_id(struct rdma_cm_id *cm_id, struct rdma_event_channel *channel)
{
	struct cmxl_id *id = to_cmxl_id(cm_id);

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_migrate_id, -1, (cm_id, channel));
	if (id->sync && !channel)
		return cmxl_err(EINVAL);
	if (cmxl_id_create_in_kernel(id))
		return -1;
	return channel ? cmxl_id_migrate(id, channel, false) : cmxl_id_make_sync(id, NULL);
}

void cmxl_path_from_kernel(struct ibv_sa_path_rec *dst, const struct ib_path_rec_data *src)
{
	struct ibv_path_data data;
	uint32_t fl_hop;

	static_assert(sizeof(data) == sizeof(*src), "two names for one layout");
	memcpy(&data, src, sizeof(data));
	fl_hop = be32toh(data.path.flowlabel_hoplimit);

	memset(dst, 0, sizeof(*dst));
	dst->dgid = data.path.dgid;
	dst->sgid = data.path.sgid;
	dst->dlid = data.path.dlid;
	dst->slid = data.path.slid;
	dst->flow_label = htobe32(fl_hop >> 8 & 0xfffff);
	dst->hop_limit = fl_hop;
	dst->traffic_class = data.path.tclass;
	dst->reversible = data.path.reversible_numpath >> 7;
	dst->numb_path = 1;
	dst->pkey = data.path.pkey;
	dst->sl = be16toh(data.path.qosclass_sl) & 0xf;
	dst->mtu_selector = 2; /* exactly */
	dst->mtu = data.path.mtu & 0x3f;
	dst->rate_selector = 2;
	dst->rate = data.path.rate & 0x3f;
	dst->packet_life_time_selector = 2;
	dst->packet_life_time = data.path.packetlifetime & 0x3f;
	dst->preference = data.flags;
}

/* Allocates @known if necessary; the caller holds the lock. NULL on ENOMEM. */
struct cmxl_conn_attrs *cmxl_id_known(struct cmxl_id *id)
{
	/* cmxl_qp_forget_attrs() reads it without the lock */
	if (!id->known)
		__atomic_store_n(&id->known, calloc(1, sizeof(*id->known)), __ATOMIC_RELEASE);
	return id->known;
}

static int cmxl_id_apply_paths(struct cmxl_id *id, const struct cmx_id_info *info)
{
	struct cmxl_conn_attrs *known = cmxl_id_known(id);
	int i;

	if (!known)
		return cmxl_err(ENOMEM);
	for (i = 0; i < info->num_paths; i++)
		cmxl_path_from_kernel(&known->paths[i], &info->path[i]);
	id->id.route.path_rec = known->paths;
	id->id.route.num_paths = info->num_paths;
	return 0;
}

/* Copies the device, addresses and paths that the kernel reports to the id. */
int cmxl_id_apply_info(struct cmxl_id *id, const struct cmx_id_info *info)
{
	struct rdma_route *route = &id->id.route;
	int ret = 0;

	static_assert(sizeof(route->addr.src_storage) == sizeof(info->src_addr),
		       "two names for one layout");
	pthread_mutex_lock(&id->lock);
	if (info->src_addr.ss_family)
		memcpy(&route->addr.src_storage, &info->src_addr, sizeof(info->src_addr));
	if (info->dst_addr.ss_family)
		memcpy(&route->addr.dst_storage, &info->dst_addr, sizeof(info->dst_addr));
	else if (!route->addr.dst_addr.sa_family)
		/* only the start was requested: a wildcard of the same family */
		route->addr.dst_addr.sa_family = info->src_addr.ss_family;
	/* A device may have a node GUID of 0, but no port 0. */
	if (!info->port_num)
		goto out;
	if (!id->dev)
		ret = cmxl_device_get(id, info->node_guid, info->ibdev_index);
	if (ret)
		goto out;
	id->id.port_num = info->port_num;
	route->addr.addr.ibaddr.pkey = htobe16(info->pkey);
	memcpy(route->addr.addr.ibaddr.sgid.raw, info->sgid, sizeof(info->sgid));
	memcpy(route->addr.addr.ibaddr.dgid.raw, info->dgid, sizeof(info->dgid));
	if (info->num_paths && info->num_paths <= 2)
		ret = cmxl_id_apply_paths(id, info);
out:
	/* the event of the route brings them again, so an id that only has an address needs no memory for them */
	if (id->known && info->init_attr.qp_state)
		id->known->init = info->init_attr;
	else if (id->known)
		id->known->init.qp_state = 0;
	pthread_mutex_unlock(&id->lock);
	return ret;
}
