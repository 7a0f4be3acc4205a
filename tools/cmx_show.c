// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmx show: arguments, and the listing of ids by the char device.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../lib/cmd.h"
#include "../lib/open_device.h"
#include "args.h"
#include "cmx_show.h"
#include "device.h"
#include "file.h"

#define FILTERS_MAX 16

struct show_filter {
	const struct show_field *field;
	char text[SHOW_TEXT_MAX];
};

struct show_request {
	const struct show_format *format;
	show_act_fn act;
	bool details;
	int num_filters;
	struct show_filter filters[FILTERS_MAX];
};

/* Fetches the records from @cursor on, which receives the position of the next call. */
static int show_records_fetch(int fd, uint64_t *cursor, void *to, size_t len, uint32_t *count)
{
	struct cmxl_cmd cmd;

	cmxl_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_LIST_IDS);
	cmxl_cmd_u32(&cmd, CMX_ATTR_RECORD_SIZE, sizeof(struct cmx_id_record));
	cmxl_cmd_u64(&cmd, CMX_ATTR_CURSOR, *cursor);
	cmxl_cmd_out(&cmd, CMX_ATTR_LIST, to, len);
	cmxl_cmd_out(&cmd, CMX_ATTR_COUNT, count, sizeof(*count));
	cmxl_cmd_out(&cmd, CMX_ATTR_NEXT_CURSOR, cursor, sizeof(*cursor));
	return cmxl_cmd_issue(&cmd, fd);
}

static bool show_id_is_wanted(const struct show_request *request, const struct cmx_id_record *r)
{
	char text[SHOW_TEXT_MAX];
	int i;

	for (i = 0; i < request->num_filters; i++)
		if (!request->filters[i].field->write(r, text, sizeof(text)) ||
		    strcmp(text, request->filters[i].text))
			return false;
	return true;
}

/* If no id was found: is there a filter for a device that does not exist? */
static bool show_device_is_missing(const struct show_request *request)
{
	char path[SHOW_TEXT_MAX + sizeof(TOOL_DEVICES "/")];
	int i;

	for (i = 0; i < request->num_filters; i++) {
		if (strcmp(request->filters[i].field->name, "dev"))
			continue;
		snprintf(path, sizeof(path), TOOL_DEVICES "/%s", request->filters[i].text);
		if (access(path, F_OK)) {
			fprintf(stderr, "cmx: %s: no such device\n", request->filters[i].text);
			return true;
		}
	}
	return false;
}

/* Returns the exit status. */
static int show_id_print(int fd, const struct show_request *request, const struct cmx_id_record *r,
			 bool *begun)
{
	if (!show_id_is_wanted(request, r))
		return 0;
	if (request->act && request->act(fd, r))
		return 1;
	if (!*begun)
		request->format->begin();
	*begun = true;
	request->format->id(r, request->details);
	return 0;
}

static int show_ids_print(int fd, const struct show_request *request)
{
	static uint64_t buffer[UINT16_MAX / sizeof(uint64_t)];
	const struct cmx_id_record *r;
	uint64_t cursor = 0;
	bool begun = false;
	int status = 0;
	uint32_t count;

	do {
		if (show_records_fetch(fd, &cursor, buffer, sizeof(buffer), &count))
			return tool_device_fail("list of ids");
		for (r = (const void *)buffer; count; count--) {
			status |= show_id_print(fd, request, r, &begun);
			r = (const void *)((const char *)r + r->size);
		}
	} while (cursor);
	if (!begun && show_device_is_missing(request))
		return 1;
	if (!begun && request->act) {
		if (!status)
			fputs("cmx: no such id\n", stderr);
		return 1;
	}
	if (!begun)
		request->format->begin();
	request->format->end();
	return status;
}

static bool show_filter_add(struct show_request *request, const char *name, const char *value)
{
	struct show_filter *filter = &request->filters[request->num_filters];
	const struct show_field *field = show_field_find(name);

	if (!field || !field->filter || request->num_filters == FILTERS_MAX) {
		fprintf(stderr, "cmx: no filter %s\n", name);
		return false;
	}
	if (!show_filter_parse(field, value, filter->text, sizeof(filter->text))) {
		fprintf(stderr, "cmx: %s cannot be %s\n", name, value);
		return false;
	}
	filter->field = field;
	request->num_filters++;
	return true;
}

/* "dev rxe0/1" stands for "dev rxe0 port 1". */
static bool show_filter_parse_args(struct show_request *request, const char *name, char *value)
{
	char *port = strcmp(name, "dev") ? NULL : strchr(value, '/');

	if (!port)
		return show_filter_add(request, name, value);
	*port++ = 0;
	return show_filter_add(request, name, value) && show_filter_add(request, "port", port);
}

static bool show_filters_parse(struct show_request *request, int argc, char **argv)
{
	if (argc && !strcmp(*argv, "ids"))
		argc--, argv++;
	for (; argc > 1; argc -= 2, argv += 2)
		if (!show_filter_parse_args(request, argv[0], argv[1]))
			return false;
	if (argc)
		tool_fail_usage(*argv, "a filter without a value");
	return !argc;
}

static int show_ids_run(const struct show_request *request)
{
	int fd, ret;

	fd = cmxl_device_open_file(O_RDONLY);
	if (fd < 0) {
		tool_device_explain();
		return 1;
	}
	ret = show_ids_print(fd, request);
	close(fd);
	return ret;
}

int show_act_run(int argc, char **argv, show_act_fn act)
{
	struct show_request request = { .format = &show_format_table, .act = act };

	if (!argc)
		return tool_fail_usage("kill", "which ids?");
	if (!show_filters_parse(&request, argc, argv))
		return 2;
	return show_ids_run(&request);
}

int show_run(int argc, char **argv)
{
	struct show_request request = {};
	struct tool_options options = {};

	if (tool_options_parse(&argc, &argv, "djp", &options))
		return 2;
	if (argc == 1 && show_debugfs_has(*argv)) {
		if (options.details)
			return tool_fail_usage("-d", "only for ids");
		return show_debugfs_run(*argv, options.json);
	}
	request.format = options.json ? &show_format_json : &show_format_table;
	request.details = options.details;
	if (!show_filters_parse(&request, argc, argv))
		return 2;
	return show_ids_run(&request);
}
