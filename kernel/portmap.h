/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PORTMAP_H
#define CMX_PORTMAP_H

#include <linux/socket.h>
#include <linux/types.h>

/**
 * struct cmx_claim - one claim to a port, as far as conflicts are concerned
 * @src: local address
 * @dst: peer's address, or family 0
 * @reuse: REUSEADDR
 * @afonly: AFONLY
 * @listening: listens, or wants to: REUSEADDR no longer helps
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
