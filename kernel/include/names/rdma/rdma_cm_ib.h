/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel's header of this name is read by the other one. */
#include <rdma/rdma_cm.h>
