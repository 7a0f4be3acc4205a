// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * service: ServiceRecords of the SA, and RAI_SA
 *   service register DEVICE ID NAME   register the service of port 1 of the device
 *   service listen GID ID             reject one request for the service ID
 *   service connect GID NAME          query the service on that port, print the ports that have
 *                                     it and CM_RETRIES, and connect to the first one
 *   service getaddrinfo NAME          query the service without an id
 * The errno of a failed call and the status of a failed event are printed.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <infiniband/ib.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_cmx.h>

#define SA_CLASS 3
#define SA_QKEY 0x80010000
#define METHOD_SET 2
#define ATTR_SERVICE_RECORD 0x31
/* service ID, GID, P_Key, lease and name */
#define COMP_MASK 0x57

struct sa_mad {
	uint8_t base_version, mgmt_class, class_version, method;
	uint16_t status, class_specific;
	uint64_t tid;
	uint16_t attr_id, reserved;
	uint32_t attr_mod;
	uint8_t rmpp[12];
	uint64_t sm_key;
	uint16_t attr_offset, reserved2;
	uint64_t comp_mask;
	struct {
		uint64_t id;
		uint8_t gid[16];
		uint16_t pkey, reserved;
		uint32_t lease;
		uint8_t key[16];
		char name[64];
		uint8_t data[88];
	} __attribute__((packed)) record;
} __attribute__((packed));

static struct rdma_event_channel *ch;

static void error_print(const char *what)
{
	printf("%s: %s\n", what, strerrorname_np(errno));
	exit(1);
}

static void port_file_read(const char *device, const char *name, char *text, size_t len)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/%s", device, name);
	f = fopen(path, "r");
	if (!f || !fgets(text, len, f))
		error_print(path);
	text[strcspn(text, "\n")] = 0;
	fclose(f);
}

/* Opens the umad device of port 1. */
static int umad_open(const char *device)
{
	char path[256], name[64];
	FILE *f;
	int i;

	for (i = 0; i < 64; i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband_mad/umad%d/ibdev", i);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fscanf(f, "%63s", name) == 1 && !strcmp(name, device)) {
			fclose(f);
			snprintf(path, sizeof(path), "/dev/infiniband/umad%d", i);
			return open(path, O_RDWR);
		}
		fclose(f);
	}
	errno = ENODEV;
	return -1;
}

static int service_register(const char *device, const char *id, const char *name)
{
	struct ib_user_mad_reg_req agent = {
		.qpn = 1, .mgmt_class = SA_CLASS, .mgmt_class_version = 2,
	};
	struct {
		struct ib_user_mad_hdr hdr;
		struct sa_mad mad;
	} __attribute__((packed)) msg = {};
	char text[64];
	int fd;

	fd = umad_open(device);
	if (fd < 0 || ioctl(fd, IB_USER_MAD_ENABLE_PKEY) ||
	    ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &agent))
		error_print("umad");
	msg.hdr.id = agent.id;
	msg.hdr.timeout_ms = 2000;
	msg.hdr.retries = 3;
	msg.hdr.qpn = htobe32(1);
	msg.hdr.qkey = htobe32(SA_QKEY);
	port_file_read(device, "sm_lid", text, sizeof(text));
	msg.hdr.lid = htobe16(strtoul(text, NULL, 0));
	msg.mad = (struct sa_mad) {
		.base_version = 1, .mgmt_class = SA_CLASS, .class_version = 2, .method = METHOD_SET,
		.tid = htobe64(1), .attr_id = htobe16(ATTR_SERVICE_RECORD),
		.comp_mask = htobe64(COMP_MASK),
	};
	msg.mad.record.id = htobe64(strtoull(id, NULL, 0));
	msg.mad.record.pkey = htobe16(0xffff);
	msg.mad.record.lease = htobe32(3600);
	port_file_read(device, "gids/0", text, sizeof(text));
	inet_pton(AF_INET6, text, msg.mad.record.gid);
	snprintf(msg.mad.record.name, sizeof(msg.mad.record.name), "%s", name);
	if (write(fd, &msg, sizeof(msg)) != sizeof(msg) || read(fd, &msg, sizeof(msg)) < 0)
		error_print("SA");
	printf("registered: status %u, %#x\n", msg.hdr.status, be16toh(msg.mad.status));
	return msg.hdr.status || msg.mad.status;
}

static struct rdma_cm_id *id_create_bound(const char *gid, uint64_t sid)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB, .sib_pkey = htobe16(0xffff), .sib_sid = htobe64(sid),
		.sib_sid_mask = sid ? htobe64(UINT64_MAX) : 0,
	};
	struct rdma_cm_id *id;

	inet_pton(AF_INET6, gid, &ib.sib_addr);
	ch = rdma_create_event_channel();
	if (!ch || rdma_create_id(ch, &id, NULL, RDMA_PS_IB) ||
	    rdma_bind_addr(id, (struct sockaddr *)&ib))
		error_print("bind");
	return id;
}

/* Returns the id of the next event, which must be of type @type. */
static struct rdma_cm_id *event_expect(unsigned int type)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(ch, &ev))
		error_print("event");
	if (ev->event != type) {
		printf("%s: status %d\n", rdma_event_str(ev->event), ev->status);
		exit(1);
	}
	id = ev->id;
	rdma_ack_cm_event(ev);
	return id;
}

static int service_listen(const char *gid, const char *sid)
{
	struct rdma_cm_id *id = id_create_bound(gid, strtoull(sid, NULL, 0));

	if (rdma_listen(id, 1))
		error_print("listen");
	puts("ready");
	fflush(stdout);
	return rdma_reject(event_expect(RDMA_CM_EVENT_CONNECT_REQUEST), NULL, 0);
}

static void addr_print(const char *what, const struct sockaddr *addr)
{
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)addr;
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &ib->sib_addr, gid, sizeof(gid));
	printf("%s %s %#llx %#x\n", what, gid, (unsigned long long)be64toh(ib->sib_sid),
	       be16toh(ib->sib_pkey));
}

static int service_connect(const char *gid, const char *service)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_SA, .ai_port_space = RDMA_PS_IB };
	struct rdma_conn_param par = { .qp_num = 0x4711, .retry_count = 7 };
	struct rdma_cm_id *id = id_create_bound(gid, 0);
	struct rdma_addrinfo *rai, *next;
	size_t len = sizeof(uint32_t);
	uint32_t retries;

	if (rdma_resolve_addrinfo(id, NULL, service, &hints))
		error_print("resolve_addrinfo");
	event_expect(CMX_EVENT_ADDRINFO_RESOLVED);
	if (rdma_query_addrinfo(id, &rai))
		error_print("query_addrinfo");
	for (next = rai; next; next = next->ai_next)
		addr_print("offered", next->ai_dst_addr);
	rdma_freeaddrinfo(rai);
	addr_print("peer", rdma_get_peer_addr(id));
	if (rdma_cmx_get_option(id, CMX_OPTION, CMX_OPTION_CM_RETRIES, &retries, &len, NULL))
		error_print("get_option");
	printf("retries %u\n", retries);
	if (rdma_resolve_route(id, 2000))
		error_print("resolve_route");
	event_expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (rdma_connect(id, &par))
		error_print("connect");
	event_expect(RDMA_CM_EVENT_REJECTED);
	puts("rejected");
	return 0;
}

static int service_getaddrinfo(const char *service)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_SA, .ai_port_space = RDMA_PS_IB };
	struct rdma_addrinfo *rai;

	if (rdma_getaddrinfo(NULL, service, &hints, &rai))
		error_print("getaddrinfo");
	addr_print("from", rai->ai_src_addr);
	addr_print("offered", rai->ai_dst_addr);
	rdma_freeaddrinfo(rai);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "register"))
		return service_register(argv[2], argv[3], argv[4]);
	if (argc == 4 && !strcmp(argv[1], "listen"))
		return service_listen(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "connect"))
		return service_connect(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "getaddrinfo"))
		return service_getaddrinfo(argv[2]);
	return 2;
}
