// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address resolution: maps the IP address of the peer to the local device and port and to the link
 * layer address of the peer.
 *
 * If the neighbour is known, the call itself completes the query. If not, the id waits for it
 * (watch.c). Each step of the query repeats the whole lookup: when the neighbour may have become
 * known, when it is to be probed again, and when the timer of the id ends. If the neighbour table
 * of the kernel is full, there is no neighbour that could be updated, so the timer repeats the
 * lookup at a fixed interval.
 */
#include <linux/export.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include "attach.h"
#include "bind.h"
#include "event.h"
#include "ndev.h"
#include "neigh_lookup.h"
#include "port_space.h"
#include "rule.h"
#include "sockaddr.h"
#include "timer.h"
#include "watch.h"

/*
 * Interval of lookups while the neighbour table is full, and its least share for each id that waits
 * for room: a lookup makes the kernel search the whole table for an entry to drop.
 */
#define FULL_TABLE_MS 500U
#define FULL_TABLE_EACH_MS 8U

/* The id has its device and both addresses. Rules are looked up once more with them. */
static void addr_resolved(struct cmx_id_private *id_priv)
{
	cmx_rule_apply(id_priv, id_priv);
	cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_ADDR_RESOLVED);
}

/* End a query and post @ev, which belongs to the consumer from here on. */
static void addr_query_done(struct cmx_id_private *id_priv, struct cmx_addr_result *f,
			    struct cmx_event *ev, int status)
{
	cmx_unwatch_peer(id_priv);
	if (!status)
		status = cmx_attach_link(id_priv, &f->addr, &f->src.sa);
	if (status) {
		ev->ev.event = RDMA_CM_EVENT_ADDR_ERROR;
		ev->ev.status = status;
		cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_BOUND);
	} else {
		cmx_port_set_addr(id_priv, &f->src.sa, NULL);
		cmx_watch_peer(id_priv);
		addr_resolved(id_priv);
	}
	cmx_event_post(ev);
}

/*
 * Look the peer up. If the neighbour is not known yet, this probes it, and the id waits for f->key
 * afterwards. An update before that shows in the lookup that follows. Returns -ENOMEM, or as
 * cmx_neigh_lookup().
 */
static int addr_query_look(struct cmx_id_private *id_priv, struct cmx_addr_result *f)
{
	int ret, begun;

	do {
		ret = cmx_neigh_lookup(id_priv, f);
		begun = ret == -ENODATA ? cmx_watch_wait(id_priv, &f->key) : 0;
	} while (begun > 0);
	return begun ?: ret;
}

/* Set the timer of a query that waits for @key, and has @left jiffies until it ends. */
static void addr_query_set_timer(struct cmx_id_private *id_priv, const struct cmx_watch_key *key,
				 unsigned long left)
{
	unsigned long last = msecs_to_jiffies(FULL_TABLE_MS);
	unsigned int poll_ms;

	if (!key->family) {
		poll_ms = max(FULL_TABLE_MS, cmx_watch_count_ids(id_priv) * FULL_TABLE_EACH_MS);
		/* the last lookup comes early enough for a reply of the neighbour that it adds */
		left = left > last ? left - last : left;
		left = min(left, msecs_to_jiffies(poll_ms));
	}
	cmx_timer_set(id_priv, left);
}

static void addr_query_step(struct cmx_id_private *id_priv)
{
	long left = id_priv->timer->end - jiffies;
	struct cmx_addr_result f;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	ret = addr_query_look(id_priv, &f);
	if (ret && left <= 0)
		ret = -ETIMEDOUT;
	if (ret == -ENODATA)
		addr_query_set_timer(id_priv, &f.key, left);
	else
		addr_query_done(id_priv, &f, cmx_timer_take(id_priv), ret);
}

static void addr_query_wait(struct cmx_id_private *id_priv, const struct cmx_watch_key *key,
			    struct cmx_event *ev, unsigned long timeout_ms)
{
	unsigned long timeout = msecs_to_jiffies(min_t(unsigned long, timeout_ms, INT_MAX));

	cmx_timer_start(id_priv, addr_query_step, ev, timeout);
	addr_query_set_timer(id_priv, key, timeout);
}

static void addr_loopback_set_src(struct cmx_id_private *id_priv)
{
	union cmx_addr src;

	memcpy(&src, cmx_src(id_priv), cmx_addr_size(cmx_src(id_priv)));
	switch (src.sa.sa_family) {
	case AF_INET:
		src.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		break;
	case AF_INET6:
		src.in6.sin6_addr = in6addr_loopback;
		break;
	default:
		ib_addr_set(&src.ib.sib_addr, 0, 0, 0, htonl(1));
	}
	cmx_port_set_addr(id_priv, &src.sa, NULL);
}

/* The peer is a wildcard or loopback address. */
static int addr_loopback_resolve(struct cmx_id_private *id_priv, struct cmx_event *ev)
{
	struct rdma_dev_addr *addr = &id_priv->id.route.addr.dev_addr;
	union ib_gid gid;
	int ret;

	if (!id_priv->dev) {
		ret = cmx_attach_loopback(id_priv);
		if (ret)
			return ret;
		addr_loopback_set_src(id_priv);
	}
	rdma_addr_get_sgid(addr, &gid);
	rdma_addr_set_dgid(addr, &gid);
	addr_resolved(id_priv);
	cmx_event_post(ev);
	return 0;
}

/* The peer has an AF_IB address: there is no network interface, and nothing to resolve. */
static int addr_ib_resolve(struct cmx_id_private *id_priv, struct cmx_event *ev)
{
	const struct sockaddr_ib *dst = (const struct sockaddr_ib *)cmx_dst(id_priv);
	union ib_gid dgid;
	int ret;

	if (!id_priv->dev) {
		ret = cmx_attach_ib_subnet(id_priv);
		if (ret)
			return ret;
	}
	memcpy(&dgid, &dst->sib_addr, sizeof(dgid));
	rdma_addr_set_dgid(&id_priv->id.route.addr.dev_addr, &dgid);
	addr_resolved(id_priv);
	cmx_event_post(ev);
	return 0;
}

static int addr_query_start(struct cmx_id_private *id_priv, struct cmx_event *ev,
			    unsigned long timeout_ms)
{
	struct cmx_addr_result f;
	int ret;

	if (cmx_dst(id_priv)->sa_family == AF_IB)
		return addr_ib_resolve(id_priv, ev);
	ret = addr_query_look(id_priv, &f);
	if (ret == -ENODATA) {
		addr_query_wait(id_priv, &f.key, ev, timeout_ms);
		return 0;
	}
	if (ret)
		cmx_unwatch_peer(id_priv);
	else
		addr_query_done(id_priv, &f, ev, 0);
	return ret;
}

/* Bind an idle id: to @src if it is given, else to a wildcard, and the route selects the source. */
static int addr_src_bind(struct cmx_id_private *id_priv, const struct sockaddr *src,
			 const struct sockaddr *dst)
{
	union cmx_addr any = { .ib.sib_family = dst->sa_family };

	if (src && src->sa_family)
		return src->sa_family == dst->sa_family ? cmx_bind_dst(id_priv, src, dst) : -EINVAL;
	if (dst->sa_family == AF_IB)
		any.ib.sib_pkey = ((const struct sockaddr_ib *)dst)->sib_pkey;
	return cmx_bind_dst(id_priv, &any.sa, dst);
}

/*
 * An id that is bound to an interface or VRF has no loopback address, and as with TCP no link-local
 * peer on another link.
 */
static int addr_dst_check(const struct cmx_id_private *id_priv)
{
	const struct sockaddr_in6 *dst = (const struct sockaddr_in6 *)cmx_dst(id_priv);
	int oif = id_priv->id.route.addr.dev_addr.bound_dev_if ?: id_priv->opt.bind_device;

	if (id_priv->opt.bind_device && cmx_addr_has_no_device(cmx_dst(id_priv)))
		return -EADDRNOTAVAIL;
	if (dst->sin6_family != AF_INET6 || !dst->sin6_scope_id ||
	    !(ipv6_addr_type(&dst->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	return cmx_ndev_index_is_in(cmx_net(id_priv), dst->sin6_scope_id, oif) ? 0 : -EINVAL;
}

/* Caller must hold id_priv->lock. On success @ev no longer belongs to the caller. */
static int addr_resolve_locked(struct cmx_id_private *id_priv, const struct sockaddr *src,
			       const struct sockaddr *dst, unsigned long timeout_ms,
			       struct cmx_event *ev)
{
	struct sockaddr_storage old = id_priv->id.route.addr.dst_addr;
	bool idle = id_priv->state == CMX_IDLE;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (!cmx_addr_size(dst))
		return -EAFNOSUPPORT;
	if (idle) {
		ret = addr_src_bind(id_priv, src, dst);
		if (ret)
			return ret;
	}
	if (id_priv->state != CMX_BOUND || cmx_src(id_priv)->sa_family != dst->sa_family)
		return -EINVAL;
	cmx_port_set_addr(id_priv, NULL, dst);

	cmx_state_move(id_priv, CMX_IN(BOUND), CMX_ADDR_QUERY);
	/* the lookup of the IP route uses the TOS; the bind has done it for an idle id */
	if (!idle)
		cmx_rule_apply(id_priv, id_priv);
	ret = addr_dst_check(id_priv);
	if (!ret && !idle)
		ret = cmx_port_recheck(id_priv);
	if (!ret)
		ret = cmx_addr_has_no_device(dst) ? addr_loopback_resolve(id_priv, ev)
					: addr_query_start(id_priv, ev, timeout_ms);
	if (!ret)
		return 0;

	cmx_state_move(id_priv, CMX_IN(ADDR_QUERY), CMX_BOUND);
	if (idle)
		cmx_bind_undo(id_priv);
	else
		cmx_port_set_addr(id_priv, NULL, (struct sockaddr *)&old);
	return ret;
}

/**
 * cmx_resolve_addr() - resolve the address of a peer
 * @id: the id, new or bound
 * @src: local address for an id that is not bound yet; NULL: the route selects it
 * @dst: address of the peer: of a host or a multicast group, or a loopback address
 * @timeout_ms: how long to wait for the link layer address of the peer
 *
 * RDMA_CM_EVENT_ADDR_RESOLVED or RDMA_CM_EVENT_ADDR_ERROR follows. The status of an error is
 * -ETIMEDOUT, -ENODEV (no RDMA device on the route), -ENOMEM, or an error of the route lookup.
 * After ADDR_ERROR the id is bound.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed and no event follows:
 *
 * * -EINVAL: the id is in another state, the address families differ, or a link-local @dst is on
 *   another link than the id.
 * * -ENETUNREACH and other errors: the route lookup failed.
 * * -ENODEV: no RDMA device is on the route.
 * * -EADDRNOTAVAIL: the peer of an id on InfiniBand is behind an IP router; or BIND_DEVICE is set,
 *   and @dst is a loopback address.
 * * -ENOMEM: out of memory.
 * * Errors of cmx_bind_addr().
 */
int cmx_resolve_addr(struct cmx_id *id, const struct sockaddr *src, const struct sockaddr *dst,
		     unsigned long timeout_ms)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	struct cmx_event *ev;
	int ret;

	ev = cmx_event_alloc(id_priv, RDMA_CM_EVENT_ADDR_RESOLVED, 0, GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;
	cmx_id_lock(id_priv);
	ret = addr_resolve_locked(id_priv, src, dst, timeout_ms, ev);
	cmx_id_unlock(id_priv);
	if (ret)
		cmx_event_free(ev);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_resolve_addr);
