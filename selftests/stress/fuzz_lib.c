// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls the functions of the library at random. For the arguments see stress.c.
 *
 * The library trusts its caller, so a call on freed memory would not be a valid test. A slot is an
 * id with a lock. A call holds the lock for reading, and a call that destroys or moves the id holds
 * it for writing. Events need no lock, because rdma_destroy_id() waits until all events of the id
 * are acknowledged. Apart from this, threads make any call at any time, and share the channels.
 *
 * The sources of the library are compiled into this program, with AddressSanitizer.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include "fuzz_lib.h"

#define NUM_CHANNELS 3
#define NUM_SLOTS 48
#define NUM_EVENTS 4

static const char *const call_names[NUM_CALLS] = {
	"rdma_get_cm_event", "rdma_cmx_get_events", "rdma_get_cm_event, cancel", "rdma_create_id",
	"rdma_create_id, sync", "rdma_create_ep", "rdma_get_request", "rdma_destroy_id",
	"rdma_destroy_ep", "rdma_migrate_id", "rdma_create_qp", "rdma_destroy_qp",
	"rdma_create_srq", "rdma_destroy_srq", "rdma_bind_addr", "rdma_resolve_addr",
	"rdma_resolve_route", "rdma_listen", "rdma_connect", "rdma_accept", "rdma_establish",
	"rdma_reject", "rdma_reject_ece", "rdma_disconnect", "rdma_notify", "rdma_init_qp_attr",
	"rdma_set_option", "rdma_cmx_get_option", "rdma_cmx_query_ece", "rdma_set_local_ece",
	"rdma_get_remote_ece", "rdma_get_src_port", "rdma_join_multicast",
	"rdma_join_multicast_ex", "rdma_cmx_join_multicast", "rdma_leave_multicast",
	"rdma_resolve_addrinfo", "rdma_query_addrinfo", "rdma_write_cm_event",
	"rdma_getaddrinfo", "rdma_get_devices", "event channel", "event channel, waited on",
};

/* Calls that are valid in a stage; one of the four is chosen */
static const uint8_t fitting[NUM_STAGES][4] = {
	[IDLE] = { BIND, RESOLVE_ADDR, SET_OPTION, RESOLVE_ADDR },
	[BOUND] = { LISTEN, LEAVE, RESOLVE_ADDR, JOIN },
	[LISTENING] = { GET_EVENT, GET_EVENTS, GET_EVENT, GET_EVENT },
	[WAITING] = { GET_EVENT, GET_EVENTS, GET_EVENT, GET_EVENT },
	[ADDR] = { RESOLVE_ROUTE, CREATE_QP, RESOLVE_ROUTE, JOIN },
	[ROUTE] = { CONNECT, CONNECT, CREATE_QP, CONNECT },
	[REQUEST] = { ACCEPT, ACCEPT, CREATE_QP, REJECT },
	[RESPONSE] = { ESTABLISH, ESTABLISH, INIT_QP_ATTR, ESTABLISH },
	[CONNECTED] = { DISCONNECT, NOTIFY, INIT_QP_ATTR, DESTROY },
	[OVER] = { DESTROY, DESTROY_EP, DISCONNECT, DESTROY },
};

static struct slot slots[NUM_SLOTS];
/* the first channel is blocking, and one thread at a time fetches from it */
static struct rdma_event_channel *channels[NUM_CHANNELS];
static pthread_mutex_t wait_lock = PTHREAD_MUTEX_INITIALIZER;
/* number of calls on synchronous ids, which may wait for a peer for any time */
static atomic_uint num_blocking;

/* read by AddressSanitizer: an error raises a signal, so that it is counted */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1";
}

struct rdma_event_channel *fuzz_channel_pick(struct stress_rand *rnd)
{
	return channels[stress_rand_below(rnd, NUM_CHANNELS)];
}

static bool slot_fill(struct slot *slot, struct rdma_cm_id *id, bool sync)
{
	bool filled = false;

	if (pthread_rwlock_trywrlock(&slot->lock))
		return false;
	if (!slot->id) {
		id->context = slot;
		slot->id = id;
		slot->sync = sync;
		slot->stage = REQUEST;
		filled = true;
	}
	pthread_rwlock_unlock(&slot->lock);
	return filled;
}

/* Puts the id of a request into a slot, for all threads. Without a free slot it is rejected. */
static void request_add(struct stress_rand *rnd, struct rdma_cm_id *id, bool sync)
{
	int tries = 16;

	while (tries--)
		if (slot_fill(&slots[stress_rand_below(rnd, NUM_SLOTS)], id, sync))
			return;
	rdma_destroy_ep(id);
}

static bool slot_has(const void *context)
{
	const struct slot *slot = context;

	return slot >= slots && slot < slots + NUM_SLOTS;
}

/* Checks that all memory that an event points to can be read and has valid values. */
static void event_check(const struct rdma_cm_event *event)
{
	const uint8_t *data = event->param.conn.private_data;
	unsigned int i, sum = 0;

	if (!slot_has(event->id->context) || !rdma_event_str(event->event))
		abort();
	if (event->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
	    event->event == RDMA_CM_EVENT_MULTICAST_ERROR) {
		if (!slot_has(event->param.ud.private_data))
			abort();
		return;
	}
	if (event->id->qp_type == IBV_QPT_UD)
		data = event->param.ud.private_data;
	for (i = 0; data && i < event->param.conn.private_data_len; i++)
		sum += data[i];
	if (sum > UINT8_MAX * UINT8_MAX)
		abort();
}

static void event_handle(struct stress_rand *rnd, struct rdma_cm_event *event)
{
	enum stress_stage stage = stress_event_count(event->event);
	struct rdma_cm_id *request = NULL;

	event_check(event);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		request = event->id;
	else if (stage)
		((struct slot *)event->id->context)->stage = stage;
	rdma_ack_cm_event(event);
	if (request)
		request_add(rnd, request, false);
}

struct fetcher {
	struct rdma_event_channel *channel;
	struct rdma_cm_event *event;
};

static void *fetcher_run(void *arg)
{
	struct fetcher *fetcher = arg;
	struct rdma_cm_event *event;

	/* no cancellation point follows */
	if (!rdma_get_cm_event(fetcher->channel, &event))
		fetcher->event = event;
	return NULL;
}

/* Fetches an event in a thread that is cancelled at a random time. */
static int event_get_cancelled(struct stress_rand *rnd, struct rdma_event_channel *channel,
			       struct rdma_cm_event **event)
{
	struct fetcher fetcher = { .channel = channel };
	pthread_t thread;

	if (pthread_create(&thread, NULL, fetcher_run, &fetcher))
		return -1;
	usleep(stress_rand_below(rnd, 500));
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	*event = fetcher.event;
	return *event ? 1 : -1;
}

static void events_fetch(struct stress_rand *rnd, struct rdma_event_channel *channel,
			 enum call call)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *events[NUM_EVENTS];
	int i, n;

	if (poll(&p, 1, stress_rand_below(rnd, 3)) != 1 && call != GET_CANCELLED)
		return;
	stress_call_begin(call);
	if (call == GET_EVENT)
		n = rdma_get_cm_event(channel, events) ? -1 : 1;
	else if (call == GET_EVENTS)
		n = rdma_cmx_get_events(channel, events, NUM_EVENTS);
	else
		n = event_get_cancelled(rnd, channel, events);
	stress_call_end(call, n > 0);
	for (i = 0; i < n; i++)
		event_handle(rnd, events[i]);
}

static void channel_fetch(struct stress_rand *rnd, enum call call)
{
	struct rdma_event_channel *channel = fuzz_channel_pick(rnd);

	if (channel != channels[0]) {
		events_fetch(rnd, channel, call);
	} else if (!pthread_mutex_trylock(&wait_lock)) {
		events_fetch(rnd, channel, call);
		pthread_mutex_unlock(&wait_lock);
	}
}

static int request_get(struct stress_rand *rnd, struct slot *slot)
{
	struct rdma_cm_id *id;

	if (rdma_get_request(slot->id, &id))
		return -1;
	stress_event_count(RDMA_CM_EVENT_CONNECT_REQUEST);
	/* meanwhile the listener cannot be destroyed */
	if (stress_rand_percent(rnd, 70)) {
		rdma_ack_cm_event(id->event);
		id->event = NULL;
	}
	request_add(rnd, id, true);
	return 0;
}

/* Returns the stage after a call. If the id has a channel, its events decide the next stage. */
static enum stress_stage stage_after(enum call call, bool sync)
{
	static const uint8_t stages[NUM_CALLS] = {
		[BIND] = BOUND, [LISTEN] = LISTENING, [ESTABLISH] = CONNECTED, [REJECT] = OVER,
		[REJECT_ECE] = OVER, [DISCONNECT] = OVER, [RESOLVE_ADDR] = ADDR,
		[RESOLVE_ROUTE] = ROUTE, [CONNECT] = CONNECTED, [ACCEPT] = CONNECTED,
	};
	bool waits = call == RESOLVE_ADDR || call == RESOLVE_ROUTE || call == CONNECT ||
		     call == ACCEPT;

	return waits && !sync ? WAITING : stages[call];
}

static int call_issue(struct stress_rand *rnd, struct slot *slot, enum call call)
{
	if (call >= CREATE && call <= CREATE_EP)
		return fuzz_id_create(rnd, slot, call);
	if (call == GET_REQUEST)
		return slot->sync ? request_get(rnd, slot) : -1;
	return call < BIND ? fuzz_id_change(rnd, slot, call) : fuzz_id_use(rnd, slot, call);
}

/* Caller must hold the lock of the slot, which has an id if the call needs one. */
static void slot_call_issue(struct stress_rand *rnd, struct slot *slot, enum call call)
{
	enum stress_stage after = stage_after(call, slot->sync);
	unsigned char before = slot->stage, waiting = WAITING;
	int ret;

	/* set before the call, because the event may be handled before the call returns */
	if (after == WAITING)
		slot->stage = WAITING;
	stress_call_begin(call);
	ret = call_issue(rnd, slot, call);
	stress_call_end(call, !ret);
	if (ret && after == WAITING)
		atomic_compare_exchange_strong(&slot->stage, &waiting, before);
	else if (!ret && after && after != WAITING)
		slot->stage = after;
	if (ret && call >= BIND && stress_rand_percent(rnd, 10))
		slot->stage = OVER;
}

/* Limits the blocking calls, so that other threads can make the calls that they wait for. */
static bool blocking_enter(void)
{
	if (num_blocking++ < stress_thread_num() / 2)
		return true;
	num_blocking--;
	return false;
}

static void slot_call(struct stress_rand *rnd, struct slot *slot, enum call call)
{
	bool create = call >= CREATE && call <= CREATE_EP;
	bool sync = slot->sync || create;
	bool alone = sync || call < BIND;

	if (alone ? pthread_rwlock_trywrlock(&slot->lock) : pthread_rwlock_tryrdlock(&slot->lock))
		return;
	/* the slot may have changed before it was locked */
	if (!slot->id == create && (create || slot->sync == sync)) {
		if (!sync || call == CREATE) {
			slot_call_issue(rnd, slot, call);
		} else if (blocking_enter()) {
			slot_call_issue(rnd, slot, call);
			num_blocking--;
		}
	}
	pthread_rwlock_unlock(&slot->lock);
}

static void host_call(struct stress_rand *rnd, enum call call)
{
	int ret;

	stress_call_begin(call);
	ret = fuzz_host_use(rnd, call);
	stress_call_end(call, !ret);
}

static enum call call_pick(struct stress_rand *rnd, const struct slot *slot)
{
	enum call call = fitting[slot->stage][stress_rand_below(rnd, 4)];
	uint32_t odd = stress_rand_below(rnd, 100);

	if (odd < 12)
		return stress_rand_below(rnd, ADDRINFO);
	if (odd < 13)
		return ADDRINFO + stress_rand_below(rnd, NUM_CALLS - ADDRINFO);
	if (!slot->id)
		return odd < 90 ? CREATE : odd < 95 ? CREATE_SYNC : CREATE_EP;
	return slot->sync && slot->stage == LISTENING ? GET_REQUEST : call;
}

static void fuzz_step(struct stress_rand *rnd)
{
	struct slot *slot = &slots[stress_rand_below(rnd, NUM_SLOTS)];
	enum call call = call_pick(rnd, slot);

	if (!stress_rand_below(rnd, 2000))
		stress_fork(rnd, 20);
	else if (call <= GET_CANCELLED)
		channel_fetch(rnd, call);
	else if (call >= ADDRINFO)
		host_call(rnd, call);
	else
		slot_call(rnd, slot, call);
}

static void channels_open(void)
{
	int i;

	for (i = 0; i < NUM_CHANNELS; i++) {
		channels[i] = rdma_create_event_channel();
		/* without a device there is no channel; the next process may find one */
		if (!channels[i])
			_exit(0);
		if (i)
			fcntl(channels[i]->fd, F_SETFL, O_NONBLOCK);
	}
}

static void fuzz_process_init(struct stress_rand *rnd)
{
	int i;

	(void)rnd;
	for (i = 0; i < NUM_SLOTS; i++)
		pthread_rwlock_init(&slots[i].lock, NULL);
	channels_open();
}

/* The child uses the ids and channels of its parent. Half of the children open new channels. */
static void fuzz_child_init(struct stress_rand *rnd)
{
	/* a thread that does not exist in the child may hold it */
	pthread_mutex_init(&wait_lock, NULL);
	num_blocking = 0;
	if (stress_rand_percent(rnd, 50))
		channels_open();
}

/* Acknowledges the events that ids keep, because threads may wait for that. */
static void fuzz_wake(void)
{
	struct slot *slot;

	for (slot = slots; slot < slots + NUM_SLOTS; slot++) {
		if (pthread_rwlock_trywrlock(&slot->lock))
			continue;
		if (slot->id && slot->id->event) {
			rdma_ack_cm_event(slot->id->event);
			slot->id->event = NULL;
		}
		pthread_rwlock_unlock(&slot->lock);
	}
}

/* Loads the providers before the processes start, because this takes seconds. */
static void fuzz_setup(void)
{
	struct rdma_event_channel *channel;
	int tries = 300;

	while (!(channel = rdma_create_event_channel())) {
		if (!--tries)
			err(2, "rdma_create_event_channel");
		usleep(100000);
	}
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct stress_fuzzer fuzzer = {
		.names = call_names, .num = NUM_CALLS, .setup = fuzz_setup,
		.process_init = fuzz_process_init, .child_init = fuzz_child_init,
		.step = fuzz_step, .wake = fuzz_wake,
	};

	return stress_main(argc, argv, &fuzzer);
}
