/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_REQUEST_H
#define CMX_REQUEST_H

#include "id.h"

struct cmx_event;

/**
 * struct cmx_request_ops - operations of a transport to set up the id of a request
 * @set_up: sets the addresses of the new id, attaches it to its device and checks the request.
 *	Called with the locks of the listener and of the new id held. Returns 0, or -errno to refuse
 *	the request
 * @set_cm: connects the ib_cm or iw_cm id with the new id. The ib_cm or iw_cm id then owns a
 *	reference to the new id, which the caller has taken. Called with the same locks held
 * @deliver_later: the consumer must not be called in the context of the caller
 */
struct cmx_request_ops {
	int (*set_up)(struct cmx_id_private *conn_id, void *arg);
	void (*set_cm)(struct cmx_id_private *conn_id, void *arg);
	bool deliver_later;
};

struct cmx_event *cmx_request_new(struct cmx_id_private *listener, enum ib_qp_type qp_type);
void cmx_request_record_refusal(struct ib_device *device, u32 port,
				const struct sockaddr_storage *peer,
				const struct sockaddr_storage *local, const union ib_gid *gid,
				int ret);
int cmx_request_deliver(struct cmx_event *ev, const struct cmx_request_ops *ops, void *arg);

#endif
