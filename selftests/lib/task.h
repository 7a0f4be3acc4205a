/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef TASK_H
#define TASK_H

#include <stdio.h>
#include <sys/types.h>

/* Returns the system call in which a process or thread sleeps; -1 if it sleeps in none. */
static inline long task_syscall(pid_t tid)
{
	char path[64];
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &nr) != 1)
		nr = -1;
	fclose(f);
	return nr;
}

#endif
