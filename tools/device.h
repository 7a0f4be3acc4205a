/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TOOL_DEVICE_H
#define CMX_TOOL_DEVICE_H

/* Prints to stderr why the char device cannot be opened, if it cannot. */
void tool_device_explain(void);

#endif
