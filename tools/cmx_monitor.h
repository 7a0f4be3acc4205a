/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_MONITOR_H
#define CMX_MONITOR_H

/* Returns the exit status; 2: wrong usage. */
int monitor_run(int argc, char **argv);

#endif
