// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mc: multicast calls by command. Each line of input is a command, and is answered by a line.
 *
 *   id N PS ADDRESS		create id N (0..) in udp or ipoib, and bind it
 *   qp N			create a QP for it
 *   join N GROUP [STATE] [NAME=VALUE]...	STATE: full, non, send, sendnon
 *   leave N GROUP
 *   event MS			the next event within that time, of any id
 *   count			fetch all queued events; prints their number
 *   send N TEXT		to the group of the last event of id N
 *   recv N MS			the next datagram
 *   option N NAME VALUE	of level CMX_OPTION
 *   destroy N
 *   report			issue CMX_MCAST_REPORT for each membership; prints their number
 *   many N FIRST COUNT		join COUNT IPv4 groups, and fetch their events
 *   quit			exit without destroying anything
 *
 * The answer is "0", the requested value, or "-1 errno".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <infiniband/ib.h>
#include <rdma/cmx_ioctl.h>
#include <rdma/rdma_cmx.h>
#include "../lib/address.h"
#include "../lib/slow.h"
#include "mc.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct mc_id ids[MC_IDS];
static struct rdma_event_channel *channel;

static const struct {
	const char *name;
	uint32_t bit;
} wishes[] = {
	{ "qkey", CMX_MCAST_QKEY }, { "pkey", CMX_MCAST_PKEY }, { "mtu", CMX_MCAST_MTU },
	{ "rate", CMX_MCAST_RATE }, { "sl", CMX_MCAST_SL }, { "flow", CMX_MCAST_FLOW_LABEL },
	{ "tclass", CMX_MCAST_TCLASS }, { "hop", CMX_MCAST_HOP_LIMIT },
	{ "scope", CMX_MCAST_SCOPE },
};

static const char *const states[] = {
	[CMX_MCAST_FULL] = "full", [CMX_MCAST_SENDONLY_FULL] = "send",
	[CMX_MCAST_NON] = "non", [CMX_MCAST_SENDONLY_NON] = "sendnon",
};

static void result_print(int ret)
{
	if (ret)
		printf("-1 %s\n", strerrorname_np(errno));
	else
		puts("0");
}

/* 10.78.0.1, fd78::1, ib:GID or ib:GID,P_Key */
static struct sockaddr *addr_parse(char *text)
{
	static struct sockaddr_storage ss;
	struct sockaddr_ib *sib = (void *)&ss;
	char *pkey;

	if (!strncmp(text, "ib:", 3)) {
		memset(&ss, 0, sizeof(ss));
		pkey = strchr(text, ',');
		if (pkey)
			*pkey++ = 0;
		sib->sib_family = AF_IB;
		sib->sib_pkey = htons(pkey ? strtoul(pkey, NULL, 0) : 0xffff);
		sib->sib_sid = htobe64(RDMA_IB_IP_PS_UDP);
		sib->sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK);
		inet_pton(AF_INET6, text + 3, &sib->sib_addr);
	} else {
		ss = address_parse(text, 0);
	}
	return (struct sockaddr *)&ss;
}

static void attr_set(struct cmx_mcast_attr *attr, const char *name, uint32_t val)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wishes); i++)
		if (!strcmp(name, wishes[i].name))
			attr->mask |= wishes[i].bit;
	switch (*name) {
	case 'q':
		attr->qkey = val;
		break;
	case 'p':
		attr->pkey = val;
		break;
	case 'm':
		attr->mtu = val;
		break;
	case 'r':
		attr->rate = val;
		break;
	case 'f':
		attr->flow_label = val;
		break;
	case 't':
		attr->tclass = val;
		break;
	case 'h':
		attr->hop_limit = val;
		break;
	case 's':
		if (name[1] == 'l')
			attr->sl = val;
		else
			attr->scope = val;
	}
}

/* Uses the functions of the system's library where they are sufficient. */
static int group_join(struct mc_id *id, char *group, const struct cmx_mcast_attr *attr)
{
	struct rdma_cm_join_mc_attr_ex ex = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = addr_parse(group),
	};

	if (!attr->mask && attr->join_state == CMX_MCAST_FULL)
		return rdma_join_multicast(id->cm, ex.addr, id);
	if (!attr->mask && attr->join_state == CMX_MCAST_SENDONLY_FULL)
		return rdma_join_multicast_ex(id->cm, &ex, id);
	return rdma_cmx_join_multicast(id->cm, ex.addr, attr, sizeof(*attr), id);
}

static int command_join(struct mc_id *id, char **arg)
{
	struct cmx_mcast_attr attr = {};
	char *group = arg[0], *val;
	size_t i;

	for (arg++; *arg; arg++) {
		val = strchr(*arg, '=');
		if (val) {
			*val++ = 0;
			attr_set(&attr, *arg, strtoul(val, NULL, 0));
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(states); i++)
			if (!strcmp(*arg, states[i]))
				attr.join_state = i;
	}
	return group_join(id, group, &attr);
}

static int command_id(struct mc_id *id, char **arg)
{
	enum rdma_port_space ps = RDMA_PS_UDP;

	if (!strcmp(arg[0], "ipoib"))
		ps = RDMA_PS_IPOIB;
	if (rdma_create_id(channel, &id->cm, id, ps))
		return -1;
	return rdma_bind_addr(id->cm, addr_parse(arg[1]));
}

static struct rdma_cm_event *next_event(int ms)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *ev;

	return poll(&p, 1, slow_time(ms)) == 1 && !rdma_get_cm_event(channel, &ev) ? ev : NULL;
}

/* The system's library does not report rejoins. */
static bool event_is_rejoin(const struct rdma_cm_event *ev)
{
	struct rdma_cmx_event_info info;

	return !rdma_cmx_query_event(ev, &info, sizeof(info)) && info.flags & CMX_EVENT_F_REJOIN;
}

static void event_print(struct rdma_cm_event *ev)
{
	const struct rdma_ud_param *ud = &ev->param.ud;
	const char *name = rdma_event_str(ev->event);
	struct mc_id *id = ev->id->context;
	char mgid[INET6_ADDRSTRLEN];

	printf("%s id=%d status=%d", name + strlen("RDMA_CM_EVENT_"), (int)(id - ids), ev->status);
	if (ev->event == RDMA_CM_EVENT_MULTICAST_JOIN) {
		const struct ibv_ah_attr *ah = &ud->ah_attr;

		inet_ntop(AF_INET6, &ah->grh.dgid, mgid, sizeof(mgid));
		printf(" mgid=%s mlid=0x%x qkey=0x%x qpn=0x%x sl=%d rate=%d flow=0x%x tclass=%d hop=%d",
		       mgid, ah->dlid, ud->qkey, ud->qp_num, ah->sl, ah->static_rate,
		       ah->grh.flow_label, ah->grh.traffic_class, ah->grh.hop_limit);
	}
	puts(event_is_rejoin(ev) ? " rejoined" : "");
}

static void command_event(int ms)
{
	struct rdma_cm_event *ev = next_event(ms);
	struct mc_id *id;

	if (!ev) {
		puts("none");
		return;
	}
	id = ev->id->context;
	if (ev->event == RDMA_CM_EVENT_MULTICAST_JOIN && id->cm->qp &&
	    mc_group_set(id, &ev->param.ud))
		fputs("no AH: ", stdout);
	event_print(ev);
	rdma_ack_cm_event(ev);
}

static int command_count(void)
{
	struct rdma_cm_event *ev;
	int n = 0;

	for (; (ev = next_event(0)); n++)
		rdma_ack_cm_event(ev);
	return n;
}

static int command_destroy(struct mc_id *id)
{
	int ret;

	mc_qp_free(id);
	ret = rdma_destroy_id(id->cm);
	id->cm = NULL;
	return ret;
}

static int command_option(struct mc_id *id, char **arg)
{
	uint32_t val = strtoul(arg[1], NULL, 0);
	int name = CMX_OPTION_MCAST_REJOIN;

	if (!strcmp(arg[0], "pkey"))
		name = CMX_OPTION_PKEY;
	else if (!strcmp(arg[0], "sl"))
		name = CMX_OPTION_SL;
	else if (!strcmp(arg[0], "hop"))
		name = CMX_OPTION_HOP_LIMIT;
	return rdma_set_option(id->cm, CMX_OPTION, name, &val, sizeof(val));
}

/* Prints how many groups were joined, and the status of the last one that failed. */
static void command_many(struct mc_id *id, char **arg)
{
	struct sockaddr_in sin = *(struct sockaddr_in *)addr_parse(arg[0]);
	int n = atoi(arg[1]), i, joined = 0, status = 0;
	struct rdma_cm_event *ev;

	for (i = 0; i < n; i++) {
		if (rdma_join_multicast(id->cm, (struct sockaddr *)&sin, id))
			break;
		sin.sin_addr.s_addr = htonl(ntohl(sin.sin_addr.s_addr) + 1);
	}
	for (n = i; i; i--) {
		ev = next_event(20000);
		if (!ev)
			break;
		if (ev->event == RDMA_CM_EVENT_MULTICAST_JOIN)
			joined++;
		else
			status = ev->status;
		rdma_ack_cm_event(ev);
	}
	printf("%d of %d, status %d\n", joined, n, status);
}

/* The library hides the handles, which the module counts up, so all are tried. */
static int command_report(void)
{
	struct {
		struct cmx_ioctl_hdr hdr;
		struct ib_uverbs_attr attr;
	} cmd = {
		.hdr = {
			.length = sizeof(cmd),
			.object_id = CMX_OBJ_MCAST,
			.method_id = CMX_MCAST_REPORT,
			.num_attrs = 1,
			.abi_version = CMX_ABI_VERSION,
		},
		.attr = {
			.attr_id = CMX_ATTR_MCAST_ID,
			.len = sizeof(uint32_t),
			.flags = UVERBS_ATTR_F_MANDATORY,
		},
	};
	uint32_t handle;
	int n = 0;

	for (handle = 0; handle < 64 << 10; handle++) {
		cmd.attr.data = handle;
		n += !ioctl(channel->fd, CMX_IOCTL, &cmd);
	}
	return n;
}

static int command_run(char **arg, int n)
{
	struct mc_id *id = &ids[n > 1 ? atoi(arg[1]) % MC_IDS : 0];
	char text[MC_TEXT];

	if (!strcmp(arg[0], "event")) {
		command_event(atoi(arg[1]));
		return 0;
	}
	if (!strcmp(arg[0], "count")) {
		printf("%d\n", command_count());
		return 0;
	}
	if (!strcmp(arg[0], "report")) {
		printf("%d\n", command_report());
		return 0;
	}
	if (!strcmp(arg[0], "id") && n == 4) {
		result_print(command_id(id, arg + 2));
		return 0;
	}
	if (!id->cm)
		return -1;
	if (!strcmp(arg[0], "qp"))
		result_print(mc_qp_create(id));
	else if (!strcmp(arg[0], "join") && n > 2)
		result_print(command_join(id, arg + 2));
	else if (!strcmp(arg[0], "leave") && n == 3)
		result_print(rdma_leave_multicast(id->cm, addr_parse(arg[2])));
	else if (!strcmp(arg[0], "send") && n == 3)
		result_print(mc_send(id, arg[2]));
	else if (!strcmp(arg[0], "recv") && n == 3)
		puts(mc_recv(id, atoi(arg[2]), text) ? text : "none");
	else if (!strcmp(arg[0], "option") && n == 4)
		result_print(command_option(id, arg + 2));
	else if (!strcmp(arg[0], "destroy"))
		result_print(command_destroy(id));
	else if (!strcmp(arg[0], "many") && n == 4)
		command_many(id, arg + 2);
	else
		return -1;
	return 0;
}

int main(void)
{
	char line[512], *arg[32], *save;
	int n;

	setvbuf(stdout, NULL, _IOLBF, 0);
	channel = rdma_create_event_channel();
	if (!channel) {
		perror("rdma_create_event_channel");
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		arg[0] = strtok_r(line, " ", &save);
		for (n = 0; arg[n] && n < 30; )
			arg[++n] = strtok_r(NULL, " ", &save);
		arg[n] = NULL;
		if (n && !strcmp(arg[0], "quit"))
			break;
		if (!n || command_run(arg, n))
			puts("what?");
	}
	return 0;
}
