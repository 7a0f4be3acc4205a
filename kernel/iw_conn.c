// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections over iw_cm: iWARP, where a connection is one of TCP.
 *
 * The provider takes the QP through its states. Private data goes without a
 * header, because TCP knows the addresses.
 *
 * iw_cm calls back from one worker for all, and a QP is not destroyed before
 * that worker has seen the end of its connection: no owner's handler runs
 * there, and nothing here waits for that worker with an id's lock. Destroying an
 * iw_cm id waits for the provider, and for the peer when that has not answered
 * yet: a work item does it.
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/iw_cm.h>
#include "deadline.h"
#include "device.h"
#include "ece.h"
#include "event.h"
#include "iw.h"
#include "option_value.h"
#include "sockaddr.h"
#include "teardown.h"
#include "trace.h"
#include "transport.h"
#include "wire.h"

/*
 * iw_cm and the provider allocate for so many requests at once, and for as many for 0. Requests
 * wait there for a work item only: what the owner has not fetched is counted elsewhere.
 */
#define MAX_BACKLOG 256

static void reap(struct work_struct *work)
{
	struct cmx_priv *p = container_of(work, struct cmx_priv, reap);
	struct cmx_device *dev = p->dead_dev;

	iw_destroy_cm_id(p->iw_dead);
	cmx_id_put(p);
	cmx_device_put(dev);
}

/* The reference of @iw is used up. */
static void bury(struct cmx_priv *p, struct iw_cm_id *iw, struct cmx_device *dev)
{
	cmx_device_get(dev);
	p->dead_dev = dev;
	p->iw_dead = iw;
	INIT_WORK(&p->reap, reap);
	queue_work(p->established || p->owed ? cmx_reap_wq : cmx_linger_wq, &p->reap);
}

/* While the provider is being called, the caller does the rest. */
static void iw_release(struct cmx_priv *p)
{
	lockdep_assert_held(&p->lock);
	if (p->iw && !p->calling)
		bury(p, p->iw, p->dev);
	p->iw = NULL;
}

/* An offer of ECE has no place in the messages, and none will come. */
static bool ece_fits(struct cmx_priv *p)
{
	static const struct rdma_ucm_ece none;

	return !p->ece_local.vendor_id && cmx_ece_receive(p, &none);
}

static struct iw_cm_conn_param conn_param(struct cmx_priv *p, const struct rdma_conn_param *param)
{
	return (struct iw_cm_conn_param) {
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
		.ord = param->initiator_depth,
		.ird = param->responder_resources,
		.qpn = p->qp_num,
	};
}

/* What the connection needs and the QP did not get when it was made. */
static int prepare_qp(struct cmx_priv *p)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, ret;

	if (!p->id.qp)
		return 0;
	ret = iw_cm_init_qp_attr(p->iw, &attr, &mask);
	return ret ?: ib_modify_qp(p->id.qp, &attr, mask);
}

static void set_tos(struct cmx_priv *p, struct iw_cm_id *iw)
{
	iw->tos = cmx_opt_tos(p);
	iw->tos_set = iw->tos;
}

static int hang_up(struct cmx_priv *p)
{
	int ret = iw_cm_disconnect(p->iw, 0);

	trace_cmx_cm_send(p, "FIN", ret);
	return ret;
}

static void established(struct cmx_priv *p)
{
	p->established = 1;
	if (p->hangup)
		hang_up(p);
}

static enum rdma_cm_event_type got_reply(struct cmx_priv *p, int status)
{
	cmx_deadline_stop(p);
	switch (status) {
	case 0:
		established(p);
		return RDMA_CM_EVENT_ESTABLISHED;
	case -ECONNRESET:
	case -ECONNREFUSED:
		return RDMA_CM_EVENT_REJECTED;
	case -ETIMEDOUT:
		return RDMA_CM_EVENT_UNREACHABLE;
	default:
		return RDMA_CM_EVENT_CONNECT_ERROR;
	}
}

static bool got_event(struct cmx_priv *p, const struct iw_cm_event *event, struct cmx_event *ev)
{
	if (p->state != CMX_CONNECT)
		return false;
	ev->ev.status = event->status;
	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		ev->ev.event = got_reply(p, event->status);
		/* of other events iw_cm does not keep it */
		cmx_event_data(ev, event->private_data, event->private_data_len);
		break;
	case IW_CM_EVENT_ESTABLISHED:
		cmx_deadline_stop(p);
		if (!event->status)
			established(p);
		ev->ev.event = event->status ? RDMA_CM_EVENT_CONNECT_ERROR
					     : RDMA_CM_EVENT_ESTABLISHED;
		break;
	case IW_CM_EVENT_CLOSE:
		ev->ev.event = RDMA_CM_EVENT_DISCONNECTED;
		cmx_deadline_stop(p);
		cmx_state_move(p, CMX_IN(CONNECT), CMX_DISCONNECT);
		break;
	default:
		return false;
	}
	ev->ev.param.conn.responder_resources = event->ord;
	ev->ev.param.conn.initiator_depth = event->ird;
	return true;
}

static int iw_handler(struct iw_cm_id *iw, struct iw_cm_event *event)
{
	struct cmx_priv *p = iw->context;
	struct cmx_event *ev = cmx_event_must(p, RDMA_CM_EVENT_CONNECT_ERROR, 0);
	bool post;

	mutex_lock(&p->lock);
	post = p->iw == iw && got_event(p, event, ev);
	if (post)
		cmx_event_post(ev);
	mutex_unlock(&p->lock);
	if (!post)
		cmx_event_free(ev);
	return 0;
}

/*
 * The provider may wait for TCP, and siw does: meanwhile the owner can give up.
 * That is reported by then, so that the end of this attempt is not.
 */
static int call_provider(struct cmx_priv *p, struct iw_cm_id *iw, struct iw_cm_conn_param *conn)
{
	struct cmx_device *dev = p->dev;
	int ret;

	p->calling = 1;
	mutex_unlock(&p->lock);
	ret = iw_cm_connect(iw, conn);
	mutex_lock(&p->lock);
	p->calling = 0;
	trace_cmx_cm_send(p, "MPA request", ret);
	if (p->iw == iw)
		return ret;
	bury(p, iw, dev);
	return 0;
}

/* Nothing came of it. The worker of iw_cm may wait for the lock. */
static void abandon(struct cmx_priv *p, struct iw_cm_id *iw)
{
	cmx_deadline_stop(p);
	p->iw = NULL;
	mutex_unlock(&p->lock);
	iw_destroy_cm_id(iw);
	mutex_lock(&p->lock);
}

static int iw_connect(struct cmx_priv *p, const struct rdma_conn_param *param)
{
	struct iw_cm_conn_param conn = conn_param(p, param);
	struct cmx_device *dev = p->dev;
	struct iw_cm_id *iw;
	int ret;

	if (!ece_fits(p))
		return -EOPNOTSUPP;
	iw = iw_create_cm_id(p->id.device, iw_handler, p);
	if (IS_ERR(iw))
		return PTR_ERR(iw);
	cmx_id_get(p);
	cmx_device_get(dev);
	set_tos(p, iw);
	memcpy(&iw->local_addr, cmx_src(p), cmx_addr_size(cmx_src(p)));
	memcpy(&iw->remote_addr, cmx_dst(p), cmx_addr_size(cmx_dst(p)));
	p->iw = iw;
	p->hangup = 0;
	ret = prepare_qp(p) ?: call_provider(p, iw, &conn);
	if (ret) {
		abandon(p, iw);
		/* not the last one: the caller has one */
		cmx_id_put(p);
	}
	cmx_device_put(dev);
	return ret;
}

static int iw_accept(struct cmx_priv *p, const struct rdma_conn_param *param)
{
	struct iw_cm_conn_param conn = conn_param(p, param);
	int ret;

	if (!p->passive || !p->owed)
		return -EINVAL;
	if (!ece_fits(p))
		return -EOPNOTSUPP;
	ret = prepare_qp(p) ?: iw_cm_accept(p->iw, &conn);
	trace_cmx_cm_send(p, "MPA reply", ret);
	if (!ret)
		p->owed = 0;
	return ret;
}

/* There is nothing that the connecting side has to answer. */
static int iw_establish(struct cmx_priv *p)
{
	return -EINVAL;
}

static int iw_reject(struct cmx_priv *p, const void *data, u8 len, u8 reason)
{
	int ret;

	if (!p->passive || !p->owed || reason != IB_CM_REJ_CONSUMER_DEFINED)
		return -EINVAL;
	ret = iw_cm_reject(p->iw, data, len);
	trace_cmx_cm_send(p, "MPA reject", ret);
	if (!ret)
		p->owed = 0;
	return ret;
}

/* iw_cm would wait for the end of an attempt: this is done when there is one. */
static int iw_disconnect(struct cmx_priv *p)
{
	if (p->state != CMX_CONNECT || p->owed)
		return 0;
	if (p->established)
		return hang_up(p);
	p->hangup = 1;
	return 0;
}

static int iw_notify(struct cmx_priv *p, enum ib_event_type event)
{
	return 0;
}

static int iw_init_qp_attr(struct cmx_priv *p, struct ib_qp_attr *attr, int *mask)
{
	int ret = 0;

	if (p->iw) {
		ret = iw_cm_init_qp_attr(p->iw, attr, mask);
	} else {
		attr->qp_access_flags = 0;
		*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
	}
	attr->port_num = p->id.port_num;
	*mask |= IB_QP_PORT;
	return ret;
}

static const struct cmx_transport_ops iw_conn_ops = {
	.name = "iw",
	.private_data = CMX_HDR_LEN + U8_MAX,
	.connect = iw_connect,
	.accept = iw_accept,
	.establish = iw_establish,
	.reject = iw_reject,
	.disconnect = iw_disconnect,
	.release = iw_release,
	.notify = iw_notify,
	.init_qp_attr = iw_init_qp_attr,
};

/* TCP finds the way. */
static int iw_route(struct cmx_priv *p, unsigned long timeout_ms, struct cmx_event **ev)
{
	return 0;
}

/* TCP takes the traffic class when the id connects or listens. */
static int iw_apply_tos(struct cmx_priv *p)
{
	return p->iw || p->listen ? -EISCONN : 0;
}

static const struct cmx_route_ops iw_route_ops = {
	.resolve = iw_route,
	.apply_tos = iw_apply_tos,
};

static bool iw_port_fits(const struct ib_device *device, u32 port)
{
	return rdma_cap_iw_cm(device, port);
}

/* A connection is one of TCP, between addresses of IP. */
static bool iw_id_fits(const struct cmx_priv *p)
{
	return p->id.ps == RDMA_PS_TCP && p->id.qp_type == IB_QPT_RC &&
	       cmx_src(p)->sa_family != AF_IB;
}

/* A port has one GID, and its interface. */
static const struct ib_gid_attr *iw_port_gid(struct ib_device *device, u32 port,
					     const union ib_gid *gid, u8 gid_type,
					     struct net_device *ndev)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(device, port, 0);

	if (IS_ERR(attr) || rcu_access_pointer(attr->ndev) == ndev)
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

/* No loopback: TCP on such an address does not reach another interface. */
const struct cmx_transport cmx_transport_iwarp = {
	.name = "iWARP",
	.bit = CMX_TRANSPORT_IWARP,
	.takes_tcp_port = 1,
	.port_fits = iw_port_fits,
	.id_fits = iw_id_fits,
	.port_gid = iw_port_gid,
	.conn = &iw_conn_ops,
	.route = &iw_route_ops,
};

static int attach(struct cmx_priv *child, struct ib_device *device,
		  const struct iw_cm_event *event)
{
	struct rdma_addr *addr = &child->id.route.addr;
	u32 port = rdma_start_port(device);
	const struct ib_gid_attr *attr;
	int ret;

	addr->src_addr = event->local_addr;
	addr->dst_addr = event->remote_addr;
	ret = rdma_translate_ip(cmx_src(child), &addr->dev_addr);
	if (ret)
		return ret;
	attr = rdma_get_gid_attr(device, port, 0);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	return cmx_device_attach_request(child, device, port, attr);
}

/* Both locks are held, see bear() of ib_req.c. */
static int bear(struct cmx_priv *child, struct cmx_priv *listener, struct iw_cm_id *iw,
		const struct iw_cm_event *event)
{
	int ret;

	if (listener->state != CMX_LISTEN)
		return -ECONNABORTED;
	cmx_opt_inherit(child, listener);
	if (!ece_fits(child))
		return -EOPNOTSUPP;
	ret = attach(child, iw->device, event) ?: child->sink->adopt(child, listener);
	if (ret)
		return ret;
	cmx_state_move(child, CMX_IN(IDLE), CMX_CONNECT);
	cmx_id_get(child);
	iw->context = child;
	iw->cm_handler = iw_handler;
	child->iw = iw;
	child->owed = 1;
	return 0;
}

/* On error iw_cm refuses the request and destroys @iw. */
static int req_handler(struct iw_cm_id *iw, struct iw_cm_event *event)
{
	struct cmx_priv *listener = iw->context;
	struct cmx_priv *child;
	struct cmx_event *ev;
	int ret = -ENOMEM;

	child = cmx_id_new_child(listener, IB_QPT_RC);
	if (!child)
		return ret;
	ev = cmx_event_new(child, RDMA_CM_EVENT_CONNECT_REQUEST, 0, GFP_KERNEL);
	if (!ev)
		goto kill_child;
	ev->listener = cmx_id_get(listener);
	ev->ev.param.conn.responder_resources = event->ord;
	ev->ev.param.conn.initiator_depth = event->ird;
	cmx_event_data(ev, event->private_data, event->private_data_len);

	mutex_lock(&listener->lock);
	mutex_lock_nested(&child->lock, SINGLE_DEPTH_NESTING);
	ret = bear(child, listener, iw, event);
	if (!ret) {
		/* the owner may end it at once: the lock must not go with it */
		cmx_id_get(child);
		cmx_event_post(ev);
	}
	mutex_unlock(&child->lock);
	mutex_unlock(&listener->lock);
	if (!ret) {
		cmx_id_put(child);
		return 0;
	}
	cmx_event_free(ev);
kill_child:
	cmx_id_kill(child);
	cmx_id_put(child);
	return ret;
}

/**
 * cmx_iw_listen() - listen on an iWARP device
 * @p: the listener; its address and options stay as they are
 * @device: the device
 * @backlog: as the owner said
 * @listener: receives what takes the requests, with a reference to the id. After an error
 *	it may be there too: it is for cmx_iw_unlisten(), which waits for a worker that
 *	waits for locks of the caller
 *
 * Return: 0 or -errno.
 */
int cmx_iw_listen(struct cmx_priv *p, struct ib_device *device, int backlog,
		  struct iw_cm_id **listener)
{
	struct iw_cm_id *iw = iw_create_cm_id(device, req_handler, p);

	if (IS_ERR(iw))
		return PTR_ERR(iw);
	cmx_id_get(p);
	*listener = iw;
	set_tos(p, iw);
	iw->afonly = p->opt.afonly;
	memcpy(&iw->local_addr, cmx_src(p), cmx_addr_size(cmx_src(p)));
	return iw_cm_listen(iw, clamp(backlog, 0, MAX_BACKLOG));
}

/**
 * cmx_iw_unlisten() - undo cmx_iw_listen()
 * @iw: what it returned. Waits for requests being handled
 */
void cmx_iw_unlisten(struct iw_cm_id *iw)
{
	struct cmx_priv *p = iw->context;

	iw_destroy_cm_id(iw);
	cmx_id_put(p);
}
