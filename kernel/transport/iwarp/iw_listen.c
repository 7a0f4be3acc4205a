// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listeners over iw_cm, and the requests to them.
 *
 * A listener has an iw_cm id on each device. TCP keeps its port until a work item has destroyed
 * that iw_cm id, so the next listener on the port waits.
 */
#include <linux/slab.h>
#include <linux/wait.h>
#include <rdma/ib_addr.h>
#include "charge.h"
#include "device.h"
#include "event.h"
#include "iw.h"
#include "lock_order.h"
#include "ndev.h"
#include "request.h"
#include "sockaddr.h"
#include "transport.h"
#include "cma_hdr.h"

/*
 * Upper limit of the backlog. iw_cm and the provider allocate memory for this many requests in
 * advance. iw_cm uses 256 for a backlog of 0. Requests wait there only for a work item: those that
 * the consumer has not fetched yet are counted elsewhere.
 */
#define MAX_BACKLOG 256

/* How long a listener waits for one that has ended to release the same port */
#define PORT_RELEASE_MS 2000

/**
 * struct iw_listener - a listener on one device
 * @item: in the list of listeners
 * @id_priv: the id that listens
 * @iw: the iw_cm id that accepts the requests
 * @net: network namespace; only to be compared
 * @port: its port
 */
struct iw_listener {
	struct list_head item;
	const struct cmx_id_private *id_priv;
	struct iw_cm_id *iw;
	const struct net *net;
	u16 port;
};

static LIST_HEAD(iw_listeners);
/* Its lock also protects iw_listeners. */
static DECLARE_WAIT_QUEUE_HEAD(iw_port_released);

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
	attr = cmx_iw_port_gid(device, port, ndev);
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

	if (!cmx_iw_ece_is_supported(conn_id))
		return -EOPNOTSUPP;
	return iw_request_attach(conn_id, req->iw->device, req->event);
}

static void iw_request_set_cm(struct cmx_id_private *conn_id, void *arg)
{
	const struct iw_request *req = arg;

	req->iw->context = conn_id;
	req->iw->cm_handler = cmx_iw_conn_handler;
	cmx_iw_conn_init(conn_id, req->iw);
}

static const struct cmx_request_ops iw_request_ops = {
	.set_up = iw_request_set_up,
	.set_cm = iw_request_set_cm,
	.deliver_later = true,
};

/* On error iw_cm refuses the request and destroys @iw. */
static int iw_request_handler(struct iw_cm_id *iw, struct iw_cm_event *event)
{
	struct iw_request req = { .iw = iw, .event = event };
	struct cmx_event *ev = cmx_request_new(iw->context, IB_QPT_RC);
	int ret = -ENOMEM;

	if (ev) {
		ev->ev.param.conn.responder_resources = event->ord;
		ev->ev.param.conn.initiator_depth = event->ird;
		cmx_event_set_data(ev, event->private_data, event->private_data_len);
		ret = cmx_request_deliver(ev, &iw_request_ops, &req);
	}
	if (ret)
		cmx_request_record_refusal(iw->device, rdma_start_port(iw->device),
					   &event->remote_addr, &event->local_addr, NULL, ret);
	return ret;
}

static struct iw_listener *iw_listener_new(struct cmx_id_private *id_priv, u16 port)
{
	struct iw_listener *listener = cmx_charge_alloc(id_priv, sizeof(*listener));

	if (!listener)
		return NULL;
	listener->id_priv = id_priv;
	listener->net = cmx_net(id_priv);
	listener->port = port;
	spin_lock(&iw_port_released.lock);
	list_add(&listener->item, &iw_listeners);
	spin_unlock(&iw_port_released.lock);
	return listener;
}

static void iw_listener_free(struct iw_listener *listener)
{
	spin_lock(&iw_port_released.lock);
	list_del(&listener->item);
	wake_up_all_locked(&iw_port_released);
	spin_unlock(&iw_port_released.lock);
	kfree(listener);
}

static void iw_listen_stop(void *started)
{
	struct iw_listener *listener = started;

	cmx_id_lock_assert_none();
	iw_destroy_cm_id(listener->iw);
	iw_listener_free(listener);
}

static void *iw_listen_start(struct cmx_id_private *id_priv, struct ib_device *device,
			     __be64 service_id, int backlog)
{
	struct iw_listener *listener;
	struct iw_cm_id *iw;
	int ret;

	cmx_id_lock_assert_none();
	listener = iw_listener_new(id_priv, ntohs(cmx_service_id_port(service_id)));
	if (!listener)
		return ERR_PTR(-ENOMEM);
	iw = iw_create_cm_id(device, iw_request_handler, id_priv);
	if (IS_ERR(iw)) {
		iw_listener_free(listener);
		return iw;
	}
	listener->iw = iw;
	cmx_iw_id_set_tos(id_priv, iw);
	iw->afonly = id_priv->opt.afonly;
	memcpy(&iw->local_addr, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	ret = iw_cm_listen(iw, clamp(backlog, 0, MAX_BACKLOG));
	if (!ret)
		return listener;
	iw_listen_stop(listener);
	return ERR_PTR(ret);
}

/* Does TCP still use the port for a listener that has ended? */
static bool iw_port_is_leaving(const struct net *net, u16 port)
{
	const struct iw_listener *listener;
	bool found = false;

	spin_lock(&iw_port_released.lock);
	list_for_each_entry(listener, &iw_listeners, item) {
		found = listener->net == net && listener->port == port &&
			!READ_ONCE(listener->id_priv->listener);
		if (found)
			break;
	}
	spin_unlock(&iw_port_released.lock);
	return found;
}

static int iw_listen_wait_port(const struct net *net, u16 port)
{
	int ret;

	ret = wait_event_killable_timeout(iw_port_released, !iw_port_is_leaving(net, port),
					  msecs_to_jiffies(PORT_RELEASE_MS));
	return min(ret, 0);
}

const struct cmx_listen_ops cmx_iw_listen_ops = {
	.start = iw_listen_start,
	.stop = iw_listen_stop,
	.device_is_in = cmx_iw_device_is_in,
	.wait_port = iw_listen_wait_port,
};
