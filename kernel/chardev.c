// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The char device /dev/infiniband/rdma_cmx. An open file is an event channel.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include "chardev.h"
#include "compat.h"
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

static bool program_holds(struct cmx_file *file)
{
	struct cmx_channel_page *page = READ_ONCE(file->page);

	if (!page)
		return false;
	WRITE_ONCE(page->polled, 1);
	/* the program, with the same barrier, sees that; or else we see this */
	smp_mb();
	return READ_ONCE(page->held);
}

static __poll_t cmx_poll(struct file *filp, struct poll_table_struct *table)
{
	struct cmx_file *file = filp->private_data;

	WRITE_ONCE(file->polled, true);
	/* against cmx_mmap(): one of us finds what the other has set */
	smp_mb();
	poll_wait(filp, &file->wait, table);
	return program_holds(file) || !list_empty(&file->events) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* The lock of the address space is held: a fetch takes it within the file's mutex. */
static struct cmx_channel_page *get_page_of(struct cmx_file *file)
{
	struct cmx_channel_page *page = READ_ONCE(file->page), *other;

	if (page)
		return page;
	page = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page)
		return NULL;
	other = cmpxchg(&file->page, NULL, page);
	if (!other)
		return page;
	free_page((unsigned long)page);
	return other;
}

/*
 * A child that has closed all its files must not keep the channel open by a
 * mapping that it has forgotten.
 */
static int cmx_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct cmx_file *file = filp->private_data;
	struct cmx_channel_page *page;

	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	page = get_page_of(file);
	if (!page)
		return -ENOMEM;
	/* against cmx_poll(), which may not have seen the page */
	smp_mb();
	if (READ_ONCE(file->polled))
		WRITE_ONCE(page->polled, 1);
	cmx_vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND);
	return vm_insert_page(vma, vma->vm_start, virt_to_page(page));
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = cmx_open,
	.release = cmx_release,
	.poll = cmx_poll,
	.mmap = cmx_mmap,
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
