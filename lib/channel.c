// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event channels: open files of the char device. The library uses only the file descriptor of a
 * channel, because an application may have created struct rdma_event_channel itself.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "cmx_lib.h"

#define CMXL_DEVICE_PATH "/dev/infiniband/" CMX_DEVICE_NAME

/*
 * From then on only this process can use the channel, because events identify ids by their
 * addresses. Opening a channel does not claim it, so that a daemon can open it before it forks.
 * Returns 0, or -1 with errno: EACCES if another process has claimed it, EBADF or ENOTTY if it is
 * not a channel.
 */
int cmxl_channel_claim(struct rdma_event_channel *channel)
{
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_CLAIM);
	return cmxl_cmd_issue(&cmd, channel->fd);
}

/* True in a child of fork(): the objects of the channel belong to the parent. */
bool cmxl_channel_is_foreign(struct rdma_event_channel *channel)
{
	return cmxl_channel_claim(channel) && errno == EACCES;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel;

	if (cmxl_devices_init())
		return NULL;
	channel = malloc(sizeof(*channel));
	if (!channel)
		return NULL;
	channel->fd = open(CMXL_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (channel->fd < 0) {
		free(channel);
		return NULL;
	}
	return channel;
}

/*
 * Programs destroy a channel while one of their threads waits for an event, or is about to wait.
 * The memory of the last destroyed channels is kept, so that such a thread finds the fd -1.
 */
void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	static struct rdma_event_channel *destroyed[64];
	static unsigned int next;
	unsigned int i = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % ARRAY_SIZE(destroyed);
	int fd = channel->fd;

	channel->fd = -1;
	close(fd);
	free(__atomic_exchange_n(&destroyed[i], channel, __ATOMIC_ACQ_REL));
}
