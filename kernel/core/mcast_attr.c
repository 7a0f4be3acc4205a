// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The values of a multicast join: an attribute of the join takes precedence over an option of the
 * id, and an option over the default of the transport. mcast_rec.c does the same for the keys on
 * InfiniBand.
 */
#include "mcast.h"

/* An option acts like an attribute that the join does not have. */
static void mcast_attr_add_options(struct cmx_mcast_attr *attr, const struct cmx_opts *opt)
{
	if (!(attr->mask & CMX_MCAST_SL) && opt->set & BIT(CMX_OPT_SL)) {
		attr->mask |= CMX_MCAST_SL;
		attr->sl = opt->sl;
	}
	if (!(attr->mask & CMX_MCAST_FLOW_LABEL) && opt->set & BIT(CMX_OPT_FLOW_LABEL)) {
		attr->mask |= CMX_MCAST_FLOW_LABEL;
		attr->flow_label = opt->flow_label;
	}
	if (!(attr->mask & CMX_MCAST_HOP_LIMIT) && opt->set & BIT(CMX_OPT_HOP_LIMIT)) {
		attr->mask |= CMX_MCAST_HOP_LIMIT;
		attr->hop_limit = opt->hop_limit;
	}
}

/**
 * cmx_mcast_rec_merge() - write the attributes of a join and the options of the id into a record
 * @rec: in: the defaults of the transport; out: the values of the join
 * @attr: attributes of the join
 * @opt: options of the id
 *
 * The keys and addresses of @rec are not changed. The option TOS is not used: on InfiniBand it has
 * no effect on a join, and on RoCE it is the default of the traffic class.
 *
 * Return: mask of the fields that an attribute or an option has set.
 */
ib_sa_comp_mask cmx_mcast_rec_merge(struct ib_sa_mcmember_rec *rec,
				    const struct cmx_mcast_attr *attr, const struct cmx_opts *opt)
{
	struct cmx_mcast_attr merged = *attr;
	ib_sa_comp_mask mask = 0;

	mcast_attr_add_options(&merged, opt);
	if (merged.mask & CMX_MCAST_MTU) {
		rec->mtu_selector = IB_SA_EQ;
		rec->mtu = merged.mtu;
		mask |= IB_SA_MCMEMBER_REC_MTU_SELECTOR | IB_SA_MCMEMBER_REC_MTU;
	}
	if (merged.mask & CMX_MCAST_RATE && merged.rate != IB_RATE_PORT_CURRENT) {
		rec->rate_selector = IB_SA_EQ;
		rec->rate = merged.rate;
		mask |= IB_SA_MCMEMBER_REC_RATE_SELECTOR | IB_SA_MCMEMBER_REC_RATE;
	}
	if (merged.mask & CMX_MCAST_TCLASS) {
		rec->traffic_class = merged.tclass;
		mask |= IB_SA_MCMEMBER_REC_TRAFFIC_CLASS;
	}
	if (merged.mask & CMX_MCAST_SL) {
		rec->sl = merged.sl;
		mask |= IB_SA_MCMEMBER_REC_SL;
	}
	if (merged.mask & CMX_MCAST_FLOW_LABEL) {
		rec->flow_label = cpu_to_be32(merged.flow_label);
		mask |= IB_SA_MCMEMBER_REC_FLOW_LABEL;
	}
	if (merged.mask & CMX_MCAST_HOP_LIMIT) {
		rec->hop_limit = merged.hop_limit;
		mask |= IB_SA_MCMEMBER_REC_HOP_LIMIT;
	}
	if (merged.mask & CMX_MCAST_SCOPE) {
		rec->scope = merged.scope;
		mask |= IB_SA_MCMEMBER_REC_SCOPE;
	}
	return mask;
}
