/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_DEFAULT_H
#define CMX_DEFAULT_H

#define CMX_MODULE "/sys/module/rdma_cmx"
#define CMX_PARAMS CMX_MODULE "/parameters"

/* Returns the exit status; 2: wrong usage. */
int default_run(int argc, char **argv);

#endif
