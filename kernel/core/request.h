/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_REQUEST_H
#define CMX_REQUEST_H

#include "id.h"

/**
 * struct cmx_request - a connection request of a peer that becomes an id
 * @listener: the id that listens; the caller has a reference
 * @conn_id: the new id, which nobody else knows yet
 * @ev: CONNECT_REQUEST, to be filled in
 */
struct cmx_request {
	struct cmx_id_private *listener;
	struct cmx_id_private *conn_id;
	struct cmx_event *ev;
};

/**
 * struct cmx_request_ops - how a transport sets up the id of a request
 * @attach: attach it to its device and check what the peer asks for. The locks of the listener and
 *	of the new id are held. Return: 0, or -errno to refuse the request
 * @set_cm: make the ib_cm or iw_cm id that of the new id, which gives it a reference. The locks
 *	are held
 * @flush_later: the consumer must not be called from the caller's context
 */
struct cmx_request_ops {
	int (*attach)(struct cmx_id_private *conn_id, void *arg);
	void (*set_cm)(struct cmx_id_private *conn_id, void *arg);
	bool flush_later;
};

int cmx_request_init(struct cmx_request *req, struct cmx_id_private *listener,
		     enum ib_qp_type qp_type);
void cmx_request_cancel(struct cmx_request *req);
int cmx_request_deliver(struct cmx_request *req, const struct cmx_request_ops *ops, void *arg);

#endif
