// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <ftw.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include "cgroup.h"
#include "file.h"

#define CGROUPS "/sys/fs/cgroup"

/* Size of a line with the names of all controllers */
#define CONTROLLERS_MAX 512

/**
 * struct cgroup_walk - the search for a folder
 * @id: its inode number
 * @path: receives its path below CGROUPS
 */
static struct cgroup_walk {
	uint64_t id;
	char path[PATH_MAX];
} walk;

/* Version 1 has the folders of its controllers, in a tmpfs. */
static bool tool_cgroup_is_v2(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* The controllers that the parent of a folder has enabled in it */
static bool tool_cgroup_has_memory(const char *path)
{
	char line[CONTROLLERS_MAX], *rest = line, *word;

	if (tool_file_read_line(path, "cgroup.controllers", line, sizeof(line)))
		return false;
	while ((word = strtok_r(rest, " ", &rest)))
		if (!strcmp(word, "memory"))
			return true;
	return false;
}

static bool tool_cgroup_path_is_whole(const char *path)
{
	size_t len = strlen(CGROUPS);

	return !strncmp(path, CGROUPS, len) && (!path[len] || path[len] == '/');
}

const char *tool_cgroup_find(const char *path, uint64_t *id)
{
	char whole[PATH_MAX];
	struct stat st;

	if (*path != '/')
		return "not the path of a cgroup";
	if (snprintf(whole, sizeof(whole), "%s%s", tool_cgroup_path_is_whole(path) ? "" : CGROUPS,
		     path) >= (int)sizeof(whole) ||
	    stat(whole, &st) || !S_ISDIR(st.st_mode))
		return "no such cgroup";
	if (!tool_cgroup_is_v2(whole))
		return "not a folder of cgroup v2";
	if (!tool_cgroup_has_memory(whole))
		return "its memory controller is not enabled";
	*id = st.st_ino;
	return NULL;
}

static int tool_cgroup_visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type != FTW_D || st->st_ino != walk.id)
		return 0;
	path += strlen(CGROUPS);
	snprintf(walk.path, sizeof(walk.path), "%s", *path ? path : "/");
	return 1;
}

bool tool_cgroup_path(uint64_t id, char *to, size_t size)
{
	walk.id = id;
	if (!tool_cgroup_is_v2(CGROUPS) ||
	    nftw(CGROUPS, tool_cgroup_visit, 16, FTW_PHYS | FTW_MOUNT) != 1 ||
	    walk.path[strcspn(walk.path, " \t\n#")])
		return false;
	return snprintf(to, size, "%s", walk.path) < (int)size;
}
