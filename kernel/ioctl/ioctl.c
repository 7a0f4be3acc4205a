// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ioctl engine: the table of methods. It copies a command, checks its attributes against the
 * list of the method, and runs the handler, which accesses them by call.c.
 */
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include "compat.h"
#include "ioctl.h"

/* Ids have the most methods. A row for a method beyond these does not compile. */
#define IOCTL_METHODS (CMX_ID_QUERY_SERVICES + 1)

static const struct cmx_method *const ioctl_methods[CMX_OBJ_NUM][IOCTL_METHODS] = {
#define CMX_METHOD(object, method, name) \
	[CMX_OBJ_##object][CMX_##object##_##method] = &cmx_method_##name,
#include "method_rows.h"
};

static const struct cmx_method *ioctl_method_find(u16 object, u16 method)
{
	if (object >= CMX_OBJ_NUM || method >= IOCTL_METHODS)
		return NULL;
	object = array_index_nospec(object, CMX_OBJ_NUM);
	method = array_index_nospec(method, IOCTL_METHODS);
	return ioctl_methods[object][method];
}

/*
 * Copy a command. For so few words this is faster than copy_from_user(). The header is checked
 * afterwards, because no function may be called while user memory is accessible.
 */
static int ioctl_command_copy(struct cmx_ioctl_hdr *hdr, struct ib_uverbs_attr *attr,
			      const struct cmx_ioctl_hdr __user *user)
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
 * @arg: address of the &struct cmx_ioctl_hdr in user space
 *
 * Return: 0, -ENOTTY for any other @cmd, -EFAULT, -EPROTONOSUPPORT for an unknown
 * method, -EACCES if another process opened the file, -EBADF for an id or a membership
 * if the file is not open for writing, or the error of
 * cmx_attr_check_hdr(), cmx_attr_check() or the method.
 */
long cmx_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	const struct cmx_method *method;
	struct cmx_call call __uninitialized;
	struct cmx_ioctl_hdr hdr __uninitialized;
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
	/* a drain refuses only files that are open for writing */
	if (hdr.object_id != CMX_OBJ_CHANNEL && !(filp->f_mode & FMODE_WRITE))
		return -EBADF;
	ret = cmx_attr_check(method->attrs, call.attrs, hdr.num_attrs, &call.index);
	if (!ret)
		ret = cmx_call_prepare(&call, method->attrs);
	return ret ?: ioctl_method_run(method, &call);
}
