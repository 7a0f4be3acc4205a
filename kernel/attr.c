// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What can be said of a command without looking at user memory.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "attr.h"

/* 0 is a program that does without the check. */
static bool version_is_accepted(u32 version)
{
	return !version || (version >= CMX_ABI_VERSION_MIN && version <= CMX_ABI_VERSION);
}

/**
 * cmx_attr_check_hdr() - check the header of a command
 * @hdr: the header, without the attributes
 *
 * Return: 0, -EINVAL, or -EPROTO for a caller of a version that is not accepted.
 */
int cmx_attr_check_hdr(const struct ib_uverbs_ioctl_hdr *hdr)
{
	if (hdr->num_attrs > CMX_MAX_ATTRS ||
	    hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]) ||
	    hdr->reserved1 || hdr->reserved2)
		return -EINVAL;
	return version_is_accepted(hdr->driver_id) ? 0 : -EPROTO;
}

/* From @spec on, then from the first one on: most callers keep to the order of the list. */
static const struct cmx_attr_spec *find(const struct cmx_attr_spec *specs,
					const struct cmx_attr_spec *spec, u16 id)
{
	const struct cmx_attr_spec *start = spec;

	for (; spec->dir != CMX_DIR_END; spec++)
		if (spec->id == id)
			return spec;
	for (spec = specs; spec != start; spec++)
		if (spec->id == id)
			return spec;
	return NULL;
}

/* An input of up to eight bytes stands in the attribute. */
static bool surplus_is_zero(const struct cmx_attr_spec *spec, const struct ib_uverbs_attr *attr)
{
	if (attr->len <= spec->max || attr->len > sizeof(attr->data))
		return true;
	return !memchr_inv((const u8 *)&attr->data + spec->max, 0, attr->len - spec->max);
}

static int check_one(const struct cmx_attr_spec *spec, const struct ib_uverbs_attr *attr)
{
	if (spec->dir == CMX_DIR_OUT)
		return attr->len < spec->min ? -ENOSPC : 0;
	if (attr->len < spec->min)
		return -EINVAL;
	return surplus_is_zero(spec, attr) ? 0 : -E2BIG;
}

/**
 * cmx_attr_check() - check the attributes of a command
 * @specs: what the method takes
 * @attrs: what it was given
 * @num: how many
 * @at: for each enum cmx_attr: where it is in @attrs, from 1; 0 when it is not
 *
 * Return: 0; -EINVAL for one that is malformed, given twice, too short, or
 * missing; -EPROTONOSUPPORT for one that is neither known nor optional; -ENOSPC
 * for too short an output; -E2BIG.
 */
int cmx_attr_check(const struct cmx_attr_spec *specs, const struct ib_uverbs_attr *attrs,
		   unsigned int num, u8 *at)
{
	const struct cmx_attr_spec *spec, *next = specs;
	unsigned int i;
	int ret;

	memset(at, 0, CMX_ATTR_NUM);
	for (i = 0; i < num; i++) {
		const struct ib_uverbs_attr *attr = &attrs[i];

		if (attr->flags & ~UVERBS_ATTR_F_MANDATORY || attr->attr_data.reserved)
			return -EINVAL;
		spec = find(specs, next, attr->attr_id);
		if (!spec) {
			if (attr->flags & UVERBS_ATTR_F_MANDATORY)
				return -EPROTONOSUPPORT;
			continue;
		}
		if (at[spec->id])
			return -EINVAL;
		ret = check_one(spec, attr);
		if (ret)
			return ret;
		at[spec->id] = i + 1;
		next = spec + 1;
	}
	for (spec = specs; spec->dir != CMX_DIR_END; spec++)
		if (spec->mandatory && !at[spec->id])
			return -EINVAL;
	return 0;
}
