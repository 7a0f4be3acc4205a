// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Checks of an ioctl command that need no access to user memory.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "attr.h"

/* Version 0: the program does without the check. */
static bool attr_abi_is_accepted(u32 version)
{
	return !version || (version >= CMX_ABI_VERSION_MIN && version <= CMX_ABI_VERSION);
}

/**
 * cmx_attr_check_hdr() - check the header of a command
 * @hdr: the header, without the attributes
 *
 * Return: 0, -EINVAL for a malformed header, or -EPROTO if the ABI version of the caller is not
 * accepted.
 */
int cmx_attr_check_hdr(const struct cmx_ioctl_hdr *hdr)
{
	if (hdr->num_attrs > CMX_MAX_ATTRS ||
	    hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]) ||
	    hdr->reserved1 || hdr->reserved2)
		return -EINVAL;
	return attr_abi_is_accepted(hdr->abi_version) ? 0 : -EPROTO;
}

/*
 * Start the search at @spec and wrap around: most callers pass attributes in the order of the list.
 */
static const struct cmx_attr_spec *attr_spec_find(const struct cmx_attr_spec *specs,
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

/*
 * An input of up to eight bytes is inline in the attribute. A longer one is in user memory and is
 * not checked here.
 */
static bool attr_surplus_is_zero(const struct cmx_attr_spec *spec,
				 const struct ib_uverbs_attr *attr)
{
	if (attr->len <= spec->max || attr->len > sizeof(attr->data))
		return true;
	return !memchr_inv((const u8 *)&attr->data + spec->max, 0, attr->len - spec->max);
}

/* The length is not between @min and @max. */
static int attr_len_check(const struct cmx_attr_spec *spec, const struct ib_uverbs_attr *attr)
{
	if (attr->len < spec->min)
		return spec->dir == CMX_DIR_OUT ? -ENOSPC : -EINVAL;
	return attr_surplus_is_zero(spec, attr) ? 0 : -E2BIG;
}

static bool attr_mandatory_are_given(const struct cmx_attr_spec *specs, const u8 *at)
{
	const struct cmx_attr_spec *spec;

	for (spec = specs; spec->dir != CMX_DIR_END; spec++)
		if (spec->mandatory && !at[spec->id])
			return false;
	return true;
}

/**
 * cmx_attr_check() - check the attributes of a command
 * @specs: the attributes that the method accepts
 * @attrs: the attributes that the caller passed
 * @num: number of @attrs
 * @index: receives the positions of the attributes
 *
 * The usual command has the attributes in the order of @specs, and no other lengths than this
 * kernel knows. Each command passes here, so that this case has the shortest code.
 *
 * Return:
 *
 * * 0: success.
 * * -EINVAL: an attribute is malformed, given twice or missing, or an input is too short.
 * * -EPROTONOSUPPORT: an unknown attribute has UVERBS_ATTR_F_MANDATORY set.
 * * -ENOSPC: an output is too short.
 * * -E2BIG: an inline input is longer than this kernel knows, and the rest is not zero.
 */
int cmx_attr_check(const struct cmx_attr_spec *specs, const struct ib_uverbs_attr *attrs,
		   unsigned int num, struct cmx_attr_index *index)
{
	const struct cmx_attr_spec *spec, *next = specs;
	unsigned int i, known = 0;
	int ret;

	memset(index, 0, sizeof(*index));
	for (i = 0; i < num; i++) {
		const struct ib_uverbs_attr *attr = &attrs[i];

		if (attr->flags & ~UVERBS_ATTR_F_MANDATORY || attr->attr_data.reserved)
			return -EINVAL;
		spec = next;
		if (spec->id != attr->attr_id || spec->dir == CMX_DIR_END) {
			spec = attr_spec_find(specs, next, attr->attr_id);
			if (!spec) {
				if (attr->flags & UVERBS_ATTR_F_MANDATORY)
					return -EPROTONOSUPPORT;
				continue;
			}
		}
		if (index->at[spec->id])
			return -EINVAL;
		if (attr->len < spec->min || attr->len > spec->max) {
			ret = attr_len_check(spec, attr);
			if (ret)
				return ret;
			index->surplus = true;
		}
		index->at[spec->id] = i + 1;
		if (spec->dir == CMX_DIR_OUT)
			index->outputs |= BIT(i);
		next = spec + 1;
		known++;
	}
	/* all attributes of the list are given, since none is given twice */
	if (next->dir == CMX_DIR_END && known == next - specs)
		return 0;
	return attr_mandatory_are_given(specs, index->at) ? 0 : -EINVAL;
}
