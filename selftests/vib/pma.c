// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Performance management (IBTA 16.1): the counters that perfquery reads and clears. */
#include <rdma/ib_pma.h>
#include "sma.h"

/* 32-bit counters saturate */
static __be32 vib_pma_count_clamp(u64 n)
{
	return cpu_to_be32(min_t(u64, n, U32_MAX));
}

static u64 vib_pma_bytes_to_words(const atomic64_t *bytes)
{
	return atomic64_read(bytes) / 4;
}

static void vib_pma_handle_class_port_info(struct ib_pma_mad *mad)
{
	struct ib_class_port_info *info = (struct ib_class_port_info *)mad->data;

	memset(mad->data, 0, sizeof(mad->data));
	info->base_version = 1;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	ib_set_cpi_resp_time(info, 18);
}

static void vib_pma_handle_counters(struct ib_pma_mad *mad, struct vib_port *port)
{
	struct ib_pma_portcounters *p = (struct ib_pma_portcounters *)mad->data;
	struct vib_counters *c = &port->count;
	u16 which = be16_to_cpu(p->counter_select);

	if (mad->mad_hdr.method == IB_MGMT_METHOD_SET) {
		if (which & be16_to_cpu(IB_PMA_SEL_LINK_DOWNED))
			atomic64_set(&c->downed, p->link_downed_counter);
		if (which & be16_to_cpu(IB_PMA_SEL_PORT_XMIT_DISCARDS))
			atomic64_set(&c->dropped, be16_to_cpu(p->port_xmit_discards));
		if (which & be16_to_cpu(IB_PMA_SEL_PORT_XMIT_DATA))
			atomic64_set(&c->xmit_data, be32_to_cpu(p->port_xmit_data) * 4ull);
		if (which & be16_to_cpu(IB_PMA_SEL_PORT_RCV_DATA))
			atomic64_set(&c->rcv_data, be32_to_cpu(p->port_rcv_data) * 4ull);
		if (which & be16_to_cpu(IB_PMA_SEL_PORT_XMIT_PACKETS))
			atomic64_set(&c->xmit_pkts, be32_to_cpu(p->port_xmit_packets));
		if (which & be16_to_cpu(IB_PMA_SEL_PORT_RCV_PACKETS))
			atomic64_set(&c->rcv_pkts, be32_to_cpu(p->port_rcv_packets));
	}
	memset(mad->data, 0, sizeof(mad->data));
	p->port_select = port->num;
	p->link_downed_counter = min_t(u64, atomic64_read(&c->downed), U8_MAX);
	p->port_xmit_discards = cpu_to_be16(min_t(u64, atomic64_read(&c->dropped), U16_MAX));
	p->port_xmit_data = vib_pma_count_clamp(vib_pma_bytes_to_words(&c->xmit_data));
	p->port_rcv_data = vib_pma_count_clamp(vib_pma_bytes_to_words(&c->rcv_data));
	p->port_xmit_packets = vib_pma_count_clamp(atomic64_read(&c->xmit_pkts));
	p->port_rcv_packets = vib_pma_count_clamp(atomic64_read(&c->rcv_pkts));
}

static void vib_pma_handle_counters_ext(struct ib_pma_mad *mad, struct vib_port *port)
{
	struct ib_pma_portcounters_ext *p = (struct ib_pma_portcounters_ext *)mad->data;
	struct vib_counters *c = &port->count;
	const struct {
		__be16 select;
		atomic64_t *count;
		__be64 *field;
		unsigned int unit;
	} all[] = {
		{ IB_PMA_SELX_PORT_XMIT_DATA, &c->xmit_data, &p->port_xmit_data, 4 },
		{ IB_PMA_SELX_PORT_RCV_DATA, &c->rcv_data, &p->port_rcv_data, 4 },
		{ IB_PMA_SELX_PORT_XMIT_PACKETS, &c->xmit_pkts, &p->port_xmit_packets, 1 },
		{ IB_PMA_SELX_PORT_RCV_PACKETS, &c->rcv_pkts, &p->port_rcv_packets, 1 },
		{ IB_PMA_SELX_PORT_UNI_XMIT_PACKETS, &c->xmit_ucast,
		  &p->port_unicast_xmit_packets, 1 },
		{ IB_PMA_SELX_PORT_UNI_RCV_PACKETS, &c->rcv_ucast,
		  &p->port_unicast_rcv_packets, 1 },
		{ IB_PMA_SELX_PORT_MULTI_XMIT_PACKETS, &c->xmit_mcast,
		  &p->port_multicast_xmit_packets, 1 },
		{ IB_PMA_SELX_PORT_MULTI_RCV_PACKETS, &c->rcv_mcast,
		  &p->port_multicast_rcv_packets, 1 },
	};
	bool set = mad->mad_hdr.method == IB_MGMT_METHOD_SET;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (set && p->counter_select & all[i].select)
			atomic64_set(all[i].count, be64_to_cpu(*all[i].field) * all[i].unit);
		*all[i].field = cpu_to_be64(atomic64_read(all[i].count) / all[i].unit);
	}
	p->port_select = port->num;
	p->counter_select = 0;
}

static bool vib_pma_handle_attr(struct vib_port *port, struct ib_pma_mad *mad)
{
	/* PortSelect is the second byte of every attribute that has it */
	u8 num = mad->data[1];

	if (mad->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO) {
		vib_pma_handle_class_port_info(mad);
		return mad->mad_hdr.method == IB_MGMT_METHOD_GET;
	}
	if (mad->mad_hdr.attr_id != IB_PMA_PORT_COUNTERS &&
	    mad->mad_hdr.attr_id != IB_PMA_PORT_COUNTERS_EXT)
		return false;
	if (vib_is_switch(port) ? num > port->node->nports : num != port->num) {
		mad->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
		return true;
	}
	port = &port->node->port[num];
	if (mad->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		vib_pma_handle_counters(mad, port);
	else
		vib_pma_handle_counters_ext(mad, port);
	return true;
}

int vib_pma_process(struct vib_port *port, const struct ib_mad *in, struct ib_mad *out)
{
	struct ib_pma_mad *mad = (struct ib_pma_mad *)out;

	if (in->mad_hdr.method != IB_MGMT_METHOD_GET && in->mad_hdr.method != IB_MGMT_METHOD_SET)
		return IB_MAD_RESULT_SUCCESS;
	*out = *in;
	mad->mad_hdr.status = 0;
	if (!vib_pma_handle_attr(port, mad))
		mad->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	mad->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
