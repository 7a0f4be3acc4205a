/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The file with the defaults of the host and of the ports. Each line is as cmx default prints it.
 */
#ifndef CMX_DEFAULT_FILE_H
#define CMX_DEFAULT_FILE_H

#define DEFAULT_FILE "/etc/rdma/rdma_cmx.conf"

/* Each of these functions prints what is wrong, with the line, and returns the exit status. */
int default_file_check(const char *path);

/* Applies the lines that are right; with @device, those of its ports only. */
int default_file_load(const char *path, const char *device);

/* Keeps comments, order, and the lines of ports that are not there. */
int default_file_save(const char *path);

#endif
