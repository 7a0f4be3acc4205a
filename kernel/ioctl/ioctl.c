// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ioctl engine. It copies a command, checks its attributes against the list
 * of the method, and runs the handler, which accesses them by cmx_call_*().
 *
 * Every output buffer is known to be writable before the handler runs, so that
 * a call does not fail after it has changed something.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include "compat.h"
#include "info.h"
#include "ioctl.h"
#include "lock_order.h"
#include "sockaddr.h"

static const struct cmx_method *const ioctl_channel_methods[] = {
	[CMX_CHANNEL_INFO] = &cmx_method_channel_info,
	[CMX_CHANNEL_GET_EVENTS] = &cmx_method_get_events,
	[CMX_CHANNEL_LIST_IDS] = &cmx_method_list_ids,
};

static const struct cmx_method *const ioctl_id_methods[] = {
	[CMX_ID_CREATE] = &cmx_method_create,
	[CMX_ID_DESTROY] = &cmx_method_destroy,
	[CMX_ID_BIND] = &cmx_method_bind,
	[CMX_ID_RESOLVE_ADDR] = &cmx_method_resolve_addr,
	[CMX_ID_RESOLVE_ROUTE] = &cmx_method_resolve_route,
	[CMX_ID_QUERY] = &cmx_method_query,
	[CMX_ID_LISTEN] = &cmx_method_listen,
	[CMX_ID_CONNECT] = &cmx_method_connect,
	[CMX_ID_ACCEPT] = &cmx_method_accept,
	[CMX_ID_ESTABLISH] = &cmx_method_establish,
	[CMX_ID_REJECT] = &cmx_method_reject,
	[CMX_ID_DISCONNECT] = &cmx_method_disconnect,
	[CMX_ID_NOTIFY] = &cmx_method_notify,
	[CMX_ID_INIT_QP_ATTR] = &cmx_method_init_qp_attr,
	[CMX_ID_SET_OPTION] = &cmx_method_set_option,
	[CMX_ID_GET_OPTION] = &cmx_method_get_option,
	[CMX_ID_MIGRATE] = &cmx_method_migrate,
	[CMX_ID_WRITE_EVENT] = &cmx_method_write_event,
	[CMX_ID_RESOLVE_SERVICE] = &cmx_method_resolve_service,
	[CMX_ID_QUERY_SERVICES] = &cmx_method_query_services,
};

static const struct cmx_method *const ioctl_mcast_methods[] = {
	[CMX_MCAST_JOIN] = &cmx_method_join,
	[CMX_MCAST_LEAVE] = &cmx_method_leave,
	[CMX_MCAST_REPORT] = &cmx_method_report,
};

static const struct {
	const struct cmx_method *const *methods;
	u16 num;
} ioctl_objects[CMX_OBJ_NUM] = {
	[CMX_OBJ_CHANNEL] = { ioctl_channel_methods, ARRAY_SIZE(ioctl_channel_methods) },
	[CMX_OBJ_ID] = { ioctl_id_methods, ARRAY_SIZE(ioctl_id_methods) },
	[CMX_OBJ_MCAST] = { ioctl_mcast_methods, ARRAY_SIZE(ioctl_mcast_methods) },
};

static const struct cmx_method *ioctl_method_find(u16 object, u16 method)
{
	if (object >= CMX_OBJ_NUM)
		return NULL;
	object = array_index_nospec(object, CMX_OBJ_NUM);
	if (method >= ioctl_objects[object].num)
		return NULL;
	method = array_index_nospec(method, ioctl_objects[object].num);
	return ioctl_objects[object].methods[method];
}

/*
 * Copy a command. For so few words this is faster than copy_from_user(). The header is checked
 * afterwards, because no function may be called while user memory is accessible.
 */
static int ioctl_command_copy(struct ib_uverbs_ioctl_hdr *hdr, struct ib_uverbs_attr *attr,
			      const struct ib_uverbs_ioctl_hdr __user *user)
{
	const u64 __user *word = (const u64 __user *)user;
	u64 *to = (u64 *)attr, *end;

	BUILD_BUG_ON(sizeof(*hdr) != 3 * sizeof(u64) || sizeof(*attr) != 2 * sizeof(u64));
	if (!user_read_access_begin(user, sizeof(*hdr)))
		return -EFAULT;
	unsafe_get_user(((u64 *)hdr)[0], word, fault);
	unsafe_get_user(((u64 *)hdr)[1], word + 1, fault);
	unsafe_get_user(((u64 *)hdr)[2], word + 2, fault);
	end = to + 2 * min_t(u32, hdr->num_attrs, CMX_MAX_ATTRS);
	word += 3;
	if (!access_ok(word, (void *)end - (void *)to))
		goto fault;
	for (; to < end; to += 2, word += 2) {
		unsafe_get_user(to[0], word, fault);
		unsafe_get_user(to[1], word + 1, fault);
	}
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

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
static void __user *ioctl_attr_user_ptr(const struct ib_uverbs_attr *attr)
{
	cmx_id_lock_assert_none();
	return u64_to_user_ptr(attr->data);
}

/*
 * Truncate an input that is longer than this kernel knows. The surplus must be zero. If at most
 * eight bytes remain, they are moved into the attribute.
 */
static int ioctl_input_prepare(const struct cmx_attr_spec *spec, struct ib_uverbs_attr *attr)
{
	u64 value = 0;
	int ret;

	if (attr->len <= spec->max)
		return 0;
	if (attr->len > sizeof(attr->data)) {
		ret = check_zeroed_user(ioctl_attr_user_ptr(attr) + spec->max,
					attr->len - spec->max);
		if (ret <= 0)
			return ret ?: -E2BIG;
		if (spec->max <= sizeof(value)) {
			if (copy_from_user(&value, ioctl_attr_user_ptr(attr), spec->max))
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
static int ioctl_output_prepare(const struct ib_uverbs_attr *attr)
{
	u8 __user *to = ioctl_attr_user_ptr(attr);

	if (put_user(0, to))
		return -EFAULT;
	if (offset_in_page(attr->data) + attr->len > PAGE_SIZE && put_user(0, to + attr->len - 1))
		return -EFAULT;
	return 0;
}

/* @spec: the list of the method */
static int ioctl_inputs_prepare(struct cmx_call *call, const struct cmx_attr_spec *spec)
{
	int ret = 0;

	for (; spec->dir != CMX_DIR_END && !ret; spec++)
		if (spec->dir == CMX_DIR_IN && call->index.at[spec->id])
			ret = ioctl_input_prepare(spec,
						  &call->attrs[call->index.at[spec->id] - 1]);
	return ret;
}

static int ioctl_attrs_prepare(struct cmx_call *call, const struct cmx_attr_spec *spec)
{
	unsigned int outputs = call->index.outputs;
	int ret = 0;

	if (call->index.surplus)
		ret = ioctl_inputs_prepare(call, spec);
	for (; outputs && !ret; outputs &= outputs - 1)
		ret = ioctl_output_prepare(&call->attrs[__ffs(outputs)]);
	return ret;
}

static int ioctl_method_run(const struct cmx_method *method, struct cmx_call *call)
{
	struct cmx_user_id *user_id;
	int ret;

	if (method->call)
		return method->call(call);
	if (!cmx_call_attr(call, CMX_ATTR_ID))
		return cmx_call_new_id(call, method->id_call);
	user_id = cmx_handle_get_id(call->channel, cmx_call_u32(call, CMX_ATTR_ID));
	if (IS_ERR(user_id))
		return PTR_ERR(user_id);
	ret = cmx_user_id_begin_call(user_id);
	if (!ret) {
		ret = method->id_call(call, user_id);
		cmx_user_id_end_call(user_id);
	}
	/* the state allows no operation; the reason is that the device is gone */
	if (ret == -EINVAL && READ_ONCE(user_id->id_priv.state) == CMX_REMOVED)
		ret = -ENODEV;
	cmx_user_id_put(user_id);
	return ret;
}

/**
 * cmx_ioctl() - run a command of a process
 * @filp: the open file
 * @cmd: %CMX_IOCTL
 * @arg: address of the &struct ib_uverbs_ioctl_hdr in user space
 *
 * Return: 0, -ENOTTY for any other @cmd, -EFAULT, -EPROTONOSUPPORT for an unknown
 * method, -EACCES if another process opened the file, or the error of
 * cmx_attr_check_hdr(), cmx_attr_check() or the method.
 */
long cmx_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	const struct cmx_method *method;
	struct cmx_call call __uninitialized;
	struct ib_uverbs_ioctl_hdr hdr __uninitialized;
	int ret;

	if (cmd != CMX_IOCTL)
		return -ENOTTY;
	if (ioctl_command_copy(&hdr, call.attrs, (void __user *)arg))
		return -EFAULT;
	ret = cmx_attr_check_hdr(&hdr);
	if (ret)
		return ret;
	method = ioctl_method_find(hdr.object_id, hdr.method_id);
	if (!method)
		return -EPROTONOSUPPORT;
	call.filp = filp;
	call.channel = filp->private_data;
	if (!cmx_channel_is_own(call.channel))
		return -EACCES;
	ret = cmx_attr_check(method->attrs, call.attrs, hdr.num_attrs, &call.index);
	if (!ret)
		ret = ioctl_attrs_prepare(&call, method->attrs);
	return ret ?: ioctl_method_run(method, &call);
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
	else if (copy_from_user(to, ioctl_attr_user_ptr(attr), len))
		return -EFAULT;
	return len;
}

/**
 * cmx_call_in_addr() - copy a socket address
 * @call: the command
 * @id: the attribute
 * @to: destination; zeroed if the address was not given
 *
 * Return: 0, -EFAULT, -EAFNOSUPPORT, or -EINVAL if the address is too short.
 */
int cmx_call_in_addr(const struct cmx_call *call, enum cmx_attr id, struct sockaddr_storage *to)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, id);
	size_t len = attr ? attr->len : 0, size;

	if (!len) {
		memset(to, 0, sizeof(*to));
		return 0;
	}
	/* by the lists of all methods, @len includes the family and does not exceed @to */
	if (copy_from_user(to, ioctl_attr_user_ptr(attr), len))
		return -EFAULT;
	size = cmx_addr_size((struct sockaddr *)to);
	if (!size)
		return -EAFNOSUPPORT;
	if (len < size)
		return -EINVAL;
	memset((void *)to + size, 0, sizeof(*to) - size);
	return 0;
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

	return attr ? cmx_ioctl_copy_out(ioctl_attr_user_ptr(attr), from, size, attr->len) : 0;
}

int cmx_call_out_u32(const struct cmx_call *call, enum cmx_attr id, u32 value)
{
	const struct ib_uverbs_attr *attr = cmx_call_attr(call, id);

	if (attr && attr->len == sizeof(value))
		return put_user(value, (u32 __user *)ioctl_attr_user_ptr(attr));
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
