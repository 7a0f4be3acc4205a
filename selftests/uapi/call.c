// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Building and issuing commands, and buffers that end at unmapped or read-only memory.
 */
#include <err.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "uapi.h"

void cmd_init(struct cmd *c, uint16_t object, uint16_t method)
{
	memset(c, 0, sizeof(*c));
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.length = sizeof(c->hdr);
}

static struct ib_uverbs_attr *cmd_add_attr(struct cmd *c, uint16_t id, size_t len)
{
	struct ib_uverbs_attr *a = &c->attrs[c->hdr.num_attrs++];

	if (c->hdr.num_attrs > CMD_ATTRS)
		errx(1, "too many attributes");
	c->hdr.length += sizeof(*a);
	memset(a, 0, sizeof(*a));
	a->attr_id = id;
	a->len = len;
	a->flags = M;
	return a;
}

struct ib_uverbs_attr *cmd_in(struct cmd *c, uint16_t id, const void *data, size_t len)
{
	struct ib_uverbs_attr *a = cmd_add_attr(c, id, len);

	if (len > sizeof(a->data))
		a->data = (uintptr_t)data;
	else if (len)
		memcpy(&a->data, data, len);
	return a;
}

struct ib_uverbs_attr *cmd_u32(struct cmd *c, uint16_t id, uint32_t value)
{
	return cmd_in(c, id, &value, sizeof(value));
}

struct ib_uverbs_attr *cmd_u64(struct cmd *c, uint16_t id, uint64_t value)
{
	return cmd_in(c, id, &value, sizeof(value));
}

struct ib_uverbs_attr *cmd_out(struct cmd *c, uint16_t id, void *to, size_t len)
{
	struct ib_uverbs_attr *a = cmd_add_attr(c, id, len);

	a->data = (uintptr_t)to;
	return a;
}

int cmd_issue(struct cmd *c, int fd)
{
	return ioctl(fd, CMX_IOCTL, c) ? errno : 0;
}

void *guarded_alloc(size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size = (len + page - 1) / page * page;
	char *mem = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (mem == MAP_FAILED || munmap(mem + size, page))
		err(1, "mmap");
	return mem + size - len;
}

void *read_only_alloc(void)
{
	void *mem = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		err(1, "mmap");
	return mem;
}
