/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_DEFAULT_H
#define CMX_DEFAULT_H

#define CMX_MODULE "/sys/module/rdma_cmx"
#define CMX_PARAMS CMX_MODULE "/parameters"

/* Longest value of a default */
#define DEFAULT_VALUE_MAX 64

/* Returns the exit status; 2: wrong usage. */
int default_run(int argc, char **argv);

/* For default_file.c */

/* Returns the exit status. */
int default_param_set(const char *name, const char *val);

/* Calls @fn for each port of each device, with its device as the argument. */
int default_ports_walk(int (*fn)(const char *dir, const char *name, void *arg));

#endif
