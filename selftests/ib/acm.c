// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * acm LID PEER-LID LID-IN LID-OUT: replaces ibacm
 *
 * The program answers path queries of the kernel for connections with three records: one for GMPs
 * and both directions, one for the inbound and one for the outbound direction.
 *
 * LID and PEER-LID are those of the two ports. LID-IN and LID-OUT are the destinations of data in
 * each direction. ib_cm uses these two only because the hop limit of the records tells that the
 * path leads through a router.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <infiniband/verbs.h>
#include <infiniband/sa.h>
#include <rdma/rdma_netlink.h>
#include "../lib/die.h"

#define HOPS 2

struct answer {
	struct nlmsghdr nlh;
	struct record {
		struct nlattr attr;
		struct ibv_path_data data;
	} __attribute__((packed)) record[3];
};

static int lid[4];

/* Parses a query. Returns false if it has no service ID, and thus is not for a connection. */
static int request_parse(struct nlmsghdr *nlh, struct ibv_path_record *rec)
{
	char *at = NLMSG_DATA(nlh), *end = (char *)nlh + nlh->nlmsg_len;
	struct nlattr *attr;
	int service = 0;
	uint16_t pkey;

	memset(rec, 0, sizeof(*rec));
	for (at += NLMSG_ALIGN(sizeof(struct rdma_ls_resolve_header)); at < end;
	     at += NLA_ALIGN(attr->nla_len)) {
		attr = (void *)at;
		switch (attr->nla_type & ~RDMA_NLA_F_MANDATORY) {
		case LS_NLA_TYPE_SERVICE_ID:
			service = 1;
			break;
		case LS_NLA_TYPE_DGID:
			memcpy(&rec->dgid, at + NLA_HDRLEN, sizeof(rec->dgid));
			break;
		case LS_NLA_TYPE_SGID:
			memcpy(&rec->sgid, at + NLA_HDRLEN, sizeof(rec->sgid));
			break;
		case LS_NLA_TYPE_PKEY:
			memcpy(&pkey, at + NLA_HDRLEN, sizeof(pkey));
			rec->pkey = htobe16(pkey);
			break;
		}
	}
	rec->flowlabel_hoplimit = htobe32(HOPS);
	rec->reversible_numpath = 0x80 | 1;
	rec->mtu = 2 << 6 | IBV_MTU_2048;
	rec->rate = 2 << 6 | IBV_RATE_10_GBPS;
	rec->packetlifetime = 2 << 6 | 16;
	return service;
}

static void record_fill(struct record *to, uint32_t flags, const struct ibv_path_record *rec,
			int slid, int dlid)
{
	to->attr.nla_type = LS_NLA_TYPE_PATH_RECORD;
	to->attr.nla_len = NLA_HDRLEN + sizeof(to->data);
	to->data.flags = IBV_PATH_FLAG_PRIMARY | flags;
	to->data.path = *rec;
	to->data.path.slid = htobe16(slid);
	to->data.path.dlid = htobe16(dlid);
}

static void reply_send(int fd, struct nlmsghdr *request)
{
	struct ibv_path_record rec, back;
	struct answer a = {};

	a.nlh.nlmsg_len = sizeof(a);
	a.nlh.nlmsg_type = request->nlmsg_type;
	a.nlh.nlmsg_seq = request->nlmsg_seq;
	if (request_parse(request, &rec)) {
		back = rec;
		back.dgid = rec.sgid;
		back.sgid = rec.dgid;
		record_fill(&a.record[0], IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_BIDIRECTIONAL, &rec,
			    lid[0], lid[1]);
		record_fill(&a.record[1], IBV_PATH_FLAG_INBOUND, &back, lid[1], lid[2]);
		record_fill(&a.record[2], IBV_PATH_FLAG_OUTBOUND, &rec, lid[0], lid[3]);
		printf("answered\n");
	} else {
		/* make the kernel query the SA */
		a.nlh.nlmsg_flags = RDMA_NL_LS_F_ERR;
		a.nlh.nlmsg_len = sizeof(a.nlh);
	}
	if (send(fd, &a, a.nlh.nlmsg_len, 0) < 0)
		die("send");
}

int main(int argc, char **argv)
{
	struct sockaddr_nl me = { .nl_family = AF_NETLINK };
	int fd, group = RDMA_NL_GROUP_LS;
	union {
		struct nlmsghdr nlh;
		char room[8192];
	} msg;

	if (argc != 5)
		return 2;
	for (int i = 0; i < 4; i++)
		lid[i] = atoi(argv[i + 1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof(me)) ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		die("netlink");
	printf("ready\n");
	while (recv(fd, &msg, sizeof(msg), 0) > 0)
		if (msg.nlh.nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_LS, RDMA_NL_LS_OP_RESOLVE))
			reply_send(fd, &msg.nlh);
	return 1;
}
