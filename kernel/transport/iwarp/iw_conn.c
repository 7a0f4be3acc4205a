// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections over iw_cm: on iWARP a connection is a TCP connection.
 *
 * The provider moves the QP through its states. Private data has no CMA header, because TCP carries
 * the addresses.
 *
 * One worker of iw_cm makes the callbacks for all connections, and a QP is not destroyed before
 * that worker has seen the end of its connection. Therefore no handler of a consumer runs in this
 * worker, and nothing here waits for the worker with an id's lock held. A work item destroys an
 * iw_cm id, because this waits for the provider. It would also wait for the peer, so the work item
 * is queued after the result of the connection attempt has been reported.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/nsproxy.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/iw_cm.h>
#include "deadline.h"
#include "device.h"
#include "ece.h"
#include "event.h"
#include "iw.h"
#include "lock_order.h"
#include "ndev.h"
#include "option_value.h"
#include "qp.h"
#include "request.h"
#include "sockaddr.h"
#include "trace.h"
#include "transport.h"
#include "cma_hdr.h"

/*
 * Upper limit of the backlog. iw_cm and the provider allocate memory for this many requests in
 * advance. iw_cm uses 256 for a backlog of 0. Requests wait there only for a work item: those that
 * the consumer has not fetched yet are counted elsewhere.
 */
#define MAX_BACKLOG 256

static void iw_id_destroy_work(struct work_struct *work)
{
	struct cmx_id_private *id_priv = container_of(work, struct cmx_id_private, destroy_work);
	struct cmx_device *dev = id_priv->released_dev;

	cmx_id_lock_assert_none();
	iw_destroy_cm_id(id_priv->iw.released);
	cmx_id_put(id_priv);
	cmx_device_put(dev);
}

/*
 * Queue the destruction of @iw, which drops the reference that @iw holds. Caller must hold
 * id_priv->lock.
 */
static void iw_id_defer_destroy(struct cmx_id_private *id_priv, struct iw_cm_id *iw,
				struct cmx_device *dev)
{
	lockdep_assert_held(&id_priv->lock);
	cmx_device_get(dev);
	id_priv->released_dev = dev;
	id_priv->iw.released = iw;
	INIT_WORK(&id_priv->destroy_work, iw_id_destroy_work);
	if (!id_priv->iw.result_pending)
		queue_work(id_priv->released_dev->destroy_wq, &id_priv->destroy_work);
}

/* A connection attempt has ended: destroy @iw if it was released meanwhile. */
static void iw_result_handle(struct cmx_id_private *id_priv, const struct iw_cm_id *iw,
			     const struct iw_cm_event *event)
{
	if (event->event != IW_CM_EVENT_CONNECT_REPLY && event->event != IW_CM_EVENT_ESTABLISHED)
		return;
	id_priv->iw.result_pending = 0;
	if (id_priv->iw.released == iw)
		queue_work(id_priv->released_dev->destroy_wq, &id_priv->destroy_work);
}

/* While the provider is being called, iw_call_end() queues the destruction. */
static void iw_release(struct cmx_id_private *id_priv)
{
	lockdep_assert_held(&id_priv->lock);
	if (id_priv->iw.cm && !id_priv->iw.calls)
		iw_id_defer_destroy(id_priv, id_priv->iw.cm, id_priv->dev);
	id_priv->iw.cm = NULL;
}

/*
 * Release id_priv->lock for a call of the provider, which may wait for its firmware, for TCP, or
 * for memory of a process. Meanwhile events arrive, and the consumer can give up. The iw_cm id is
 * not destroyed before iw_call_end(). Caller must hold a reference to the id. Returns the device,
 * with a reference.
 */
static struct cmx_device *iw_call_begin(struct cmx_id_private *id_priv)
{
	struct cmx_device *dev = id_priv->dev;

	lockdep_assert_held(&id_priv->lock);
	cmx_device_get(dev);
	id_priv->iw.calls++;
	mutex_unlock(&id_priv->lock);
	cmx_id_lock_assert_none();
	return dev;
}

/*
 * Take id_priv->lock again after a call for @iw that has sent @msg and returned @ret. If @iw was
 * released meanwhile, the end has been reported, so the result is dropped. Returns the result.
 */
static int iw_call_end(struct cmx_id_private *id_priv, struct iw_cm_id *iw, struct cmx_device *dev,
		       const char *msg, int ret)
{
	mutex_lock(&id_priv->lock);
	trace_cmx_cm_send(id_priv, msg, ret);
	id_priv->iw.calls--;
	if (ret)
		id_priv->iw.result_pending = 0;
	if (id_priv->iw.cm != iw) {
		if (!id_priv->iw.calls)
			iw_id_defer_destroy(id_priv, iw, dev);
		ret = 0;
	}
	cmx_device_put(dev);
	return ret;
}

/* The messages of iWARP have no place for ECE: none can be offered, and none will be received. */
static bool iw_ece_is_supported(struct cmx_id_private *id_priv)
{
	static const struct rdma_ucm_ece none;

	return !id_priv->ece_local.vendor_id && cmx_ece_receive(id_priv, &none);
}

static struct iw_cm_conn_param iw_conn_param_init(struct cmx_id_private *id_priv,
						  const struct rdma_conn_param *param)
{
	return (struct iw_cm_conn_param) {
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
		.ord = param->initiator_depth,
		.ird = param->responder_resources,
		.qpn = id_priv->qp_num,
	};
}

/* Set the attributes that the connection needs and that the QP did not get at its creation. */
static int iw_qp_init(struct cmx_id_private *id_priv)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, ret;

	if (!id_priv->id.qp)
		return 0;
	ret = iw_cm_init_qp_attr(id_priv->iw.cm, &attr, &mask);
	return ret ?: ib_modify_qp(id_priv->id.qp, &attr, mask);
}

static void iw_id_set_tos(struct cmx_id_private *id_priv, struct iw_cm_id *iw)
{
	iw->tos = cmx_opt_tos(id_priv);
	iw->tos_set = iw->tos;
}

static int iw_conn_close(struct cmx_id_private *id_priv)
{
	struct iw_cm_id *iw = id_priv->iw.cm;
	struct cmx_device *dev = iw_call_begin(id_priv);

	return iw_call_end(id_priv, iw, dev, "FIN", iw_cm_disconnect(iw, 0));
}

static void iw_close_work(struct work_struct *work)
{
	struct cmx_id_private *id_priv = container_of(work, struct cmx_id_private, iw.close_work);

	cmx_id_lock(id_priv);
	if (id_priv->iw.cm)
		iw_conn_close(id_priv);
	cmx_id_unlock(id_priv);
	cmx_id_put(id_priv);
}

/* The worker of iw_cm, which calls this, must not wait for the provider. */
static void iw_conn_set_established(struct cmx_id_private *id_priv)
{
	id_priv->established = 1;
	if (!id_priv->iw.disconnect_pending)
		return;
	cmx_id_get(id_priv);
	INIT_WORK(&id_priv->iw.close_work, iw_close_work);
	queue_work(id_priv->dev->destroy_wq, &id_priv->iw.close_work);
}

static enum rdma_cm_event_type iw_reply_handle(struct cmx_id_private *id_priv, int status)
{
	cmx_deadline_stop(id_priv);
	switch (status) {
	case 0:
		iw_conn_set_established(id_priv);
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

static bool iw_event_handle(struct cmx_id_private *id_priv, const struct iw_cm_event *event,
			    struct cmx_event *ev)
{
	if (id_priv->state != CMX_CONNECT)
		return false;
	ev->ev.status = event->status;
	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		ev->ev.event = iw_reply_handle(id_priv, event->status);
		/* iw_cm does not keep the private data of other events */
		cmx_event_set_data(ev, event->private_data, event->private_data_len);
		break;
	case IW_CM_EVENT_ESTABLISHED:
		cmx_deadline_stop(id_priv);
		if (!event->status)
			iw_conn_set_established(id_priv);
		ev->ev.event = event->status ? RDMA_CM_EVENT_CONNECT_ERROR
					     : RDMA_CM_EVENT_ESTABLISHED;
		break;
	case IW_CM_EVENT_CLOSE:
		ev->ev.event = RDMA_CM_EVENT_DISCONNECTED;
		cmx_deadline_stop(id_priv);
		cmx_state_move(id_priv, CMX_IN(CONNECT), CMX_DISCONNECT);
		break;
	default:
		return false;
	}
	ev->ev.param.conn.responder_resources = event->ord;
	ev->ev.param.conn.initiator_depth = event->ird;
	return true;
}

static int iw_conn_handler(struct iw_cm_id *iw, struct iw_cm_event *event)
{
	struct cmx_id_private *id_priv = iw->context;
	struct cmx_event *ev = cmx_event_alloc_nofail(id_priv, RDMA_CM_EVENT_CONNECT_ERROR, 0);
	bool post;

	mutex_lock(&id_priv->lock);
	iw_result_handle(id_priv, iw, event);
	post = id_priv->iw.cm == iw && iw_event_handle(id_priv, event, ev);
	if (post)
		cmx_event_post(ev);
	mutex_unlock(&id_priv->lock);
	if (!post)
		cmx_event_free(ev);
	return 0;
}

static int iw_provider_connect(struct cmx_id_private *id_priv, struct iw_cm_id *iw,
			       struct iw_cm_conn_param *conn)
{
	struct cmx_device *dev;
	int ret;

	id_priv->iw.result_pending = 1;
	dev = iw_call_begin(id_priv);
	ret = iw_cm_connect(iw, conn);
	return iw_call_end(id_priv, iw, dev, "MPA request", ret);
}

/*
 * Destroy the iw_cm id of a failed attempt. The worker of iw_cm may be waiting for
 * id_priv->lock, so the lock is released meanwhile. Caller must hold id_priv->lock.
 */
static void iw_conn_abort(struct cmx_id_private *id_priv, struct iw_cm_id *iw)
{
	struct cmx_device *dev = id_priv->dev;

	lockdep_assert_held(&id_priv->lock);
	cmx_device_get(dev);
	cmx_deadline_stop(id_priv);
	id_priv->iw.cm = NULL;
	mutex_unlock(&id_priv->lock);
	cmx_id_lock_assert_none();
	iw_destroy_cm_id(iw);
	cmx_device_put(dev);
	mutex_lock(&id_priv->lock);
}

static int iw_connect(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct iw_cm_conn_param conn = iw_conn_param_init(id_priv, param);
	struct iw_cm_id *iw;
	int ret;

	/* siw uses the TCP of the caller's namespace, whose owner can have it wait for hours. */
	if (id_priv->user && !net_eq(current->nsproxy->net_ns, cmx_net(id_priv)))
		return -EINVAL;
	if (!iw_ece_is_supported(id_priv))
		return -EOPNOTSUPP;
	iw = iw_create_cm_id(id_priv->id.device, iw_conn_handler, id_priv);
	if (IS_ERR(iw))
		return PTR_ERR(iw);
	cmx_id_get(id_priv);
	iw_id_set_tos(id_priv, iw);
	memcpy(&iw->local_addr, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	memcpy(&iw->remote_addr, cmx_dst(id_priv), cmx_addr_size(cmx_dst(id_priv)));
	id_priv->iw.cm = iw;
	id_priv->iw.disconnect_pending = 0;
	ret = iw_qp_init(id_priv) ?: iw_provider_connect(id_priv, iw, &conn);
	if (ret) {
		iw_conn_abort(id_priv, iw);
		/* not the last reference: the caller holds one */
		cmx_id_put(id_priv);
	}
	return ret;
}

/* @ret: 0, or the error that prevents the accept. The request of a ULP ends in any case. */
static int iw_provider_accept(struct cmx_id_private *id_priv, struct iw_cm_conn_param *conn,
			      int ret)
{
	struct iw_cm_id *iw = id_priv->iw.cm;
	bool is_ulp = id_priv->id.qp;
	struct cmx_device *dev;

	id_priv->iw.result_pending = 1;
	dev = iw_call_begin(id_priv);
	ret = ret ?: iw_cm_accept(iw, conn);
	/* fails if the provider has given up the connection by itself */
	if (ret && is_ulp)
		iw_cm_reject(iw, NULL, 0);
	return iw_call_end(id_priv, iw, dev, "MPA reply", ret);
}

static int iw_accept(struct cmx_id_private *id_priv, const struct rdma_conn_param *param)
{
	struct iw_cm_conn_param conn = iw_conn_param_init(id_priv, param);
	int ret;

	if (!id_priv->passive || !id_priv->response_pending)
		return -EINVAL;
	if (!iw_ece_is_supported(id_priv))
		return -EOPNOTSUPP;
	id_priv->response_pending = 0;
	id_priv->iw.disconnect_pending = 0;
	ret = iw_provider_accept(id_priv, &conn, iw_qp_init(id_priv));
	if (ret && !id_priv->id.qp)
		id_priv->response_pending = 1;
	else if (ret)
		cmx_qp_to_err(id_priv);
	return ret;
}

/* The active side of an iWARP connection has nothing to confirm. */
static int iw_establish(struct cmx_id_private *id_priv)
{
	return -EINVAL;
}

static int iw_reject(struct cmx_id_private *id_priv, const void *data, u8 len, u8 reason)
{
	struct iw_cm_id *iw = id_priv->iw.cm;
	struct cmx_device *dev;
	int ret;

	/* an MPA reply has no reason */
	if (!id_priv->passive || !id_priv->response_pending)
		return -EINVAL;
	id_priv->response_pending = 0;
	dev = iw_call_begin(id_priv);
	ret = iw_call_end(id_priv, iw, dev, "MPA reject", iw_cm_reject(iw, data, len));
	if (ret)
		id_priv->response_pending = 1;
	return ret;
}

/*
 * iw_cm_disconnect() would wait for the end of a connection attempt. In that case it is called when
 * the connection is established.
 */
static int iw_disconnect(struct cmx_id_private *id_priv, bool qp_is_stopped)
{
	/* The id of a ULP keeps its connection when its device is removed. */
	if (id_priv->state == CMX_REMOVED && id_priv->established)
		return iw_conn_close(id_priv);
	if (id_priv->state != CMX_CONNECT || id_priv->response_pending)
		return 0;
	if (id_priv->established)
		return iw_conn_close(id_priv);
	id_priv->iw.disconnect_pending = 1;
	return 0;
}

static int iw_notify(struct cmx_id_private *id_priv, enum ib_event_type event)
{
	return id_priv->iw.cm ? 0 : -EINVAL;
}

static int iw_init_qp_attr(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask)
{
	int ret = 0;

	if (id_priv->iw.cm) {
		ret = iw_cm_init_qp_attr(id_priv->iw.cm, attr, mask);
	} else {
		attr->qp_access_flags = 0;
		*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
	}
	attr->port_num = id_priv->id.port_num;
	*mask |= IB_QP_PORT;
	return ret;
}

static bool iw_has_conn(const struct cmx_id_private *id_priv)
{
	return id_priv->iw.cm;
}

static const char *iw_reject_msg(int reason)
{
	return reason == -ECONNREFUSED ? "rejected by the consumer" : "rejected by the transport";
}

static const struct cmx_conn_ops iw_conn_ops = {
	.name = "iw",
	.private_data = CMX_CMA_HDR_LEN + U8_MAX,
	.consumer_reject = -ECONNREFUSED,
	.reject_msg = iw_reject_msg,
	.has_conn = iw_has_conn,
	.connect = iw_connect,
	.accept = iw_accept,
	.establish = iw_establish,
	.reject = iw_reject,
	.disconnect = iw_disconnect,
	.release = iw_release,
	.notify = iw_notify,
	.init_qp_attr = iw_init_qp_attr,
};

/* TCP needs no path record. */
static int iw_route_resolve(struct cmx_id_private *id_priv, unsigned long timeout_ms,
			    struct cmx_event **ev)
{
	return 0;
}

/* TCP gets the traffic class when the id connects or listens. */
static int iw_apply_tos(struct cmx_id_private *id_priv)
{
	return id_priv->iw.cm || id_priv->listener ? -EISCONN : 0;
}

static const struct cmx_route_ops iw_route_ops = {
	.resolve = iw_route_resolve,
	.apply_tos = iw_apply_tos,
};

static bool iw_port_fits(const struct ib_device *device, u32 port)
{
	return rdma_cap_iw_cm(device, port);
}

/* An iWARP connection is a TCP connection between IP addresses. */
static bool iw_id_fits(const struct cmx_id_private *id_priv)
{
	return id_priv->id.ps == RDMA_PS_TCP && id_priv->id.qp_type == IB_QPT_RC &&
	       cmx_src(id_priv)->sa_family != AF_IB;
}

/*
 * Is @ndev the interface of the port, or one that shares its link as a VLAN? A VLAN that was moved
 * to another network namespace is not: some providers look up addresses in the initial one only.
 */
static bool iw_port_has_ndev(const struct ib_gid_attr *attr, const struct net_device *ndev)
{
	const struct net_device *own;
	bool same;

	rcu_read_lock();
	own = rcu_dereference(attr->ndev);
	if (own)
		same = own == ndev ||
		       (net_eq(dev_net(own), dev_net(ndev)) &&
			((is_vlan_dev(ndev) && vlan_dev_real_dev(ndev) == own) ||
			 (is_vlan_dev(own) && vlan_dev_real_dev(own) == ndev)));
	else
		/* before Linux 6.6, the GID names no interface, but begins with its address */
		same = !memcmp(attr->gid.raw, ndev->dev_addr, ETH_ALEN);
	rcu_read_unlock();
	return same;
}

/* An iWARP port has one GID. */
static const struct ib_gid_attr *iw_port_gid(struct ib_device *device, u32 port,
					     struct net_device *ndev)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(device, port, 0);

	if (IS_ERR(attr) || iw_port_has_ndev(attr, ndev))
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

/* No loopback: TCP to a loopback address uses no other interface than lo. */
const struct cmx_transport cmx_transport_iwarp = {
	.bit = CMX_TRANSPORT_IWARP,
	.takes_tcp_port = 1,
	.port_fits = iw_port_fits,
	.id_fits = iw_id_fits,
	.port_gid = iw_port_gid,
	.conn = &iw_conn_ops,
	.route = &iw_route_ops,
};

/* A listener on the IPv6 wildcard may get the address of an IPv4 peer as an IPv4-mapped one. */
static void iw_addr_unmap(struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (in6->sin6_family != AF_INET6 || !ipv6_addr_v4mapped(&in6->sin6_addr))
		return;
	in.sin_port = in6->sin6_port;
	in.sin_addr.s_addr = in6->sin6_addr.s6_addr32[3];
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, &in, sizeof(in));
}

/* The interface of the local address, with a reference, or NULL if BIND_DEVICE excludes it */
static struct net_device *iw_request_find_ndev(const struct cmx_id_private *conn_id)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = cmx_ndev_find(cmx_net(conn_id), conn_id->opt.bind_device, cmx_src(conn_id));
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

static int iw_request_attach(struct cmx_id_private *conn_id, struct ib_device *device,
			     const struct iw_cm_event *event)
{
	struct rdma_addr *addr = &conn_id->id.route.addr;
	u32 port = rdma_start_port(device);
	const struct ib_gid_attr *attr;
	struct net_device *ndev;

	addr->src_addr = event->local_addr;
	addr->dst_addr = event->remote_addr;
	iw_addr_unmap(&addr->src_addr);
	iw_addr_unmap(&addr->dst_addr);
	if (!rdma_dev_access_netns(device, cmx_net(conn_id)))
		return -ENODEV;
	ndev = iw_request_find_ndev(conn_id);
	if (!ndev)
		return -EADDRNOTAVAIL;
	cmx_ndev_copy_link(&addr->dev_addr, ndev);
	/* the provider may have found the address in another network namespace */
	attr = iw_port_gid(device, port, ndev);
	dev_put(ndev);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	return cmx_device_attach_request(conn_id, device, port, attr);
}

struct iw_request {
	struct iw_cm_id *iw;
	const struct iw_cm_event *event;
};

static int iw_request_set_up(struct cmx_id_private *conn_id, void *arg)
{
	const struct iw_request *req = arg;

	if (!iw_ece_is_supported(conn_id))
		return -EOPNOTSUPP;
	return iw_request_attach(conn_id, req->iw->device, req->event);
}

static void iw_request_set_cm(struct cmx_id_private *conn_id, void *arg)
{
	const struct iw_request *req = arg;

	req->iw->context = conn_id;
	req->iw->cm_handler = iw_conn_handler;
	conn_id->iw.cm = req->iw;
}

static const struct cmx_request_ops iw_request_ops = {
	.attach = iw_request_set_up,
	.set_cm = iw_request_set_cm,
	.flush_later = true,
};

/* On error iw_cm refuses the request and destroys @iw. */
static int iw_request_handler(struct iw_cm_id *iw, struct iw_cm_event *event)
{
	struct iw_request req = { .iw = iw, .event = event };
	struct cmx_request request;
	struct rdma_conn_param *conn;
	int ret;

	ret = cmx_request_init(&request, iw->context, IB_QPT_RC);
	if (ret)
		goto refused;
	conn = &request.ev->ev.param.conn;
	conn->responder_resources = event->ord;
	conn->initiator_depth = event->ird;
	cmx_event_set_data(request.ev, event->private_data, event->private_data_len);
	ret = cmx_request_deliver(&request, &iw_request_ops, &req);
	if (!ret)
		return 0;

refused:
	cmx_request_record_refusal(iw->device, rdma_start_port(iw->device), &event->remote_addr,
				   &event->local_addr, NULL, ret);
	return ret;
}

/**
 * cmx_iw_device_is_in() - is the network interface of an iWARP device in a network namespace?
 * @device: the device
 * @net: the namespace
 *
 * Return: false also if the interface is not known, as before Linux 6.6.
 */
bool cmx_iw_device_is_in(struct ib_device *device, const struct net *net)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(device, rdma_start_port(device), 0);
	const struct net_device *own;
	bool same;

	if (IS_ERR(attr))
		return false;
	rcu_read_lock();
	own = rcu_dereference(attr->ndev);
	same = own && net_eq(dev_net(own), net);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return same;
}

/**
 * cmx_iw_listen() - listen on an iWARP device
 * @id_priv: the listener; its address and options do not change
 * @device: the device
 * @backlog: the consumer's backlog
 * @listener: receives the iw_cm id that accepts the requests, with a reference to the id. It may be
 *	set even after an error. The caller then passes it to cmx_iw_listen_stop()
 *
 * Context: Caller must hold no lock, here and for cmx_iw_listen_stop(): the provider may wait for
 *	rtnl or for its firmware.
 * Return: 0 or -errno.
 */
int cmx_iw_listen(struct cmx_id_private *id_priv, struct ib_device *device, int backlog,
		  struct iw_cm_id **listener)
{
	struct iw_cm_id *iw;

	cmx_id_lock_assert_none();
	iw = iw_create_cm_id(device, iw_request_handler, id_priv);
	if (IS_ERR(iw))
		return PTR_ERR(iw);
	cmx_id_get(id_priv);
	*listener = iw;
	iw_id_set_tos(id_priv, iw);
	iw->afonly = id_priv->opt.afonly;
	memcpy(&iw->local_addr, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	return iw_cm_listen(iw, clamp(backlog, 0, MAX_BACKLOG));
}

/**
 * cmx_iw_listen_stop() - undo cmx_iw_listen()
 * @iw: the iw_cm id that it returned. Waits until no handler of a request runs
 */
void cmx_iw_listen_stop(struct iw_cm_id *iw)
{
	struct cmx_id_private *id_priv = iw->context;

	cmx_id_lock_assert_none();
	iw_destroy_cm_id(iw);
	cmx_id_put(id_priv);
}
