/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PORT_CONFLICT_H
#define CMX_PORT_CONFLICT_H

#include <linux/socket.h>
#include <linux/types.h>

/**
 * struct cmx_bind_key - the properties of an id that decide about port conflicts
 * @src: local address
 * @dst: peer address; family 0 if not known
 * @bind_device: the option BIND_DEVICE; 0 if not set
 * @reuse: the option REUSEADDR
 * @afonly: the option AFONLY
 * @listening: the id listens or is about to listen, so REUSEADDR has no effect
 */
struct cmx_bind_key {
	const struct sockaddr *src;
	const struct sockaddr *dst;
	u32 bind_device;
	bool reuse;
	bool afonly;
	bool listening;
};

int cmx_port_check_conflict(const struct cmx_bind_key *have, const struct cmx_bind_key *want);
int cmx_port_check_share(const struct cmx_bind_key *have, const struct cmx_bind_key *want);
int cmx_port_check_coexist(const struct cmx_bind_key *have, const struct cmx_bind_key *want);

#endif
