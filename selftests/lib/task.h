/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef TASK_H
#define TASK_H

#include <stdio.h>
#include <sys/types.h>

/* The system call that a process or a thread of us sleeps in; -1: none, or not known */
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
