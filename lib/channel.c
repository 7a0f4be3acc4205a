// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event channels: open files of the char device, and the events of our own
 * making that wait in them.
 *
 * Such an event must be found by whoever waits on the channel, as one of the
 * kernel's would be. A thread that is about to wait in rdma_get_cm_event()
 * counts itself as a waiter; one in poll() leaves its trace in the page that
 * the channel shares with the kernel (struct cmx_channel_page), where the kernel
 * finds, when it is polled, that there is an event here. No event is held back
 * when there is a waiter or when the file was ever polled.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cmx_lib.h"

#define CMX_DEVICE_PATH "/dev/infiniband/" CMX_DEVICE_NAME

static pthread_once_t forks_once = PTHREAD_ONCE_INIT;
static unsigned int forks;

static void count_fork(void)
{
	forks++;
}

static void count_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

/* The page, if this process has it. */
static struct cmx_channel_page *page_of(const struct cmx_channel *ch)
{
	bool mapped = ch->page && ch->page != MAP_FAILED && ch->forks == forks;

	return mapped ? ch->page : NULL;
}

static struct cmx_channel_page *share_page(struct cmx_channel *ch)
{
	if (!ch->page) {
		pthread_once(&forks_once, count_forks);
		ch->forks = forks;
		ch->page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
				ch->channel.fd, 0);
	}
	return page_of(ch);
}

static void count_held(struct cmx_channel *ch, int change)
{
	struct cmx_channel_page *page = page_of(ch);

	ch->num_held += change;
	if (page)
		__atomic_store_n(&page->held, ch->num_held, __ATOMIC_SEQ_CST);
}

/*
 * Keeps an event for the next rdma_get_cm_event(). False when somebody waits
 * whom only the kernel can wake. The caller holds the lock. The events of a
 * synchronous id are fetched at once, in the call that they end.
 */
bool cmx_channel_hold(struct cmx_channel *ch, struct cmx_event *e)
{
	struct cmx_channel_page *page = NULL;

	if (!e->id->sync) {
		page = ch->waiters ? NULL : share_page(ch);
		if (!page || __atomic_load_n(&page->polled, __ATOMIC_RELAXED))
			return false;
	}
	e->next = NULL;
	*ch->last = e;
	ch->last = &e->next;
	count_held(ch, 1);
	if (!page)
		return true;
	/* poll() sets one and reads the other */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&page->polled, __ATOMIC_RELAXED))
		return true;
	cmx_channel_unhold(ch, e);
	return false;
}

/* Takes an event back. The caller holds the lock. */
void cmx_channel_unhold(struct cmx_channel *ch, struct cmx_event *e)
{
	struct cmx_event **pos;

	for (pos = &ch->held; *pos != e; pos = &(*pos)->next)
		;
	*pos = e->next;
	if (ch->last == &e->next)
		ch->last = pos;
	count_held(ch, -1);
}

/* The event of an id that is held, or NULL. The caller holds the lock. */
struct cmx_event *cmx_channel_held(struct cmx_channel *ch, const struct cmx_id *id)
{
	struct cmx_event *e = ch->held;

	while (e && e->id != id)
		e = e->next;
	return e;
}

/*
 * Gives out up to @n events that are held. When there is none the caller is a
 * waiter until cmx_channel_leave().
 */
int cmx_channel_enter(struct cmx_channel *ch, struct rdma_cm_event **events, int n)
{
	struct cmx_event *e;
	int num = 0;

	pthread_mutex_lock(&ch->lock);
	if (ch->closed) {
		pthread_mutex_unlock(&ch->lock);
		return cmx_err(EBADF);
	}
	while (ch->held && num < n) {
		e = ch->held;
		cmx_channel_unhold(ch, e);
		e->id->events_made++;
		events[num++] = &e->event;
	}
	if (!num)
		ch->waiters++;
	pthread_mutex_unlock(&ch->lock);
	return num;
}

/*
 * A thread that is about to wait when another one destroys the channel must find
 * that out: the last channels to be destroyed are kept.
 */
static void channel_retire(struct cmx_channel *ch)
{
	static struct cmx_channel *retired[64];
	static unsigned int next;
	unsigned int i = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % ARRAY_SIZE(retired);

	ch = __atomic_exchange_n(&retired[i], ch, __ATOMIC_ACQ_REL);
	if (!ch)
		return;
	pthread_mutex_destroy(&ch->lock);
	free(ch);
}

void cmx_channel_leave(struct cmx_channel *ch)
{
	bool last;

	pthread_mutex_lock(&ch->lock);
	last = !--ch->waiters && ch->closed;
	pthread_mutex_unlock(&ch->lock);
	if (last)
		channel_retire(ch);
}

/*
 * The channel is for this process alone from here on: events name ids by their addresses. One that
 * was only opened is not claimed yet, so that a daemon can open it before it forks. 0, or -1 with
 * errno: EACCES when it is another process's.
 */
int cmx_channel_claim(struct rdma_event_channel *channel)
{
	struct cmx_cmd cmd;

	cmx_cmd_init(&cmd, CMX_OBJ_CHANNEL, CMX_CHANNEL_CLAIM);
	return cmx_cmd_issue(&cmd, channel->fd);
}

/* In a child of fork(): what belongs to the channel is the parent's. */
bool cmx_channel_is_foreign(struct rdma_event_channel *channel)
{
	return cmx_channel_claim(channel) && errno == EACCES;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cmx_channel *ch;

	if (cmx_init())
		return NULL;
	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return NULL;
	ch->channel.fd = open(CMX_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (ch->channel.fd < 0) {
		free(ch);
		return NULL;
	}
	pthread_mutex_init(&ch->lock, NULL);
	ch->last = &ch->held;
	return &ch->channel;
}

/* Programs do it while one of their threads still waits for an event. */
void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct cmx_channel *ch = to_cmx_channel(channel);
	struct cmx_event *e;
	int fd = channel->fd;
	bool last;

	pthread_mutex_lock(&ch->lock);
	if (page_of(ch))
		munmap(ch->page, sysconf(_SC_PAGESIZE));
	ch->page = MAP_FAILED;
	while ((e = ch->held)) {
		cmx_channel_unhold(ch, e);
		free(e);
	}
	ch->closed = true;
	channel->fd = -1;
	last = !ch->waiters;
	pthread_mutex_unlock(&ch->lock);
	if (last)
		channel_retire(ch);
	close(fd);
}
