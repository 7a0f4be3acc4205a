/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_DRAIN_H
#define CMX_DRAIN_H

/* cmx drain. Returns the exit status: 0: nothing uses the module; 2: wrong usage. */
int drain_run(int argc, char **argv);

#endif
