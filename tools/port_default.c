// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_user_cm.h>
#include "args.h"
#include "file.h"
#include "port_default.h"

#define NONE "none"
#define NO_VALUE (-1)
#define NUM_SETTINGS 2

static const struct port_setting {
	const char *name;
	const char *prefix;	/* of its value */
	const char *wrong;
	uint32_t level;
	uint32_t option;
	uint32_t min;
	uint32_t max;
} settings[NUM_SETTINGS] = {
	{ "tos", "", "neither none nor in 0..255", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 0, 255 },
	{ "mode", "v", "no such mode", CMX_OPTION, CMX_OPTION_GID_TYPE, 1, 2 },
};

/**
 * struct port_values - the defaults of a port
 * @device: RDMA device
 * @port: its port
 * @value: for each setting its value, or NO_VALUE
 */
struct port_values {
	const char *device;
	uint32_t port;
	int64_t value[NUM_SETTINGS];
};

/* Returns the index of the setting, or -1. */
static int port_option_find(const struct cmx_id_option *o)
{
	int i;

	for (i = 0; i < NUM_SETTINGS; i++)
		if (o->level == settings[i].level && o->name == settings[i].option &&
		    o->value >= settings[i].min && o->value <= settings[i].max)
			return i;
	return -1;
}

bool port_default_is(const struct cmx_rule *rule)
{
	uint32_t i;

	if (rule->match != (CMX_RULE_DEVICE | CMX_RULE_PORT_NUM) || rule->flags)
		return false;
	for (i = 0; i < rule->num_options; i++)
		if (port_option_find(&rule->options[i]) < 0)
			return false;
	return true;
}

static bool port_default_is_of(const struct cmx_rule *rule, const struct port_values *values)
{
	return port_default_is(rule) && rule->port_num == values->port &&
	       !strcmp(rule->device, values->device);
}

uint32_t port_default_begin(const struct rule_table *table)
{
	uint32_t n = table->num;

	while (n && port_default_is(&table->rules[n - 1]))
		n--;
	return n;
}

/* Both RoCE and iWARP are on Ethernet. */
bool port_default_exists(const char *device, const char *port)
{
	char dir[300], path[400], line[32];

	snprintf(dir, sizeof(dir), TOOL_DEVICES "/%.64s", device);
	snprintf(path, sizeof(path), "%s/cmx%.10s", dir, port);
	if (access(path, F_OK) || tool_file_read_line(dir, "node_type", line, sizeof(line)) ||
	    strstr(line, "RNIC"))
		return false;
	snprintf(path, sizeof(path), "%s/ports/%.10s", dir, port);
	return !tool_file_read_line(path, "link_layer", line, sizeof(line)) &&
	       !strcmp(line, "Ethernet");
}

/* The first rule that sets an option counts. */
static void port_values_add(struct port_values *values, const struct cmx_rule *rule)
{
	uint32_t i;
	int setting;

	for (i = 0; i < rule->num_options; i++) {
		setting = port_option_find(&rule->options[i]);
		if (values->value[setting] == NO_VALUE)
			values->value[setting] = rule->options[i].value;
	}
}

static void port_values_read(struct port_values *values, const struct rule_table *table)
{
	uint32_t i;

	for (i = 0; i < NUM_SETTINGS; i++)
		values->value[i] = NO_VALUE;
	for (i = 0; i < table->num; i++)
		if (port_default_is_of(&table->rules[i], values))
			port_values_add(values, &table->rules[i]);
}

bool port_default_read(const struct rule_table *table, const char *device, const char *port,
		       char *tos, char *mode)
{
	struct port_values values = { .device = device, .port = strtoul(port, NULL, 10) };
	char *to[NUM_SETTINGS] = { tos, mode };
	bool found = false;
	int i;

	port_values_read(&values, table);
	for (i = 0; i < NUM_SETTINGS; i++) {
		if (values.value[i] == NO_VALUE) {
			snprintf(to[i], PORT_DEFAULT_MAX, NONE);
			continue;
		}
		found = true;
		snprintf(to[i], PORT_DEFAULT_MAX, "%s%u", settings[i].prefix,
			 (uint32_t)values.value[i]);
	}
	return found;
}

/* Returns the index of the setting, or -1. */
static int port_setting_find(const char *name)
{
	int i;

	for (i = 0; i < NUM_SETTINGS; i++)
		if (!strcmp(name, settings[i].name))
			return i;
	return -1;
}

static bool port_value_parse(const struct port_setting *setting, const char *text, int64_t *value)
{
	size_t len = strlen(setting->prefix);
	uint64_t n = 0;

	if (!strcmp(text, NONE)) {
		*value = NO_VALUE;
		return true;
	}
	if (strncmp(text, setting->prefix, len) ||
	    !tool_number_parse(text + len, setting->min, setting->max, &n))
		return false;
	*value = n;
	return true;
}

const char *port_default_args_check(int argc, char *const *argv, const char **word)
{
	int64_t value;
	int i, setting;

	for (i = 0; i < argc; i += 2) {
		*word = argv[i];
		setting = port_setting_find(argv[i]);
		if (setting < 0)
			return "neither tos nor mode";
		if (i + 1 == argc)
			return "no value";
		*word = argv[i + 1];
		if (!port_value_parse(&settings[setting], argv[i + 1], &value))
			return settings[setting].wrong;
	}
	return NULL;
}

/**
 * struct port_change - what is set
 * @values: the port
 * @argc: number of words
 * @argv: "tos VALUE" and "mode VALUE"
 */
struct port_change {
	struct port_values values;
	int argc;
	char *const *argv;
};

/* Returns the index of the first rule that was removed, or that of a new last one. */
static uint32_t port_rules_remove(struct rule_table *table, const struct port_values *values)
{
	uint32_t i = 0, first = CMX_MAX_RULES;

	while (i < table->num) {
		if (!port_default_is_of(&table->rules[i], values)) {
			i++;
			continue;
		}
		if (first == CMX_MAX_RULES)
			first = i;
		rule_table_remove(table, i);
	}
	return first < table->num ? first : table->num;
}

/* One rule has all values. It is where the first one was, or at the end. */
static int port_rule_put(struct rule_table *table, const struct port_values *values)
{
	struct cmx_rule rule = {
		.match = CMX_RULE_DEVICE | CMX_RULE_PORT_NUM,
		.port_num = values->port,
	};
	uint32_t at = port_rules_remove(table, values);
	int i;

	snprintf(rule.device, sizeof(rule.device), "%s", values->device);
	for (i = 0; i < NUM_SETTINGS; i++)
		if (values->value[i] != NO_VALUE)
			rule.options[rule.num_options++] = (struct cmx_id_option) {
				.level = settings[i].level,
				.name = settings[i].option,
				.value = values->value[i],
			};
	return rule.num_options ? rule_table_insert(table, at, &rule) : 0;
}

static int port_default_change(struct rule_table *table, void *arg)
{
	struct port_change *change = arg;
	int i, setting;

	port_values_read(&change->values, table);
	for (i = 0; i + 1 < change->argc; i += 2) {
		setting = port_setting_find(change->argv[i]);
		port_value_parse(&settings[setting], change->argv[i + 1],
				 &change->values.value[setting]);
	}
	return port_rule_put(table, &change->values);
}

int port_default_args_set(const char *device, const char *port, int argc, char *const *argv)
{
	struct port_change change = {
		.values = { .device = device, .port = strtoul(port, NULL, 10) },
		.argc = argc,
		.argv = argv,
	};

	return rule_table_change(port_default_change, &change);
}

int port_default_walk(const struct rule_table *table,
		      int (*fn)(const char *device, const char *port, void *arg), void *arg)
{
	const struct cmx_rule *rule, *first;
	struct port_values values;
	int ret = 0;
	char port[16];

	for (rule = table->rules; !ret && rule < table->rules + table->num; rule++) {
		if (!port_default_is(rule))
			continue;
		values.device = rule->device;
		values.port = rule->port_num;
		for (first = table->rules; !port_default_is_of(first, &values); first++)
			;
		snprintf(port, sizeof(port), "%u", rule->port_num);
		if (first == rule)
			ret = fn(rule->device, port, arg);
	}
	return ret;
}
