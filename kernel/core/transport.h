/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TRANSPORT_H
#define CMX_TRANSPORT_H

#include "id.h"

struct ib_gid_attr;
struct net_device;
struct sa_path_rec;

/**
 * struct cmx_transport_ops - connections of one protocol
 *
 * Chosen when the id is attached to a device (by port and QP type). All are
 * called with the id's lock held and may sleep; none waits for the wire. The
 * exception is @notify: any context, no lock. The state has been checked by
 * the verb.
 *
 * @name: for messages and debugfs
 * @private_data: most private data of a request, with the header (or its place)
 * @connect: send the request; the event follows
 * @accept: answer one
 * @establish: answer to a reply (RTU), or to a datagram request with defaults
 * @reject: refuse; @reason is an ib_cm_rej_reason
 * @disconnect: end the connection
 * @release: give up the cm id, if there is one
 * @notify: pass on an event of the QP
 * @init_qp_attr: attributes for @attr->qp_state
 */
struct cmx_transport_ops {
	const char *name;
	u16 private_data;
	int (*connect)(struct cmx_id_private *id_priv, const struct rdma_conn_param *param);
	int (*accept)(struct cmx_id_private *id_priv, const struct rdma_conn_param *param);
	int (*establish)(struct cmx_id_private *id_priv);
	int (*reject)(struct cmx_id_private *id_priv, const void *data, u8 len, u8 reason);
	int (*disconnect)(struct cmx_id_private *id_priv);
	void (*release)(struct cmx_id_private *id_priv);
	int (*notify)(struct cmx_id_private *id_priv, enum ib_event_type event);
	int (*init_qp_attr)(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask);
};

/**
 * struct cmx_route_ops - path look-up of one link layer
 * @resolve: fill in the path records. 0: done; -EINPROGRESS: the event
 *	follows, and *@ev is it; else an error. The id's lock is held, its
 *	state is CMX_ROUTE_QUERY
 * @cancel: give up a look-up under way; the id's lock is held
 * @complete: fill in what a path record that the owner brought lacks; NULL: nothing. The id's
 *	lock is held
 * @apply_tos: bring a new traffic class into effect; NULL: a path record that there is takes it.
 *	The id's lock is held
 */
struct cmx_route_ops {
	int (*resolve)(struct cmx_id_private *id_priv, unsigned long timeout_ms,
		       struct cmx_event **ev);
	void (*cancel)(struct cmx_id_private *id_priv);
	int (*complete)(struct cmx_id_private *id_priv, struct sa_path_rec *rec);
	int (*apply_tos)(struct cmx_id_private *id_priv);
};

/**
 * struct cmx_mcast_ops - multicast of one link layer
 * @join: start; the event follows or has been posted. The id's lock is held
 * @leave: give up the membership; the id's lock is held
 * @report: report a membership that is back once more, after a while; NULL: none ever
 *	comes back. The id's lock is held
 */
struct cmx_mcast_ops {
	int (*join)(struct cmx_mcast *mc);
	void (*leave)(struct cmx_mcast *mc);
	void (*report)(struct cmx_mcast *mc);
};

/* Transports, as in masks of them */
#define CMX_TRANSPORT_IB BIT(0)
#define CMX_TRANSPORT_ROCE BIT(1)
#define CMX_TRANSPORT_IWARP BIT(2)
#define CMX_TRANSPORT_ANY (CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE | CMX_TRANSPORT_IWARP)

/**
 * struct cmx_transport - all that differs between InfiniBand, RoCE and iWARP
 * @name: for people
 * @bit: CMX_TRANSPORT_IB, _ROCE or _IWARP
 * @has_sa: the port has a subnet administrator: path records, groups with a Q_Key of their own
 * @has_ece: connection messages can carry ECE
 * @has_gid_addr: an address of AF_IB names a port by its GID and P_Key
 * @gid_is_ip: the GID of an IP address follows from it, and the peer is a neighbour in the
 *	sense of the network stack
 * @has_loopback: an IP loopback address leads to a port
 * @takes_tcp_port: a listener has a port of TCP on each device, until the provider gives it back
 * @port_fits: whether a port of a device is of this transport
 * @id_fits: whether an id may use it; NULL: each may. Called with the id's lock held
 * @port_gid: the GID by which a port is reached at an IP address, with a reference, or an ERR_PTR;
 *	NULL where @has_gid_addr
 * @conn: connections
 * @dgram: datagram lookup, or NULL
 * @route: path lookup
 * @mcast: multicast, or NULL
 */
struct cmx_transport {
	const char *name;
	u8 bit;
	u8 has_sa:1;
	u8 has_ece:1;
	u8 has_gid_addr:1;
	u8 gid_is_ip:1;
	u8 has_loopback:1;
	u8 takes_tcp_port:1;
	bool (*port_fits)(const struct ib_device *device, u32 port);
	bool (*id_fits)(const struct cmx_id_private *id_priv);
	const struct ib_gid_attr *(*port_gid)(struct ib_device *device, u32 port,
					      const union ib_gid *gid, u8 gid_type,
					      struct net_device *ndev);
	const struct cmx_transport_ops *conn;
	const struct cmx_transport_ops *dgram;
	const struct cmx_route_ops *route;
	const struct cmx_mcast_ops *mcast;
};

/* Gives up the connection of an id, whatever its state: the peer is told. id_priv->lock is held. */
static inline void cmx_conn_release(struct cmx_id_private *id_priv)
{
	if (id_priv->ops)
		id_priv->ops->release(id_priv);
}

extern const struct cmx_transport cmx_transport_ib;
extern const struct cmx_transport cmx_transport_roce;
extern const struct cmx_transport cmx_transport_iwarp;

extern const struct cmx_transport_ops cmx_ib_conn_ops;
extern const struct cmx_transport_ops cmx_ib_sidr_ops;
extern const struct cmx_route_ops cmx_route_roce_ops;
extern const struct cmx_route_ops cmx_route_sa_ops;
extern const struct cmx_mcast_ops cmx_mcast_ip_ops;
extern const struct cmx_mcast_ops cmx_mcast_sa_ops;

#endif
