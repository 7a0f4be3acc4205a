/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Folders of cgroup v2, by path and by inode number.
 */
#ifndef CMX_TOOL_CGROUP_H
#define CMX_TOOL_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds a folder whose memory controller is enabled. @path is its path in the file system, or as in
 * /proc/PID/cgroup. Returns what is wrong with it, or NULL.
 */
const char *tool_cgroup_find(const char *path, uint64_t *id);

/* Writes the path, as in /proc/PID/cgroup. Returns false if there is none, or if it is not one word. */
bool tool_cgroup_path(uint64_t id, char *to, size_t size);

#endif
