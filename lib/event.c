// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events: fetching them from the kernel, modifying the QP as they require, returning them to the
 * application, and acknowledging them.
 *
 * rdma_get_cm_event() fetches only one event, so that the channel stays readable for poll() while
 * more events are pending.
 */
#include <stdlib.h>
#include <string.h>
#include "cmx_lib.h"

/* maximum number of events of one call; the kernel keeps the others for the next call */
#define CMXL_MAX_EVENTS 32

/* Threads rarely wait for an acknowledgement, so all of them share one condition. */
static pthread_mutex_t acked_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t acked = PTHREAD_COND_INITIALIZER;

/* Makes the threads in cmxl_event_wait_acked() check their counts again. */
void cmxl_event_wake_acked(void)
{
	pthread_mutex_lock(&acked_lock);
	pthread_cond_broadcast(&acked);
	pthread_mutex_unlock(&acked_lock);
}

static void cmxl_event_count_ack(struct cmxl_id *id, struct cmxl_mcast *mcast)
{
	bool wake;

	pthread_mutex_lock(&id->lock);
	if (mcast)
		mcast->events_completed++;
	id->events_completed++;
	wake = id->ack_awaited;
	pthread_mutex_unlock(&id->lock);
	/* a waiting thread may have freed both by now */
	if (wake)
		cmxl_event_wake_acked();
}

static bool cmxl_event_all_acked(struct cmxl_id *id, const uint32_t *completed, uint32_t events)
{
	bool all;

	pthread_mutex_lock(&id->lock);
	all = *completed >= events;
	if (!all)
		id->ack_awaited = true;
	pthread_mutex_unlock(&id->lock);
	return all;
}

static void cmxl_event_unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

/* @completed: a counter of the id or of one of its memberships */
void cmxl_event_wait_acked(struct cmxl_id *id, const uint32_t *completed, uint32_t events)
{
	if (cmxl_event_all_acked(id, completed, events))
		return;
	pthread_mutex_lock(&acked_lock);
	/* a cancellation point */
	pthread_cleanup_push(cmxl_event_unlock, &acked_lock);
	while (!cmxl_event_all_acked(id, completed, events))
		pthread_cond_wait(&acked, &acked_lock);
	pthread_cleanup_pop(1);
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	struct cmxl_event *e;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_ack_cm_event, -1, (event));
	if (!event)
		return cmxl_err(EINVAL);
	e = container_of(event, struct cmxl_event, event);
	cmxl_event_count_ack(e->id, e->mcast);
	free(e);
	return 0;
}

static void cmxl_event_copy_conn(struct cmxl_event *e, const struct cmx_conn_param *src)
{
	struct rdma_conn_param *dst = &e->event.param.conn;

	dst->private_data_len = src->private_data_len;
	if (src->private_data_len) {
		memcpy(e->private_data, src->private_data, src->private_data_len);
		dst->private_data = e->private_data;
	}
	dst->responder_resources = src->responder_resources;
	dst->initiator_depth = src->initiator_depth;
	dst->flow_control = src->flow_control;
	dst->retry_count = src->retry_count;
	dst->rnr_retry_count = src->rnr_retry_count;
	dst->srq = src->srq;
	dst->qp_num = src->qp_num;
}

static void cmxl_event_copy_ud(struct cmxl_event *e, struct cmx_ud_param *src)
{
	struct rdma_ud_param *dst = &e->event.param.ud;

	dst->private_data_len = src->private_data_len;
	if (src->private_data_len) {
		memcpy(e->private_data, src->private_data, src->private_data_len);
		dst->private_data = e->private_data;
	}
	ibv_copy_ah_attr_from_kern(&dst->ah_attr, &src->ah_attr);
	dst->qp_num = src->qp_num;
	dst->qkey = src->qkey;
}

static void cmxl_event_copy_param(struct cmxl_event *e, struct cmx_event_resp *resp)
{
	if (resp->flags & CMX_EVENT_F_UD)
		cmxl_event_copy_ud(e, &resp->param.ud);
	else
		cmxl_event_copy_conn(e, &resp->param.conn);
}

static void cmxl_event_save_qp_attrs(struct cmxl_id *id, const struct cmx_event_record *record)
{
	const struct cmx_event_resp *resp = &record->resp;
	struct cmxl_conn_attrs *known;

	pthread_mutex_lock(&id->lock);
	/* on ENOMEM they are queried when they are needed */
	known = cmxl_id_known(id);
	if (known && resp->flags & CMX_EVENT_F_INFO)
		known->init = record->info.init_attr;
	if (known && resp->flags & CMX_EVENT_F_QP) {
		known->rtr = resp->rtr;
		known->rts = resp->rts;
	}
	id->remote_ece = resp->ece;
	pthread_mutex_unlock(&id->lock);
}

/* An address or a route was resolved; the event becomes an error if it cannot be used. */
static void cmxl_event_on_resolved(struct cmxl_event *e, const struct cmx_event_record *record,
				   enum rdma_cm_event_type error)
{
	if (!(record->resp.flags & CMX_EVENT_F_INFO))
		return;
	if (!cmxl_id_apply_info(e->id, &record->info)) {
		if (record->info.port_num)
			return;
		/* the device was removed before the event was fetched */
		errno = ENODEV;
	}
	e->event.event = error;
	e->event.status = -errno;
}

/* The result of names is known already. That of the SA is fetched from the kernel. */
static void cmxl_event_on_addrinfo(struct cmxl_event *e, const struct cmx_event_record *record)
{
	if (!(record->resp.flags & CMX_EVENT_F_INFO) || cmxl_ai_is_known(e->id) ||
	    (!cmxl_id_apply_info(e->id, &record->info) && !cmxl_ai_fetch(e->id)))
		return;
	e->event.event = (enum rdma_cm_event_type)CMX_EVENT_ADDRINFO_ERROR;
	e->event.status = -errno;
	cmxl_ai_end(e->id);
}

/*
 * The channel for the id of a request, whose handle belongs to the file that it was fetched from.
 * That is the listener's channel, unless another thread has just migrated the listener. The program
 * may have passed a copy of the struct, or a duplicate of the file, that does not live long.
 */
static struct rdma_event_channel *cmxl_event_request_channel(struct rdma_event_channel *channel,
							     struct cmxl_id *listener,
							     uint32_t handle)
{
	struct rdma_event_channel *own;
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_ID, CMX_ID_QUERY);
	cmxl_cmd_u32(&cmd, CMX_ATTR_ID, handle);
	pthread_mutex_lock(&listener->lock);
	own = listener->id.channel;
	if (own->fd != channel->fd && cmxl_cmd_issue(&cmd, own->fd))
		own = channel;
	pthread_mutex_unlock(&listener->lock);
	return own;
}

/* rdma_get_request() has opened the channel. rdma_get_cm_event() on the channel of the listener has not. */
static int cmxl_event_make_request_sync(struct cmxl_id *listener, struct cmxl_id *id)
{
	return cmxl_id_make_sync(id, __atomic_exchange_n(&listener->request_channel, NULL,
							 __ATOMIC_ACQ_REL));
}

/* Creates the id of a request; on failure the request is rejected. */
static bool cmxl_event_on_request(struct rdma_event_channel *channel, struct cmxl_event *e,
				  struct cmx_event_record *record)
{
	struct cmxl_id *listener = e->id, *id;
	struct cmx_event_resp *resp = &record->resp;

	cmxl_event_copy_param(e, resp);
	channel = cmxl_event_request_channel(channel, listener, resp->id);
	id = cmxl_id_from_request(channel, listener, resp->id);
	if (!id) {
		cmxl_id_destroy_handle(channel->fd, resp->id);
		return false;
	}
	e->event.listen_id = &listener->id;
	e->event.id = &id->id;
	if (!(resp->flags & CMX_EVENT_F_UD)) {
		/* as seen from this end */
		id->initiator_depth = resp->param.conn.initiator_depth;
		id->responder_resources = resp->param.conn.responder_resources;
	}
	cmxl_event_save_qp_attrs(id, record);
	if ((listener->sync && cmxl_event_make_request_sync(listener, id)) ||
	    cmxl_id_apply_info(id, &record->info) || !cmxl_id_device(&id->id)) {
		rdma_destroy_id(&id->id);
		return false;
	}
	return true;
}

/* The active end received a REP: modify the QP, and send the RTU when it can receive. */
static int cmxl_event_follow_response(struct cmxl_id *id)
{
	struct cmxl_cmd cmd;
	int err;

	if (cmxl_ece_apply_reply(id, id->id.qp) ||
	    cmxl_qp_to_rts(id, RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH))
		goto err;
	cmxl_id_cmd(&cmd, id, CMX_ID_ESTABLISH);
	if (cmxl_id_issue(&cmd, id) || cmxl_ece_qp_settled(id, id->id.qp))
		goto err;
	return 0;
err:
	err = errno;
	cmxl_qp_to_state(id, IBV_QPS_ERR);
	return cmxl_err(err);
}

static void cmxl_event_on_response(struct cmxl_event *e, struct cmx_event_record *record)
{
	cmxl_event_copy_param(e, &record->resp);
	cmxl_event_save_qp_attrs(e->id, record);
	if (!cmxl_qp_hold(e->id))
		return;
	if (!cmxl_event_follow_response(e->id)) {
		e->event.event = RDMA_CM_EVENT_ESTABLISHED;
	} else {
		e->event.event = RDMA_CM_EVENT_CONNECT_ERROR;
		e->event.status = -errno;
		e->id->connect_error = true;
	}
	cmxl_qp_release(e->id);
}

static void cmxl_event_on_rejected(struct cmxl_event *e, struct cmx_event_resp *resp)
{
	cmxl_event_copy_param(e, resp);
	if (!cmxl_qp_hold(e->id))
		return;
	cmxl_qp_to_state(e->id, IBV_QPS_ERR);
	cmxl_qp_release(e->id);
}

/* False if a membership was rejoined, but its QP cannot be attached yet. */
static bool cmxl_event_on_mcast(struct cmxl_event *e, struct cmx_event_resp *resp)
{
	cmxl_event_copy_ud(e, &resp->param.ud);
	e->event.param.ud.private_data = e->mcast->context;
	if (resp->event != RDMA_CM_EVENT_MULTICAST_JOIN ||
	    !cmxl_mcast_joined(e->mcast, &e->event.param.ud))
		return true;
	if (resp->flags & CMX_EVENT_F_REJOIN && cmxl_mcast_report_again(e->mcast))
		return false;
	e->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
	e->event.status = -errno;
	return true;
}

/*
 * Sets the id and the membership of an event. Both stay valid until the event is acknowledged,
 * because the kernel counts fetched events.
 */
static void cmxl_event_set_owner(struct cmxl_event *e, const struct cmx_event_resp *resp)
{
	if (resp->flags & CMX_EVENT_F_MCAST) {
		e->mcast = (void *)(uintptr_t)resp->user_data;
		e->id = e->mcast->id;
	} else {
		e->id = (void *)(uintptr_t)resp->user_data;
	}
}

/* For rdma_cmx_query_event() */
static void cmxl_event_save_info(struct cmxl_event *e, const struct cmx_event_record *record)
{
	const struct cmx_event_resp *resp = &record->resp;
	uint32_t i;

	e->info.event = resp->event;
	e->info.status = resp->status;
	e->info.flags = resp->flags & CMX_EVENT_F_REJOIN;
	e->info.ece = resp->ece;
	if (!(resp->flags & CMX_EVENT_F_INFO) || record->info.num_paths > ARRAY_SIZE(e->info.path))
		return;
	e->info.num_paths = record->info.num_paths;
	for (i = 0; i < e->info.num_paths; i++)
		cmxl_path_from_kernel(&e->info.path[i], &record->info.path[i]);
}

/* struct rdma_cm_event has param.arg since rdma-core 60. */
static void cmxl_event_copy_arg(struct cmxl_event *e, const struct cmx_event_resp *resp)
{
	memcpy(&e->event.param, &resp->param.arg, sizeof(resp->param.arg));
	e->info.arg = resp->param.arg;
}

/* False if the event is not reported to the application. */
static bool cmxl_event_process(struct rdma_event_channel *channel, struct cmxl_event *e,
			       struct cmx_event_record *record)
{
	struct cmx_event_resp *resp = &record->resp;

	cmxl_event_set_owner(e, resp);
	cmxl_event_save_info(e, record);
	e->event.id = &e->id->id;
	e->event.event = resp->event;
	e->event.status = resp->status;

	switch (resp->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		cmxl_event_on_resolved(e, record, RDMA_CM_EVENT_ADDR_ERROR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		cmxl_event_on_resolved(e, record, RDMA_CM_EVENT_ROUTE_ERROR);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (!cmxl_event_on_request(channel, e, record))
			goto drop;
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		cmxl_event_on_response(e, record);
		break;
	case RDMA_CM_EVENT_REJECTED:
		if (e->id->connect_error)
			goto drop;
		cmxl_event_on_rejected(e, resp);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (e->id->connect_error)
			goto drop;
		cmxl_event_copy_param(e, resp);
		break;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		if (!cmxl_event_on_mcast(e, resp))
			goto drop;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		cmxl_event_copy_param(e, resp);
		/* a SIDR REP may have brought another Q_Key */
		if (resp->flags & CMX_EVENT_F_UD)
			cmxl_qp_forget_attrs(e->id);
		break;
	case CMX_EVENT_ADDRINFO_RESOLVED:
		cmxl_event_copy_arg(e, resp);
		cmxl_event_on_addrinfo(e, record);
		break;
	case CMX_EVENT_ADDRINFO_ERROR:
		cmxl_event_copy_arg(e, resp);
		cmxl_ai_end(e->id);
		break;
	case CMX_EVENT_USER:
		cmxl_event_copy_arg(e, resp);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (cmxl_id_device(&e->id->id))
			cmxl_device_removed(cmxl_id_device(&e->id->id));
		break;
	default:
		cmxl_event_copy_param(e, resp);
		break;
	}
	return true;
drop:
	cmxl_event_count_ack(e->id, e->mcast);
	return false;
}

/**
 * struct cmxl_fetch - resources of a thread that waits for events
 * @fd: file of the channel, which another thread may destroy
 * @records: written by the kernel; the user data is 0 if there is no event
 * @spare: memory for the event that the application receives, one for each record
 * @n: number of records
 */
struct cmxl_fetch {
	int fd;
	struct cmx_event_record *records;
	struct cmxl_event *spare[CMXL_MAX_EVENTS];
	int n;
};

/* The thread was cancelled. Events that it has fetched count as acknowledged. */
static void cmxl_fetch_cancel(void *arg)
{
	struct cmxl_fetch *f = arg;
	int i;

	for (i = 0; i < f->n; i++) {
		if (!f->records[i].resp.user_data) {
			free(f->spare[i]);
			continue;
		}
		if (f->records[i].resp.event == RDMA_CM_EVENT_CONNECT_REQUEST)
			cmxl_id_destroy_handle(f->fd, f->records[i].resp.id);
		cmxl_event_set_owner(f->spare[i], &f->records[i].resp);
		rdma_ack_cm_event(&f->spare[i]->event);
	}
}

/*
 * The wait is a cancellation point, as is write() in the stock library. ioctl() is not one by
 * itself, so only this ioctl() runs with asynchronous cancellation.
 */
static int cmxl_fetch_issue(struct cmxl_fetch *f)
{
	static const struct cmx_event_sizes sizes = {
		.resp = sizeof(f->records->resp), .info = sizeof(f->records->info),
	};
	uint32_t count = 0;
	struct cmxl_cmd cmd;
	int type, ret;

	static_assert(CMXL_MAX_EVENTS * sizeof(*f->records) <= UINT16_MAX,
		      "length of an attribute");
	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_GET_EVENTS);
	cmxl_cmd_in(&cmd, CMX_ATTR_EVENT_SIZES, &sizes, sizeof(sizes));
	cmxl_cmd_out(&cmd, CMX_ATTR_EVENTS, f->records, f->n * sizeof(*f->records));
	cmxl_cmd_out(&cmd, CMX_ATTR_COUNT, &count, sizeof(count));
	pthread_cleanup_push(cmxl_fetch_cancel, f);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	ret = cmxl_cmd_issue(&cmd, f->fd);
	pthread_setcanceltype(type, NULL);
	pthread_cleanup_pop(0);
	return ret ? -1 : (int)count;
}

/*
 * Memory is allocated before the events are fetched, because a fetched event cannot be put back.
 * Returns the number of events for the application, or -1 if none was fetched.
 */
static int cmxl_event_fetch(struct rdma_event_channel *channel, struct cmx_event_record *records,
			    struct rdma_cm_event **events, int n)
{
	int fetched, used = 0, state, i, err;
	struct cmxl_fetch f;

	f.fd = channel->fd;
	f.records = records;
	for (f.n = 0; f.n < n; f.n++) {
		f.spare[f.n] = calloc(1, sizeof(*f.spare[0]));
		if (!f.spare[f.n])
			break;
	}
	if (!f.n)
		return cmxl_err(ENOMEM);

	memset(records, 0, f.n * sizeof(*records));
	fetched = cmxl_fetch_issue(&f);
	err = errno;
	/* libibverbs and file operations have cancellation points; finish all fetched events */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	for (i = 0; i < fetched; i++) {
		if (cmxl_event_process(channel, f.spare[used], &records[i])) {
			events[used] = &f.spare[used]->event;
			used++;
		} else {
			memset(f.spare[used], 0, sizeof(*f.spare[used]));
		}
	}
	pthread_setcancelstate(state, NULL);
	for (i = used; i < f.n; i++)
		free(f.spare[i]);
	return fetched < 0 ? cmxl_err(err) : used;
}

static int cmxl_event_get(struct rdma_event_channel *channel, struct cmx_event_record *records,
			  struct rdma_cm_event **events, int n)
{
	int ret;

	/* all events were dropped: wait for others */
	do {
		ret = cmxl_event_fetch(channel, records, events, n);
	} while (!ret);
	return ret;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct cmx_event_record record;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_get_cm_event, -1, (channel, event));
	if (!event)
		return cmxl_err(EINVAL);
	return cmxl_event_get(channel, &record, event, 1) < 0 ? -1 : 0;
}

int rdma_cmx_get_events(struct rdma_event_channel *channel, struct rdma_cm_event **events, int n)
{
	int max = n < CMXL_MAX_EVENTS ? n : CMXL_MAX_EVENTS;
	struct cmx_event_record *records;
	int ret, err;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_cmx_get_events, -1, (channel, events, n));
	if (!events || n < 1)
		return cmxl_err(EINVAL);
	records = malloc(max * sizeof(*records));
	if (!records)
		return cmxl_err(ENOMEM);
	pthread_cleanup_push(free, records);
	ret = cmxl_event_get(channel, records, events, max);
	err = errno;
	pthread_cleanup_pop(1);
	errno = err;
	return ret;
}

int rdma_cmx_query_event(const struct rdma_cm_event *event, struct rdma_cmx_event_info *info,
			 size_t size)
{
	const struct cmxl_event *e;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_cmx_query_event, -1, (event, info, size));
	if (!event || !info || size < offsetof(struct rdma_cmx_event_info, ece))
		return cmxl_err(EINVAL);
	e = container_of(event, struct cmxl_event, event);
	memset(info, 0, size);
	memcpy(info, &e->info, size < sizeof(e->info) ? size : sizeof(e->info));
	return 0;
}

int cmxl_event_write(struct cmxl_id *id, uint32_t event, int status, uint64_t arg)
{
	struct cmxl_cmd cmd;

	cmxl_id_cmd(&cmd, id, CMX_ID_WRITE_EVENT);
	cmxl_cmd_u32(&cmd, CMX_ATTR_EVENT, event);
	cmxl_cmd_u32(&cmd, CMX_ATTR_STATUS, status);
	cmxl_cmd_u64(&cmd, CMX_ATTR_ARG, arg);
	return cmxl_id_issue(&cmd, id);
}

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg)
{
	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_write_cm_event, -1, (id, event, status, arg));
	if (!id || (uint32_t)event != CMX_EVENT_USER)
		return cmxl_err(EINVAL);
	return cmxl_event_write(to_cmxl_id(id), CMX_EVENT_USER, status, arg);
}

/* Acknowledges the event that a synchronous id has kept since its last call. */
void cmxl_event_ack_kept(struct cmxl_id *id)
{
	if (!id->id.event)
		return;
	rdma_ack_cm_event(id->id.event);
	id->id.event = NULL;
}

/* 0, or -1 with the errno that stands for the event. */
int cmxl_event_error(const struct rdma_cm_event *event)
{
	/* the status is a reason that the peer has chosen, and may be 0 */
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return cmxl_err(ECONNREFUSED);
	return event->status ? cmxl_err(abs(event->status)) : 0;
}

/* A call on a synchronous id waits for its event and keeps it. */
int cmxl_id_wait_event(struct cmxl_id *id)
{
	struct rdma_cm_id *cm_id = &id->id;

	cmxl_event_ack_kept(id);
	if (rdma_get_cm_event(cm_id->channel, &cm_id->event))
		return -1;
	return cmxl_event_error(cm_id->event);
}

static const char *const event_names[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
	[RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
	[RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
	[RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
	[RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
	[RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
	[RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
	[RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
	[RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
	[RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
	[RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
	[RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
	[CMX_EVENT_ADDRINFO_RESOLVED] = "RDMA_CM_EVENT_ADDRINFO_RESOLVED",
	[CMX_EVENT_ADDRINFO_ERROR] = "RDMA_CM_EVENT_ADDRINFO_ERROR",
	[CMX_EVENT_USER] = "RDMA_CM_EVENT_USER",
	[CMX_EVENT_USER + 1] = "RDMA_CM_EVENT_INTERNAL",
};

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_event_str, NULL, (event));
	if ((unsigned int)event >= ARRAY_SIZE(event_names))
		return "UNKNOWN EVENT";
	return event_names[event];
}
