// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The Q_Key and the P_Key of an id.
 */
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_cm_ib.h>
#include "device.h"
#include "keys.h"
#include "transport.h"

/**
 * cmx_default_qkey() - Q_Key of an id that neither a group nor its owner gave one
 * @id_priv: the id; its lock is held, it is attached to a device
 * @qkey: the result: in the IPoIB port space that of the broadcast group
 *
 * Return: 0, -EADDRNOTAVAIL: IPoIB has not joined the broadcast group.
 */
int cmx_default_qkey(struct cmx_id_private *id_priv, u32 *qkey)
{
	struct ib_sa_mcmember_rec rec;
	union ib_gid mgid;
	int ret;

	*qkey = RDMA_UDP_QKEY;
	if (id_priv->id.ps != RDMA_PS_IPOIB || !id_priv->dev_port->transport->has_sa)
		return 0;
	ib_addr_get_mgid(&id_priv->id.route.addr.dev_addr, &mgid);
	ret = ib_sa_get_mcmember_rec(id_priv->id.device, id_priv->id.port_num, &mgid, &rec);
	if (!ret)
		*qkey = be32_to_cpu(rec.qkey);
	return ret;
}

/**
 * cmx_set_qkey() - settle the Q_Key of an id
 * @id_priv: the id; its lock is held
 * @qkey: the Q_Key, or 0: the one that it has, else the default
 *
 * Return: 0, -EINVAL when it has another, or as cmx_default_qkey().
 */
int cmx_set_qkey(struct cmx_id_private *id_priv, u32 qkey)
{
	int ret = 0;

	lockdep_assert_held(&id_priv->lock);
	if (id_priv->qkey)
		return !qkey || qkey == id_priv->qkey ? 0 : -EINVAL;
	if (!qkey)
		ret = cmx_default_qkey(id_priv, &qkey);
	if (!ret)
		id_priv->qkey = qkey;
	return ret;
}

/**
 * cmx_pkey() - get the partition of an id
 * @id_priv: the id, which is attached to a device
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the P_Key.
 */
u16 cmx_pkey(const struct cmx_id_private *id_priv)
{
	struct rdma_dev_addr *addr = (struct rdma_dev_addr *)&id_priv->id.route.addr.dev_addr;

	if (!id_priv->dev_port->transport->has_gid_addr)
		return IB_DEFAULT_PKEY_FULL;
	return cmx_opt_set(id_priv, CMX_OPT_PKEY) ? id_priv->opt.pkey : ib_addr_get_pkey(addr);
}
