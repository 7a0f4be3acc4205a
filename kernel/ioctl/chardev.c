// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The character device /dev/infiniband/rdma_cmx. Each open file is an event channel.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include "chardev.h"
#include "ioctl.h"
#include "stats.h"

/* New channels are refused, until the module can be replaced. */
static bool chardev_drain;

/* cmx(8) only reads, and is not refused. A file that is open for reading only cannot have ids. */
static int chardev_open(struct inode *inode, struct file *filp)
{
	struct cmx_channel *channel;

	if (READ_ONCE(chardev_drain) && filp->f_mode & FMODE_WRITE)
		return -ENODEV;
	channel = cmx_channel_new();
	if (!channel)
		return -ENOMEM;
	filp->private_data = channel;
	return stream_open(inode, filp);
}

static int chardev_release(struct inode *inode, struct file *filp)
{
	cmx_channel_close(filp->private_data);
	return 0;
}

static __poll_t chardev_poll(struct file *filp, struct poll_table_struct *table)
{
	struct cmx_channel *channel = filp->private_data;

	poll_wait(filp, &channel->wait, table);
	return list_empty(&channel->events) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static const struct file_operations chardev_fops = {
	.owner = THIS_MODULE,
	.open = chardev_open,
	.release = chardev_release,
	.poll = chardev_poll,
	.unlocked_ioctl = cmx_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/*
 * Counters and gauges of the host, in the folder "stats": of ids that are attached to no port, and
 * of events. Those of ports are in the folders of the ports.
 */
#define CHARDEV_STAT(name, value)								\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{												\
	return sysfs_emit(buf, "%llu\n", (u64)(value));						\
}												\
static DEVICE_ATTR_RO(name)

CHARDEV_STAT(unattached_addr_timeouts,
	     atomic64_read(&cmx_stats_unattached.count[CMX_STAT_ADDR_TIMEOUT]));
CHARDEV_STAT(unattached_addr_errors,
	     atomic64_read(&cmx_stats_unattached.count[CMX_STAT_ADDR_ERROR]));
CHARDEV_STAT(now_unattached_listening,
	     atomic_read(&cmx_stats_unattached.gauge[CMX_GAUGE_LISTENING]));
CHARDEV_STAT(now_queued_events, cmx_channel_num_queued());

static struct attribute *chardev_stats[] = {
	&dev_attr_unattached_addr_timeouts.attr,
	&dev_attr_unattached_addr_errors.attr,
	&dev_attr_now_unattached_listening.attr,
	&dev_attr_now_queued_events.attr,
	NULL
};

static const struct attribute_group chardev_stats_group = {
	.name = "stats",
	.attrs = chardev_stats,
};

static DEVICE_BOOL_ATTR(drain, 0644, chardev_drain);

static struct attribute *chardev_attrs[] = {
	&dev_attr_drain.attr.attr,
	NULL
};

static const struct attribute_group chardev_group = {
	.attrs = chardev_attrs,
};

static const struct attribute_group *chardev_groups[] = {
	&chardev_group,
	&chardev_stats_group,
	NULL
};

/* Everybody may open it: operations that need a privilege, as low ports do, check for it. */
static struct miscdevice chardev_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = CMX_DEVICE_NAME,
	.nodename = "infiniband/" CMX_DEVICE_NAME,
	.mode = 0666,
	.fops = &chardev_fops,
	.groups = chardev_groups,
};

int cmx_chardev_init_module(void)
{
	return misc_register(&chardev_misc);
}

void cmx_chardev_exit_module(void)
{
	misc_deregister(&chardev_misc);
}
