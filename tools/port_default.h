/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The defaults of a port: a rule that sets nothing but TOS and GID type, without force, and whose
 * only conditions are a device and a port.
 */
#ifndef CMX_PORT_DEFAULT_H
#define CMX_PORT_DEFAULT_H

#include <stdbool.h>
#include <stdint.h>
#include "rule_table.h"

/* Longest value as text */
#define PORT_DEFAULT_MAX 16

bool port_default_is(const struct cmx_rule *rule);

/* The index behind the last other rule. The defaults after it count less than all other rules. */
uint32_t port_default_begin(const struct rule_table *table);

/* Is there a RoCE port, and does the module use it? */
bool port_default_exists(const char *device, const char *port);

/* Writes the values, or "none". Returns false if it has neither. */
bool port_default_read(const struct rule_table *table, const char *device, const char *port,
		       char *tos, char *mode);

/*
 * Checks "tos VALUE" and "mode VALUE". Returns what is wrong, and with @word the word that is, or
 * NULL.
 */
const char *port_default_args_check(int argc, char *const *argv, const char **word);

/* Sets those that are right. Prints what has failed, and returns the exit status. */
int port_default_args_set(const char *device, const char *port, int argc, char *const *argv);

/* Calls @fn for each port that has such a rule, until it returns another value than 0. */
int port_default_walk(const struct rule_table *table,
		      int (*fn)(const char *device, const char *port, void *arg), void *arg);

#endif
