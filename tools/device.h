/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_TOOL_DEVICE_H
#define CMX_TOOL_DEVICE_H

#include <stdbool.h>

/* Prints to stderr why the char device cannot be opened, if it cannot. */
void tool_device_explain(void);
/* Prints why a method of the device has failed; @what is what a module without it lacks. Returns 1. */
int tool_device_fail(const char *what);
/* Prints to stderr that the module is not loaded, if so. */
bool tool_module_is_missing(void);
/* Prints to stderr that the loaded module and the library differ, and how to load another module. */
void tool_module_explain_difference(void);
/* As tool_fail(), and says so if the module is not loaded. */
int tool_module_fail(const char *what);

#endif
