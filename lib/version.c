// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cmx_lib.h"

const char *rdma_cmx_get_version(void)
{
	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_cmx_get_version, NULL, ());
	return CMX_VERSION;
}
