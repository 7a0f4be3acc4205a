/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Opening the char device. The library and cmx(8) share this file.
 */
#ifndef CMXL_OPEN_DEVICE_H
#define CMXL_OPEN_DEVICE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/cmx_ioctl.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#define CMXL_DEVICE_PATH "/dev/infiniband/" CMX_DEVICE_NAME

/*
 * Asks ib_core for the char device by its name, which makes ib_core load the module that has the
 * alias rdma-client-rdma_cmx, if it is installed. send() returns after that. The reply is ignored:
 * ib_core replies only for char devices that it knows.
 */
static inline void cmxl_module_request(void)
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

/* Returns the file, or -1 with errno: ENOENT if the module could not be loaded either. */
static inline int cmxl_device_open_file(void)
{
	int fd = open(CMXL_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	cmxl_module_request();
	return open(CMXL_DEVICE_PATH, O_RDWR | O_CLOEXEC);
}

#endif
