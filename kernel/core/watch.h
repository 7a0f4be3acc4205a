/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_WATCH_H
#define CMX_WATCH_H

#include <linux/in6.h>
#include "id.h"

struct neighbour;

/**
 * struct cmx_watch_key - what ids watch
 * @net: network namespace, without a reference; only to be compared
 * @ifindex: network interface
 * @family: address family of a neighbour; 0: the interface itself, which is a bond. If @ifindex is
 *	0 as well, the neighbour table was full, and nothing will report that it has room
 * @addr: address of the neighbour, as in its primary_key
 */
struct cmx_watch_key {
	const struct net *net;
	int ifindex;
	u16 family;
	u8 addr[sizeof(struct in6_addr)];
};

struct cmx_watch_key cmx_watch_key_of(const struct neighbour *n);

/* Caller must hold id_priv->lock. */
int cmx_watch_wait(struct cmx_id_private *id_priv, const struct cmx_watch_key *key);
unsigned int cmx_watch_count_ids(const struct cmx_id_private *id_priv);
void cmx_watch_peer(struct cmx_id_private *id_priv);
void cmx_unwatch_peer(struct cmx_id_private *id_priv);
void cmx_watch_bond(struct cmx_id_private *id_priv);
void cmx_unwatch(struct cmx_id_private *id_priv);

int cmx_watch_init_module(void);
void cmx_watch_exit_module(void);

#endif
