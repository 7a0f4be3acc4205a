// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The rules that decide whether two ids may hold the same port of a port space.
 */
#include <linux/errno.h>
#include "port_conflict.h"
#include "sockaddr.h"

/* An id without a peer address may later connect to any peer. */
static bool port_addr_is_wildcard(const struct sockaddr *addr)
{
	return !addr->sa_family || cmx_addr_has_no_device(addr);
}

/* An id without BIND_DEVICE uses all interfaces. */
static bool port_devices_differ(const struct cmx_bind_key *have, const struct cmx_bind_key *want)
{
	return have->bind_device && want->bind_device && have->bind_device != want->bind_device;
}

/**
 * cmx_port_check_conflict() - check whether an explicit bind to a port conflicts
 * @have: an owner of the port
 * @want: the id that asks for the port
 *
 * The first rule that applies decides:
 *
 * * Both have a BIND_DEVICE and these differ: no conflict.
 * * Both have REUSEADDR and neither listens: no conflict, also of a wildcard address.
 * * Both have AFONLY and their address families differ: no conflict.
 * * At least one is bound to a wildcard or loopback address: -EADDRNOTAVAIL.
 * * Both are bound to the same address: -EADDRINUSE.
 * * Otherwise there is no conflict.
 *
 * Return: 0 or the error.
 */
int cmx_port_check_conflict(const struct cmx_bind_key *have, const struct cmx_bind_key *want)
{
	if (port_devices_differ(have, want))
		return 0;
	if (have->reuse && want->reuse && !have->listening && !want->listening)
		return 0;
	if (have->afonly && want->afonly && have->src->sa_family != want->src->sa_family)
		return 0;
	if (cmx_addr_has_no_device(have->src) || cmx_addr_has_no_device(want->src))
		return -EADDRNOTAVAIL;
	return cmx_addr_same_host(have->src, want->src) ? -EADDRINUSE : 0;
}

/**
 * cmx_port_check_share() - check whether a port that is in use can be chosen for another id
 * @have: an owner of the port
 * @want: the id that needs a port, whichever
 *
 * Both ids can share the port if they use different interfaces, or if their pairs of local and peer
 * address can never be equal. That is so if the peer ports, the local addresses or the peer
 * addresses are known and differ.
 *
 * Return: 0 or -EADDRNOTAVAIL.
 */
int cmx_port_check_share(const struct cmx_bind_key *have, const struct cmx_bind_key *want)
{
	__be16 have_port = cmx_addr_port(have->dst);
	__be16 want_port = cmx_addr_port(want->dst);

	if (port_devices_differ(have, want))
		return 0;
	if (have_port && want_port && have_port != want_port)
		return 0;
	if (!port_addr_is_wildcard(have->src) && !port_addr_is_wildcard(want->src) &&
	    !cmx_addr_same_host(have->src, want->src))
		return 0;
	if (!port_addr_is_wildcard(have->dst) && !port_addr_is_wildcard(want->dst) &&
	    !cmx_addr_same_host(have->dst, want->dst))
		return 0;
	return -EADDRNOTAVAIL;
}

/**
 * cmx_port_check_coexist() - check whether two owners of a port may both keep it
 * @have: an owner of the port
 * @want: another owner, whose addresses, options or state have changed
 *
 * Both may keep the port if cmx_port_check_conflict() or cmx_port_check_share() allows it. For
 * listeners only cmx_port_check_conflict() counts, because a listener has no peer address that
 * distinguishes it from the other owner.
 *
 * Return: 0 or the error of cmx_port_check_conflict().
 */
int cmx_port_check_coexist(const struct cmx_bind_key *have, const struct cmx_bind_key *want)
{
	int ret = cmx_port_check_conflict(have, want);

	if (ret && !have->listening && !want->listening && !cmx_port_check_share(have, want))
		return 0;
	return ret;
}
