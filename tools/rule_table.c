// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../lib/cmd.h"
#include "../lib/open_device.h"
#include "device.h"
#include "file.h"
#include "rule_table.h"

/* udev may run the command for many devices at once. Of those that write at once, one succeeds. */
#define TRIES 32

static int rule_table_open(void)
{
	int fd = cmxl_device_open_file(O_RDONLY);

	if (fd < 0)
		tool_device_explain();
	return fd;
}

static int rule_table_fail(void)
{
	const char *why = NULL;

	switch (errno) {
	case EPERM:
		why = "Operation not permitted: CAP_NET_ADMIN is needed in the network namespace, or on the host for a long cm_response_timeout";
		break;
	case EAGAIN:
		why = "other processes change them all the time";
		break;
	case EINVAL:
		why = "the module refuses a value, or a user that this container does not have";
		break;
	case ENOSYS:
	case EOPNOTSUPP:
		why = "the loaded module has no such option for rules";
		break;
	}
	if (!why)
		return tool_device_fail("rules");
	fprintf(stderr, "cmx: rules: %s\n", why);
	return 1;
}

static int rule_table_get(int fd, struct rule_table *table)
{
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_GET_RULES);
	cmxl_cmd_out(&cmd, CMX_ATTR_RULES, table->rules, sizeof(table->rules));
	cmxl_cmd_out(&cmd, CMX_ATTR_COUNT, &table->num, sizeof(table->num));
	cmxl_cmd_out(&cmd, CMX_ATTR_GENERATION, &table->generation, sizeof(table->generation));
	if (cmxl_cmd_issue(&cmd, fd))
		return -1;
	/* of a newer module, which allows more */
	errno = EOVERFLOW;
	return table->num > CMX_MAX_RULES ? -1 : 0;
}

static int rule_table_set(int fd, const struct rule_table *table)
{
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_SET_RULES);
	if (table->num)
		cmxl_cmd_in(&cmd, CMX_ATTR_RULES, table->rules,
			    table->num * sizeof(table->rules[0]));
	cmxl_cmd_u64(&cmd, CMX_ATTR_GENERATION, table->generation);
	return cmxl_cmd_issue(&cmd, fd);
}

int rule_table_read(struct rule_table *table)
{
	int fd = rule_table_open(), status;

	if (fd < 0)
		return 1;
	status = rule_table_get(fd, table) ? rule_table_fail() : 0;
	close(fd);
	return status;
}

static bool rule_table_is_same(const struct rule_table *a, const struct rule_table *b)
{
	return a->num == b->num && !memcmp(a->rules, b->rules, a->num * sizeof(a->rules[0]));
}

/* Returns the exit status, or -1 if the rules have been changed meanwhile. */
static int rule_table_try(int fd, int (*change)(struct rule_table *table, void *arg), void *arg)
{
	static struct rule_table table, old;
	int status;

	if (rule_table_get(fd, &table))
		return rule_table_fail();
	old = table;
	status = change(&table, arg);
	if (status || rule_table_is_same(&table, &old) || !rule_table_set(fd, &table))
		return status;
	return errno == EAGAIN ? -1 : rule_table_fail();
}

int rule_table_change(int (*change)(struct rule_table *table, void *arg), void *arg)
{
	int fd = rule_table_open(), tries, status = -1;

	if (fd < 0)
		return 1;
	for (tries = 0; status < 0 && tries < TRIES; tries++)
		status = rule_table_try(fd, change, arg);
	if (status < 0) {
		errno = EAGAIN;
		status = rule_table_fail();
	}
	close(fd);
	return status;
}

int rule_table_insert(struct rule_table *table, uint32_t at, const struct cmx_rule *rule)
{
	if (table->num == CMX_MAX_RULES) {
		fprintf(stderr, "cmx: rules: more than %d\n", CMX_MAX_RULES);
		return 1;
	}
	memmove(&table->rules[at + 1], &table->rules[at],
		(table->num - at) * sizeof(table->rules[0]));
	table->rules[at] = *rule;
	table->num++;
	return 0;
}

void rule_table_remove(struct rule_table *table, uint32_t at)
{
	table->num--;
	memmove(&table->rules[at], &table->rules[at + 1],
		(table->num - at) * sizeof(table->rules[0]));
}
