// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx rule: the rules of the network namespace, which set options of ids from outside.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "args.h"
#include "cmx_rule.h"
#include "file.h"
#include "json.h"
#include "line.h"
#include "port_default.h"
#include "rule_table.h"
#include "rule_text.h"

static int rule_list(bool in_json)
{
	static struct rule_table table;
	uint32_t i;

	if (rule_table_read(&table))
		return 1;
	if (in_json)
		json_open(NULL, '[');
	for (i = 0; i < table.num; i++) {
		if (in_json) {
			rule_json_put(&table.rules[i], i + 1);
			continue;
		}
		printf("%u: ", i + 1);
		rule_print(stdout, &table.rules[i]);
		puts("");
	}
	if (in_json) {
		json_close(']');
		json_end();
	}
	return 0;
}

/**
 * struct rule_addition - a rule to be added
 * @rule: the rule
 * @first: it comes before all others
 */
struct rule_addition {
	struct cmx_rule rule;
	bool first;
};

/* The defaults of ports stay behind all others. */
static int rule_add_to(struct rule_table *table, void *arg)
{
	const struct rule_addition *addition = arg;

	return rule_table_insert(table, addition->first ? 0 : port_default_begin(table),
				 &addition->rule);
}

static int rule_add(int argc, char **argv)
{
	struct rule_addition addition = { .first = argc && !strcmp(*argv, "first") };
	const char *wrong, *word;

	wrong = rule_parse(&addition.rule, argc - addition.first, argv + addition.first, &word);
	if (wrong)
		return tool_fail_usage(word, wrong);
	return rule_table_change(rule_add_to, &addition);
}

/* Without a number, all. */
static int rule_delete_from(struct rule_table *table, void *arg)
{
	const uint64_t *number = arg;

	if (!number) {
		table->num = 0;
		return 0;
	}
	if (*number > table->num) {
		fprintf(stderr, "cmx: %llu: no such rule\n", (unsigned long long)*number);
		return 1;
	}
	rule_table_remove(table, *number - 1);
	return 0;
}

static int rule_delete(int argc, char **argv)
{
	uint64_t number;

	if (!argc)
		return tool_fail_usage("delete", "which rule?");
	if (argc > 1)
		return tool_fail_usage(argv[1], "unexpected");
	if (!strcmp(*argv, "all"))
		return rule_table_change(rule_delete_from, NULL);
	if (!tool_number_parse(*argv, 1, UINT32_MAX, &number))
		return tool_fail_usage(*argv, "neither the number of a rule nor all");
	return rule_table_change(rule_delete_from, &number);
}

/* As in the list */
static bool rule_word_is_number(const char *word)
{
	size_t len = strspn(word, "0123456789");

	return len && !strcmp(word + len, ":");
}

static int rule_load_line(const char *path, struct tool_line *line, void *arg)
{
	struct rule_table *table = arg;
	const char *wrong, *word;
	struct cmx_rule rule;
	int skip;

	if (!line->argc)
		return 0;
	skip = rule_word_is_number(line->argv[0]);
	wrong = rule_parse(&rule, line->argc - skip, line->argv + skip, &word);
	if (wrong)
		return tool_line_fail(path, line, word, wrong);
	return rule_table_insert(table, table->num, &rule);
}

static int rule_table_take(struct rule_table *table, void *arg)
{
	const struct rule_table *from = arg;

	table->num = from->num;
	memcpy(table->rules, from->rules, sizeof(table->rules));
	return 0;
}

static int rule_load(int argc, char **argv)
{
	static struct rule_table table;
	const char *path;
	int status;
	FILE *f;

	if (!argc)
		return tool_fail_usage("load", "which file?");
	if (argc > 1)
		return tool_fail_usage(argv[1], "unexpected");
	if (!strcmp(*argv, "-")) {
		f = stdin;
		path = "standard input";
	} else {
		f = fopen(*argv, "re");
		path = *argv;
	}
	if (!f)
		return tool_fail(path);
	status = tool_lines_walk(f, path, rule_load_line, &table);
	fclose(f);
	return status ?: rule_table_change(rule_table_take, &table);
}

int rule_run(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
		{ "add", rule_add }, { "delete", rule_delete }, { "load", rule_load },
	};
	struct tool_options options = {};
	size_t i;

	if (tool_options_parse(&argc, &argv, "jp", &options))
		return 2;
	if (!argc || !strcmp(*argv, "list"))
		return argc > 1 ? tool_fail_usage(argv[1], "unexpected") : rule_list(options.json);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(*argv, commands[i].name))
			continue;
		if (options.json)
			return tool_fail_usage("-j", "only for list");
		return commands[i].run(argc - 1, argv + 1);
	}
	return tool_fail_usage(*argv, "not one of list, add, delete, load");
}
