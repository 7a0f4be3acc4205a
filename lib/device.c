// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA devices of the host; each is opened at its first use, and stays open for the life of the process.
 *
 * The kernel waits for the files of a context before it removes a device whose driver cannot take the device away
 * from processes (rxe, siw). A program may use the context, and what it has made on it, longer than ids and lists of
 * devices. So nothing is freed when a device is removed. Without ids and lists, and if uverbs has no other object in
 * the context than the PD of this library, its two files are replaced: calls on the context fail from then on.
 * Otherwise the next list of devices tries again.
 */
#define _GNU_SOURCE	/* dup3(), O_PATH */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include "cmx_lib.h"

/* beyond enum rdma_driver_id of any kernel */
#define CMXL_MAX_DRIVERS 64

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

/*
 * Returns the number of objects of a type in a context, not counting beyond 2, or -1 with errno. EINVAL: @driver is
 * not the driver of the device.
 */
static int cmxl_uverbs_count(int cmd_fd, uint32_t driver, uint64_t type)
{
	uint32_t handles[2] = { UINT32_MAX, UINT32_MAX }, total;
	struct cmxl_cmd cmd;

	/* the encoding is that of our module, with the driver in place of the ABI version */
	cmxl_cmd_init(&cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	cmd.hdr.abi_version = driver;
	cmxl_cmd_u64(&cmd, UVERBS_ATTR_INFO_OBJECT_ID, type);
	cmxl_cmd_out(&cmd, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, sizeof(total));
	cmxl_cmd_out(&cmd, UVERBS_ATTR_INFO_HANDLES_LIST, handles, sizeof(handles));
	cmd.hdr.length = sizeof(cmd.hdr) + cmd.hdr.num_attrs * sizeof(cmd.hdr.attrs[0]);
	if (ioctl(cmd_fd, RDMA_VERBS_IOCTL, &cmd))
		return -1;
	/* on big endian, the kernel writes the upper half of the total */
	return (handles[0] != UINT32_MAX) + (handles[1] != UINT32_MAX);
}

/* False also if the kernel cannot tell, and after cmxl_device_let_go(). */
static bool cmxl_device_is_unused(const struct cmxl_device *d)
{
	int fd = d->verbs->cmd_fd, type, n;
	uint32_t driver = 0;

	/* libibverbs has the number of the driver, and no function that returns it */
	do {
		n = cmxl_uverbs_count(fd, ++driver, UVERBS_OBJECT_PD);
	} while (n < 0 && errno == EINVAL && driver < CMXL_MAX_DRIVERS);
	if (n != (d->pd ? 1 : 0))
		return false;
	for (type = UVERBS_OBJECT_PD + 1; type < UVERBS_OBJECT_ASYNC_EVENT; type++) {
		n = cmxl_uverbs_count(fd, driver, type);
		/* ENOENT: the driver has no objects of this type */
		if (n > 0 || (n < 0 && errno != ENOENT))
			return false;
	}
	return true;
}

/*
 * Lets the kernel remove a dead device that nothing refers to. The numbers of the files stay in use, because a
 * program may know them. No event ever arrives at an eventfd. A file with O_PATH refuses every call with EBADF; with
 * ENOTTY, libibverbs would write to the file.
 */
static void cmxl_device_let_go(struct cmxl_device *d)
{
	int cmd_fd, async_fd;

	if (!cmxl_device_is_unused(d))
		return;
	cmd_fd = open("/", O_PATH | O_CLOEXEC);
	async_fd = eventfd(0, EFD_CLOEXEC);
	if (cmd_fd >= 0 && async_fd >= 0) {
		dup3(async_fd, d->verbs->async_fd, O_CLOEXEC);
		dup3(cmd_fd, d->verbs->cmd_fd, O_CLOEXEC);
	}
	if (cmd_fd >= 0)
		close(cmd_fd);
	if (async_fd >= 0)
		close(async_fd);
}

/* The kernel no longer has the device. */
static void cmxl_device_bury(struct cmxl_device *d)
{
	struct cmxl_device **pos;

	d->dead = true;
	if (d->refs)
		return;
	if (d->verbs) {
		cmxl_device_let_go(d);
		return;
	}
	for (pos = &devices; *pos != d; pos = &(*pos)->next)
		;
	*pos = d->next;
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
	for (i = 0; list[i]; i++)
		if (!cmxl_device_find(list[i]))
			cmxl_device_insert(list[i]);
	for (d = devices; d; d = next) {
		next = d->next;
		if (!cmxl_device_list_has(list, d->dev))
			cmxl_device_bury(d);
	}
	if (verbs_list)
		ibv_free_device_list(verbs_list);
	verbs_list = list;
	return n ? 0 : cmxl_err(ENODEV);
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
		cmxl_device_let_go(d);
}

/* An id has got DEVICE_REMOVAL, for which an operator may be the reason, too. */
void cmxl_device_removed(struct cmxl_device *dev)
{
	pthread_mutex_lock(&devices_lock);
	if (!dev->dead)
		cmxl_devices_sync();
	pthread_mutex_unlock(&devices_lock);
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
				/* not for each id: a look at sysfs costs 20,000 instructions */
				if (!d->refs && !d->dead && access(d->dev->dev_path, F_OK))
					cmxl_devices_sync();
				break;
			}
		}
	}
	pthread_mutex_unlock(&devices_lock);
	free(list);
}
