/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_OPTIONS_H
#define CMX_OPTIONS_H

/* Returns the exit status; 2: wrong usage. */
int options_run(int argc, char **argv);

#endif
