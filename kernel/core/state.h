/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_STATE_H
#define CMX_STATE_H

#include <linux/types.h>

struct cmx_id_private;

/**
 * enum cmx_state - state of an id
 * @CMX_IDLE: created
 * @CMX_BOUND: has a local address and a port
 * @CMX_ADDR_QUERY: the peer's address is being resolved
 * @CMX_ADDR_RESOLVED: the peer's address is resolved; the id is attached to a device and port
 * @CMX_ROUTE_QUERY: the path is being looked up
 * @CMX_ROUTE_RESOLVED: has path records (none on iWARP)
 * @CMX_LISTEN: listens for requests
 * @CMX_CONNECT: has sent or received a request; after the handshake
 *	&cmx_id_private.established is set
 * @CMX_DISCONNECT: the connection has ended
 * @CMX_REMOVED: its device has been removed, or CMX_CHANNEL_KILL has ended it
 * @CMX_DEAD: being destroyed; final
 * @CMX_STATE_NUM: number of states
 */
enum cmx_state {
	CMX_IDLE,
	CMX_BOUND,
	CMX_ADDR_QUERY,
	CMX_ADDR_RESOLVED,
	CMX_ROUTE_QUERY,
	CMX_ROUTE_RESOLVED,
	CMX_LISTEN,
	CMX_CONNECT,
	CMX_DISCONNECT,
	CMX_REMOVED,
	CMX_DEAD,
	CMX_STATE_NUM,
};

/** CMX_IN() - mask of one state, for cmx_state_move() */
#define CMX_IN(state) (1U << CMX_##state)

bool cmx_state_allowed(enum cmx_state from, enum cmx_state to);
const char *cmx_state_name(enum cmx_state state);
int cmx_state_move(struct cmx_id_private *id_priv, u32 from_mask, enum cmx_state to);
void cmx_state_set_established(struct cmx_id_private *id_priv, bool established);

#endif
