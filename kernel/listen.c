// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listening: on the device of an address, or on all there are and will be.
 *
 * ib_cm gives a service ID of a device to one handler. Ours finds the id by
 * its port, so all ids that listen on a port share one entry of ib_cm, which
 * counts them.
 */
#include <linux/capability.h>
#include <linux/export.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "bind.h"
#include "device.h"
#include "ib.h"
#include "iw.h"
#include "listen.h"
#include "port.h"
#include "transport.h"
#include "wire.h"

/* A listener on iWARP waits that long for the end of those before it on the same port. */
#define LEAVE_MS 2000

static bool netns_listen;
module_param(netns_listen, bool, 0644);
MODULE_PARM_DESC(netns_listen,
		 "listeners of any network namespace may take service IDs of the host's devices (N)");

/**
 * struct cmx_listen - what a listener holds
 * @ref: of the id that listens, and of each entry
 * @item: on the list of wildcard listeners, or nowhere
 * @p: the id, with a reference
 * @net: network namespace; to compare only
 * @port: its port
 * @privileged: may take a service ID from the whole host
 * @backlog: as the owner said; iWARP's TCP has a queue
 * @service_id: that it listens on
 * @on: &listen_on.item
 */
struct cmx_listen {
	struct kref ref;
	struct list_head item;
	struct cmx_priv *p;
	const struct net *net;
	u16 port;
	bool privileged;
	int backlog;
	__be64 service_id;
	struct list_head on;
};

/**
 * struct listen_on - a listener's share of one device
 * @item: on &cmx_listen.on, then, on iWARP, on leaving
 * @to_start: before it has been started: the list of who does that
 * @l: the listener, with a reference
 * @dev: the device, with a reference: that does not go before this
 * @cm: entry of ib_cm, or NULL
 * @iw: on iWARP: of iw_cm, which belongs to this listener alone
 * @starting: the provider has it; who called it does what must be done then
 * @off: was given up meanwhile
 * @work: gives it up
 */
struct listen_on {
	struct list_head item;
	struct list_head to_start;
	struct cmx_listen *l;
	struct cmx_device *dev;
	struct ib_cm_id *cm;
	struct iw_cm_id *iw;
	bool starting;
	bool off;
	struct work_struct work;
};

static LIST_HEAD(wildcards);
/* Protects wildcards and the entries of all listeners. No provider is called under it. */
static DEFINE_MUTEX(listen_lock);

static LIST_HEAD(leaving);		/* entries on iWARP that are being given up */
static DEFINE_SPINLOCK(leaving_lock);	/* protects leaving */
static DECLARE_WAIT_QUEUE_HEAD(left);

static void listen_free(struct kref *ref)
{
	struct cmx_listen *l = container_of(ref, struct cmx_listen, ref);

	cmx_id_put(l->p);
	kfree(l);
}

static void listen_entry_free(struct listen_on *on)
{
	cmx_device_put(on->dev);
	kref_put(&on->l->ref, listen_free);
	kfree(on);
}

static void listen_entry_work(struct work_struct *work)
{
	struct listen_on *on = container_of(work, struct listen_on, work);

	if (on->iw) {
		cmx_iw_unlisten(on->iw);
		spin_lock(&leaving_lock);
		list_del(&on->item);
		spin_unlock(&leaving_lock);
		wake_up_all(&left);
	} else {
		ib_destroy_cm_id(on->cm);
	}
	listen_entry_free(on);
}

/* This waits for requests being handled, which take the listener's lock: a work item does it. */
static void listen_entry_destroy(struct listen_on *on)
{
	if (on->iw) {
		spin_lock(&leaving_lock);
		list_add(&on->item, &leaving);
		spin_unlock(&leaving_lock);
	}
	queue_work(cmx_reap_wq, &on->work);
}

/* Gives an entry up. */
static void listen_entry_off(struct listen_on *on)
{
	lockdep_assert_held(&listen_lock);
	list_del(&on->item);
	if (on->starting)
		on->off = true;
	else
		listen_entry_destroy(on);
}

/* A new entry, unless there is one for that device. The caller must start what is on @to_start. */
static int listen_entry_add(struct cmx_listen *l, struct cmx_device *dev,
			    struct list_head *to_start)
{
	struct listen_on *on;

	lockdep_assert_held(&listen_lock);
	list_for_each_entry(on, &l->on, item)
		if (on->dev == dev)
			return 0;

	on = kzalloc(sizeof(*on), GFP_KERNEL_ACCOUNT);
	if (!on)
		return -ENOMEM;
	kref_get(&l->ref);
	on->l = l;
	cmx_device_get(dev);
	on->dev = dev;
	on->starting = true;
	INIT_WORK(&on->work, listen_entry_work);
	list_add(&on->item, &l->on);
	list_add_tail(&on->to_start, to_start);
	return 0;
}

static bool listen_privileged(const struct cmx_priv *p)
{
	return !p->user || net_eq(cmx_net(p), &init_net) || READ_ONCE(netns_listen) ||
	       capable(CAP_NET_ADMIN);
}

/*
 * A service ID of a device has one handler on the host: rdma_cm, and with it every ULP of the
 * host, can't have it as long as we do, whatever the namespaces. A device that the host has
 * given away, to one namespace, is that one's own affair.
 */
static bool listen_may_claim(const struct cmx_listen *l, struct ib_device *device)
{
	return l->privileged || !rdma_dev_access_netns(device, &init_net);
}

/* All ports of a device are of one transport where that matters to a listener. */
static const struct cmx_dev_port *listen_port(struct cmx_device *dev)
{
	return cmx_device_port(dev, rdma_start_port(dev->device));
}

static int listen_call_provider(struct listen_on *on)
{
	struct ib_device *device = on->dev->device;
	struct cmx_listen *l = on->l;
	int ret;

	if (listen_port(on->dev)->transport->takes_tcp_port) {
		ret = cmx_iw_listen(l->p, device, l->backlog, &on->iw);
	} else if (!listen_may_claim(l, device)) {
		ret = -EACCES;
	} else {
		on->cm = ib_cm_insert_listen(device, cmx_ib_req_handler, l->service_id);
		ret = PTR_ERR_OR_ZERO(on->cm);
	}
	/* it belongs to another handler: another module listens there */
	return ret == -EINVAL ? -EADDRINUSE : ret;
}

/* @ret: not 0 when it must not be started at all */
static int listen_entry_start(struct listen_on *on, int ret)
{
	bool off;

	if (!ret)
		ret = listen_call_provider(on);
	mutex_lock(&listen_lock);
	on->starting = false;
	off = on->off;
	if (ret && !off)
		list_del(&on->item);
	mutex_unlock(&listen_lock);
	/* what iw_cm made and could not start must be destroyed all the same */
	if (ret && !on->iw)
		listen_entry_free(on);
	else if (ret || off)
		listen_entry_destroy(on);
	return ret;
}

/* @ret: not 0: there has been an error already. After the first one nothing more is started. */
static int listen_start_all(struct list_head *to_start, int ret)
{
	struct listen_on *on, *next;

	list_for_each_entry_safe(on, next, to_start, to_start)
		ret = listen_entry_start(on, ret);
	return ret;
}

static bool listen_may_use(const struct cmx_listen *l, struct cmx_device *dev)
{
	return rdma_dev_access_netns(dev->device, cmx_net(l->p)) &&
	       cmx_port_fits(l->p, dev, rdma_start_port(dev->device));
}

struct listen_arg {
	struct cmx_listen *l;
	struct list_head to_start;
};

static int listen_add_port(struct cmx_device *dev, u32 port, void *data)
{
	struct listen_arg *arg = data;
	int ret;

	if (!listen_may_use(arg->l, dev))
		return 0;
	mutex_lock(&listen_lock);
	ret = listen_entry_add(arg->l, dev, &arg->to_start);
	mutex_unlock(&listen_lock);
	return ret;
}

/*
 * First on the list, then on each device: one that comes meanwhile is seen
 * here, or sees the list, or both.
 */
static int listen_on_all(struct listen_arg *arg)
{
	mutex_lock(&listen_lock);
	list_add_tail(&arg->l->item, &wildcards);
	mutex_unlock(&listen_lock);
	return cmx_device_for_each_port(listen_add_port, arg);
}

static int listen_on_one(struct listen_arg *arg, struct cmx_device *dev)
{
	int ret;

	mutex_lock(&listen_lock);
	ret = listen_entry_add(arg->l, dev, &arg->to_start);
	mutex_unlock(&listen_lock);
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
	mutex_lock(&listen_lock);
	list_del_init(&l->item);
	list_for_each_entry_safe(on, next, &l->on, item)
		listen_entry_off(on);
	mutex_unlock(&listen_lock);
	kref_put(&l->ref, listen_free);
}

/**
 * cmx_listen_add_device() - wildcard listeners listen on a new device too
 * @dev: the device; on the list of devices
 *
 * A listener who can't have its service ID there goes without this device.
 */
void cmx_listen_add_device(struct cmx_device *dev)
{
	struct listen_on *on, *next;
	struct cmx_listen *l;
	LIST_HEAD(to_start);
	__be64 service_id;
	int ret = 0;

	mutex_lock(&listen_lock);
	list_for_each_entry(l, &wildcards, item)
		if (listen_may_use(l, dev) && listen_entry_add(l, dev, &to_start))
			ret = -ENOMEM;
	mutex_unlock(&listen_lock);
	if (ret)
		dev_warn_ratelimited(&dev->device->dev, "not all listen here: %d\n", ret);
	list_for_each_entry_safe(on, next, &to_start, to_start) {
		service_id = on->l->service_id;
		ret = listen_entry_start(on, 0);
		if (ret)
			dev_warn_ratelimited(&dev->device->dev,
					     "no listening on service ID %#llx: %d\n",
					     be64_to_cpu(service_id), ret);
	}
}

/**
 * cmx_listen_remove_device() - wildcard listeners leave a device
 * @dev: the device; no longer on the list of devices. What is given up here
 *	has a reference to it
 */
void cmx_listen_remove_device(struct cmx_device *dev)
{
	struct listen_on *on, *next;
	struct cmx_listen *l;

	mutex_lock(&listen_lock);
	list_for_each_entry(l, &wildcards, item)
		list_for_each_entry_safe(on, next, &l->on, item)
			if (on->dev == dev)
				listen_entry_off(on);
	mutex_unlock(&listen_lock);
}

/* Has TCP the port still, for a listener that has been given up? */
static bool listen_port_leaving(const struct net *net, u16 port)
{
	struct listen_on *on;
	bool found = false;

	spin_lock(&leaving_lock);
	list_for_each_entry(on, &leaving, item) {
		found = on->l->net == net && on->l->port == port;
		if (found)
			break;
	}
	spin_unlock(&leaving_lock);
	return found;
}

/* Without any lock: a listener who is not on that port, or not on iWARP, waits for nobody. */
static int listen_wait_port(struct cmx_priv *p)
{
	const struct net *net;
	u16 port = 0;
	int ret;

	mutex_lock(&p->lock);
	net = cmx_net(p);
	if (p->state == CMX_BOUND &&
	    (!p->dev || p->dev_port->transport->takes_tcp_port))
		port = p->port;
	mutex_unlock(&p->lock);
	if (!port || !listen_port_leaving(net, port))
		return 0;
	ret = wait_event_killable_timeout(left, !listen_port_leaving(net, port),
					  msecs_to_jiffies(LEAVE_MS));
	return min(ret, 0);
}

static struct cmx_listen *listen_new(struct cmx_priv *p, int backlog)
{
	struct cmx_listen *l = kmalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);

	if (!l)
		return NULL;
	kref_init(&l->ref);
	INIT_LIST_HEAD(&l->item);
	INIT_LIST_HEAD(&l->on);
	l->p = cmx_id_get(p);
	l->net = cmx_net(p);
	l->port = p->port;
	l->privileged = listen_privileged(p);
	l->backlog = backlog;
	l->service_id = cmx_service_id(p->id.ps, cmx_src(p));
	return l;
}

/* p is in CMX_LISTEN, so that others see it when they check the port. */
static int start(struct cmx_priv *p, int backlog)
{
	struct listen_arg arg = { .to_start = LIST_HEAD_INIT(arg.to_start) };
	u8 reuse = p->opt.reuseaddr;
	int ret;

	/* REUSEADDR is not for listeners */
	WRITE_ONCE(p->opt.reuseaddr, 0);
	ret = cmx_port_recheck(p);
	if (ret)
		goto err;
	ret = -ENOMEM;
	arg.l = listen_new(p, backlog);
	if (!arg.l)
		goto err;
	p->listen = arg.l;
	ret = p->dev ? listen_on_one(&arg, p->dev) : listen_on_all(&arg);
	ret = listen_start_all(&arg.to_start, ret);
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
 * * -EACCES: the id of a process in a network namespace of its own, on a device that the
 *   host has too; the caller lacks CAP_NET_ADMIN of the host, and the module parameter
 *   netns_listen does not allow it.
 * * -ENOMEM: out of memory.
 * * -ERESTARTSYS: the caller has been killed. On iWARP a listener waits, two seconds at
 *   most, for the end of the one that had its port before.
 */
int cmx_listen(struct cmx_id *id, int backlog)
{
	struct cmx_priv *p = to_priv(id);
	int ret;

	ret = listen_wait_port(p);
	if (ret)
		return ret;
	mutex_lock(&p->lock);
	ret = listen_locked(p, backlog);
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_listen);
