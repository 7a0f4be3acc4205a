// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Gauges: in which state the ids of each port are at the moment. stats.c shows them, and
 * chardev.c those of the ids that are attached to no port. ib_close.c counts CMX_GAUGE_CLOSING.
 */
#include "device.h"
#include "stats.h"

struct cmx_stats cmx_stats_unattached;

/* Returns the gauge of the state of an id, or CMX_GAUGE_NUM. */
static enum cmx_gauge gauge_of_state(const struct cmx_id_private *id_priv)
{
	switch (id_priv->state) {
	case CMX_LISTEN:
		return CMX_GAUGE_LISTENING;
	case CMX_CONNECT:
		return id_priv->established ? CMX_GAUGE_ESTABLISHED : CMX_GAUGE_CONNECTING;
	default:
		return CMX_GAUGE_NUM;
	}
}

/**
 * cmx_gauge_recount() - count an id in the gauge of its state and port
 * @id_priv: the id, whose state or port has changed
 *
 * The id remembers where it is counted, so that it is counted once at most, whatever has changed.
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_gauge_recount(struct cmx_id_private *id_priv)
{
	enum cmx_gauge gauge = gauge_of_state(id_priv);
	atomic_t *counted = NULL;

	lockdep_assert_held(&id_priv->lock);
	if (gauge != CMX_GAUGE_NUM)
		counted = id_priv->dev_port ? &id_priv->dev_port->stats->gauge[gauge] :
					      &cmx_stats_unattached.gauge[gauge];
	if (counted == id_priv->counted)
		return;
	if (id_priv->counted)
		atomic_dec(id_priv->counted);
	if (counted)
		atomic_inc(counted);
	id_priv->counted = counted;
}
