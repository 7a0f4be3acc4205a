// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The char device /dev/infiniband/rdma_cmx. An open file is an event channel.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include "chardev.h"
#include "ioctl.h"

static int cmx_open(struct inode *inode, struct file *filp)
{
	struct cmx_file *file = cmx_file_new();

	if (!file)
		return -ENOMEM;
	filp->private_data = file;
	return stream_open(inode, filp);
}

static int cmx_release(struct inode *inode, struct file *filp)
{
	cmx_file_close(filp->private_data);
	return 0;
}

static __poll_t cmx_poll(struct file *filp, struct poll_table_struct *table)
{
	struct cmx_file *file = filp->private_data;

	poll_wait(filp, &file->wait, table);
	return list_empty(&file->events) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = cmx_open,
	.release = cmx_release,
	.poll = cmx_poll,
	.unlocked_ioctl = cmx_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* No privilege is asked for: what needs one, as low ports, is checked there. */
static struct miscdevice misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = CMX_DEVICE_NAME,
	.nodename = "infiniband/" CMX_DEVICE_NAME,
	.mode = 0666,
	.fops = &fops,
};

/**
 * cmx_file_of() - the channel behind an open file
 * @filp: any open file
 *
 * Return: the channel, or NULL when it is not our device.
 */
struct cmx_file *cmx_file_of(struct file *filp)
{
	return filp->f_op == &fops ? filp->private_data : NULL;
}

int cmx_chardev_init_module(void)
{
	int ret = cmx_handle_init_module();

	if (ret)
		return ret;
	ret = misc_register(&misc);
	if (ret)
		cmx_handle_exit_module();
	return ret;
}

void cmx_chardev_exit_module(void)
{
	misc_deregister(&misc);
	cmx_handle_exit_module();
}
