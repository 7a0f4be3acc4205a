/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_REPORT_H
#define CMX_REPORT_H

/* Returns the exit status; 2: wrong usage. */
int report_run(int argc, char **argv);

#endif
