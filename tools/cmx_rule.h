/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_RULE_H
#define CMX_RULE_H

/* Returns the exit status; 2: wrong usage. */
int rule_run(int argc, char **argv);

#endif
