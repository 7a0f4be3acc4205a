// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA devices of the host; each is opened at its first use.
 */
#include <stdlib.h>
#include <fcntl.h>
#include "cmx_lib.h"

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
/* devices_lock protects the next two variables, and the fields of all devices */
static struct cmxl_device *devices;
/* the last list from libibverbs; the pointers in it are valid until it is freed */
static struct ibv_device **verbs_list;

static struct cmxl_device *cmxl_device_find(const struct ibv_device *dev)
{
	struct cmxl_device *d;

	for (d = devices; d; d = d->next)
		if (d->dev == dev && !d->dead)
			return d;
	return NULL;
}

/* Best effort: on ENOMEM the device stays unknown until the list is read again. */
static void cmxl_device_insert(struct ibv_device *dev)
{
	struct cmxl_device *d = calloc(1, sizeof(*d)), **pos;

	if (!d)
		return;
	d->dev = dev;
	d->guid = ibv_get_device_guid(dev);
	d->index = ibv_get_device_index(dev);
	for (pos = &devices; *pos && (*pos)->index <= d->index; pos = &(*pos)->next)
		;
	d->next = *pos;
	*pos = d;
}

static void cmxl_device_free(struct cmxl_device *d)
{
	struct cmxl_device **pos;

	for (pos = &devices; *pos != d; pos = &(*pos)->next)
		;
	*pos = d->next;
	if (d->pd)
		ibv_dealloc_pd(d->pd);
	if (d->verbs)
		ibv_close_device(d->verbs);
	free(d);
}

static bool cmxl_device_list_has(struct ibv_device **list, const struct ibv_device *dev)
{
	for (; *list; list++)
		if (*list == dev)
			return true;
	return false;
}

static int cmxl_devices_sync(void)
{
	struct ibv_device **list;
	struct cmxl_device *d, *next;
	int n, i;

	list = ibv_get_device_list(&n);
	if (!list)
		return cmxl_err(ENODEV);
	if (!n) {
		ibv_free_device_list(list);
		return cmxl_err(ENODEV);
	}
	for (i = 0; list[i]; i++)
		if (!cmxl_device_find(list[i]))
			cmxl_device_insert(list[i]);
	for (d = devices; d; d = next) {
		next = d->next;
		if (cmxl_device_list_has(list, d->dev))
			continue;
		d->dead = true;
		if (!d->refs)
			cmxl_device_free(d);
	}
	if (verbs_list)
		ibv_free_device_list(verbs_list);
	verbs_list = list;
	return 0;
}

/* Reads the list of devices, until one has been found. */
int cmxl_devices_init(void)
{
	int ret = 0;

	if (__atomic_load_n(&devices, __ATOMIC_RELAXED))
		return 0;
	pthread_mutex_lock(&devices_lock);
	if (!devices)
		ret = cmxl_devices_sync();
	pthread_mutex_unlock(&devices_lock);
	return ret;
}

static int cmxl_device_open(struct cmxl_device *d)
{
	struct ibv_device_attr attr;
	int ret;

	if (d->verbs)
		return 0;
	d->verbs = ibv_open_device(d->dev);
	if (!d->verbs)
		return cmxl_err(ENODEV);
	ret = ibv_query_device(d->verbs, &attr);
	if (ret) {
		ibv_close_device(d->verbs);
		d->verbs = NULL;
		return cmxl_verbs_err(ret);
	}
	d->max_initiator_depth = attr.max_qp_init_rd_atom;
	d->max_responder_resources = attr.max_qp_rd_atom;
	return 0;
}

static struct cmxl_device *cmxl_device_lookup(uint64_t guid, int index)
{
	struct cmxl_device *d;

	for (d = devices; d; d = d->next)
		if (!d->dead && d->guid == guid && (d->index < 0 || d->index == index))
			return d;
	return NULL;
}

/* Binds an id to a device; the caller holds the lock of the id. */
int cmxl_device_get(struct cmxl_id *id, uint64_t guid, int index)
{
	struct cmxl_device *d;
	int ret = -1;

	pthread_mutex_lock(&devices_lock);
	d = cmxl_device_lookup(guid, index);
	if (!d && !cmxl_devices_sync())
		d = cmxl_device_lookup(guid, index);
	if (!d) {
		errno = ENODEV;
		goto out;
	}
	if (cmxl_device_open(d))
		goto out;
	if (!d->pd)
		d->pd = ibv_alloc_pd(d->verbs);
	if (!d->pd)
		goto out;
	d->refs++;
	id->id.verbs = d->verbs;
	id->id.pd = d->pd;
	/* pairs with cmxl_id_device(): verbs and pd are used without the lock */
	__atomic_store_n(&id->dev, d, __ATOMIC_RELEASE);
	ret = 0;
out:
	pthread_mutex_unlock(&devices_lock);
	return ret;
}

/*
 * The PD is kept: a program that has one id at a time would otherwise allocate and free it for
 * each id.
 */
static void cmxl_device_unref(struct cmxl_device *d)
{
	if (--d->refs)
		return;
	if (d->xrcd)
		ibv_close_xrcd(d->xrcd);
	d->xrcd = NULL;
	if (d->dead)
		cmxl_device_free(d);
}

void cmxl_device_put(struct cmxl_device *dev)
{
	pthread_mutex_lock(&devices_lock);
	cmxl_device_unref(dev);
	pthread_mutex_unlock(&devices_lock);
}

struct ibv_xrcd *cmxl_device_xrcd(struct cmxl_device *dev)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	pthread_mutex_lock(&devices_lock);
	if (!dev->xrcd)
		dev->xrcd = ibv_open_xrcd(dev->verbs, &attr);
	pthread_mutex_unlock(&devices_lock);
	return dev->xrcd;
}

/* A device that cannot be opened, for example because a container hides it, is left out. */
struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = NULL;
	struct cmxl_device *d;
	int n = 0;

	if (cmxl_system_is_used())
		return CMXL_SYSTEM_CALL(rdma_get_devices, NULL, (num_devices));
	pthread_mutex_lock(&devices_lock);
	if (cmxl_devices_sync())
		goto out;
	for (d = devices; d; d = d->next)
		n++;
	list = malloc((n + 1) * sizeof(*list));
	n = 0;
	if (!list)
		goto out;
	for (d = devices; d; d = d->next) {
		if (d->dead || cmxl_device_open(d))
			continue;
		list[n++] = d->verbs;
		d->refs++;
	}
	list[n] = NULL;
out:
	pthread_mutex_unlock(&devices_lock);
	if (num_devices)
		*num_devices = n;
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	struct cmxl_device *d, *next;
	int i;

	if (cmxl_system_is_used()) {
		CMXL_SYSTEM_CALL(rdma_free_devices, (void)0, (list));
		return;
	}
	pthread_mutex_lock(&devices_lock);
	for (i = 0; list[i]; i++) {
		for (d = devices; d; d = next) {
			next = d->next;
			if (d->verbs == list[i]) {
				cmxl_device_unref(d);
				break;
			}
		}
	}
	pthread_mutex_unlock(&devices_lock);
	free(list);
}
