/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TRANSPORT_H
#define CMX_TRANSPORT_H

#include "device.h"

struct net_device;
struct seq_file;
struct cmx_service;

/**
 * struct cmx_conn_ops - connection operations of a transport
 *
 * They are chosen by port and QP type when the id is attached to a device. They are called with
 * id_priv->lock held, may sleep, and do not wait for the peer. The exceptions are:
 *
 * * @notify and @reject_msg are called in any context, with or without the lock.
 * * @wait_closed is called without the lock.
 * * @connect, @accept, @reject and @disconnect of iWARP release the lock while the provider may
 *   wait, so the caller must hold a reference to the id.
 *
 * The CM operation checks the state of the id before the call.
 *
 * @private_data: maximum length of the private data of a request, including the CMA header. On
 *	iWARP the header is counted too, although it is not sent
 * @consumer_reject: status of REJECTED if the consumer of the peer rejected, and not its CM
 * @reject_msg: describes the status of REJECTED for messages
 * @has_conn: checks whether the id has an ib_cm or iw_cm id that was not released, or a request
 *	that waits for the send window
 * @is_waiting: checks whether a message of the id waits for the send window of its user; NULL:
 *	there is no window
 * @connect: sends the request; the event follows
 * @accept: accepts a request
 * @establish: confirms a reply with an RTU, or accepts a datagram request with default parameters
 * @reject: rejects a request or reply; @reason is an enum ib_cm_rej_reason
 * @disconnect: ends the connection. If the QP is stopped, the event need not wait for the peer
 * @release: releases the ib_cm or iw_cm id, if there is one
 * @notify: handles an event of the QP
 * @wait_closed: waits, for a limited time, until the peer knows of the end of the last connection
 *	of a QP, so that it does not refuse the next one; NULL: a peer never does
 * @init_qp_attr: gets the attributes for @attr->qp_state
 */
struct cmx_conn_ops {
	u16 private_data;
	int consumer_reject;
	const char *(*reject_msg)(int reason);
	bool (*has_conn)(const struct cmx_id_private *id_priv);
	bool (*is_waiting)(const struct cmx_id_private *id_priv);
	int (*connect)(struct cmx_id_private *id_priv, const struct rdma_conn_param *param);
	int (*accept)(struct cmx_id_private *id_priv, const struct rdma_conn_param *param);
	int (*establish)(struct cmx_id_private *id_priv);
	int (*reject)(struct cmx_id_private *id_priv, const void *data, u8 len, u8 reason);
	int (*disconnect)(struct cmx_id_private *id_priv, bool qp_is_stopped);
	void (*release)(struct cmx_id_private *id_priv);
	int (*notify)(struct cmx_id_private *id_priv, enum ib_event_type event);
	void (*wait_closed)(const struct cmx_id_private *id_priv, u32 qp_num);
	int (*init_qp_attr)(struct cmx_id_private *id_priv, struct ib_qp_attr *attr, int *mask);
};

/**
 * struct cmx_listen_ops - operations of a transport for listeners
 *
 * All ports of a device have the same ones. The caller holds no lock, since the provider may wait
 * for rtnl or for its firmware, and a reference to the listener from @start until after @stop.
 *
 * @start: listens on a device. The addresses and options of the listener do not change. @backlog is
 *	the consumer's. Returns what @stop needs, or an ERR_PTR; -EINVAL: another module listens
 *	there
 * @stop: undoes @start; waits until no handler of a request runs
 * @device_is_in: checks whether the interface of a device is in a network namespace, so that a
 *	listener there takes the port from nobody else; NULL: a device has one service ID for all
 *	network namespaces
 * @wait_port: waits, for a limited time, until listeners that have ended have released a port.
 *	Returns 0, or an error if the caller is killed; NULL: a listener shares it with them
 */
struct cmx_listen_ops {
	void *(*start)(struct cmx_id_private *id_priv, struct ib_device *device, __be64 service_id,
		       int backlog);
	void (*stop)(void *started);
	bool (*device_is_in)(struct ib_device *device, const struct net *net);
	int (*wait_port)(const struct net *net, u16 port);
};

/**
 * struct cmx_route_ops - route operations of a transport
 *
 * All but @cache_show are called with id_priv->lock held.
 *
 * @resolve: gets the path records; the id is in state CMX_ROUTE_QUERY. Returns 0 if the route is
 *	resolved; -EINPROGRESS if the event follows, in which case *@ev is used for it and set to
 *	NULL; or an error
 * @cancel: cancels a query in progress, of a path or of a service, whose timer has been stopped;
 *	NULL: there is never one
 * @invalidate: drops the path to the peer from the cache of the port, since it may be wrong; NULL:
 *	there is no cache
 * @cache_show: prints " ENTRIES HITS MISSES DROPS" of the cache of a port; NULL: there is none
 * @find_service: queries the ServiceRecords of a service; the id is in state CMX_ADDR_QUERY.
 *	Returns 0 if the event follows, in which case *@ev is used for it and set to NULL; or an
 *	error. NULL: not supported
 * @complete: fills in the fields that are missing in a path record of the consumer; NULL: none are
 * @apply_tos: applies a new traffic class; NULL: it is only stored in the path record of a resolved
 *	route
 * @mtu: gets the largest MTU of a path of the id, as enum ib_mtu; 0: not known. It does not call
 *	the provider. NULL: the transport has no path records
 */
struct cmx_route_ops {
	int (*resolve)(struct cmx_id_private *id_priv, unsigned long timeout_ms,
		       struct cmx_event **ev);
	void (*cancel)(struct cmx_id_private *id_priv);
	void (*invalidate)(struct cmx_id_private *id_priv);
	void (*cache_show)(const struct cmx_dev_port *port, struct seq_file *s);
	int (*find_service)(struct cmx_id_private *id_priv, const struct cmx_service *service,
			    struct cmx_event **ev);
	int (*complete)(struct cmx_id_private *id_priv, struct sa_path_rec *rec);
	int (*apply_tos)(struct cmx_id_private *id_priv);
	u32 (*mtu)(const struct cmx_id_private *id_priv);
};

/**
 * struct cmx_mcast_ops - multicast operations of a transport
 *
 * All but @show are called with the lock of the id held.
 *
 * @join: starts a join. Returns 0 if the event follows or has been posted already, or an error. On
 *	RoCE it releases the lock while it waits for rtnl, and returns -ECANCELED if the membership
 *	has ended meanwhile
 * @leave: ends the membership
 * @report: reports a rejoined group once more, after a delay; NULL: no group is ever rejoined
 * @show: prints one line for each group that ids of this module have joined
 */
struct cmx_mcast_ops {
	int (*join)(struct cmx_mcast *mc);
	void (*leave)(struct cmx_mcast *mc);
	void (*report)(struct cmx_mcast *mc);
	void (*show)(struct seq_file *s);
};

/**
 * struct cmx_port_ops - operations of a transport for a port of a device
 * @init: allocates &cmx_dev_port.priv. Nothing else uses the port yet. Returns 0 or -ENOMEM
 * @event: handles an event of the port. It is also called for %IB_EVENT_PORT_ACTIVE when the device
 *	is added, so that a change since @init is not missed
 * @stop: ends what waits for a peer or for the subnet administrator when the device is being
 *	removed. No id can be attached to it any more
 * @exit: frees &cmx_dev_port.priv. Nothing else uses the port any more
 */
struct cmx_port_ops {
	int (*init)(struct cmx_device *dev, u32 port);
	void (*event)(struct cmx_device *dev, u32 port, enum ib_event_type event);
	void (*stop)(struct cmx_device *dev, u32 port);
	void (*exit)(struct cmx_device *dev, u32 port);
};

/* Transports, for masks */
#define CMX_TRANSPORT_IB BIT(0)
#define CMX_TRANSPORT_ROCE BIT(1)
#define CMX_TRANSPORT_IWARP BIT(2)
#define CMX_TRANSPORT_ANY (CMX_TRANSPORT_IB | CMX_TRANSPORT_ROCE | CMX_TRANSPORT_IWARP)

/**
 * struct cmx_transport - all differences between InfiniBand, RoCE and iWARP
 * @bit: CMX_TRANSPORT_IB, _ROCE or _IWARP
 * @has_sa: the port has a subnet administrator, which provides path records and groups with a Q_Key
 *	of their own
 * @has_ece: connection messages can carry ECE
 * @has_gid_addr: an AF_IB address selects a port by its GID and P_Key
 * @gid_is_ip: a GID is derived from the IP address, and the peer is a neighbour of the network
 *	stack
 * @has_loopback: a port can be used for an IP loopback address
 * @port_fits: checks whether a port of a device uses this transport
 * @id_fits: checks whether an id may use it; NULL: each id may. Called under the conditions of
 *	cmx_dev_port_fits()
 * @port_gid: gets the GID of the port of a network interface, with a reference, or an ERR_PTR;
 *	NULL: the GID table of the port has the GIDs of all its addresses
 * @port_gid_type: gets the default GID type of a port; NULL: the ports have no other type than
 *	IB_GID_TYPE_IB, and the option GID type has no effect
 * @default_qkey: gets the Q_Key that an id has in a partition until another one is set. Called with
 *	id_priv->lock held. Returns 0, or -EADDRNOTAVAIL if it is not known; NULL: RDMA_UDP_QKEY
 * @port: operations for ports, or NULL
 * @listen: operations for listeners
 * @conn: operations for connections
 * @dgram: operations for datagrams (SIDR), or NULL
 * @route: operations for routes
 * @mcast: operations for multicast, or NULL
 */
struct cmx_transport {
	u8 bit;
	u8 has_sa:1;
	u8 has_ece:1;
	u8 has_gid_addr:1;
	u8 gid_is_ip:1;
	u8 has_loopback:1;
	bool (*port_fits)(const struct ib_device *device, u32 port);
	bool (*id_fits)(const struct cmx_id_private *id_priv);
	const struct ib_gid_attr *(*port_gid)(struct ib_device *device, u32 port,
					      struct net_device *ndev);
	enum ib_gid_type (*port_gid_type)(struct ib_device *device, u32 port);
	int (*default_qkey)(const struct cmx_id_private *id_priv, u16 pkey, u32 *qkey);
	const struct cmx_port_ops *port;
	const struct cmx_listen_ops *listen;
	const struct cmx_conn_ops *conn;
	const struct cmx_conn_ops *dgram;
	const struct cmx_route_ops *route;
	const struct cmx_mcast_ops *mcast;
};

/* Caller must hold id_priv->lock. */
static inline bool cmx_conn_exists(const struct cmx_id_private *id_priv)
{
	return id_priv->conn_ops && id_priv->conn_ops->has_conn(id_priv);
}

/* Release the connection in any state. The peer is notified. Caller must hold id_priv->lock. */
static inline void cmx_conn_release(struct cmx_id_private *id_priv)
{
	if (id_priv->conn_ops)
		id_priv->conn_ops->release(id_priv);
}

/* Drop the path to the peer, which may be wrong. Caller must hold id_priv->lock. */
static inline void cmx_route_invalidate(struct cmx_id_private *id_priv)
{
	if (id_priv->dev_port && id_priv->dev_port->transport->route->invalidate)
		id_priv->dev_port->transport->route->invalidate(id_priv);
}

/*
 * The transports that a port can use, in the order in which they are tried; ends with NULL. main.c
 * sets it before anything else.
 */
extern const struct cmx_transport *const *cmx_transports;

/* @t: const struct cmx_transport *const *, a row of the table */
#define cmx_for_each_transport(t) for (t = cmx_transports; *t; t++)

const struct cmx_transport *cmx_transport_find(const struct ib_device *device, u32 port);

#endif
