// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../lib/die.h"
#include "weather.h"

/* since Linux 6.6; older kernels ignore it */
#define NETEM_PRNG_SEED		14

#define NETEM_LIMIT		100000

#define CM_CLASS		0x07
#define SA_CLASS		0x03

static const struct weather table[] = {
	{ "good" },
	{ "loss", .lose = 33 },
	{ "heavy_loss", .lose = 50 },
	{ "delay", .delay = 500, .jitter = 100 },
	{ "reorder", .jitter = 6000 },
	{ "duplicates", .repeat = 50, .jitter = 2000 },
	{ "partition", .dark = 1 },
	{ "storm", .lose = 20, .repeat = 20, .jitter = 3000, .dark = 1 },
	/* only one kind of message */
	{ "REQ", 50, 33, 0, 5000, 0, CM_CLASS, 0x10 },
	{ "MRA", 50, 33, 0, 5000, 0, CM_CLASS, 0x11 },
	{ "REJ", 50, 33, 0, 5000, 0, CM_CLASS, 0x12 },
	{ "REP", 50, 33, 0, 5000, 0, CM_CLASS, 0x13 },
	{ "RTU", 50, 33, 0, 5000, 0, CM_CLASS, 0x14 },
	{ "DREQ", 50, 33, 0, 5000, 0, CM_CLASS, 0x15 },
	{ "DREP", 50, 33, 0, 5000, 0, CM_CLASS, 0x16 },
	{ "SIDR_REQ", 50, 33, 0, 5000, 0, CM_CLASS, 0x17 },
	{ "SIDR_REP", 50, 33, 0, 5000, 0, CM_CLASS, 0x18 },
	{ "path", 50, 33, 0, 1000, 0, SA_CLASS, 0x35 },
	{ "join", 50, 33, 0, 1000, 0, SA_CLASS, 0x38 },
	{ }
};

static const char *netem_dev[2];
static bool vib_is_used;

const struct weather *weather_find(const char *name)
{
	const struct weather *w;

	for (w = table; w->name; w++)
		if (!strcmp(w->name, name))
			return w;
	return NULL;
}

void weather_list(int mads)
{
	const struct weather *w;

	for (w = table; w->name; w++)
		if (mads || !w->mgmt_class)
			puts(w->name);
}

void weather_use_netem(const char *first, const char *second)
{
	netem_dev[0] = first;
	netem_dev[1] = second;
}

void weather_use_vib(void)
{
	vib_is_used = true;
}

void weather_enter(const char *dev)
{
	const char *at = dev ? strchr(dev, '@') : NULL;
	static int own = -1;
	char path[256];
	int fd;

	if (own < 0)
		own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (!at) {
		if (setns(own, CLONE_NEWNET))
			die("setns");
		return;
	}
	snprintf(path, sizeof(path), "/run/netns/%s", at + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

struct netem_request {
	struct nlmsghdr hdr;
	struct tcmsg tc;
	char attrs[512];
};

static struct rtattr *netem_attr_add(struct netem_request *req, int type, const void *data, int len)
{
	struct rtattr *attr = (void *)((char *)req + NLMSG_ALIGN(req->hdr.nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	memcpy(RTA_DATA(attr), data, len);
	req->hdr.nlmsg_len = NLMSG_ALIGN(req->hdr.nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

static void netem_request_fill(struct netem_request *req, int ifindex, const struct weather *w,
			       bool dark, uint64_t seed)
{
	struct tc_netem_qopt opt = {
		.limit = NETEM_LIMIT,
		.loss = dark ? UINT32_MAX : UINT32_MAX / 100 * w->lose,
		.duplicate = UINT32_MAX / 100 * w->repeat,
	};
	int64_t delay = (w->delay + w->jitter / 2) * 1000000LL, jitter = w->jitter * 500000LL;
	struct rtattr *options;

	*req = (struct netem_request){
		.hdr.nlmsg_len = NLMSG_LENGTH(sizeof(req->tc)),
		.hdr.nlmsg_type = RTM_NEWQDISC,
		.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE,
		.tc.tcm_family = AF_UNSPEC,
		.tc.tcm_ifindex = ifindex,
		.tc.tcm_parent = TC_H_ROOT,
		.tc.tcm_handle = 0x10000,
	};
	netem_attr_add(req, TCA_KIND, "netem", sizeof("netem"));
	options = netem_attr_add(req, TCA_OPTIONS, &opt, sizeof(opt));
	netem_attr_add(req, TCA_NETEM_LATENCY64, &delay, sizeof(delay));
	netem_attr_add(req, TCA_NETEM_JITTER64, &jitter, sizeof(jitter));
	netem_attr_add(req, NETEM_PRNG_SEED, &seed, sizeof(seed));
	options->rta_len = (char *)req + req->hdr.nlmsg_len - (char *)options;
}

/* Splits NAME@NAMESPACE, and enters the namespace. */
static void dev_enter(const char *dev, char *name)
{
	const char *at = strchr(dev, '@');

	snprintf(name, IFNAMSIZ, "%.*s", at ? (int)(at - dev) : IFNAMSIZ - 1, dev);
	weather_enter(dev);
}

static void netem_set(const char *dev, const struct weather *w, bool dark, uint64_t seed)
{
	struct netem_request req;
	struct {
		struct nlmsghdr hdr;
		struct nlmsgerr err;
		char more[1024];
	} reply;
	char name[IFNAMSIZ];
	int fd;

	dev_enter(dev, name);
	netem_request_fill(&req, if_nametoindex(name), w, dark, seed);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0 || send(fd, &req, req.hdr.nlmsg_len, 0) < 0 ||
	    recv(fd, &reply, sizeof(reply), 0) < 0)
		die("netlink");
	close(fd);
	weather_enter(NULL);
	errno = -reply.err.error;
	if (reply.hdr.nlmsg_type != NLMSG_ERROR || errno)
		die("netem");
}

static void vib_knob_write(const char *knob, unsigned int value)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/vib/mad/%s", knob);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%u\n", value) < 0 || fclose(f))
		die(path);
}

/* one MAD in how many */
static int one_in(int percent)
{
	return percent ? (100 + percent / 2) / percent : 0;
}

static void vib_set(const struct weather *w, bool dark, uint32_t seed)
{
	vib_knob_write("class", w->mgmt_class);
	vib_knob_write("attr", w->attr);
	vib_knob_write("seed", seed);
	vib_knob_write("lose", dark ? 1 : one_in(w->lose));
	vib_knob_write("repeat", one_in(w->repeat));
	/* "delay" would delay SMPs, too */
	vib_knob_write("shuffle", 2 * w->delay + w->jitter);
}

void weather_set(const struct weather *w, int dark, uint64_t seed)
{
	static const struct weather good;
	int i;

	w = w ?: &good;
	if (vib_is_used)
		vib_set(w, dark, seed | 1);
	if (w->mgmt_class)
		w = &good;
	for (i = 0; i < 2; i++)
		if (netem_dev[i])
			netem_set(netem_dev[i], w, dark & (1 << i), seed + i);
}

void weather_forget(const char *dev, struct in_addr peer)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr = peer };
	struct arpreq req = {};
	int fd;

	memcpy(&req.arp_pa, &sin, sizeof(sin));
	dev_enter(dev, req.arp_dev);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* there may be no entry */
	ioctl(fd, SIOCDARP, &req);
	close(fd);
	weather_enter(NULL);
}
