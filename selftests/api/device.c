// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device is removed that the process has used. The drivers of rxe and siw cannot take a device away from
 * processes: the kernel waits until the last one has closed it.
 *
 * The device is rxe1, or the one in GOING ("DEVICE ADDRESS"), which the command GOING_REMOVE removes and GOING_ADD
 * adds.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "api.h"

static char device[32] = "rxe1", address[64] = "10.81.0.1";

static const char *env_or(const char *name, const char *value)
{
	return getenv(name) ? getenv(name) : value;
}

static void device_choose(void)
{
	if (getenv("GOING"))
		WANT(sscanf(getenv("GOING"), "%31s %63s", device, address) == 2);
	else
		need_rig();
}

static bool device_exists(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", device);
	return !access(path, F_OK);
}

/* Waits until the kernel waits for processes: it has removed the char device of uverbs. */
static void removal_begin(struct ibv_context *verbs)
{
	char command[256], path[256];

	snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/%s", verbs->device->dev_name);
	WANT(!access(path, F_OK));
	snprintf(command, sizeof(command), "(%s) &",
		 env_or("GOING_REMOVE", "rdma link delete rxe1"));
	WANT(!system(command));
	/* the time limit of the case ends the loop */
	while (!access(path, F_OK))
		usleep(20000);
}

/* Rxe of Linux 7 takes the device away from processes, and its removal does not wait for them. */
static bool device_goes_at_once(void)
{
	return getenv("GOING_AT_ONCE");
}

static void want_device_waits(void)
{
	if (device_goes_at_once())
		return;
	usleep(300000);
	WANT(device_exists());
}

/*
 * 20 s: ib_sa sends the leave of a group up to four times, and waits 3 s for each reply. None arrives from an HCA that
 * is being removed, and ib_ipoib may just have joined.
 */
static void want_device_gone(void)
{
	int i;

	for (i = 0; i < slow_time(200) && device_exists(); i++)
		usleep(100000);
	WANT(!device_exists());
	WANT(!system(env_or("GOING_ADD", "rdma link add rxe1 type rxe netdev bond1")));
}

static void list_renew(void)
{
	struct ibv_context **list = rdma_get_devices(NULL);

	if (list)
		rdma_free_devices(list);
}

static struct rdma_cm_id *going_id(struct rdma_event_channel **ch)
{
	device_choose();
	return new_bound_id(ch, RDMA_PS_TCP, address);
}

static int qp_create(struct rdma_cm_id *id, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return rdma_create_qp(id, NULL, &attr);
}

/* The listener is the last id on the device. */
static void test_connection(void)
{
	struct pair p = { .param = plain, .addr = address, .qp_create = qp_create };

	device_choose();
	pair_connect(&p, RDMA_PS_TCP);
	removal_begin(p.id->verbs);
	WANT(!event_expect(p.ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!event_expect(p.lch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	rdma_destroy_qp(p.id);
	rdma_destroy_qp(p.child);
	WANT(!rdma_destroy_id(p.id) && !rdma_destroy_id(p.child));
	want_device_waits();
	WANT(!rdma_destroy_id(p.listener));
	want_device_gone();
}

/* The program learns of the removal in another way, and destroys its id. */
static void test_unfetched(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = going_id(&ch);

	removal_begin(id->verbs);
	WANT(!rdma_destroy_id(id));
	want_device_waits();
	list_renew();
	want_device_gone();
}

static void test_list(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = going_id(&ch);
	struct ibv_context **list = rdma_get_devices(NULL);

	WANT(list);
	removal_begin(id->verbs);
	WANT(!event_expect(ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!rdma_destroy_id(id));
	want_device_waits();
	rdma_free_devices(list);
	want_device_gone();
}

/* The process has a list, and never had an id. */
static void test_only_list(void)
{
	struct ibv_context **list, *verbs = NULL;
	int i, n;

	device_choose();
	list = rdma_get_devices(&n);
	WANT(list);
	for (i = 0; i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]->device), device))
			verbs = list[i];
	WANT(verbs);
	removal_begin(verbs);
	want_device_waits();
	rdma_free_devices(list);
	want_device_gone();
}

/* No call of the library follows the removal, until the program asks for the devices. */
static void test_idle(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = going_id(&ch);
	struct ibv_context *verbs = id->verbs;

	WANT(!rdma_destroy_id(id));
	removal_begin(verbs);
	want_device_waits();
	list_renew();
	want_device_gone();
}

/* Calls on the context fail, and its memory and the numbers of its files remain. */
static void want_context_closed(struct ibv_context *verbs)
{
	struct pollfd async = { .fd = verbs->async_fd, .events = POLLIN };
	struct ibv_device_attr attr;

	WANT(!ibv_alloc_pd(verbs) && errno == (device_goes_at_once() ? EIO : EBADF));
	WANT(ibv_query_device(verbs, &attr));
	if (device_goes_at_once())
		return;
	WANT(!poll(&async, 1, 0));
	WANT(fcntl(verbs->cmd_fd, F_GETFD) == FD_CLOEXEC);
	WANT(fcntl(verbs->async_fd, F_GETFD) == FD_CLOEXEC);
}

/* The objects of a program can be destroyed. Before that they keep the device and work, if the driver lets them. */
static void test_objects(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = going_id(&ch);
	struct ibv_context *verbs = id->verbs;
	struct ibv_comp_channel *channel;
	static char buf[4096];
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;

	pd = ibv_alloc_pd(verbs);
	channel = ibv_create_comp_channel(verbs);
	WANT(pd && channel);
	cq = ibv_create_cq(verbs, 1, NULL, channel, 0);
	mr = ibv_reg_mr(id->pd, buf, sizeof(buf), 0);
	WANT(cq && mr);
	removal_begin(verbs);
	WANT(!event_expect(ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!rdma_destroy_id(id));
	list_renew();
	want_device_waits();
	WANT((device_goes_at_once() || !ibv_req_notify_cq(cq, 0)) && !ibv_dereg_mr(mr));
	list_renew();
	want_device_waits();
	mr = ibv_reg_mr(pd, buf, sizeof(buf), 0);
	WANT(device_goes_at_once() ? !mr : mr && !ibv_dereg_mr(mr));
	WANT(!ibv_dealloc_pd(pd));
	list_renew();
	want_device_waits();
	WANT(!ibv_destroy_cq(cq));
	list_renew();
	want_device_waits();
	WANT(!ibv_destroy_comp_channel(channel));
	list_renew();
	want_device_gone();
	want_context_closed(verbs);
}

/* Without a free descriptor the device stays, until the next list. */
static void test_no_descriptor(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = going_id(&ch);
	struct rlimit few, all;
	struct ibv_context *verbs = id->verbs;

	removal_begin(verbs);
	WANT(!event_expect(ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!getrlimit(RLIMIT_NOFILE, &all));
	few = all;
	few.rlim_cur = 0;
	WANT(!setrlimit(RLIMIT_NOFILE, &few));
	WANT(!rdma_destroy_id(id));
	WANT(!setrlimit(RLIMIT_NOFILE, &all));
	want_device_waits();
	list_renew();
	want_device_gone();
}

/* An operator ends the id, which gets the same event. The device stays as it is. */
static void test_killed(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = going_id(&ch);
	struct ibv_context *verbs = id->verbs;
	char command[256];

	snprintf(command, sizeof(command),
		 "cmx=$(readlink /proc/%d/exe) && \"${cmx%%%%/selftests/*}/tools/cmx\" kill pid %d >&2",
		 getpid(), getpid());
	WANT(!system(command));
	WANT(!event_expect(ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!rdma_destroy_id(id));
	id = new_bound_id(&ch, RDMA_PS_TCP, address);
	WANT(id->verbs == verbs && ibv_alloc_pd(verbs));
}

/* The device comes back under the same name, and is another one. */
static void test_again(void)
{
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id = going_id(&ch);
	struct ibv_context *verbs = id->verbs;

	removal_begin(verbs);
	WANT(!event_expect(ch, RDMA_CM_EVENT_DEVICE_REMOVAL));
	WANT(!rdma_destroy_id(id));
	want_device_gone();
	do {
		id = id_create(ch, "id", RDMA_PS_TCP);
		if (!rdma_bind_addr(id, ip_addr(address, 0)))
			break;
		/* the GID of the address comes later */
		WANT(!rdma_destroy_id(id));
		usleep(100000);
	} while (true);
	WANT(id->verbs != verbs && ibv_alloc_pd(id->verbs));
	want_context_closed(verbs);
}

const struct test device_tests[] = {
	{ "removed device: a connection, and then the last id", test_connection },
	{ "removed device: DEVICE_REMOVAL is not fetched", test_unfetched },
	{ "removed device: a list of devices is freed", test_list },
	{ "removed device: a list of devices is freed, without an id", test_only_list },
	{ "removed device: the id was destroyed before", test_idle },
	{ "removed device: objects of the program", test_objects },
	{ "removed device: no free descriptor", test_no_descriptor },
	{ "removed device: only the id was ended, by cmx kill", test_killed },
	{ "removed device: a device of the same name follows", test_again },
	{}
};
