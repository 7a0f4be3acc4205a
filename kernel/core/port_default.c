// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Defaults of a RoCE port: default_roce_tos and default_roce_mode in the sysfs folder of the port.
 * The names and the values are the same as in the configfs folder of rdma_cm.
 */
#include <linux/capability.h>
#include <linux/kobject.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>
#include "compat.h"
#include "device.h"
#include "param.h"
#include "port_default.h"
#include "stats.h"

#define NO_TOS "none"

/* Names of the GID types from IB_GID_TYPE_ROCE on */
static const char *const roce_modes[] = { "IB/RoCE v1", "RoCE v2" };

static struct cmx_dev_port *default_dev_port(struct kobject *kobj)
{
	return container_of(kobj, struct cmx_stats, kobj)->dev_port;
}

static ssize_t default_roce_tos_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	int tos = READ_ONCE(default_dev_port(kobj)->default_tos);

	return tos < 0 ? sysfs_emit(buf, NO_TOS "\n") : sysfs_emit(buf, "%d\n", tos);
}

static ssize_t default_roce_tos_store(struct kobject *kobj, struct kobj_attribute *attr,
				      const char *buf, size_t count)
{
	unsigned int tos;
	int ret;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (sysfs_streq(buf, NO_TOS)) {
		WRITE_ONCE(default_dev_port(kobj)->default_tos, CMX_NO_TOS);
		return count;
	}
	ret = cmx_param_parse(buf, 0, U8_MAX, &tos);
	if (ret)
		return ret;
	WRITE_ONCE(default_dev_port(kobj)->default_tos, tos);
	return count;
}

static ssize_t default_roce_mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	u8 type = READ_ONCE(default_dev_port(kobj)->gid_type);

	return sysfs_emit(buf, "%s\n", roce_modes[type - IB_GID_TYPE_ROCE]);
}

static ssize_t default_roce_mode_store(struct kobject *kobj, struct kobj_attribute *attr,
				       const char *buf, size_t count)
{
	struct cmx_dev_port *dp = default_dev_port(kobj);
	int type;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	type = sysfs_match_string(roce_modes, buf);
	if (type < 0)
		return type;
	type += IB_GID_TYPE_ROCE;
	if (!(dp->gid_types & BIT(type)))
		return -EINVAL;
	WRITE_ONCE(dp->gid_type, type);
	return count;
}

static const struct kobj_attribute default_roce_tos = __ATTR_RW(default_roce_tos);
static const struct kobj_attribute default_roce_mode = __ATTR_RW(default_roce_mode);

static const struct attribute *default_files[] = {
	&default_roce_tos.attr,
	&default_roce_mode.attr,
	NULL,
};

/**
 * cmx_dev_port_default_init() - initialize the defaults of a port
 * @device: the device
 * @port: the port
 * @dev_port: its data, with transport and counters
 *
 * Only RoCE ports have the files. As for the counters, an error of sysfs is only logged.
 */
void cmx_dev_port_default_init(struct ib_device *device, u32 port, struct cmx_dev_port *dev_port)
{
	int ret;

	dev_port->default_tos = CMX_NO_TOS;
	/* Without the folder, cmx_stats_new() has logged the error. */
	if (!rdma_protocol_roce(device, port) || !dev_port->stats->kobj.state_in_sysfs)
		return;
	dev_port->gid_types = roce_gid_type_mask_support(device, port);
	dev_port->stats->dev_port = dev_port;
	ret = sysfs_create_files(&dev_port->stats->kobj, default_files);
	if (ret)
		ibdev_warn(device, "rdma_cmx: no defaults of port %u in sysfs: %d\n", port, ret);
}
