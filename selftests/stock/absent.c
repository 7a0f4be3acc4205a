// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * absent: the library without its module. This program replaces functions of libibverbs, so that a
 * device exists, and the netlink socket. The library must ask ib_core to load the module, and print
 * once which module is missing.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_netlink.h>

#define FD 1000

static struct ibv_device device;
static struct ibv_device *list[] = { &device, NULL };

#undef ibv_get_device_list
struct ibv_device **ibv_get_device_list(int *num)
{
	*num = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **devices)
{
	(void)devices;
}

__be64 ibv_get_device_guid(struct ibv_device *dev)
{
	(void)dev;
	return 1;
}

int ibv_get_device_index(struct ibv_device *dev)
{
	(void)dev;
	return 1;
}

int socket(int domain, int type, int protocol)
{
	(void)type;
	printf("socket: %s\n", domain == AF_NETLINK && protocol == NETLINK_RDMA ? "RDMA" : "other");
	return FD;
}

ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	const struct nlmsghdr *msg = buf;
	const struct nlattr *attr = NLMSG_DATA(msg);

	(void)flags;
	if (fd == FD && len == msg->nlmsg_len && attr->nla_type == RDMA_NLDEV_ATTR_CHARDEV_TYPE &&
	    msg->nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV))
		printf("request: %s\n", (const char *)(attr + 1));
	else
		puts("request: other");
	return len;
}

int main(void)
{
	int i;

	setbuf(stdout, NULL);
	for (i = 0; i < 2; i++)
		printf("%s\n", rdma_create_event_channel() ? "a channel" : strerror(errno));
	return 0;
}
