/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_GAUGE_H
#define CMX_GAUGE_H

struct cmx_id_private;

void cmx_gauge_recount(struct cmx_id_private *id_priv);
unsigned int cmx_gauge_unattached_listening(void);

#endif
