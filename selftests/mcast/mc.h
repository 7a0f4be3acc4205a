/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MC_H
#define MC_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/rdma_cma.h>

#define MC_IDS 64
#define MC_TEXT 128		/* maximum length of a datagram */

/**
 * struct mc_id - an id, with the objects to send and receive datagrams
 * @cm: the id, or NULL
 * @mr: of @buf
 * @ah: address handle of the group that was joined last
 * @qkey: Q_Key of that group
 * @got: number of received datagrams
 * @buf: buffer of the sender, followed by those of the receives
 */
struct mc_id {
	struct rdma_cm_id *cm;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint32_t qkey;
	char *buf;
};

/* verbs.c; return 0, or -1 with errno */
int mc_qp_create(struct mc_id *id);
void mc_qp_free(struct mc_id *id);
int mc_group_set(struct mc_id *id, struct rdma_ud_param *ud);
int mc_send(struct mc_id *id, const char *text);
/* Receives the next datagram. Returns false if none arrives within @ms. */
bool mc_recv(struct mc_id *id, int ms, char *text);

#endif
