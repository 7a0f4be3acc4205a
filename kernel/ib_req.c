// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that arrive: REQ and SIDR REQ. Who listens, and the id that is born.
 *
 * What the handler returns decides what ib_cm tells the peer: nothing for
 * -ENOMEM, so that it tries again; a reject for any other error.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "compat.h"
#include "device.h"
#include "ece.h"
#include "event.h"
#include "ib.h"
#include "option_value.h"
#include "port.h"
#include "sockaddr.h"
#include "teardown.h"
#include "wire.h"

/**
 * struct request - what a request says, whatever its kind
 * @event: as ib_cm has it
 * @sgid_attr: address of ours that it came to; valid as long as @event. On
 *	InfiniBand NULL without a GRH
 * @gid: address of ours that the path ends at (InfiniBand), or NULL
 * @ndev: interface that it is for, with a reference; NULL for AF_IB
 * @local: address that it is for
 * @peer: who sent it
 * @device: device that it came in by
 * @service_id: names the port space and the port
 * @qp_type: what the peer has
 * @port: port of the device
 * @pkey: partition that it came in
 * @ib: it came by InfiniBand, and not by RoCE
 * @bare: the private data has no header: it is for AF_IB
 * @sib: AF_IB listeners may have it: it is for AF_IB, or no IP listener has the address
 * @listened: somebody listens on the port, though maybe not for this address
 * @hdr_len: of the header, as the listener sees it
 */
struct request {
	const struct ib_cm_event *event;
	const struct ib_gid_attr *sgid_attr;
	const union ib_gid *gid;
	struct net_device *ndev;
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
	struct ib_device *device;
	__be64 service_id;
	enum ib_qp_type qp_type;
	u32 port;
	u16 pkey;
	bool ib;
	bool bare;
	bool sib;
	bool listened;
	u8 hdr_len;
};

static bool is_sidr(const struct request *req)
{
	return req->qp_type == IB_QPT_UD;
}

static int read_request(struct request *req, const struct ib_cm_event *event,
			struct ib_device *device)
{
	const struct ib_cm_sidr_req_event_param *sidr = &event->param.sidr_req_rcvd;
	const struct ib_cm_req_event_param *conn = &event->param.req_rcvd;
	int ret;

	req->event = event;
	req->device = device;
	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		req->sgid_attr = conn->ppath_sgid_attr;
		req->service_id = conn->primary_path->service_id;
		req->qp_type = conn->qp_type;
		req->port = conn->port;
		req->pkey = be16_to_cpu(conn->primary_path->pkey);
		req->gid = &conn->primary_path->sgid;
		break;
	case IB_CM_SIDR_REQ_RECEIVED:
		req->sgid_attr = sidr->sgid_attr;
		req->service_id = sidr->service_id;
		req->qp_type = IB_QPT_UD;
		req->port = sidr->port;
		req->pkey = sidr->pkey;
		req->gid = sidr->sgid_attr ? &sidr->sgid_attr->gid : NULL;
		break;
	default:
		return -EINVAL;
	}
	req->ib = rdma_protocol_ib(device, req->port);
	if (!req->ib && !req->sgid_attr)
		return -ENODEV;
	ret = cmx_hdr_unpack(event->private_data, cmx_service_id_port(req->service_id),
			     &req->local, &req->peer);
	req->bare = req->ib && ret;
	req->hdr_len = CMX_HDR_LEN;
	return req->bare ? 0 : ret;
}

/* An answer to the peer would leave by the interface that the request came to. */
static bool route_fits4(const struct request *req)
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

static bool route_fits6(const struct request *req)
{
#if IS_ENABLED(CONFIG_IPV6)
	const struct in6_addr *local = &((const struct sockaddr_in6 *)&req->local)->sin6_addr;
	const struct in6_addr *peer = &((const struct sockaddr_in6 *)&req->peer)->sin6_addr;
	struct rt6_info *rt;
	bool fits;

	rt = rt6_lookup(dev_net(req->ndev), peer, local, req->ndev->ifindex, NULL,
			ipv6_addr_type(peer) & IPV6_ADDR_LINKLOCAL);
	if (!rt)
		return false;
	fits = rt->rt6i_idev->dev == req->ndev;
	ip6_rt_put(rt);
	return fits;
#else
	return false;
#endif
}

/* The header has no scope: link-local addresses are of the link that it came by. */
static void set_scope(struct sockaddr_storage *addr, const struct net_device *ndev)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	if (addr->ss_family == AF_INET6 &&
	    ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		in6->sin6_scope_id = ndev->ifindex;
}

/* An AF_IB listener takes whatever comes for its service ID, GID and partition. */
static bool match_sib(const struct sockaddr_ib *src, const struct request *req)
{
	if (src->sib_pkey && (be16_to_cpu(src->sib_pkey) ^ req->pkey) & 0x7fff)
		return false;
	return !req->gid || cmx_addr_any((const struct sockaddr *)src) ||
	       !memcmp(&src->sib_addr, req->gid, sizeof(*req->gid));
}

/* Is the listener's address one that the request is for? Called under a spinlock. */
static bool match(struct cmx_priv *p, void *arg)
{
	struct request *req = arg;
	const struct sockaddr *local = (const struct sockaddr *)&req->local;
	struct ib_device *device = READ_ONCE(p->id.device);
	const struct sockaddr *src = cmx_src(p);

	req->listened = true;
	if (device && device != req->device)
		return false;
	if (p->id.qp_type != req->qp_type)
		return false;
	if (src->sa_family == AF_IB)
		return req->ib && req->sib && match_sib((const struct sockaddr_ib *)src, req);
	if (req->bare)
		return false;
	if (!cmx_addr_any(src))
		return cmx_addr_same_host(src, local);
	return !p->opt.afonly || src->sa_family == local->sa_family;
}

static struct net_device *find_ndev(struct request *req)
{
	struct net_device *ndev;

	/* ib_ipoib knows: by the partition, the GID if there is one, and the IP address */
	if (req->ib)
		return ib_get_net_dev_by_params(req->device, req->port, req->pkey, req->gid,
						(struct sockaddr *)&req->local);
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(req->sgid_attr);
	if (IS_ERR(ndev))
		ndev = NULL;
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

static struct cmx_priv *find_matching(struct net *net, struct request *req, bool sib)
{
	req->sib = sib;
	return cmx_port_find(net, cmx_service_id_ps(req->service_id),
			     cmx_service_id_port(req->service_id), match, req);
}

/*
 * An AF_IB listener can have the same port as an IP listener, and takes requests of IP peers. It
 * gets only those for whose address nobody listens, or it could take another user's requests.
 *
 * -ECONNREFUSED: nobody listens on the port, for whatever address.
 */
static struct cmx_priv *find_in(struct net *net, struct request *req)
{
	struct cmx_priv *p;

	req->listened = false;
	p = find_matching(net, req, req->bare);
	if (!p && req->listened && !req->bare)
		p = find_matching(net, req, true);
	return p ?: ERR_PTR(req->listened ? -EINVAL : -ECONNREFUSED);
}

/*
 * RCU keeps the interface in its namespace: it is brought down, which waits
 * for readers, before it moves to another.
 */
static struct cmx_priv *find_ip_listener(struct request *req)
{
	struct cmx_priv *p = ERR_PTR(-EHOSTUNREACH);

	req->ndev = find_ndev(req);
	if (!req->ndev)
		return ERR_PTR(-ENODEV);
	rcu_read_lock();
	if (!(req->ndev->flags & IFF_UP))
		goto out;
	if (req->local.ss_family == AF_INET ? !route_fits4(req) : !route_fits6(req))
		goto out;
	set_scope(&req->local, req->ndev);
	set_scope(&req->peer, req->ndev);
	p = find_in(dev_net(req->ndev), req);
out:
	rcu_read_unlock();
	return p;
}

/* Without an interface the namespace is that of the device. */
static struct cmx_priv *find_ib_listener(struct request *req)
{
	struct cmx_priv *p;

	rcu_read_lock();
	p = find_in(read_pnet(&req->device->coredev.rdma_net), req);
	rcu_read_unlock();
	return p;
}

/*
 * What seems to be a header can be an AF_IB peer's own data. Then its addresses
 * lead to no interface, or to one by which there is no way to the peer.
 */
static struct cmx_priv *find_listener(struct request *req)
{
	struct cmx_priv *p, *ib;

	if (req->bare)
		return find_ib_listener(req);
	p = find_ip_listener(req);
	if (!req->ib || (p != ERR_PTR(-ENODEV) && p != ERR_PTR(-EHOSTUNREACH)))
		return p;
	req->bare = true;
	ib = find_ib_listener(req);
	if (IS_ERR(ib))
		return p;
	dev_put(req->ndev);
	req->ndev = NULL;
	return ib;
}

static int set_paths(struct rdma_route *route, const struct ib_cm_req_event_param *conn)
{
	int num = conn->alternate_path ? 2 : 1;

	route->path_rec = kmalloc_array(num, sizeof(*route->path_rec), GFP_KERNEL);
	if (!route->path_rec)
		return -ENOMEM;
	route->path_rec[0] = *conn->primary_path;
	if (num == 2)
		route->path_rec[1] = *conn->alternate_path;
	route->num_pri_alt_paths = num;
	rdma_addr_set_dgid(&route->addr.dev_addr, &route->path_rec[0].dgid);
	return 0;
}

/* On InfiniBand the GID is that of the interface; AF_IB has none if the request does not say. */
static const struct ib_gid_attr *ib_gid_attr(struct cmx_priv *child, const struct request *req)
{
	struct rdma_dev_addr *addr = &child->id.route.addr.dev_addr;
	union ib_gid gid;

	if (!req->ndev && !req->gid)
		return rdma_get_gid_attr(req->device, req->port, 0);
	rdma_addr_get_sgid(addr, &gid);
	return rdma_find_gid_by_port(req->device, &gid, IB_GID_TYPE_IB, req->port, NULL);
}

/* The request came to a GID of ours; that must be the one of the address that it is for. */
static const struct ib_gid_attr *roce_gid_attr(const struct request *req)
{
	union ib_gid gid;

	rdma_ip2gid((struct sockaddr *)&req->local, &gid);
	if (!memcmp(&gid, &req->sgid_attr->gid, sizeof(gid))) {
		rdma_hold_gid_attr(req->sgid_attr);
		return req->sgid_attr;
	}
	return rdma_find_gid_by_port(req->device, &gid, req->sgid_attr->gid_type, req->port,
				     req->ndev);
}

static void set_addr(struct rdma_addr *addr, const struct request *req)
{
	struct rdma_dev_addr *dev_addr = &addr->dev_addr;

	addr->src_addr = req->local;
	addr->dst_addr = req->peer;
	if (!req->ndev) {
		dev_addr->dev_type = ARPHRD_INFINIBAND;
		if (req->gid)
			memcpy(dev_addr->src_dev_addr + rdma_addr_gid_offset(dev_addr), req->gid,
			       sizeof(*req->gid));
		ib_addr_set_pkey(dev_addr, req->pkey);
		return;
	}
	dev_addr->dev_type = req->ndev->type;
	dev_addr->bound_dev_if = req->ndev->ifindex;
	memcpy(dev_addr->src_dev_addr, req->ndev->dev_addr, MAX_ADDR_LEN);
	memcpy(dev_addr->broadcast, req->ndev->broadcast, MAX_ADDR_LEN);
}

/* Fill in an id that nobody knows yet. */
static int init_child(struct cmx_priv *child, const struct request *req)
{
	struct rdma_route *route = &child->id.route;

	set_addr(&route->addr, req);
	return is_sidr(req) ? 0 : set_paths(route, &req->event->param.req_rcvd);
}

static void fill_event(struct cmx_event *ev, const struct request *req)
{
	const struct ib_cm_req_event_param *conn = &req->event->param.req_rcvd;
	const void *data = req->event->private_data + req->hdr_len;

	if (is_sidr(req)) {
		cmx_event_ud_data(ev, data, IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE - req->hdr_len);
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
	cmx_event_data(ev, data, IB_CM_REQ_PRIVATE_DATA_SIZE - req->hdr_len);
}

static int attach(struct cmx_priv *child, const struct request *req)
{
	const struct ib_gid_attr *attr;
	int ret;

	if (child->id.ps == RDMA_PS_IPOIB && !req->ib)
		return -EINVAL;
	if (!rdma_dev_access_netns(req->device, cmx_net(child)))
		return -ENODEV;
	attr = req->ib ? ib_gid_attr(child, req) : roce_gid_attr(req);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	ret = cmx_device_attach_request(child, req->device, req->port, attr);
	if (!ret)
		child->gid_type = attr->gid_type;
	return ret;
}

/* Our policy wants ECE, and the peer has none: that is a reason of its own. */
static int check_ece(struct cmx_priv *child, struct ib_cm_id *cm, const struct request *req)
{
	if (is_sidr(req) || cmx_ece_receive(child, &req->event->param.req_rcvd.ece))
		return 0;
	ib_send_cm_rej(cm, IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED, NULL, 0, NULL, 0);
	return -EOPNOTSUPP;
}

/*
 * Everything that can fail, and last the owner's consent. Both locks are held:
 * the removal of the device, or the end of the listener, comes before all this
 * or after CONNECT_REQUEST is posted.
 */
static int bear(struct cmx_priv *child, struct cmx_priv *listener, struct ib_cm_id *cm,
		const struct request *req)
{
	int ret;

	if (listener->state != CMX_LISTEN)
		return -ECONNREFUSED;
	cmx_opt_inherit(child, listener);
	ret = attach(child, req);
	if (ret)
		return ret;
	ret = check_ece(child, cm, req);
	if (ret)
		return ret;
	ret = child->sink->adopt(child, listener);
	if (ret)
		return ret == -EAGAIN ? -ENOMEM : ret;

	cmx_state_move(child, CMX_IN(IDLE), CMX_CONNECT);
	cmx_id_get(child);
	cm->context = child;
	cm->cm_handler = cmx_ib_handler;
	WRITE_ONCE(child->cm, cm);
	child->owed = 1;
	if (!is_sidr(req))
		cmx_send_mra(cm);
	return 0;
}

/* An AF_IB listener sees AF_IB addresses, and all of the private data. */
static void see_as_sib(struct request *req, const struct sockaddr_ib *listener)
{
	const struct sa_path_rec *path = is_sidr(req) ? NULL
						      : req->event->param.req_rcvd.primary_path;
	struct sockaddr_ib local = *listener, peer = { .sib_family = AF_IB };

	if (path) {
		local.sib_pkey = path->pkey;
		local.sib_flowinfo = path->flow_label;
		memcpy(&local.sib_addr, &path->sgid, sizeof(local.sib_addr));
		local.sib_sid = path->service_id;
		local.sib_scope_id = 0;
		peer.sib_pkey = path->pkey;
		peer.sib_flowinfo = path->flow_label;
		memcpy(&peer.sib_addr, &path->dgid, sizeof(peer.sib_addr));
	}
	local.sib_sid_mask = cpu_to_be64(~0ULL);
	memset(&req->local, 0, sizeof(req->local));
	memset(&req->peer, 0, sizeof(req->peer));
	memcpy(&req->local, &local, sizeof(local));
	memcpy(&req->peer, &peer, sizeof(peer));
	req->hdr_len = 0;
}

/* The reference to the listener is used up. */
static int take_request(struct cmx_priv *listener, struct ib_cm_id *cm, const struct request *req)
{
	struct cmx_event *ev = NULL;
	struct cmx_priv *child;
	int ret = -ENOMEM;

	child = cmx_id_new_child(listener, req->qp_type);
	if (!child)
		goto put_listener;
	ret = init_child(child, req);
	if (ret)
		goto kill_child;
	ret = -ENOMEM;
	ev = cmx_event_new(child, RDMA_CM_EVENT_CONNECT_REQUEST, 0, GFP_KERNEL);
	if (!ev)
		goto kill_child;
	fill_event(ev, req);
	ev->listener = cmx_id_get(listener);

	mutex_lock(&listener->lock);
	mutex_lock_nested(&child->lock, SINGLE_DEPTH_NESTING);
	ret = bear(child, listener, cm, req);
	if (!ret) {
		ev->ev.ece = child->ece_remote;
		/* the owner may end it at once, and of a SIDR REQ ib_cm does not wait for us */
		cmx_id_get(child);
		cmx_event_queue(ev);
	}
	mutex_unlock(&child->lock);
	mutex_unlock(&listener->lock);
	cmx_id_put(listener);
	if (!ret) {
		child->sink->flush(child);
		cmx_id_put(child);
		return 0;
	}
	cmx_event_free(ev);
	cmx_id_kill(child);
	cmx_id_put(child);
	return ret;

kill_child:
	cmx_id_kill(child);
	cmx_id_put(child);
put_listener:
	cmx_id_put(listener);
	return ret;
}

/*
 * A listener's entry of ib_cm is destroyed a moment after the listener. A request that comes
 * meanwhile gets the answer that ib_cm gives afterwards.
 */
static void reject_service_id(struct ib_cm_id *cm, const struct request *req)
{
	struct ib_cm_sidr_rep_param rep = { .status = IB_SIDR_UNSUPPORTED };

	if (is_sidr(req))
		ib_send_cm_sidr_rep(cm, &rep);
	else
		ib_send_cm_rej(cm, IB_CM_REJ_INVALID_SERVICE_ID, NULL, 0, NULL, 0);
}

/**
 * cmx_ib_req_handler() - a request arrived on a service ID that ids listen on
 * @cm: a new ib_cm id, the child's if there is one
 * @event: the request
 *
 * Return: 0, or the error to refuse it with: ib_cm destroys @cm.
 */
int cmx_ib_req_handler(struct ib_cm_id *cm, const struct ib_cm_event *event)
{
	struct request req = {};
	struct cmx_priv *listener;
	int ret;

	ret = read_request(&req, event, cm->device);
	if (ret)
		return ret;
	listener = find_listener(&req);
	ret = PTR_ERR_OR_ZERO(listener);
	if (!ret) {
		if (cmx_src(listener)->sa_family == AF_IB)
			see_as_sib(&req, (struct sockaddr_ib *)cmx_src(listener));
		ret = take_request(listener, cm, &req);
	}
	if (ret == -ECONNREFUSED)
		reject_service_id(cm, &req);
	dev_put(req.ndev);
	return ret;
}
