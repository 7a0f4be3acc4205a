// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What kernel.c needs of the C library.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "unit.h"

struct thread {
	void (*run)(void *arg);
	void *arg;
};

void unit_abort(const char *reason)
{
	printf("# %s\n", reason);
	fflush(stdout);
	abort();
}

int unit_parse_number(const char *text, unsigned int base, unsigned long long *val)
{
	char *end;

	if (!isalnum(*text))
		return -1;
	errno = 0;
	*val = strtoull(text, &end, base);
	if (end == text || end[*end == '\n'])
		return -1;
	return errno == ERANGE;
}

int unit_parse_ip(int version, const char *text, void *addr)
{
	return inet_pton(version == 4 ? AF_INET : AF_INET6, text, addr) == 1;
}

static void *thread_run(void *arg)
{
	struct thread thread = *(struct thread *)arg;

	free(arg);
	thread.run(thread.arg);
	return NULL;
}

void unit_thread_start(void (*run)(void *arg), void *arg)
{
	struct thread *thread = malloc(sizeof(*thread));
	pthread_t id;

	if (!thread)
		unit_abort("no memory");
	*thread = (struct thread){ run, arg };
	if (pthread_create(&id, NULL, thread_run, thread) || pthread_detach(id))
		unit_abort("no thread");
}

void unit_sleep_us(unsigned int us)
{
	usleep(us);
}
