/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PORTMAP_H
#define CMX_PORTMAP_H

#include <linux/socket.h>
#include <linux/types.h>

/**
 * struct cmx_claim - the properties of an id that decide about port conflicts
 * @src: local address
 * @dst: peer address; family 0 if not known
 * @reuse: the option REUSEADDR
 * @afonly: the option AFONLY
 * @listening: the id listens or is about to listen, so REUSEADDR has no effect
 */
struct cmx_claim {
	const struct sockaddr *src;
	const struct sockaddr *dst;
	bool reuse;
	bool afonly;
	bool listening;
};

int cmx_portmap_conflict(const struct cmx_claim *have, const struct cmx_claim *want);
int cmx_portmap_share(const struct cmx_claim *have, const struct cmx_claim *want);
int cmx_portmap_coexist(const struct cmx_claim *have, const struct cmx_claim *want);

#endif
