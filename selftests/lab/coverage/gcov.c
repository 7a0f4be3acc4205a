// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Part of the module only when it is built for coverage. Provides the counters of GCC in the other
 * objects without the gcov support of the kernel. When the module is unloaded, a file in debugfs
 * remains, which needs no code of the module. Its memory is never freed.
 */
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "gcov.h"

#define GCOV_DATA_MAGIC		0x67636461
#define GCOV_TAG_FUNCTION	0x01000000
#define GCOV_TAG_ARCS		0x01a10000

/* Destination of the data; without a buffer only the length is counted */
struct gcov_writer {
	u32 *buf;
	size_t len;
};

/* GCC refers to this function, which only programs that merge counters at their end call. */
void __gcov_merge_add(s64 *counters, u32 num)
{
}

static void gcov_u32_write(struct gcov_writer *writer, u32 value)
{
	if (writer->buf)
		writer->buf[writer->len] = value;
	writer->len++;
}

static void gcov_name_write(struct gcov_writer *writer, const char *name)
{
	u32 words = strlen(name) / sizeof(u32) + 1;

	gcov_u32_write(writer, words);
	if (writer->buf)
		strscpy_pad((char *)&writer->buf[writer->len], name, words * sizeof(u32));
	writer->len += words;
}

static void gcov_function_write(struct gcov_writer *writer, const struct gcov_function *function)
{
	const struct gcov_arcs *arcs = &function->arcs;
	u32 i;

	gcov_u32_write(writer, GCOV_TAG_FUNCTION);
	gcov_u32_write(writer, 3 * sizeof(u32));
	gcov_u32_write(writer, function->ident);
	gcov_u32_write(writer, function->lineno_checksum);
	gcov_u32_write(writer, function->cfg_checksum);
	gcov_u32_write(writer, GCOV_TAG_ARCS);
	gcov_u32_write(writer, arcs->num * sizeof(s64));
	for (i = 0; i < arcs->num; i++) {
		gcov_u32_write(writer, lower_32_bits(arcs->values[i]));
		gcov_u32_write(writer, upper_32_bits(arcs->values[i]));
	}
}

/* Writes the name of a .gcda file and its contents in 32-bit words, each after its length. */
static void gcov_info_write(struct gcov_writer *writer, const struct gcov_info *info)
{
	size_t begin;
	u32 i;

	gcov_name_write(writer, info->filename);
	begin = writer->len++;
	gcov_u32_write(writer, GCOV_DATA_MAGIC);
	gcov_u32_write(writer, info->version);
	gcov_u32_write(writer, info->stamp);
	gcov_u32_write(writer, info->checksum);
	for (i = 0; i < info->n_functions; i++)
		gcov_function_write(writer, info->functions[i]);
	gcov_u32_write(writer, 0);
	if (writer->buf)
		writer->buf[begin] = writer->len - begin - 1;
}

static size_t gcov_all_write(u32 *buf)
{
	struct gcov_writer writer = { .buf = buf };
	const struct gcov_info *const *info;

	for (info = cmx_gcov_begin; info < cmx_gcov_end; info++)
		gcov_info_write(&writer, *info);
	return writer.len * sizeof(u32);
}

static void __exit cmx_gcov_exit(void)
{
	struct debugfs_blob_wrapper *blob;
	int probe = 1;
	char name[48];

	cmx_cleanup_module();
	cmx_gcov_probe(&probe);
	blob = kzalloc(sizeof(*blob), GFP_KERNEL);
	if (!blob)
		return;
	blob->size = gcov_all_write(NULL);
	blob->data = kvzalloc(blob->size, GFP_KERNEL);
	if (!blob->data) {
		kfree(blob);
		return;
	}
	gcov_all_write(blob->data);
	snprintf(name, sizeof(name), "rdma_cmx.gcov.%020llu", ktime_get_ns());
	debugfs_create_blob(name, 0400, NULL, blob);
}
module_exit(cmx_gcov_exit);
