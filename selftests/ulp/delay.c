// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A provider of iWARP that waits, as for its firmware
 *
 *	delay INTERFACE CALL	until a signal comes, the operation CALL of the device waits
 *
 * The output has a line "waits" for each call that waits.
 */
#include <linux/completion.h>
#include <linux/container_of.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/wait_bit.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include "cmx_ulp.h"

static typeof_member(struct ib_device, ops) provider;	/* operations of the device */
static struct completion released;
static atomic_t delayed;		/* calls that have not returned */

static void delay_begin(void)
{
	atomic_inc(&delayed);
	ulp_print("waits\n");
	wait_for_completion(&released);
}

static int delay_end(int ret)
{
	if (atomic_dec_and_test(&delayed))
		wake_up_var(&delayed);
	return ret;
}

static int delay_listen(struct iw_cm_id *iw, int backlog)
{
	delay_begin();
	return delay_end(provider.iw_create_listen(iw, backlog));
}

static int delay_accept(struct iw_cm_id *iw, struct iw_cm_conn_param *param)
{
	delay_begin();
	return delay_end(provider.iw_accept(iw, param));
}

static int delay_reject(struct iw_cm_id *iw, const void *data, u8 len)
{
	delay_begin();
	return delay_end(provider.iw_reject(iw, data, len));
}

static int delay_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			   struct ib_udata *udata)
{
	delay_begin();
	return delay_end(provider.modify_qp(qp, attr, mask, udata));
}

static int delay_set(struct ib_device_ops *ops, const char *call)
{
	if (!strcmp(call, "listen"))
		ops->iw_create_listen = delay_listen;
	else if (!strcmp(call, "accept"))
		ops->iw_accept = delay_accept;
	else if (!strcmp(call, "reject"))
		ops->iw_reject = delay_reject;
	else if (!strcmp(call, "modify_qp"))
		ops->modify_qp = delay_modify_qp;
	else
		return -EINVAL;
	return 0;
}

/* by its interface: kernel 7 does not find a device by its name */
static struct ib_device *delay_find_device(const char *interface)
{
	struct net_device *ndev = dev_get_by_name(current->nsproxy->net_ns, interface);
	struct ib_device *device;

	if (!ndev)
		return NULL;
	device = ib_device_get_by_netdev(ndev, RDMA_DRIVER_SIW);
	dev_put(ndev);
	return device;
}

int ulp_delay(int argc, char **argv)
{
	struct ib_device *device = delay_find_device(argv[1]);
	int ret;

	if (!device)
		return -ENODEV;
	init_completion(&released);
	provider = device->ops;
	ret = delay_set(&device->ops, argv[2]);
	if (!ret) {
		ulp_print("delays\n");
		ulp_wait_signal();
		device->ops = provider;
		complete_all(&released);
		wait_var_event(&delayed, !atomic_read(&delayed));
	}
	ib_device_put(device);
	return ret;
}
