// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reading and writing the attributes of a command.
 */
#include <linux/mm.h>
#include <linux/uaccess.h>
#include "compat.h"
#include "info.h"
#include "ioctl.h"
#include "lock_order.h"
#include "sockaddr.h"

/**
 * cmx_ioctl_copy_out() - copy a structure to user space
 * @to: destination in user space
 * @from: the structure
 * @size: its size. It is copied word by word: for some hundred bytes this is faster than
 *	copy_to_user()
 * @asked: size of the destination, whose rest is zeroed
 *
 * Return: 0 or -EFAULT.
 */
int cmx_ioctl_copy_out(void __user *to, const void *from, size_t size, size_t asked)
{
	size_t len = min(size, asked);

	cmx_id_lock_assert_none();
	if (!user_write_access_begin(to, len))
		return -EFAULT;
	unsafe_copy_to_user(to, from, len, fault);
	user_write_access_end();
	return asked > len && clear_user(to + len, asked - len) ? -EFAULT : 0;
fault:
	user_write_access_end();
	return -EFAULT;
}

/* The caller is about to access the memory, which may wait. */
static void __user *call_attr_user_ptr(const struct ib_uverbs_attr *attr)
{
	cmx_id_lock_assert_none();
	return u64_to_user_ptr(attr->data);
}

/*
 * Truncate an input that is longer than this kernel knows. The surplus must be zero. If at most
 * eight bytes remain, they are moved into the attribute.
 */
static int call_input_prepare(const struct cmx_attr_spec *spec, struct ib_uverbs_attr *attr)
{
	u64 value = 0;
	int ret;

	if (attr->len <= spec->max)
		return 0;
	if (attr->len > sizeof(attr->data)) {
		ret = check_zeroed_user(call_attr_user_ptr(attr) + spec->max,
					attr->len - spec->max);
		if (ret <= 0)
			return ret ?: -E2BIG;
		if (spec->max <= sizeof(value)) {
			if (copy_from_user(&value, call_attr_user_ptr(attr), spec->max))
				return -EFAULT;
			attr->data = value;
		}
	}
	attr->len = spec->max;
	return 0;
}

/*
 * Write to the first byte of an output buffer, and to the last one if that is in another page. A
 * buffer that is smaller than a page lies in these two pages.
 */
static int call_output_prepare(const struct ib_uverbs_attr *attr)
{
	u8 __user *to = call_attr_user_ptr(attr);

	if (put_user(0, to))
		return -EFAULT;
	if (offset_in_page(attr->data) + attr->len > PAGE_SIZE && put_user(0, to + attr->len - 1))
		return -EFAULT;
	return 0;
}

/* @spec: the list of the method */
static int call_inputs_prepare(struct cmx_call *call, const struct cmx_attr_spec *spec)
{
	int ret = 0;

	for (; spec->dir != CMX_DIR_END && !ret; spec++)
		if (spec->dir == CMX_DIR_IN && call->index.at[spec->id])
			ret = call_input_prepare(spec,
						 &call->attrs[call->index.at[spec->id] - 1]);
	return ret;
}

/**
 * cmx_call_prepare() - prepare the attributes of a command
 * @call: the command, whose attributes have been checked
 * @spec: the list of the method
 *
 * Every output buffer is known to be writable afterwards, so that a call does not fail after it has
 * changed something.
 *
 * Return: 0, -EFAULT, or -E2BIG if the surplus of an input is not zero.
 */
int cmx_call_prepare(struct cmx_call *call, const struct cmx_attr_spec *spec)
{
	unsigned int outputs = call->index.outputs;
	int ret = 0;

	if (call->index.surplus)
		ret = call_inputs_prepare(call, spec);
	for (; outputs && !ret; outputs &= outputs - 1)
		ret = call_output_prepare(&call->attrs[__ffs(outputs)]);
	return ret;
}

/**
 * cmx_call_u64() - get an input of at most eight bytes
 * @call: the command
 * @id: the attribute
 *
 * Return: its value, or 0 if it was not given.
 */
u64 cmx_call_u64(const struct cmx_call *call, enum cmx_attr id)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, id);

	return attr ? attr->data : 0;
}

/**
 * cmx_call_in() - copy an input
 * @call: the command
 * @id: the attribute
 * @to: destination; bytes that follow the input are zeroed
 * @size: size of @to, at least the maximum in the method's list of attributes
 *
 * Return: the length of the input, 0 if it was not given, or -EFAULT.
 */
int cmx_call_in(const struct cmx_call *call, enum cmx_attr id, void *to, size_t size)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, id);
	size_t len = attr ? attr->len : 0;

	if (WARN_ON_ONCE(len > size))
		return -EFAULT;
	if (len < size)
		memset(to + len, 0, size - len);
	if (!len)
		return 0;
	if (len <= sizeof(attr->data))
		memcpy(to, &attr->data, len);
	else if (copy_from_user(to, call_attr_user_ptr(attr), len))
		return -EFAULT;
	return len;
}

/**
 * cmx_call_in_addr() - copy a socket address
 * @call: the command
 * @id: the attribute
 * @to: destination; its family is 0 if the address was not given. No byte after cmx_addr_size() of
 *	it is valid
 *
 * Return: 0, -EFAULT, -EAFNOSUPPORT, or -EINVAL if the address is too short.
 */
int cmx_call_in_addr(const struct cmx_call *call, enum cmx_attr id, struct sockaddr_storage *to)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, id);
	size_t len = attr ? attr->len : 0, size;

	if (!len) {
		to->ss_family = 0;
		return 0;
	}
	/* by the lists of all methods, @len includes the family and does not exceed @to */
	if (copy_from_user(to, call_attr_user_ptr(attr), len))
		return -EFAULT;
	size = cmx_addr_size((struct sockaddr *)to);
	if (!size)
		return -EAFNOSUPPORT;
	return len < size ? -EINVAL : 0;
}

/**
 * cmx_call_out() - write an output, if the caller asked for it
 * @call: the command
 * @id: the attribute
 * @from: the output
 * @size: size of @from; the rest of the user's buffer is zeroed
 *
 * Return: 0 or -EFAULT.
 */
int cmx_call_out(const struct cmx_call *call, enum cmx_attr id, const void *from, size_t size)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, id);

	return attr ? cmx_ioctl_copy_out(call_attr_user_ptr(attr), from, size, attr->len) : 0;
}

int cmx_call_out_u32(const struct cmx_call *call, enum cmx_attr id, u32 value)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, id);

	if (attr && attr->len == sizeof(value))
		return put_user(value, (u32 __user *)call_attr_user_ptr(attr));
	return cmx_call_out(call, id, &value, sizeof(value));
}

/**
 * cmx_call_out_info() - write %CMX_ATTR_INFO, if the caller asked for it
 * @call: the command
 * @user_id: the id to describe
 *
 * Return: 0 or -EFAULT.
 */
int cmx_call_out_info(const struct cmx_call *call, struct cmx_user_id *user_id)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, CMX_ATTR_INFO);
	struct cmx_id_info info __uninitialized;

	if (!attr)
		return 0;
	cmx_info_fill(user_id, &info, attr->len);
	return cmx_call_out(call, CMX_ATTR_INFO, &info, sizeof(info));
}
