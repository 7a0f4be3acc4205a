/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FUZZ_H
#define FUZZ_H

#include <rdma/rdma_cmx.h>
#include "cmd.h"
#include "stress.h"

/* What an attribute may point to: longer than its length can say. */
#define FUZZ_BUF_SIZE (1 << 17)

/* Make one or two things in a command wrong, or at least unusual. */
void fuzz_cmd_mutate(struct stress_rand *rnd, struct cmxl_cmd *cmd);
/* Flip some bits of what goes in. */
void fuzz_bytes_mutate(struct stress_rand *rnd, void *bytes, size_t len);

#endif
