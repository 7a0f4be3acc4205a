// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The values of a path: an option of the id takes precedence over the default of the transport, or
 * over the reply of the SA. mcast_attr.c does the same for groups.
 */
#include "id.h"
#include "route_rec.h"

/**
 * cmx_path_rec_merge() - write options of an id into a path record
 * @rec: in: the values of the transport; out: with those of the options
 * @opt: options of the id
 * @use: bits of the options that are to be used, of %CMX_PATH_OPTS
 *
 * Return: mask of the fields that an option has set.
 */
ib_sa_comp_mask cmx_path_rec_merge(struct sa_path_rec *rec, const struct cmx_opts *opt, u32 use)
{
	u32 set = opt->set & use;
	ib_sa_comp_mask mask = 0;

	if (set & BIT(CMX_OPT_SL)) {
		rec->sl = opt->sl;
		mask |= IB_SA_PATH_REC_SL;
	}
	if (set & BIT(CMX_OPT_PATH_MTU)) {
		rec->mtu_selector = IB_SA_EQ;
		rec->mtu = opt->path_mtu;
		mask |= IB_SA_PATH_REC_MTU_SELECTOR | IB_SA_PATH_REC_MTU;
	}
	if (set & BIT(CMX_OPT_FLOW_LABEL)) {
		rec->flow_label = cpu_to_be32(opt->flow_label);
		mask |= IB_SA_PATH_REC_FLOW_LABEL;
	}
	if (set & BIT(CMX_OPT_HOP_LIMIT)) {
		rec->hop_limit = opt->hop_limit;
		mask |= IB_SA_PATH_REC_HOP_LIMIT;
	}
	/*
	 * The timeout of the QP is twice the packet lifetime: its exponent is larger by one. An
	 * ACK timeout that was set as an option must result from the record again.
	 */
	if (set & BIT(CMX_OPT_ACK_TIMEOUT) && opt->ack_timeout) {
		rec->packet_life_time_selector = IB_SA_EQ;
		rec->packet_life_time = opt->ack_timeout - 1;
		mask |= IB_SA_PATH_REC_PACKET_LIFE_TIME_SELECTOR | IB_SA_PATH_REC_PACKET_LIFE_TIME;
	}
	return mask;
}
