/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Stands before the kernel's header of this name, for ULPs that are built unchanged. The kernel's
 * headers come first, so that the names change after their declarations.
 */
#ifndef RDMA_CMX_NAMES_RDMA_CM_H
#define RDMA_CMX_NAMES_RDMA_CM_H

#include_next <rdma/rdma_cm.h>
#include_next <rdma/rdma_cm_ib.h>
#include <rdma/cmx_names.h>

#endif
