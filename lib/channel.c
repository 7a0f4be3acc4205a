// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event channels: open files of the char device. The library uses only the file descriptor of a
 * channel, because an application may have created struct rdma_event_channel itself.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "cmx_lib.h"
#include "open_device.h"

/* Many programs print only that librdmacm failed, so the first failure names the reason. */
static bool cmxl_channel_is_first_failure(void)
{
	static bool failed;

	return !__atomic_exchange_n(&failed, true, __ATOMIC_RELAXED);
}

/*
 * Only the process that opened a channel can use it, because events name ids by their addresses.
 * Returns 0, or -1 with errno: EACCES if another process opened it, EBADF or ENOTTY if it is not a
 * channel, EPROTO if the module does not accept the ABI version of this library.
 */
int cmxl_channel_check(struct rdma_event_channel *channel)
{
	struct cmxl_cmd cmd;
	int ret;

	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_INFO);
	ret = cmxl_cmd_issue(&cmd, channel->fd);
	if (ret && errno == EPROTO && cmxl_channel_is_first_failure())
		cmxl_message("the module rdma_cmx does not accept ABI %d: see cmx version",
			     CMX_ABI_VERSION);
	return ret;
}

/* Keeps errno. */
static void cmxl_channel_explain(void)
{
	int err = errno;

	if (err == ENODEV)
		cmxl_message("the module rdma_cmx is about to be replaced: see cmx drain");
	else if (access(CMXL_MODULE_PATH, F_OK))
		cmxl_message("no " CMXL_DEVICE_PATH ": is the kernel module rdma_cmx installed?");
	else
		cmxl_message("no " CMXL_DEVICE_PATH ", but the kernel module rdma_cmx is loaded: a container needs this device of the host");
	errno = err;
}

static int cmxl_channel_open(void)
{
	int fd = cmxl_device_open_file(O_RDWR);

	if (fd < 0 && (errno == ENOENT || errno == ENODEV) && cmxl_channel_is_first_failure())
		cmxl_channel_explain();
	return fd;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_create_event_channel, NULL, ());
	if (cmxl_devices_init())
		return NULL;
	channel = malloc(sizeof(*channel));
	if (!channel)
		return NULL;
	channel->fd = cmxl_channel_open();
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
static struct rdma_event_channel *destroyed[64];

/* A kept channel that is destroyed again would be freed twice, possibly while it is in use again. */
static void cmxl_channel_check_destroyed(const struct rdma_event_channel *channel)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(destroyed); i++) {
		if (__atomic_load_n(&destroyed[i], __ATOMIC_RELAXED) != channel)
			continue;
		cmxl_message("an event channel was destroyed twice");
		abort();
	}
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	static unsigned int next;
	unsigned int i;
	int fd;

	if (cmxl_system_is_used()) {
		CMXL_SYSTEM_CALL(rdma_destroy_event_channel, (void)0, (channel));
		return;
	}
	cmxl_channel_check_destroyed(channel);
	fd = channel->fd;
	channel->fd = -1;
	close(fd);
	i = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % ARRAY_SIZE(destroyed);
	free(__atomic_exchange_n(&destroyed[i], channel, __ATOMIC_ACQ_REL));
}
