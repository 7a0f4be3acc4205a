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
 * cmx_default_qkey() - get the default Q_Key of an id
 * @id_priv: the id, which is attached to a device
 * @qkey: receives the Q_Key. In the IPoIB port space this is the one of the broadcast group
 *
 * The default is used if neither a group nor the consumer has set a Q_Key.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, or -EADDRNOTAVAIL if IPoIB has not joined the broadcast group.
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
 * cmx_set_qkey() - set the Q_Key of an id
 * @id_priv: the id, which is attached to a device
 * @qkey: the Q_Key; 0: keep the current one, or set the default if there is none
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, -EINVAL if the id has another Q_Key already, or an error of cmx_default_qkey().
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
