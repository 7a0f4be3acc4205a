// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who may hold the same port of a port space at the same time.
 */
#include <linux/errno.h>
#include "portmap.h"
#include "sockaddr.h"

/* A peer that is not known yet could be any. */
static bool unknown(const struct sockaddr *addr)
{
	return !addr->sa_family || cmx_addr_any(addr);
}

/**
 * cmx_portmap_conflict() - whether a port that was asked for is taken
 * @have: an owner of the port
 * @want: who asks for it
 *
 * The first rule that applies decides:
 *
 * * both have REUSEADDR and neither listens: no conflict
 * * both have AFONLY and are of different families: no conflict
 * * one of them is bound to a wildcard or loopback address: -EADDRNOTAVAIL
 * * they are bound to the same address: -EADDRINUSE
 * * otherwise no conflict
 *
 * Return: 0 or the error.
 */
int cmx_portmap_conflict(const struct cmx_claim *have, const struct cmx_claim *want)
{
	if (have->reuse && want->reuse && !have->listening && !want->listening)
		return 0;
	if (have->afonly && want->afonly && have->src->sa_family != want->src->sa_family)
		return 0;
	if (cmx_addr_any(have->src) || cmx_addr_any(want->src))
		return -EADDRNOTAVAIL;
	return cmx_addr_same_host(have->src, want->src) ? -EADDRINUSE : 0;
}

/**
 * cmx_portmap_share() - whether a port can be chosen though somebody has it
 * @have: an owner of the port
 * @want: who needs a port, any port
 *
 * It can if the two will never have the same peer and local address: their
 * peers' ports, their own addresses or their peers' addresses are known and
 * differ.
 *
 * Return: 0 or -EADDRNOTAVAIL.
 */
int cmx_portmap_share(const struct cmx_claim *have, const struct cmx_claim *want)
{
	__be16 have_port = cmx_addr_port(have->dst);
	__be16 want_port = cmx_addr_port(want->dst);

	if (have_port && want_port && have_port != want_port)
		return 0;
	if (!unknown(have->src) && !unknown(want->src) && !cmx_addr_same_host(have->src, want->src))
		return 0;
	if (!unknown(have->dst) && !unknown(want->dst) && !cmx_addr_same_host(have->dst, want->dst))
		return 0;
	return -EADDRNOTAVAIL;
}

/**
 * cmx_portmap_coexist() - whether two owners of a port may both keep it
 * @have: an owner of the port
 * @want: another one, whose claim has changed
 *
 * They may if either of the ways to get a port allows it. A listener has no
 * peer yet that could tell it from the other owner.
 *
 * Return: 0 or the error of cmx_portmap_conflict().
 */
int cmx_portmap_coexist(const struct cmx_claim *have, const struct cmx_claim *want)
{
	int ret = cmx_portmap_conflict(have, want);

	if (ret && !have->listening && !want->listening && !cmx_portmap_share(have, want))
		return 0;
	return ret;
}
