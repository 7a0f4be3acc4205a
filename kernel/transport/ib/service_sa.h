/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_SERVICE_SA_H
#define CMX_SERVICE_SA_H

struct cmx_event;
struct cmx_id_private;
struct cmx_service;

#ifdef CMX_HAVE_SA_SERVICE_REC
int cmx_sa_find_service(struct cmx_id_private *id_priv, const struct cmx_service *service,
			struct cmx_event **ev);
#else
#define cmx_sa_find_service NULL
#endif

#endif
