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
	[CMX_OBJ_CHANNEL][CMX_CHANNEL_INFO] = &cmx_method_channel_info,
	[CMX_OBJ_CHANNEL][CMX_CHANNEL_GET_EVENTS] = &cmx_method_get_events,
	[CMX_OBJ_CHANNEL][CMX_CHANNEL_LIST_IDS] = &cmx_method_list_ids,
	[CMX_OBJ_CHANNEL][CMX_CHANNEL_KILL] = &cmx_method_kill,
	[CMX_OBJ_CHANNEL][CMX_CHANNEL_GET_RULES] = &cmx_method_get_rules,
	[CMX_OBJ_CHANNEL][CMX_CHANNEL_SET_RULES] = &cmx_method_set_rules,
	[CMX_OBJ_ID][CMX_ID_CREATE] = &cmx_method_create,
	[CMX_OBJ_ID][CMX_ID_DESTROY] = &cmx_method_destroy,
	[CMX_OBJ_ID][CMX_ID_BIND] = &cmx_method_bind,
	[CMX_OBJ_ID][CMX_ID_RESOLVE_ADDR] = &cmx_method_resolve_addr,
	[CMX_OBJ_ID][CMX_ID_RESOLVE_ROUTE] = &cmx_method_resolve_route,
	[CMX_OBJ_ID][CMX_ID_QUERY] = &cmx_method_query,
	[CMX_OBJ_ID][CMX_ID_LISTEN] = &cmx_method_listen,
	[CMX_OBJ_ID][CMX_ID_CONNECT] = &cmx_method_connect,
	[CMX_OBJ_ID][CMX_ID_ACCEPT] = &cmx_method_accept,
	[CMX_OBJ_ID][CMX_ID_ESTABLISH] = &cmx_method_establish,
	[CMX_OBJ_ID][CMX_ID_REJECT] = &cmx_method_reject,
	[CMX_OBJ_ID][CMX_ID_DISCONNECT] = &cmx_method_disconnect,
	[CMX_OBJ_ID][CMX_ID_NOTIFY] = &cmx_method_notify,
	[CMX_OBJ_ID][CMX_ID_INIT_QP_ATTR] = &cmx_method_init_qp_attr,
	[CMX_OBJ_ID][CMX_ID_SET_OPTION] = &cmx_method_set_option,
	[CMX_OBJ_ID][CMX_ID_GET_OPTION] = &cmx_method_get_option,
	[CMX_OBJ_ID][CMX_ID_MIGRATE] = &cmx_method_migrate,
	[CMX_OBJ_ID][CMX_ID_WRITE_EVENT] = &cmx_method_write_event,
	[CMX_OBJ_ID][CMX_ID_RESOLVE_SERVICE] = &cmx_method_resolve_service,
	[CMX_OBJ_ID][CMX_ID_QUERY_SERVICES] = &cmx_method_query_services,
	[CMX_OBJ_MCAST][CMX_MCAST_JOIN] = &cmx_method_join,
	[CMX_OBJ_MCAST][CMX_MCAST_LEAVE] = &cmx_method_leave,
	[CMX_OBJ_MCAST][CMX_MCAST_REPORT] = &cmx_method_report,
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
 * method, -EACCES if another process opened the file, or the error of
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
	ret = cmx_attr_check(method->attrs, call.attrs, hdr.num_attrs, &call.index);
	if (!ret)
		ret = cmx_call_prepare(&call, method->attrs);
	return ret ?: ioctl_method_run(method, &call);
}
