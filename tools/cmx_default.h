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

/* Reads the defaults of a port, as in a command. Returns -1 if there is no such RoCE port. */
int default_port_read(const char *device, const char *port, char *tos, char *mode);

/*
 * Checks "tos VALUE" and "mode VALUE". Returns what is wrong, and with @word the word that is, or
 * NULL.
 */
const char *default_port_args_check(int argc, char **argv, const char **word);

/* Sets them up to the first that is refused. Returns the exit status. */
int default_port_args_set(const char *device, const char *port, int argc, char *const *argv);

/* Calls @fn for each port of each device, with its device as the argument. */
int default_ports_walk(int (*fn)(const char *dir, const char *name, void *arg));

#endif
