// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The broadcast group of a partition on InfiniBand, from which the defaults of groups and of the
 * Q_Key are taken.
 */
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_cm_ib.h>
#include "ib.h"
#include "mcast_sa.h"

/**
 * cmx_group_rec_get() - get the MCMemberRecord of a group that the port of an id has joined
 * @id_priv: the id, which is attached to a device
 * @mgid: the group
 * @rec: receives the record
 *
 * Return: 0, or -EADDRNOTAVAIL if the port has not joined the group. ib_sa has an empty record of a
 *	group while the first join of the port is not answered.
 */
int cmx_group_rec_get(const struct cmx_id_private *id_priv, union ib_gid *mgid,
		      struct ib_sa_mcmember_rec *rec)
{
	int ret = ib_sa_get_mcmember_rec(id_priv->id.device, id_priv->id.port_num, mgid, rec);

	return ret || rec->mlid ? ret : -EADDRNOTAVAIL;
}

/**
 * cmx_broadcast_mgid_get() - get the MGID of the broadcast group of a partition
 * @id_priv: the id, which is attached to a device. If it is not bound to an IPoIB address, the
 *	group has the default MGID of IPoIB
 * @pkey: P_Key of the partition
 * @mgid: receives the MGID
 */
void cmx_broadcast_mgid_get(const struct cmx_id_private *id_priv, u16 pkey, union ib_gid *mgid)
{
	static const union ib_gid ipv4 = {
		.raw = { 0xff, 0x12, 0x40, 0x1b, [12] = 0xff, 0xff, 0xff, 0xff },
	};

	ib_addr_get_mgid((struct rdma_dev_addr *)&id_priv->id.route.addr.dev_addr, mgid);
	if (mgid->raw[0] != 0xff)
		*mgid = ipv4;
	else if (!((pkey ^ (mgid->raw[4] << 8 | mgid->raw[5])) & 0x7fff))
		return;
	mgid->raw[4] = pkey >> 8 | 0x80;
	mgid->raw[5] = pkey;
}

/**
 * cmx_ib_default_qkey() - get the default Q_Key of an id in a partition
 * @id_priv: the id, which is attached to a device
 * @pkey: P_Key of the partition
 * @qkey: receives the Q_Key
 *
 * In RDMA_PS_IPOIB the default is that of the broadcast group of the partition, which IPoIB must
 * have joined.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0, or -EADDRNOTAVAIL if it is not known.
 */
int cmx_ib_default_qkey(const struct cmx_id_private *id_priv, u16 pkey, u32 *qkey)
{
	struct ib_sa_mcmember_rec rec;
	union ib_gid mgid;
	int ret;

	*qkey = RDMA_UDP_QKEY;
	if (id_priv->id.ps != RDMA_PS_IPOIB)
		return 0;
	cmx_broadcast_mgid_get(id_priv, pkey, &mgid);
	ret = cmx_group_rec_get(id_priv, &mgid, &rec);
	if (!ret)
		*qkey = be32_to_cpu(rec.qkey);
	return ret;
}
