/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the verbs offer to each other and to the life cycle (id.c, device.c).
 * The verbs themselves are declared in <rdma/cmx.h>.
 */
#ifndef CMX_VERBS_H
#define CMX_VERBS_H

#include "id.h"

struct rdma_dev_addr;
union ib_gid;

/* addr.c: p->lock is held in all */
int cmx_addr_bind_device(struct cmx_priv *p);	/* attach by the source address */
int cmx_attach_gid(struct cmx_priv *p, const union ib_gid *gid);	/* addr_ib.c */
void cmx_addr_cancel(struct cmx_priv *p);	/* give up a query; no event follows */
u16 cmx_pkey(const struct cmx_priv *p);		/* of the interface, or the one set */
int cmx_addr_init_module(void);
void cmx_addr_exit_module(void);

/* addr_ib.c: p->lock is held. AF_IB: the source or destination address says all */
int cmx_addr_ib_bind(struct cmx_priv *p);
int cmx_addr_ib_resolve(struct cmx_priv *p);

/* bind.c: p->lock is held */
int cmx_bind_locked(struct cmx_priv *p, const struct sockaddr *addr);
int cmx_bind_dst(struct cmx_priv *p, const struct sockaddr *addr, const struct sockaddr *dst);
void cmx_bind_undo(struct cmx_priv *p);		/* CMX_BOUND: back to CMX_IDLE */

/* route.c: p->lock is held */
void cmx_route_free(struct cmx_priv *p);	/* frees the path records; or nobody else has p */
void cmx_route_stale(struct cmx_priv *p);	/* the path leads nowhere */

/* connect.c */
void cmx_wait_for_qp(const struct cmx_priv *p, const struct rdma_conn_param *param);
int cmx_accept_locked(struct cmx_priv *p, const struct rdma_conn_param *param,
		      const struct rdma_ucm_ece *ece);	/* p->lock is held */

/* watch.c: p->lock is held */
void cmx_watch_peer(struct cmx_priv *p);
void cmx_unwatch_peer(struct cmx_priv *p);
int cmx_watch_init_module(void);
void cmx_watch_exit_module(void);

/* route_sa.c */
int cmx_sa_init_module(void);
void cmx_sa_exit_module(void);

/* client.c */
struct cmx_transport;
int cmx_client_init_module(const struct cmx_transport *const *transports);
void cmx_client_exit_module(void);

/* listen.c */
void cmx_listen_stop(struct cmx_priv *p);		/* p->lock is held */
void cmx_listen_add_device(struct cmx_device *dev);	/* wildcard listeners come along */
void cmx_listen_remove_device(struct cmx_device *dev);

/* ib_close.c; the rest of it is in ib.h */
void cmx_cm_release(struct cmx_priv *p);	/* p->lock is held; never waits */
void cmx_close_wait(const struct cmx_quota *user, const struct ib_device *device, u32 qp_num);
void cmx_close_device(const struct cmx_device *dev);
unsigned int cmx_close_count(void);
int cmx_close_init_module(void);
void cmx_close_exit_module(void);

/* deadline.c: p->lock is held */
int cmx_deadline_start(struct cmx_priv *p);
void cmx_deadline_stop(struct cmx_priv *p);

/* qp.c: p->lock is held; no QP of ours: 0 */
int cmx_qp_rtr(struct cmx_priv *p, const struct rdma_conn_param *param);
int cmx_qp_rts(struct cmx_priv *p, const struct rdma_conn_param *param);
int cmx_qp_err(struct cmx_priv *p);
bool cmx_qp_failed(struct cmx_priv *p);
int cmx_default_qkey(struct cmx_priv *p, u32 *qkey);
int cmx_set_qkey(struct cmx_priv *p, u32 qkey);	/* 0: the default; -EINVAL on a second one */
/* options in effect on @attr, as @mask says */
void cmx_qp_options(struct cmx_priv *p, struct ib_qp_attr *attr, int mask);

/* option_value.c: options in effect, defaults included; p->lock is held */
extern unsigned int cmx_opt_defaults[CMX_OPT_NUM];
u8 cmx_opt_tos(const struct cmx_priv *p);
u8 cmx_opt_cm_retries(const struct cmx_priv *p);
u8 cmx_opt_cm_response_timeout(const struct cmx_priv *p);
u32 cmx_opt_connect_deadline_ms(const struct cmx_priv *p);
bool cmx_opt_supported(const struct cmx_priv *p, enum cmx_opt_bit bit);	/* by the transport */
void cmx_opt_inherit(struct cmx_priv *child, const struct cmx_priv *listener);

/* ece.c: p->lock is held */
#define CMX_ECE_VENDOR_MAX 0xffffff	/* REQ and REP have 24 bits for the vendor id */
void cmx_ece_offer(struct cmx_priv *p, struct rdma_ucm_ece *out);
/* the peer's arrived; false: policy wants one and there is none */
bool cmx_ece_receive(struct cmx_priv *p, const struct rdma_ucm_ece *ece);

/* mcast_ip.c */
int cmx_mcast_ip_init_module(void);
void cmx_mcast_ip_exit_module(void);

/* mcast_sa.c */
int cmx_mcast_sa_init_module(void);
void cmx_mcast_sa_exit_module(void);

#endif
