// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The only process of a machine with another byte order. It loads the modules in its root folder,
 * and prints the results of the unit tests, the ULP, the program uapi and the Python binding in TAP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <net/route.h>
#include <rdma/rdma_netlink.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NETDEV "dummy0"
#define ULP "/sys/kernel/debug/cmx_ulp/"

static int cases;

static void result_print(bool ok, const char *name)
{
	printf("%s %d %s\n", ok ? "ok" : "not ok", ++cases, name);
	if (!ok)
		printf("# errno %d, %s\n", errno, strerror(errno));
}

static void file_print(const char *path, const char *prefix)
{
	char line[512];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		printf("%s%s", prefix, line);
	if (f)
		fclose(f);
}

static bool file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static void module_load(const char *path)
{
	int fd = open(path, O_RDONLY);

	result_print(fd >= 0 && !syscall(SYS_finit_module, fd, "", 0), path);
	close(fd);
}

static void module_unload(const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "%s unloads", name);
	result_print(!syscall(SYS_delete_module, name, O_NONBLOCK), text);
}

static void sockaddr_set(struct sockaddr *sa, const char *text)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	inet_pton(AF_INET, text, &in.sin_addr);
	memcpy(sa, &in, sizeof(in));
}

/* 10.77.0.1/24, with a route for multicast */
static bool netdev_up(void)
{
	struct ifreq addr = { .ifr_name = NETDEV }, mask = { .ifr_name = NETDEV };
	struct ifreq flags = { .ifr_name = NETDEV, .ifr_flags = IFF_UP | IFF_MULTICAST };
	struct rtentry route = { .rt_flags = RTF_UP, .rt_dev = NETDEV };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool ok;

	sockaddr_set(&addr.ifr_addr, "10.77.0.1");
	sockaddr_set(&mask.ifr_netmask, "255.255.255.0");
	sockaddr_set(&route.rt_dst, "224.0.0.0");
	sockaddr_set(&route.rt_genmask, "240.0.0.0");
	ok = !ioctl(fd, SIOCSIFADDR, &addr) && !ioctl(fd, SIOCSIFNETMASK, &mask) &&
	     !ioctl(fd, SIOCSIFFLAGS, &flags) && !ioctl(fd, SIOCADDRT, &route);
	close(fd);
	return ok;
}

static void attr_add(struct nlmsghdr *msg, int type, const char *text)
{
	struct nlattr *attr = (void *)((char *)msg + NLMSG_ALIGN(msg->nlmsg_len));

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + strlen(text) + 1;
	strcpy((char *)attr + NLA_HDRLEN, text);
	msg->nlmsg_len = NLMSG_ALIGN(msg->nlmsg_len) + NLMSG_ALIGN(attr->nla_len);
}

/* as "rdma link add rxe0 type rxe netdev dummy0" */
static bool rxe_add(void)
{
	union {
		struct nlmsghdr hdr;
		char buf[1024];
	} msg = { .hdr = {
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	} };
	struct nlmsgerr *err = NLMSG_DATA(&msg.hdr);
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	bool ok;

	attr_add(&msg.hdr, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	attr_add(&msg.hdr, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe");
	attr_add(&msg.hdr, RDMA_NLDEV_ATTR_NDEV_NAME, NETDEV);
	ok = send(fd, &msg, msg.hdr.nlmsg_len, 0) > 0 && recv(fd, &msg, sizeof(msg), 0) > 0 &&
	     msg.hdr.nlmsg_type == NLMSG_ERROR && !err->error;
	close(fd);
	return ok;
}

/* Prints the results of the suites, whose cases are indented. */
static void kunit_results(void)
{
	char line[512], verdict[8], name[256];
	glob_t found;
	size_t i;

	if (glob("/sys/kernel/debug/kunit/*/results", 0, NULL, &found))
		result_print(false, "the unit tests have results");
	for (i = 0; i < found.gl_pathc; i++) {
		FILE *f = fopen(found.gl_pathv[i], "r");

		while (f && fgets(line, sizeof(line), f)) {
			bool failed = strstr(line, " not ok ");

			if (line[0] == ' ' &&
			    (sscanf(line, failed ? " not %7s %*d %255[^\n]" : " %7s %*d %255[^\n]",
				    verdict, name) == 2) && !strcmp(verdict, "ok"))
				result_print(!failed, name);
			else if (strchr(line, ':'))
				printf("# %s", line);
		}
		if (f)
			fclose(f);
	}
}

static void ulp_run(const char *command)
{
	bool ok = file_write(ULP "run", command);

	result_print(ok, command);
	file_print(ULP "result", "# ");
}

/* Runs a program. Its cases keep their numbers. */
static void program_run(char **argv, const char *name)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	result_print(!status, name);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("debug", "/sys/kernel/debug", "debugfs", 0, NULL);

	module_load("/rdma_cmx_kunit.ko");
	kunit_results();
	module_unload("rdma_cmx_kunit");
	result_print(netdev_up(), "a network device");
	result_print(rxe_add(), "an RDMA device");
	sleep(1);
	module_load("/rdma_cmx.ko");
	module_load("/cmx_ulp.ko");
	ulp_run("serve 10.77.0.1 7600");
	ulp_run("ping 10.77.0.1 7600 10");
	ulp_run("echo 10.77.0.1 239.7.7.7 239.7.7.7 5");
	module_unload("cmx_ulp");
	program_run((char *[]){ "/uapi", NULL }, "/uapi");
	program_run((char *[]){ "/usr/bin/python3.11", "/cmx.py", "10.77.0.1", "239.7.7.7", NULL },
		    "the Python binding connects and joins");
	module_unload("rdma_cmx");
	printf("1..%d\n", cases);
	sync();
	reboot(RB_POWER_OFF);
}
