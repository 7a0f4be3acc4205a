// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A model of all ports of a fabric, which join their groups again after a new SM has taken over.
 * Each port has the queue of kernel/transport/ib/sa_queue.c. The SA serves one request at a time, including
 * repeated ones.
 *
 *	sa PORTS GROUPS-OF-EACH REQUESTS-PER-SECOND [MAX_SA_REQUESTS]
 *
 * If MAX_SA_REQUESTS is negative, each port always has that many requests in progress, whatever the
 * replies. The program prints the time until all groups are joined, the time that the SA needs for
 * one request per group, the number of requests that it received for each group, and the maximum in
 * a second. It fails if the joins take more than ten times that time and a minute.
 */
#include "../../../kernel/transport/ib/sa_queue.c"
#include "libc.h"

#define US_PER_JIFFY (1000000 / HZ)

/* as in ib_sa and mcast_sa.c */
#define COPIES 11
#define TIMEOUT_MS (COPIES * REPEAT_MS)
#define REJOIN_MIN_MS 32U
#define REJOIN_MAX_MS 4096U

struct member {
	struct cmx_sa_request req;
	struct port *port;
	unsigned int delay, sent;	/* sent: number of the last request; 0: joined */
};

struct port {
	struct cmx_sa_queue queue;
	struct member *members;
};

struct event {
	uint64_t time;		/* microseconds; events of the same time are ordered by order */
	uint64_t order;
	void (*run)(void *object, unsigned int number);
	void *object;
	unsigned int number;
};

static uint64_t now;
static struct event *heap;
static size_t events, room;
static uint64_t order;
static int fixed;

/* the SA: queue of requests */
static struct {
	struct member *member;
	unsigned int number;
} *fifo;
static size_t fifo_first, fifo_end, fifo_room;
static unsigned int service_us;
static uint64_t received, received_then, second, peak, joined_at;
static int left;

static bool event_is_before(const struct event *a, const struct event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void event_schedule(uint64_t delay_us, void (*run)(void *, unsigned int), void *object,
			   unsigned int number)
{
	struct event ev = { now + delay_us, order++, run, object, number };
	size_t i = events++;

	if (events > room)
		heap = realloc(heap, (room = room * 2 + 1024) * sizeof(*heap));
	for (; i && event_is_before(&ev, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = ev;
}

static struct event event_take(void)
{
	struct event first = heap[0], last = heap[--events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < events) {
		if (child + 1 < events && event_is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!event_is_before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

/* A cancelled run is no longer pending, or pending for later. */
static void work_run(void *object, unsigned int number)
{
	struct delayed_work *work = object;

	if (!time_before(jiffies, work->timer.expires) && cancel_delayed_work(work))
		work->work.func(&work->work);
}

/* replaces that of kernel.c */
bool KERNEL(queue_delayed_work_on)(int cpu, struct workqueue_struct *wq,
				   struct delayed_work *work, unsigned long delay)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&work->work)))
		return false;
	work->timer.expires = jiffies + delay;
	event_schedule(delay * US_PER_JIFFY, work_run, work, 0);
	return true;
}

static void request_serve(void *object, unsigned int number);

/* An unanswered request arrives at the SA, and is repeated later. */
static void request_arrive(void *object, unsigned int number)
{
	struct member *m = object;

	if (m->sent != number)
		return;
	received++;
	if (now / 1000000 != second) {
		second = now / 1000000;
		received_then = received;
	}
	if (received - received_then + 1 > peak)
		peak = received - received_then + 1;
	if (fifo_end == fifo_room)
		fifo = realloc(fifo, (fifo_room = fifo_room * 2 + 1024) * sizeof(*fifo));
	fifo[fifo_end].member = m;
	fifo[fifo_end].number = number;
	if (fifo_end++ == fifo_first)
		event_schedule(service_us, request_serve, NULL, 0);
	event_schedule(REPEAT_MS * 1000, request_arrive, m, number);
}

static void request_end(struct member *m, int status)
{
	m->sent = 0;
	cmx_sa_request_end(&m->port->queue, &m->req, status);
	if (fixed)
		m->port->queue.window = fixed;
}

static void request_serve(void *object, unsigned int number)
{
	struct member *m = fifo[fifo_first].member;

	number = fifo[fifo_first].number;
	if (++fifo_first != fifo_end)
		event_schedule(service_us, request_serve, NULL, 0);
	if (m->sent != number)
		return;
	left--;
	joined_at = now;
	request_end(m, 0);
}

static void request_start(void *object, unsigned int number);

static void request_time_out(void *object, unsigned int number)
{
	struct member *m = object;

	if (m->sent != number)
		return;
	m->delay = min(m->delay * 2, REJOIN_MAX_MS);
	event_schedule((m->delay / 2 + get_random_u32() % m->delay / 2) * 1000, request_start, m,
		       0);
	request_end(m, -ETIMEDOUT);
}

static void request_start(void *object, unsigned int number)
{
	static unsigned int last;
	struct member *m = object;

	if (cmx_sa_request_start(&m->port->queue, &m->req, CMX_SA_REJOIN))
		return;
	m->sent = ++last;
	request_arrive(m, m->sent);
	event_schedule(TIMEOUT_MS * 1000, request_time_out, m, m->sent);
}

static void request_wake(struct cmx_sa_request *req)
{
	event_schedule(0, request_start, container_of(req, struct member, req), 0);
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[1]) : 0, groups = n ? atoi(argv[2]) : 0;
	double least;
	struct port *ports;

	if (!n || !groups || atoi(argv[3]) <= 0) {
		printf("usage: sa PORTS GROUPS-OF-EACH REQUESTS-PER-SECOND [MAX_SA_REQUESTS]\n");
		return 2;
	}
	service_us = 1000000 / atoi(argv[3]);
	if (argc > 4)
		max_sa_requests.val = abs(atoi(argv[4]));
	if (argc > 4 && atoi(argv[4]) < 0)
		fixed = max_sa_requests.val;
	ports = calloc(n, sizeof(*ports));
	for (int i = 0; i < n; i++) {
		cmx_sa_queue_init(&ports[i].queue);
		if (fixed)
			ports[i].queue.window = fixed;
		ports[i].members = calloc(groups, sizeof(*ports[i].members));
		for (int g = 0; g < groups; g++) {
			struct member *m = &ports[i].members[g];

			m->port = &ports[i];
			m->delay = REJOIN_MIN_MS;
			cmx_sa_request_init(&m->req, ports, request_wake);
			event_schedule((16 + get_random_u32() % 16) * 1000, request_start, m, 0);
		}
	}
	left = n * groups;
	least = left / 1e6 * service_us;
	while (events && left && now < (least * 10 + 60) * 1e6) {
		struct event ev = event_take();

		now = ev.time;
		jiffies = INITIAL_JIFFIES + now / US_PER_JIFFY;
		ev.run(ev.object, ev.number);
	}
	printf("%d of %d joined after %.1f s, %.1f s at least, %.2f requests each, %lu in a second\n",
	       n * groups - left, n * groups, joined_at / 1e6, least,
	       (double)received / (n * groups), (unsigned long)peak);
	return left > 0;
}
