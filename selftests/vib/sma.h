/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared by the files of the management agent. Handlers run with vib.lock held. */
#ifndef VIB_SMA_H
#define VIB_SMA_H

#include <rdma/ib_smi.h>
#include "vib.h"

#define VIB_VLS		4		/* the code for VL 0 to 7 in PortInfo */
#define VIB_WIDTHS	(IB_WIDTH_1X | IB_WIDTH_4X)
#define VIB_SPEEDS	(IB_SPEED_SDR | IB_SPEED_DDR | IB_SPEED_QDR)

/* A Get or Set that is processed: its SMP becomes the response. */
struct vib_smp {
	struct vib_port *port;		/* of the HCA, or port 0 of a switch */
	u8 in_port;			/* the port of arrival */
	bool set;
	u32 mod;			/* AttributeModifier */
	struct ib_smp *smp;
};

/* Ports with a LID: port 0 of a switch, and any port of an HCA. */
static inline bool vib_is_endport(const struct vib_port *port)
{
	return !vib_is_switch(port) || !port->num;
}

static inline void vib_smp_set_invalid(struct vib_smp *r)
{
	r->smp->status |= cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
}

/* There is no such attribute: the data of the response is zero. */
static inline void vib_smp_refuse(struct vib_smp *r)
{
	memset(r->smp->data, 0, sizeof(r->smp->data));
	vib_smp_set_invalid(r);
}

/* sma_port.c */
void vib_sma_port_info(struct vib_smp *r);

/* sma_switch.c */
void vib_sma_switch_info(struct vib_smp *r);
void vib_sma_lft(struct vib_smp *r);
void vib_sma_mft(struct vib_smp *r);

/* trap.c: the subnet manager has received the trap; vib.lock held */
void vib_trap_repress(struct vib_switch *sw);

/* pma.c: without vib.lock; returns IB_MAD_RESULT_* */
int vib_pma_process(struct vib_port *port, const struct ib_mad *in, struct ib_mad *out);

#endif
