/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef FUZZ_H
#define FUZZ_H

#include <rdma/rdma_cmx.h>
#include "cmd.h"
#include "stress.h"

/* Size of the buffer of an attribute: larger than the maximum of its length field. */
#define FUZZ_BUF_SIZE (1 << 17)

/* Makes one or two properties of a command wrong or unusual. */
void fuzz_cmd_mutate(struct stress_rand *rnd, struct cmxl_cmd *cmd);
/* Picks a small, a negative or a huge number. */
uint32_t fuzz_number_pick(struct stress_rand *rnd);
/* Flips some bits of an input. */
void fuzz_bytes_mutate(struct stress_rand *rnd, void *bytes, size_t len);

#endif
