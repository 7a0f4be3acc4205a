// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listening: on the device of an address, or on all there are and will be.
 *
 * ib_cm gives a service ID of a device to one handler. Ours finds the id by
 * its port, so all ids that listen on a port share one entry of ib_cm, which
 * counts them.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "device.h"
#include "ib.h"
#include "iw.h"
#include "port.h"
#include "verbs.h"
#include "wire.h"

/* A listener on iWARP waits that long for the end of those before it. */
#define LEAVE_MS 2000

/**
 * struct cmx_listen - what a listener holds
 * @item: on the list of wildcard listeners, or nowhere
 * @p: the id
 * @backlog: as the owner said; iWARP's TCP has a queue
 * @service_id: that it listens on
 * @on: &listen_on.item
 */
struct cmx_listen {
	struct list_head item;
	struct cmx_priv *p;
	int backlog;
	__be64 service_id;
	struct list_head on;
};

/**
 * struct listen_on - a listener's share of one device
 * @item: on &cmx_listen.on
 * @dev: the device, with a reference
 * @cm: entry of ib_cm, or NULL
 * @iw: on iWARP: of iw_cm, which belongs to this listener alone
 * @work: gives it up
 */
struct listen_on {
	struct list_head item;
	struct cmx_device *dev;
	struct ib_cm_id *cm;
	struct iw_cm_id *iw;
	struct work_struct work;
};

static LIST_HEAD(wildcards);
static DEFINE_MUTEX(wildcards_lock);	/* protects wildcards and the devices of all listeners */
static atomic_t leaving;		/* those on iWARP that are being given up */
static DECLARE_WAIT_QUEUE_HEAD(left);

static void give_up(struct work_struct *work)
{
	struct listen_on *on = container_of(work, struct listen_on, work);

	if (on->iw) {
		cmx_iw_unlisten(on->iw);
		atomic_dec(&leaving);
		wake_up_all(&left);
	} else if (on->cm) {
		ib_destroy_cm_id(on->cm);
	}
	cmx_device_put(on->dev);
	kfree(on);
}

/* This waits for requests being handled, which take the listener's lock: not here. */
static void start_give_up(struct listen_on *on)
{
	if (on->iw)
		atomic_inc(&leaving);
	queue_work(cmx_wq, &on->work);
}

static void listen_off(struct listen_on *on)
{
	list_del(&on->item);
	start_give_up(on);
}

static int listen_on(struct cmx_listen *l, struct cmx_device *dev)
{
	struct ib_device *device = dev->device;
	struct listen_on *on;
	struct ib_cm_id *cm;
	int ret;

	lockdep_assert_held(&wildcards_lock);
	list_for_each_entry(on, &l->on, item)
		if (on->dev == dev)
			return 0;

	on = kzalloc(sizeof(*on), GFP_KERNEL_ACCOUNT);
	if (!on)
		return -ENOMEM;
	cmx_device_get(dev);
	on->dev = dev;
	INIT_WORK(&on->work, give_up);
	if (rdma_cap_iw_cm(device, rdma_start_port(device))) {
		ret = cmx_iw_listen(l->p, device, l->backlog, &on->iw);
	} else {
		cm = ib_cm_insert_listen(device, cmx_ib_req_handler, l->service_id);
		ret = PTR_ERR_OR_ZERO(cm);
		if (!ret)
			on->cm = cm;
	}
	if (ret) {
		start_give_up(on);
		/* it belongs to another handler: another module listens there */
		return ret == -EINVAL ? -EADDRINUSE : ret;
	}
	list_add(&on->item, &l->on);
	return 0;
}

static bool may_use(const struct cmx_listen *l, struct ib_device *device)
{
	return rdma_dev_access_netns(device, cmx_net(l->p)) &&
	       cmx_port_fits(l->p, device, rdma_start_port(device));
}

static int listen_on_port(struct cmx_device *dev, u32 port, void *arg)
{
	struct cmx_listen *l = arg;
	int ret;

	if (!may_use(l, dev->device))
		return 0;
	mutex_lock(&wildcards_lock);
	ret = listen_on(l, dev);
	mutex_unlock(&wildcards_lock);
	return ret;
}

/*
 * First on the list, then on each device: one that comes meanwhile is seen
 * here, or sees the list, or both.
 */
static int listen_on_all(struct cmx_listen *l)
{
	mutex_lock(&wildcards_lock);
	list_add_tail(&l->item, &wildcards);
	mutex_unlock(&wildcards_lock);
	return cmx_device_for_each_port(listen_on_port, l);
}

static int listen_on_one(struct cmx_listen *l, struct cmx_device *dev)
{
	int ret;

	mutex_lock(&wildcards_lock);
	ret = listen_on(l, dev);
	mutex_unlock(&wildcards_lock);
	return ret;
}

/**
 * cmx_listen_stop() - no further requests for an id
 * @p: the id; its lock is held, its state is no longer CMX_LISTEN. Nothing to
 *	do when it does not listen
 */
void cmx_listen_stop(struct cmx_priv *p)
{
	struct cmx_listen *l = p->listen;
	struct listen_on *on, *next;

	lockdep_assert_held(&p->lock);
	if (!l)
		return;
	p->listen = NULL;
	mutex_lock(&wildcards_lock);
	list_del(&l->item);
	list_for_each_entry_safe(on, next, &l->on, item)
		listen_off(on);
	mutex_unlock(&wildcards_lock);
	kfree(l);
}

/**
 * cmx_listen_add_device() - wildcard listeners listen on a new device too
 * @dev: the device; on the list of devices
 *
 * A listener who can't have its service ID there goes without this device.
 */
void cmx_listen_add_device(struct cmx_device *dev)
{
	struct cmx_listen *l;
	int ret;

	mutex_lock(&wildcards_lock);
	list_for_each_entry(l, &wildcards, item) {
		if (!may_use(l, dev->device))
			continue;
		ret = listen_on(l, dev);
		if (ret)
			dev_warn_ratelimited(&dev->device->dev,
					     "no listening on service ID %#llx: %d\n",
					     be64_to_cpu(l->service_id), ret);
	}
	mutex_unlock(&wildcards_lock);
}

/**
 * cmx_listen_remove_device() - wildcard listeners leave a device
 * @dev: the device; no longer on the list of devices. What is given up here
 *	has a reference to it until that is over
 */
void cmx_listen_remove_device(struct cmx_device *dev)
{
	struct listen_on *on, *next;
	struct cmx_listen *l;

	mutex_lock(&wildcards_lock);
	list_for_each_entry(l, &wildcards, item)
		list_for_each_entry_safe(on, next, &l->on, item)
			if (on->dev == dev)
				listen_off(on);
	mutex_unlock(&wildcards_lock);
}

/* p is in CMX_LISTEN, so that others see it when they check the port. */
static int start(struct cmx_priv *p, int backlog)
{
	struct cmx_listen *l;
	u8 reuse = p->opt.reuseaddr;
	int ret;

	/* REUSEADDR is not for listeners */
	WRITE_ONCE(p->opt.reuseaddr, 0);
	ret = cmx_port_recheck(p);
	if (ret)
		goto err;
	l = kmalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);
	if (!l) {
		ret = -ENOMEM;
		goto err;
	}
	INIT_LIST_HEAD(&l->item);
	INIT_LIST_HEAD(&l->on);
	l->p = p;
	l->backlog = backlog;
	l->service_id = cmx_service_id(p->id.ps, cmx_src(p));
	p->listen = l;
	wait_event_killable_timeout(left, !atomic_read(&leaving), msecs_to_jiffies(LEAVE_MS));
	ret = p->dev ? listen_on_one(l, p->dev) : listen_on_all(l);
	if (ret)
		goto err;
	return 0;

err:
	cmx_listen_stop(p);
	WRITE_ONCE(p->opt.reuseaddr, reuse);
	return ret;
}

static int listen_locked(struct cmx_priv *p, int backlog)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	bool idle = p->state == CMX_IDLE;
	int ret;

	if (idle) {
		ret = cmx_bind_locked(p, (struct sockaddr *)&any);
		if (ret)
			return ret;
	}
	ret = cmx_state_move(p, CMX_IN(BOUND), CMX_LISTEN);
	if (ret)
		return ret;
	ret = start(p, backlog);
	if (ret) {
		cmx_state_move(p, CMX_IN(LISTEN), CMX_BOUND);
		if (idle)
			cmx_bind_undo(p);
	} else {
		p->passive = 1;
	}
	return ret;
}

/**
 * cmx_listen() - take requests for the address of an id
 * @id: the id, bound; a new one is bound to any IPv4 address and a free port
 * @backlog: of use to owners who queue requests, and on iWARP; the engine has no queue
 *
 * CONNECT_REQUEST events follow. An id that is not bound to a device listens on
 * all of them in its network namespace, and on those that come later. It loses
 * REUSEADDR.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed:
 *
 * * -EINVAL: the id is in another state.
 * * -EADDRINUSE, -EADDRNOTAVAIL: others have the port; also when rdma_cm has it
 *   on one of the devices.
 * * -ENOMEM: out of memory.
 */
int cmx_listen(struct cmx_id *id, int backlog)
{
	struct cmx_priv *p = to_priv(id);
	int ret;

	mutex_lock(&p->lock);
	ret = listen_locked(p, backlog);
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_listen);
