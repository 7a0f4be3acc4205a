/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_KILL_H
#define CMX_KILL_H

/* Returns the exit status; 2: wrong usage. */
int kill_run(int argc, char **argv);

#endif
