// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The link layer address of a neighbour
 */
#include "neigh_addr.h"

/**
 * cmx_neigh_addr_get() - get the link layer address of a neighbour
 * @n: the neighbour, with a reference or from its notifier
 * @lladdr: receives the address, MAX_ADDR_LEN bytes at most, if it is valid
 *
 * An update stores the state before the address, under the lock of the neighbour. Without this lock
 * a neighbour that has just replied would be valid, but still have the old address or none.
 *
 * Context: Any except hard interrupts. Caller must not hold the lock of the neighbour.
 * Return: true if the address is valid.
 */
bool cmx_neigh_addr_get(struct neighbour *n, u8 *lladdr)
{
	bool valid;

	read_lock_bh(&n->lock);
	valid = n->nud_state & NUD_VALID;
	if (valid)
		neigh_ha_snapshot(lladdr, n, n->dev);
	read_unlock_bh(&n->lock);
	return valid;
}
