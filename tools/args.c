// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "args.h"
#include "file.h"
#include "json.h"

int tool_options_parse(int *argc, char ***argv, const char *letters, struct tool_options *options)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "details", no_argument, NULL, 'd' },
		{ "metrics", no_argument, NULL, 'm' },
		{}
	};
	char unknown[] = "-?";
	int option;

	optind = 1;
	opterr = 0;
	while ((option = getopt_long(*argc, *argv, letters, names, NULL)) != -1) {
		/* the option of a long name */
		if (option != '?' && !strchr(letters, option)) {
			optopt = option;
			option = '?';
		}
		switch (option) {
		case 'p':
			options->pretty = true;
			json_make_pretty();
			/* fallthrough */
		case 'j':
			options->json = true;
			break;
		case 'd':
			options->details = true;
			break;
		case 'm':
			options->metrics = true;
			break;
		default:
			unknown[1] = optopt;
			return tool_fail_usage(optopt ? unknown : (*argv)[optind - 1],
					       "no such option");
		}
	}
	*argc -= optind;
	*argv += optind;
	return 0;
}

bool tool_number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, tolower((unsigned char)text[1]) == 'x' ? 16 : 10);
	return !*end && !errno && *number >= min && *number <= max;
}
