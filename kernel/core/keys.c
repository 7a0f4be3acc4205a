// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The Q_Key and the P_Key of an id.
 *
 * The Q_Key of an id is 0 until a consumer, a peer, a group or the QP of a ULP sets it. It does not
 * change afterwards, because an id has one Q_Key only.
 */
#include <rdma/ib_addr.h>
#include <rdma/rdma_cm_ib.h>
#include "device.h"
#include "keys.h"
#include "transport.h"

static int qkey_get_default(const struct cmx_id_private *id_priv, u32 *qkey)
{
	const struct cmx_transport *transport = id_priv->dev_port->transport;

	*qkey = RDMA_UDP_QKEY;
	return transport->default_qkey ?
		       transport->default_qkey(id_priv, cmx_pkey_get(id_priv), qkey) : 0;
}

/**
 * cmx_qkey_get() - get the Q_Key of an id, or the default if it has none
 * @id_priv: the id, which is attached to a device
 * @qkey: receives the Q_Key
 *
 * The default is not stored: a group or a peer may still set another Q_Key.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, or -EADDRNOTAVAIL if the default is not known.
 */
int cmx_qkey_get(const struct cmx_id_private *id_priv, u32 *qkey)
{
	*qkey = id_priv->qkey;
	return *qkey ? 0 : qkey_get_default(id_priv, qkey);
}

/**
 * cmx_qkey_set() - set the Q_Key of an id
 * @id_priv: the id, which is attached to a device
 * @qkey: the Q_Key; 0: keep the current one, or set the default if there is none
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0; -EINVAL if the id has another Q_Key already; -EADDRNOTAVAIL if the default is not
 *	known.
 */
int cmx_qkey_set(struct cmx_id_private *id_priv, u32 qkey)
{
	int ret = 0;

	lockdep_assert_held(&id_priv->lock);
	if (id_priv->qkey)
		return !qkey || qkey == id_priv->qkey ? 0 : -EINVAL;
	if (!qkey)
		ret = qkey_get_default(id_priv, &qkey);
	if (!ret)
		id_priv->qkey = qkey;
	return ret;
}

/**
 * cmx_pkey_get() - get the partition of an id
 * @id_priv: the id, which is attached to a device
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the P_Key.
 */
u16 cmx_pkey_get(const struct cmx_id_private *id_priv)
{
	struct rdma_dev_addr *addr = (struct rdma_dev_addr *)&id_priv->id.route.addr.dev_addr;

	if (!id_priv->dev_port->transport->has_gid_addr)
		return IB_DEFAULT_PKEY_FULL;
	return cmx_opt_is_set(id_priv, CMX_OPT_PKEY) ? id_priv->opt.pkey : ib_addr_get_pkey(addr);
}
