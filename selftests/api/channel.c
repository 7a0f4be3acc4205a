// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event channels that the application has created without the library. It can do so because the
 * file is the only field of struct rdma_event_channel. Also files that are no channel, and epoll
 * with EPOLLET.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/cmx_ioctl.h>
#include "api.h"

#define ME "10.77.0.1"
#define DEVICE "/dev/infiniband/" CMX_DEVICE_NAME

/** struct framed - a channel between guard bytes */
struct framed {
	char before[64];
	struct rdma_event_channel ch;
	char after[256];
};

static void framed_init(struct framed *f, int fd)
{
	memset(f, 0xff, sizeof(*f));
	f->ch.fd = fd;
}

static void framed_check(const struct framed *f)
{
	size_t i;

	for (i = 0; i < sizeof(f->before); i++)
		WANT(f->before[i] == (char)0xff);
	for (i = 0; i < sizeof(f->after); i++)
		WANT(f->after[i] == (char)0xff);
}

static void test_made_by_application(void)
{
	static struct framed active, passive, other;
	struct pair p = { .ch = &active.ch, .lch = &passive.ch, .param = plain };
	struct rdma_cm_event *ev[4];

	framed_init(&active, open(DEVICE, O_RDWR));
	framed_init(&passive, open(DEVICE, O_RDWR));
	framed_init(&other, open(DEVICE, O_RDWR | O_NONBLOCK));
	WANT(active.ch.fd >= 0 && passive.ch.fd >= 0 && other.ch.fd >= 0);
	WANT(!rdma_create_id(p.ch, &p.id, NULL, RDMA_PS_TCP));
	WANT(!rdma_create_id(p.lch, &p.listener, NULL, RDMA_PS_TCP));
	pair_prepare(&p, RDMA_PS_TCP);
	pair_connect(&p, RDMA_PS_TCP);
	WANT(!rdma_migrate_id(p.id, &other.ch));
	WANT(!rdma_disconnect(p.child));
	WANT(!event_expect(&other.ch, RDMA_CM_EVENT_DISCONNECTED));
	WANT(rdma_cmx_get_events(&other.ch, ev, 4) == -1 && errno == EAGAIN);
	WANT(!rdma_destroy_id(p.id) && !rdma_destroy_id(p.child) && !rdma_destroy_id(p.listener));
	framed_check(&active);
	framed_check(&passive);
	framed_check(&other);
	close(active.ch.fd);
	close(passive.ch.fd);
	close(other.ch.fd);
}

/*
 * Fetches a request by a duplicate of the file, and calls @fetched before the library processes it.
 * Returns the channel of its id.
 */
static struct rdma_event_channel *request_get(struct pair *p, struct rdma_event_channel *copy,
					      void (*fetched)(void))
{
	struct rdma_conn_param par = plain;
	struct rdma_cm_event *ev;

	copy->fd = dup(p->lch->fd);
	WANT(copy->fd >= 0 && !rdma_connect(p->id, &par));
	after_ioctl = fetched;
	ev = event_next(copy, 10000);
	WANT(ev && ev->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	p->child = ev->id;
	WANT(!rdma_ack_cm_event(ev));
	return p->child->channel;
}

static void pair_end(struct pair *p)
{
	pair_connect(p, RDMA_PS_TCP);
	WANT(!rdma_destroy_id(p->id) && !rdma_destroy_id(p->child));
	WANT(!rdma_destroy_id(p->listener));
}

static void test_duplicate(void)
{
	struct rdma_event_channel copy;
	struct pair p = { .param = plain };

	pair_prepare(&p, RDMA_PS_TCP);
	WANT(request_get(&p, &copy, NULL) == p.lch);
	WANT(!close(copy.fd));
	pair_end(&p);
}

static struct rdma_event_channel *mover_ch;
static struct rdma_cm_id *mover_id;
static pthread_t mover;

static void *mover_run(void *arg)
{
	WANT(!rdma_migrate_id(mover_id, mover_ch));
	return arg;
}

/* Another thread migrates the listener. It then waits until the request is acknowledged. */
static void listener_move(void)
{
	after_ioctl = NULL;
	WANT(!pthread_create(&mover, NULL, mover_run, NULL));
	while (__atomic_load_n(&mover_id->channel, __ATOMIC_ACQUIRE) != mover_ch)
		usleep(1000);
}

/* The id of a request remains in the file that the request was fetched from. */
static void test_listener_moves(void)
{
	struct rdma_event_channel copy;
	struct pair p = { .param = plain };

	pair_prepare(&p, RDMA_PS_TCP);
	mover_id = p.listener;
	mover_ch = rdma_create_event_channel();
	WANT(mover_ch && request_get(&p, &copy, listener_move) == &copy);
	WANT(!pthread_join(mover, NULL) && p.listener->channel == mover_ch);
	pair_end(&p);
}

static void channel_refused(int fd, int error)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	struct framed f;

	framed_init(&f, fd);
	WANT(rdma_create_id(&f.ch, &id, NULL, RDMA_PS_TCP) == -1 && errno == error);
	WANT(rdma_get_cm_event(&f.ch, &ev) == -1 && errno == error);
	WANT(rdma_cmx_get_events(&f.ch, &ev, 1) == -1 && errno == error);
	framed_check(&f);
}

static void test_no_file(void)
{
	int fd = open(DEVICE, O_RDWR);

	WANT(fd >= 0);
	close(fd);
	channel_refused(-1, EBADF);
	channel_refused(fd, EBADF);
}

static void test_foreign_file(void)
{
	channel_refused(open("/dev/null", O_RDWR), ENOTTY);
	channel_refused(eventfd(0, 0), ENOTTY);
	channel_refused(open("/etc/passwd", O_RDONLY), ENOTTY);
}

/* The application closes the file of a channel that the library has created. */
static void test_closed_file(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	WANT(ch && !close(ch->fd));
	WANT(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) == -1 && errno == EBADF);
	WANT(rdma_get_cm_event(ch, &ev) == -1 && errno == EBADF);
}

/* Resolves the addresses of @n ids of a channel. Their events are queued when it returns. */
static void channel_fill(struct rdma_event_channel *ch, int n)
{
	struct rdma_cm_id *id;

	while (n--) {
		WANT(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
		WANT(!rdma_resolve_addr(id, NULL, ip_addr(ME, 7), 2000));
	}
}

static void channel_drain(struct rdma_event_channel *ch, int n)
{
	struct rdma_cm_event *ev;

	while (n--) {
		WANT(!rdma_get_cm_event(ch, &ev) && ev->event == RDMA_CM_EVENT_ADDR_RESOLVED);
		WANT(!rdma_ack_cm_event(ev));
	}
}

/* With EPOLLET, epoll reports a burst of events once, and again only when another event comes. */
static void test_edge_triggered(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct rdma_event_channel *ch = rdma_create_event_channel();
	int epfd = epoll_create1(0);
	struct rdma_cm_event *ev;

	WANT(ch && epfd >= 0 && !fcntl(ch->fd, F_SETFL, O_NONBLOCK));
	WANT(!epoll_ctl(epfd, EPOLL_CTL_ADD, ch->fd, &event));
	WANT(epoll_wait(epfd, &event, 1, 0) == 0);
	channel_fill(ch, 3);
	WANT(epoll_wait(epfd, &event, 1, 0) == 1 && event.events == EPOLLIN);
	WANT(epoll_wait(epfd, &event, 1, 0) == 0);
	/* fetching an event does not report those that are left */
	channel_drain(ch, 1);
	WANT(epoll_wait(epfd, &event, 1, 0) == 0);
	channel_fill(ch, 1);
	WANT(epoll_wait(epfd, &event, 1, 0) == 1);
	channel_drain(ch, 3);
	WANT(rdma_get_cm_event(ch, &ev) && errno == EAGAIN);
	WANT(epoll_wait(epfd, &event, 1, 0) == 0);
	/* the next burst */
	channel_fill(ch, 2);
	WANT(epoll_wait(epfd, &event, 1, 0) == 1);
	WANT(epoll_wait(epfd, &event, 1, 0) == 0);
	channel_drain(ch, 2);
	WANT(rdma_get_cm_event(ch, &ev) && errno == EAGAIN);
}

/* As free() does in the in-tree library. The channel that is freed again would be in use 64 calls later. */
static void test_destroyed_twice(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	int status;
	pid_t pid;

	WANT(ch);
	pid = fork();
	WANT(pid >= 0);
	if (!pid) {
		close(STDERR_FILENO);
		rdma_destroy_event_channel(ch);
		rdma_destroy_event_channel(ch);
		_exit(0);
	}
	WANT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	rdma_destroy_event_channel(ch);
}

const struct test channel_tests[] = {
	{ "channel: made by the application", test_made_by_application },
	{ "channel: a duplicate of its file", test_duplicate },
	{ "channel: the listener moves while a request is fetched", test_listener_moves },
	{ "channel: no file", test_no_file },
	{ "channel: a foreign file", test_foreign_file },
	{ "channel: a closed file", test_closed_file },
	{ "channel: destroyed twice", test_destroyed_twice },
	{ "channel: epoll reports a burst of events once", test_edge_triggered },
	{}
};
