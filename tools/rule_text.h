/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A rule as words, which are the same in a command, in a file and in a list, and as JSON.
 */
#ifndef CMX_RULE_TEXT_H
#define CMX_RULE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <rdma/cmx_rule.h>

/* Eight conditions, "force", "set", and the options */
#define RULE_WORDS_MAX (2 * 8 + 2 + 2 * CMX_RULE_OPTIONS)

/**
 * rule_parse() - get a rule from its words
 * @rule: receives the rule
 * @argc: number of words
 * @argv: the words
 * @word: receives the word that is wrong
 *
 * Return: what is wrong with that word, until the next call; NULL: nothing.
 */
const char *rule_parse(struct cmx_rule *rule, int argc, char *const *argv, const char **word);

/* Prints the words, with a space between them. */
void rule_print(FILE *to, const struct cmx_rule *rule);

/* @number is its number in the list */
void rule_json_put(const struct cmx_rule *rule, uint32_t number);

/* The words of all conditions in turn, which a value follows, then NULL */
const char *rule_condition_name(size_t i);

/* The names of all options that a rule can set in turn, then NULL */
const char *rule_option_name(size_t i);

#endif
