// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cmx_lib.h"

const char *rdma_cmx_get_version(void)
{
	return CMX_VERSION;
}
