// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fallback: shows which library a program uses. It prints whether a channel can be opened, and the
 * result of an extension of rdma_cmx, or the devices. The program is linked with the system's
 * library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/rdma_cmx.h>

/* A child that has been forked asks as well. */
static bool fallback_child_has_version(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(!!rdma_cmx_get_version());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status);
}

static const char *fallback_extension(struct rdma_cm_id *id)
{
	struct cmx_ece_info info;
	int err = rdma_cmx_query_ece(id, &info, sizeof(info)) ? errno : 0;

	if (!err != !!rdma_cmx_get_version() || !err != fallback_child_has_version())
		return "not as the version says";
	return err ? strerror(err) : "works";
}

/* As a daemon that has closed its standard error: the file becomes descriptor 2. */
static int fallback_file_open(const char *path)
{
	close(STDERR_FILENO);
	return open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) != STDERR_FILENO;
}

static int fallback_channels_try(int n)
{
	while (n--)
		if (rdma_create_event_channel())
			return 1;
	return 0;
}

static int fallback_devices_print(void)
{
	int i, num = -1;
	struct ibv_context **list = rdma_get_devices(&num);

	if (!list) {
		printf("%d devices: %s\n", num, strerror(errno));
		return 1;
	}
	printf("%d devices:", num);
	for (i = 0; list[i]; i++)
		printf(" %s", list[i]->device->name);
	putchar('\n');
	rdma_free_devices(list);
	return 0;
}

/*
 * "-n" uses no librdmacm; "-d" prints the devices; "-c N" tries to open N channels; "-f FILE" has the file
 * as descriptor 2; "-w" waits for the end of the input before the id is created.
 */
int main(int argc, char **argv)
{
	/* in a program that is not PIE, this gives the symbol an address in the program */
	void (*volatile release)(void *) = free;
	struct rdma_event_channel *channel;
	char path[64], file[64] = "";
	struct rdma_cm_id *id;

	release(NULL);
	if (argc > 1 && !strcmp(argv[1], "-n"))
		return 0;
	if (argc > 1 && !strcmp(argv[1], "-d"))
		return fallback_devices_print();
	if (argc > 2 && !strcmp(argv[1], "-c"))
		return fallback_channels_try(atoi(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "-f") && fallback_file_open(argv[2]))
		return 1;
	channel = rdma_create_event_channel();
	if (!channel) {
		printf("no channel: %s\n", strerror(errno));
		return 1;
	}
	while (argc == 2 && getchar() != EOF)
		;
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		printf("no id: %s\n", strerror(errno));
		return 1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", channel->fd);
	if (readlink(path, file, sizeof(file) - 1) < 0)
		return 1;
	printf("%s, extension: %s\n", strrchr(file, '/'), fallback_extension(id));
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	return 0;
}
