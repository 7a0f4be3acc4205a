// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Opening the char device.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>
#include "open_device.h"

/*
 * Asks ib_core for the char device by its name, which makes ib_core load the module that has the
 * alias rdma-client-rdma_cmx, if it is installed. send() returns after that. The reply is ignored:
 * ib_core replies only for char devices that it knows.
 */
static void cmxl_module_request(void)
{
	struct {
		struct nlmsghdr hdr;
		struct nlattr attr;
		char type[NLA_ALIGN(sizeof(CMX_DEVICE_NAME))];
	} msg = {
		.hdr.nlmsg_len = sizeof(msg),
		.hdr.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV),
		.hdr.nlmsg_flags = NLM_F_REQUEST,
		.attr.nla_len = NLA_HDRLEN + sizeof(CMX_DEVICE_NAME),
		.attr.nla_type = RDMA_NLDEV_ATTR_CHARDEV_TYPE,
		.type = CMX_DEVICE_NAME,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	if (fd < 0)
		return;
	send(fd, &msg, sizeof(msg), 0);
	close(fd);
}

/*
 * The module is requested once in the life of a process, because each request makes the kernel start
 * modprobe. If the module is loaded later, the device is there.
 */
int cmxl_device_open_file(int access)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int fd = open(CMXL_DEVICE_PATH, access | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	pthread_once(&once, cmxl_module_request);
	return open(CMXL_DEVICE_PATH, access | O_CLOEXEC);
}
