// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* SwitchInfo (IBTA 14.2.5.4) and forwarding tables, which the subnet manager configures. */
#include <linux/moduleparam.h>
#include "sma.h"

#define LFT_BLOCK	64		/* LIDs in one attribute */
#define MFT_BLOCK	32
#define STATE_CHANGE	0x04		/* bit in life_time: PortStateChange */

static unsigned int mlids = VIB_MLIDS;
module_param(mlids, uint, 0444);
MODULE_PARM_DESC(mlids, "how many multicast LIDs each switch has room for, 4096 at most");

struct switch_info {
	__be16 lft_cap, rft_cap, mft_cap, lft_top;
	u8 default_port, default_mcast_primary, default_mcast_other;
	u8 life_time;			/* upper 5 bits, then PortStateChange */
	__be16 lids_per_port, enforcement_cap;
	u8 features;
	u8 reserved;
	__be16 mft_top;
};

void vib_sma_switch_info(struct vib_smp *r)
{
	const struct switch_info want = *(struct switch_info *)r->smp->data;
	struct switch_info *info = (struct switch_info *)r->smp->data;
	struct vib_switch *sw = vib_port_switch(r->port);

	if (r->set) {
		sw->lft_top = be16_to_cpu(want.lft_top);
		sw->life_time = want.life_time >> 3;
		/* writing 1 clears it */
		if (want.life_time & STATE_CHANGE)
			sw->port_state_change = false;
	}
	memset(r->smp->data, 0, sizeof(r->smp->data));
	info->lft_cap = cpu_to_be16(VIB_LIDS);
	info->mft_cap = cpu_to_be16(min_t(u32, mlids, VIB_MLIDS));
	info->lft_top = cpu_to_be16(sw->lft_top);
	info->life_time = sw->life_time << 3 | (sw->port_state_change ? STATE_CHANGE : 0);
}

void vib_sma_lft(struct vib_smp *r)
{
	struct vib_switch *sw = vib_port_switch(r->port);
	u32 first = r->mod * LFT_BLOCK;

	if (r->mod >= VIB_LIDS / LFT_BLOCK)
		return vib_smp_refuse(r);
	if (r->set)
		memcpy(sw->lft + first, r->smp->data, LFT_BLOCK);
	memcpy(r->smp->data, sw->lft + first, LFT_BLOCK);
}

/* A block has 32 multicast LIDs, and 16 ports of each, selected by "position". */
void vib_sma_mft(struct vib_smp *r)
{
	u32 block = r->mod & 0x1ff, position = r->mod >> 28, i;
	struct vib_switch *sw = vib_port_switch(r->port);
	__be16 *data = (__be16 *)r->smp->data;

	if (block >= VIB_MLIDS / MFT_BLOCK || position > sw->node.nports / 16)
		return vib_smp_refuse(r);
	for (i = 0; i < MFT_BLOCK; i++) {
		u16 *ports = &sw->mft[block * MFT_BLOCK + i][position];

		if (r->set)
			*ports = be16_to_cpu(data[i]);
		data[i] = cpu_to_be16(*ports);
	}
}
