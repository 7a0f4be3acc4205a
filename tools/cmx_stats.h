/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_STATS_H
#define CMX_STATS_H

/* Returns the exit status; 2: wrong usage. */
int stats_run(int argc, char **argv);

#endif
