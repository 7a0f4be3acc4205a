// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Incoming REQs and SIDR REQs: find the listener and create the id of the new connection. Outgoing
 * ones are in ib_conn.c (ib_req_send()) and ib_sidr.c.
 *
 * The return value of the handler decides how ib_cm replies to the peer. For -ENOMEM ib_cm sends
 * nothing in reply to a REQ, so that the peer repeats it. For any other error, and to each SIDR REQ
 * that fails, it sends a reject.
 */
#include <linux/if_arp.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "charge.h"
#include "compat.h"
#include "device.h"
#include "ece.h"
#include "event.h"
#include "ib.h"
#include "ib_close.h"
#include "ib_state.h"
#include "ndev.h"
#include "port_space.h"
#include "request.h"
#include "sockaddr.h"
#include "transport.h"
#include "cma_hdr.h"

/**
 * struct ib_request - contents of a REQ or SIDR REQ
 * @cm: the ib_cm id of the request
 * @event: event of ib_cm
 * @listener: the id that listens, with a reference, or an ERR_PTR
 * @path: primary path of a REQ; NULL for a SIDR REQ
 * @sgid_attr: local GID at which the request arrived; valid as long as @event. NULL on InfiniBand
 *	without a GRH
 * @gid: local GID at which the path ends (InfiniBand), or NULL
 * @ndev: network interface that the request is for, with a reference; NULL for AF_IB
 * @local: local address that the request is for
 * @peer: address of the sender
 * @service_id: encodes the port space and the port
 * @qp_type: QP type of the peer
 * @port: port of the device
 * @pkey: partition in which the request arrived
 * @ib: the request arrived over InfiniBand and not over RoCE
 * @has_no_cma_hdr: the private data has no CMA header: the request is for AF_IB
 * @may_match_af_ib: AF_IB listeners may match: the request is for AF_IB, or no IP listener has the
 *	address
 * @port_has_listener: somebody listens on the port, though maybe not on this address
 */
struct ib_request {
	struct ib_cm_id *cm;
	const struct ib_cm_event *event;
	struct cmx_id_private *listener;
	const struct sa_path_rec *path;
	const struct ib_gid_attr *sgid_attr;
	const union ib_gid *gid;
	struct net_device *ndev;
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
	__be64 service_id;
	enum ib_qp_type qp_type;
	u32 port;
	u16 pkey;
	bool ib;
	bool has_no_cma_hdr;
	bool may_match_af_ib;
	bool port_has_listener;
};

static bool ib_request_is_sidr(const struct ib_request *req)
{
	return req->qp_type == IB_QPT_UD;
}

/* ib_cm has no other events than IB_CM_REQ_RECEIVED and IB_CM_SIDR_REQ_RECEIVED for a listener. */
static int ib_request_parse(struct ib_request *req, struct ib_cm_id *cm,
			    const struct ib_cm_event *event)
{
	const struct ib_cm_sidr_req_event_param *sidr = &event->param.sidr_req_rcvd;
	const struct ib_cm_req_event_param *conn = &event->param.req_rcvd;
	int ret;

	req->cm = cm;
	req->event = event;
	if (event->event == IB_CM_REQ_RECEIVED) {
		req->path = conn->primary_path;
		req->sgid_attr = conn->ppath_sgid_attr;
		req->service_id = req->path->service_id;
		req->qp_type = conn->qp_type;
		req->port = conn->port;
		req->pkey = be16_to_cpu(req->path->pkey);
		req->gid = &req->path->sgid;
	} else {
		req->sgid_attr = sidr->sgid_attr;
		req->service_id = sidr->service_id;
		req->qp_type = IB_QPT_UD;
		req->port = sidr->port;
		req->pkey = sidr->pkey;
		req->gid = sidr->sgid_attr ? &sidr->sgid_attr->gid : NULL;
	}
	req->ib = rdma_protocol_ib(req->cm->device, req->port);
	if (!req->ib && !req->sgid_attr)
		return -ENOENT;
	ret = cmx_cma_hdr_unpack(event->private_data, cmx_service_id_port(req->service_id),
				 &req->local, &req->peer);
	req->has_no_cma_hdr = req->ib && ret;
	return req->has_no_cma_hdr ? 0 : ret;
}

/* Does the route to the peer leave through the interface that the request is for? */
static bool ib_request_has_route4(const struct ib_request *req)
{
	__be32 local = ((const struct sockaddr_in *)&req->local)->sin_addr.s_addr;
	__be32 peer = ((const struct sockaddr_in *)&req->peer)->sin_addr.s_addr;
	struct flowi4 fl4 = {
		.flowi4_oif = req->ndev->ifindex,
		.daddr = peer,
		.saddr = local,
	};
	struct fib_result res;

	if (ipv4_is_zeronet(local) || ipv4_is_loopback(local) || ipv4_is_lbcast(local) ||
	    ipv4_is_zeronet(peer) || ipv4_is_loopback(peer) || ipv4_is_lbcast(peer) ||
	    ipv4_is_multicast(local))
		return false;
	return !fib_lookup(dev_net(req->ndev), &fl4, &res, 0) && FIB_RES_DEV(res) == req->ndev;
}

static bool ib_request_has_route6(const struct ib_request *req)
{
#if IS_ENABLED(CONFIG_IPV6)
	const struct in6_addr *local = &((const struct sockaddr_in6 *)&req->local)->sin6_addr;
	const struct in6_addr *peer = &((const struct sockaddr_in6 *)&req->peer)->sin6_addr;
	const struct inet6_dev *idev;
	struct rt6_info *rt;
	bool fits;

	rt = rt6_lookup(dev_net(req->ndev), peer, local, req->ndev->ifindex, NULL,
			ipv6_addr_type(peer) & IPV6_ADDR_LINKLOCAL);
	if (!rt)
		return false;
	/* an interface on which IPv6 is being disabled may still have a route */
	idev = READ_ONCE(rt->rt6i_idev);
	fits = idev && idev->dev == req->ndev;
	ip6_rt_put(rt);
	return fits;
#else
	return false;
#endif
}

/* The CMA header has no scope ID: link-local addresses belong to the link of the interface. */
static void ib_request_set_scope(struct sockaddr_storage *addr, const struct net_device *ndev)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	if (addr->ss_family == AF_INET6 &&
	    ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		in6->sin6_scope_id = ndev->ifindex;
}

/*
 * An AF_IB listener accepts every request for its service ID, port, GID and partition. Not all
 * requests have a GID.
 */
static bool ib_listener_match_sib(const struct sockaddr_ib *src, u32 port,
				  const struct ib_request *req)
{
	if (port && port != req->port)
		return false;
	if (src->sib_pkey && (be16_to_cpu(src->sib_pkey) ^ req->pkey) & 0x7fff)
		return false;
	return !req->gid || cmx_addr_has_no_device((const struct sockaddr *)src) ||
	       !memcmp(&src->sib_addr, req->gid, sizeof(*req->gid));
}

/*
 * Two VRFs can have the same address: it must be the one in the VRF of the interface that the
 * request is for.
 */
static bool ib_listener_match_addr(const struct cmx_id_private *id_priv,
				   const struct ib_request *req)
{
	const struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;

	return cmx_addr_same_host(cmx_src(id_priv), (const struct sockaddr *)&req->local) &&
	       l3mdev_master_ifindex_by_index(dev_net(req->ndev), READ_ONCE(addr->bound_dev_if)) ==
	       l3mdev_master_ifindex_rcu(req->ndev);
}

/* Does the listener match the request? Called under a spinlock and the RCU read lock. */
static bool ib_listener_match(struct cmx_id_private *id_priv, void *arg)
{
	struct ib_request *req = arg;
	const struct sockaddr *local = (const struct sockaddr *)&req->local;
	struct ib_device *device = READ_ONCE(id_priv->id.device);
	const struct sockaddr *src = cmx_src(id_priv);

	req->port_has_listener = true;
	if (device && device != req->cm->device)
		return false;
	if (id_priv->id.qp_type && id_priv->id.qp_type != req->qp_type)
		return false;
	if (src->sa_family == AF_IB)
		return req->ib && req->may_match_af_ib &&
		       ib_listener_match_sib((const struct sockaddr_ib *)src,
					     READ_ONCE(id_priv->id.port_num), req);
	if (req->has_no_cma_hdr || !cmx_ndev_is_in(req->ndev, id_priv->opt.bind_device))
		return false;
	if (!cmx_addr_has_no_device(src))
		return ib_listener_match_addr(id_priv, req);
	return !READ_ONCE(id_priv->opt.afonly) || src->sa_family == local->sa_family;
}

static struct net_device *ib_request_find_ndev(struct ib_request *req)
{
	struct net_device *ndev;

	/* ib_ipoib looks it up by partition, GID if there is one, and IP address */
	if (req->ib)
		return ib_get_net_dev_by_params(req->cm->device, req->port, req->pkey, req->gid,
						(struct sockaddr *)&req->local);
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(req->sgid_attr);
	if (IS_ERR(ndev))
		ndev = NULL;
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

static struct cmx_id_private *ib_listener_lookup(struct net *net, struct ib_request *req,
						 bool af_ib)
{
	req->may_match_af_ib = af_ib;
	return cmx_port_find_listener(net, cmx_service_id_ps(req->service_id),
			     cmx_service_id_port(req->service_id), ib_listener_match, req);
}

/*
 * An AF_IB listener can have the same port as an IP listener, and accepts requests of IP peers. It
 * gets such a request only if no IP listener matches the address. Otherwise it could receive
 * requests for another user.
 *
 * Return -ECONNREFUSED if no id listens on the port, on any address.
 */
static struct cmx_id_private *ib_listener_find_in_net(struct net *net, struct ib_request *req)
{
	struct cmx_id_private *id_priv;

	req->port_has_listener = false;
	id_priv = ib_listener_lookup(net, req, req->has_no_cma_hdr);
	if (!id_priv && req->port_has_listener && !req->has_no_cma_hdr)
		id_priv = ib_listener_lookup(net, req, true);
	return id_priv ?: ERR_PTR(req->port_has_listener ? -EADDRNOTAVAIL : -ECONNREFUSED);
}

/*
 * RCU keeps the interface in its network namespace: before the interface moves to another
 * namespace it is brought down, which waits for RCU readers.
 */
static struct cmx_id_private *ib_listener_find_ip(struct ib_request *req)
{
	struct cmx_id_private *id_priv = ERR_PTR(-EHOSTUNREACH);

	req->ndev = ib_request_find_ndev(req);
	if (!req->ndev)
		return ERR_PTR(-ENODEV);
	rcu_read_lock();
	if (!(req->ndev->flags & IFF_UP))
		goto out;
	if (req->local.ss_family == AF_INET ? !ib_request_has_route4(req)
					    : !ib_request_has_route6(req))
		goto out;
	ib_request_set_scope(&req->local, req->ndev);
	ib_request_set_scope(&req->peer, req->ndev);
	id_priv = ib_listener_find_in_net(dev_net(req->ndev), req);
out:
	rcu_read_unlock();
	return id_priv;
}

/* Without an interface the network namespace is that of the device. */
static struct cmx_id_private *ib_listener_find_sib(struct ib_request *req)
{
	struct cmx_id_private *id_priv;

	rcu_read_lock();
	id_priv = ib_listener_find_in_net(read_pnet(&req->cm->device->coredev.rdma_net), req);
	rcu_read_unlock();
	return id_priv;
}

/*
 * Private data of an AF_IB peer can look like a CMA header. The addresses in it then belong to no
 * interface, or to an interface without a route to the peer.
 */
static struct cmx_id_private *ib_listener_find(struct ib_request *req)
{
	struct cmx_id_private *id_priv, *ib;

	if (req->has_no_cma_hdr)
		return ib_listener_find_sib(req);
	id_priv = ib_listener_find_ip(req);
	if (!req->ib || (id_priv != ERR_PTR(-ENODEV) && id_priv != ERR_PTR(-EHOSTUNREACH)))
		return id_priv;
	req->has_no_cma_hdr = true;
	ib = ib_listener_find_sib(req);
	if (IS_ERR(ib))
		return id_priv;
	dev_put(req->ndev);
	req->ndev = NULL;
	return ib;
}

static int ib_request_set_paths(struct rdma_route *route, const struct ib_request *req)
{
	const struct sa_path_rec *alternate = req->event->param.req_rcvd.alternate_path;
	int num = alternate ? 2 : 1;

	route->path_rec = cmx_charge_alloc(req->listener, num * sizeof(*route->path_rec));
	if (!route->path_rec)
		return -ENOMEM;
	route->path_rec[0] = *req->path;
	if (alternate)
		route->path_rec[1] = *alternate;
	route->num_pri_alt_paths = num;
	rdma_addr_set_dgid(&route->addr.dev_addr, &route->path_rec[0].dgid);
	return 0;
}

/*
 * On InfiniBand the GID is that of the interface. AF_IB has no interface: the GID is that of the
 * request, or the first one of the port if the request has none.
 */
static const struct ib_gid_attr *ib_request_find_gid_ib(struct cmx_id_private *conn_id,
							const struct ib_request *req)
{
	struct rdma_dev_addr *addr = &conn_id->id.route.addr.dev_addr;
	union ib_gid gid;

	if (!req->ndev && !req->gid)
		return rdma_get_gid_attr(req->cm->device, req->port, 0);
	rdma_addr_get_sgid(addr, &gid);
	return rdma_find_gid_by_port(req->cm->device, &gid, IB_GID_TYPE_IB, req->port, NULL);
}

/*
 * The GID must be the one of the IP address that the request is for. It may differ from the GID at
 * which the request arrived.
 */
static const struct ib_gid_attr *ib_request_find_gid_roce(const struct ib_request *req)
{
	union ib_gid gid;

	rdma_ip2gid((struct sockaddr *)&req->local, &gid);
	if (!memcmp(&gid, &req->sgid_attr->gid, sizeof(gid))) {
		rdma_hold_gid_attr(req->sgid_attr);
		return req->sgid_attr;
	}
	return rdma_find_gid_by_port(req->cm->device, &gid, req->sgid_attr->gid_type, req->port,
				     req->ndev);
}

static void ib_request_set_sgid(struct rdma_dev_addr *addr, union ib_gid sgid)
{
	rdma_addr_set_sgid(addr, &sgid);
}

static void ib_request_set_addr(struct rdma_addr *addr, const struct ib_request *req)
{
	struct rdma_dev_addr *dev_addr = &addr->dev_addr;

	addr->src_addr = req->local;
	addr->dst_addr = req->peer;
	if (!req->ndev) {
		dev_addr->dev_type = ARPHRD_INFINIBAND;
		if (req->gid)
			ib_request_set_sgid(dev_addr, *req->gid);
		ib_addr_set_pkey(dev_addr, req->pkey);
		return;
	}
	cmx_ndev_copy_link(dev_addr, req->ndev);
}

static void ib_request_fill_event(struct cmx_event *ev, const struct ib_request *req)
{
	const struct ib_cm_req_event_param *conn = &req->event->param.req_rcvd;
	u8 hdr_len = cmx_cma_hdr_len((const struct sockaddr *)&req->local);
	const void *data = req->event->private_data + hdr_len;

	if (ib_request_is_sidr(req)) {
		cmx_event_set_data(ev, data, IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE - hdr_len);
		return;
	}
	ev->ev.param.conn = (struct rdma_conn_param) {
		.responder_resources = conn->responder_resources,
		.initiator_depth = conn->initiator_depth,
		.flow_control = conn->flow_control,
		.retry_count = conn->retry_count,
		.rnr_retry_count = conn->rnr_retry_count,
		.srq = conn->srq,
		.qp_num = conn->remote_qpn,
	};
	cmx_event_set_data(ev, data, IB_CM_REQ_PRIVATE_DATA_SIZE - hdr_len);
}

static int ib_request_attach(struct cmx_id_private *conn_id, const struct ib_request *req)
{
	const struct ib_gid_attr *attr;

	if (conn_id->id.ps == RDMA_PS_IPOIB && !req->ib)
		return -EPROTONOSUPPORT;
	if (!rdma_dev_access_netns(req->cm->device, cmx_net(conn_id)))
		return -ENODEV;
	attr = req->ib ? ib_request_find_gid_ib(conn_id, req) : ib_request_find_gid_roce(req);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	if (!req->ndev && !req->gid)
		ib_request_set_sgid(&conn_id->id.route.addr.dev_addr, attr->gid);
	return cmx_device_attach_request(conn_id, req->cm->device, req->port, attr);
}

/* A peer without ECE is refused with a reason of its own if our policy requires ECE. */
static int ib_request_check_ece(struct cmx_id_private *conn_id, const struct ib_request *req)
{
	if (ib_request_is_sidr(req) || cmx_ece_receive(conn_id, &req->event->param.req_rcvd.ece))
		return 0;
	ib_send_cm_rej(req->cm, IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED, NULL, 0, NULL, 0);
	return -EOPNOTSUPP;
}

static int ib_request_set_up(struct cmx_id_private *conn_id, void *arg)
{
	const struct ib_request *req = arg;
	int ret;

	ib_request_set_addr(&conn_id->id.route.addr, req);
	ret = req->path ? ib_request_set_paths(&conn_id->id.route, req) : 0;
	return ret ?: ib_request_attach(conn_id, req) ?: ib_request_check_ece(conn_id, req);
}

static void ib_request_set_cm(struct cmx_id_private *conn_id, void *arg)
{
	const struct ib_request *req = arg;

	req->cm->context = conn_id;
	req->cm->cm_handler = cmx_ib_handler;
	cmx_ib_work_init(conn_id);
	WRITE_ONCE(conn_id->ib.cm, req->cm);
	cmx_ib_step(conn_id, CMX_IB_ON_REQUEST);
	if (!ib_request_is_sidr(req))
		cmx_mra_send(req->cm);
}

static const struct cmx_request_ops ib_request_ops = {
	.set_up = ib_request_set_up,
	.set_cm = ib_request_set_cm,
};

/* An AF_IB listener sees AF_IB addresses and the whole private data. */
static void ib_request_convert_to_sib(struct ib_request *req)
{
	struct sockaddr_ib *local = (struct sockaddr_ib *)&req->local;
	struct sockaddr_ib *peer = (struct sockaddr_ib *)&req->peer;

	memset(&req->local, 0, sizeof(req->local));
	memset(&req->peer, 0, sizeof(req->peer));
	*local = *(const struct sockaddr_ib *)cmx_src(req->listener);
	peer->sib_family = AF_IB;
	if (req->path) {
		local->sib_pkey = req->path->pkey;
		local->sib_flowinfo = req->path->flow_label;
		memcpy(&local->sib_addr, &req->path->sgid, sizeof(local->sib_addr));
		local->sib_sid = req->path->service_id;
		local->sib_scope_id = 0;
		peer->sib_pkey = req->path->pkey;
		peer->sib_flowinfo = req->path->flow_label;
		memcpy(&peer->sib_addr, &req->path->dgid, sizeof(peer->sib_addr));
	}
	local->sib_sid_mask = cpu_to_be64(~0ULL);
}

/* Create an id for the request and report it. */
static int ib_request_deliver(struct ib_request *req)
{
	struct cmx_event *ev = cmx_request_new(req->listener, req->qp_type);

	if (!ev)
		return -ENOMEM;
	ib_request_fill_event(ev, req);
	return cmx_request_deliver(ev, &ib_request_ops, req);
}

/*
 * The ib_cm id of a listener is destroyed a moment after the listener. A request that arrives in
 * between gets the same reply that ib_cm sends afterwards.
 */
static void ib_request_reject_service_id(const struct ib_request *req)
{
	struct ib_cm_sidr_rep_param rep = { .status = IB_SIDR_UNSUPPORTED };

	if (ib_request_is_sidr(req))
		ib_send_cm_sidr_rep(req->cm, &rep);
	else
		ib_send_cm_rej(req->cm, IB_CM_REJ_INVALID_SERVICE_ID, NULL, 0, NULL, 0);
}

/*
 * Handle a request to a service ID that ids listen on. @cm is a new ib_cm id, which then belongs to
 * the new id. On error ib_cm refuses the request and destroys @cm.
 */
static int ib_req_handler(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct ib_request req = {};
	int ret;

	ret = ib_request_parse(&req, cm, event);
	req.listener = ret ? ERR_PTR(ret) : ib_listener_find(&req);
	ret = PTR_ERR_OR_ZERO(req.listener);
	if (!ret) {
		if (cmx_src(req.listener)->sa_family == AF_IB)
			ib_request_convert_to_sib(&req);
		ret = ib_request_deliver(&req);
		cmx_id_put(req.listener);
	}
	if (ret)
		cmx_request_record_refusal(cm->device, req.port, &req.peer, &req.local,
					   req.path ? &req.path->dgid : NULL, ret);
	if (ret == -ECONNREFUSED)
		ib_request_reject_service_id(&req);
	dev_put(req.ndev);
	return ret == -EAGAIN || ret == -EDQUOT ? -ENOMEM : ret;
}

/*
 * ib_cm allows one handler for a service ID of a device. It counts our listeners on the service ID,
 * which share an ib_cm id.
 */
static void *ib_listen_start(struct cmx_id_private *id_priv, struct ib_device *device,
			     __be64 service_id, int backlog)
{
	return ib_cm_insert_listen(device, ib_req_handler, service_id);
}

static void ib_listen_stop(void *started)
{
	ib_destroy_cm_id(started);
}

const struct cmx_listen_ops cmx_ib_listen_ops = {
	.start = ib_listen_start,
	.stop = ib_listen_stop,
};
