/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MC_H
#define MC_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/rdma_cma.h>

#define MC_IDS 64
#define MC_TEXT 128		/* most bytes of a datagram */

/**
 * struct mc_id - an id, and what a datagram needs
 * @cm: the id, or NULL
 * @mr: of @buf
 * @ah: to the group that was joined last
 * @qkey: of that group
 * @got: datagrams that came
 * @buf: the sender's, then those of the receives
 */
struct mc_id {
	struct rdma_cm_id *cm;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint32_t qkey;
	char *buf;
};

/* verbs.c; 0, or -1 with errno */
int mc_qp(struct mc_id *id);
void mc_qp_free(struct mc_id *id);
int mc_group(struct mc_id *id, struct rdma_ud_param *ud);
int mc_send(struct mc_id *id, const char *text);
/* the next datagram within that time; false: none */
bool mc_recv(struct mc_id *id, int ms, char *text);

#endif
