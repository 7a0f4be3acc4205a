/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_SERVICE_H
#define CMX_SERVICE_H

#include "id.h"

/** define CMX_SERVICE_NAME - size of the name in a ServiceRecord */
#define CMX_SERVICE_NAME 64

/**
 * define CMX_MAX_SERVICE_RECS - maximum number of ServiceRecords that are kept
 *
 * A reply may have thousands; programs take the first ones, which fit into 8 KB.
 */
#define CMX_MAX_SERVICE_RECS 254

/**
 * struct cmx_service - service to look for: its ID, its name, or both
 * @has_id: @id is valid
 * @id: service ID
 * @name: name, zero-terminated; empty: any
 */
struct cmx_service {
	bool has_id;
	__be64 id;
	u8 name[CMX_SERVICE_NAME];
};

/**
 * struct cmx_service_result - the ports that offer a service
 * @num: number of records in @recs
 * @recs: the records
 */
struct cmx_service_result {
	u32 num;
	struct cmx_service_rec recs[];
};

int cmx_resolve_service(struct cmx_id_private *id_priv, const struct cmx_service *service);

#endif
