/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared by the files of connected queue pairs. */
#ifndef VIB_RC_H
#define VIB_RC_H

#include "vib.h"

/* Results of a request, besides enum ib_wc_status. */
enum {
	VIB_NO_ANSWER = -1,
	VIB_NOT_READY = -2,		/* no receive is posted */
	VIB_SENT = -3,			/* packets are in transit */
	VIB_GAP = -4,			/* packets were lost (rc_pkt.c) */
};

/* How long the requester waits for a response. A UDP link may be slow. */
static inline unsigned long vib_rc_timeout(struct rvt_qp *qp)
{
	unsigned long wait = qp->timeout ? qp->timeout_jiffies ?: 1 : HZ / 10;

	return vib_qp(qp)->wire.busy ? max_t(unsigned long, wait, HZ / 2) : wait;
}

/*
 * rc.c: parts of the responder. r_lock of @peer is held, and a result other than IB_WC_SUCCESS is
 * the response.
 */

/*
 * Refuses a request. A reliable responder goes to the error state, an unreliable one drops the
 * request. An error that completes no receive is reported by an event.
 */
int vib_request_refuse(struct rvt_qp *peer, enum ib_wc_status here, enum ib_wc_status there);
/* Like rvt_get_rwqe(), but reuses a receive that was too short for an earlier UC message. */
int vib_recv_take(struct rvt_qp *peer, bool wr_id_only);
/* Takes a receive for a message of this length. */
int vib_send_begin(struct rvt_qp *peer, u32 len);
int vib_write_begin(struct rvt_qp *peer, struct rvt_sge_state *ss, u32 len, u64 addr, u32 rkey);
int vib_read_begin(struct rvt_qp *peer, struct rvt_sge_state *ss, u32 len, u64 addr, u32 rkey);
int vib_atomic_execute(struct rvt_qp *peer, const struct ib_atomic_wr *wr, u64 *old);

/* rc_pkt.c: sends packets of the oldest send, or returns what the responder has answered. */
int vib_rc_pkt_send(struct rvt_qp *qp, struct rvt_swqe *wqe, u8 *rnr);

#endif
