// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * newer ADDRESS: a program that is compiled and linked with rdma-core 65 only, see
 * ../vm/rdma-core. ADDRESS is the IP address of an RDMA device.
 */
#include <err.h>
#include <errno.h>
#include <string.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

static void event_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, int status,
			 uint64_t arg)
{
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(ch, &ev))
		err(1, "no %s", rdma_event_str(type));
	if (ev->event != type || ev->status != status)
		errx(1, "%s, status %d, not %s", rdma_event_str(ev->event), ev->status,
		     rdma_event_str(type));
	if (type == RDMA_CM_EVENT_USER && ev->param.arg != arg)
		errx(1, "argument %#llx", (unsigned long long)ev->param.arg);
	rdma_ack_cm_event(ev);
}

int main(int argc, char **argv)
{
	const struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST | RAI_DNS, .ai_port_space = RDMA_PS_TCP,
	};
	struct rdma_event_channel *ch = rdma_create_event_channel();
	const uint64_t arg = 0x1122334455667788;
	struct rdma_addrinfo *rai;
	struct rdma_cm_id *id;

	if (argc != 2)
		errx(2, "usage: newer ADDRESS");
	if (!ch || rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		err(1, "rdma_create_id");
	if (rdma_resolve_addrinfo(id, argv[1], "7", &hints))
		err(1, "rdma_resolve_addrinfo");
	event_expect(ch, RDMA_CM_EVENT_ADDRINFO_RESOLVED, 0, 0);
	if (rdma_query_addrinfo(id, &rai))
		err(1, "rdma_query_addrinfo");
	if (rdma_resolve_addr(id, NULL, rai->ai_dst_addr, 2000))
		err(1, "rdma_resolve_addr");
	event_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	rdma_freeaddrinfo(rai);
	if (rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 5, arg))
		err(1, "rdma_write_cm_event");
	event_expect(ch, RDMA_CM_EVENT_USER, 5, arg);
	if (rdma_destroy_id(id))
		err(1, "rdma_destroy_id");
	rdma_destroy_event_channel(ch);
	/* the system's library may be too old to have it */
	if (repoll_create(0) < 0 && errno != ENOSYS)
		err(1, "repoll_create");
	return 0;
}
