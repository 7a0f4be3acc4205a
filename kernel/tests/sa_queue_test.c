// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <kunit/test.h>
#include "../transport/ib/sa_queue.c"

#define SA_QUEUE_TEST_REQS 64
#define SA_QUEUE_TEST_MAX 8	/* default of max_sa_requests */

/**
 * struct sa_queue_test_req - a request
 * @req: the request
 * @woken: when it was woken, counted from 1 in each case; 0: not yet
 */
struct sa_queue_test_req {
	struct cmx_sa_request req;
	unsigned int woken;
};

/**
 * struct sa_queue_test - a queue and its requests
 * @queue: the queue. Its last reply and its last late reply are long ago
 * @reqs: the requests, each of which is idle at the beginning
 */
struct sa_queue_test {
	struct cmx_sa_queue queue;
	struct sa_queue_test_req reqs[SA_QUEUE_TEST_REQS];
};

static unsigned int sa_queue_test_woken;

static void sa_queue_test_wake(struct cmx_sa_request *req)
{
	container_of(req, struct sa_queue_test_req, req)->woken = ++sa_queue_test_woken;
}

static struct sa_queue_test *sa_queue_test_new(struct kunit *test)
{
	struct sa_queue_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	cmx_sa_queue_init(&t->queue);
	t->queue.answered -= msecs_to_jiffies(60000);
	t->queue.slowed -= msecs_to_jiffies(60000);
	for (i = 0; i < SA_QUEUE_TEST_REQS; i++)
		cmx_sa_request_init(&t->reqs[i].req, t, sa_queue_test_wake);
	sa_queue_test_woken = 0;
	return t;
}

/* Nothing of the queue is in use afterwards. */
static void sa_queue_test_end(struct sa_queue_test *t)
{
	int i;

	cmx_sa_queue_stop(&t->queue);
	for (i = 0; i < SA_QUEUE_TEST_REQS; i++)
		cmx_sa_request_end(&t->queue, &t->reqs[i].req, -ENODEV);
}

static int sa_queue_test_start(struct sa_queue_test *t, int i, enum cmx_sa_kind kind)
{
	return cmx_sa_request_start(&t->queue, &t->reqs[i].req, kind);
}

/* A request that was sent or queued @ms ago ends. */
static void sa_queue_test_reply(struct sa_queue_test *t, int i, unsigned int ms, int status)
{
	t->reqs[i].req.since = jiffies - msecs_to_jiffies(ms);
	cmx_sa_request_end(&t->queue, &t->reqs[i].req, status);
}

static void sa_queue_test_join_first(struct sa_queue_test *t, int num)
{
	int i;

	for (i = 0; i < num; i++)
		sa_queue_test_start(t, i, CMX_SA_JOIN);
}

/* Requests of one user are sent in their order, so that the first ones are in progress. */
static void sa_queue_test_reply_first(struct sa_queue_test *t, int num)
{
	int i;

	for (i = 0; i < num; i++)
		sa_queue_test_reply(t, i, 0, 0);
}

static void sa_queue_test_one_at_a_time(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);

	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 0, CMX_SA_JOIN), 0);
	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 1, CMX_SA_JOIN), -EINPROGRESS);
	/* another call makes no difference */
	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 0, CMX_SA_JOIN), 0);
	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 1, CMX_SA_JOIN), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, t->queue.under_way, 1);

	sa_queue_test_reply(t, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, t->reqs[1].woken, 1);
	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 1, CMX_SA_JOIN), 0);
	KUNIT_EXPECT_EQ(test, t->queue.under_way, 1);
	sa_queue_test_end(t);
	KUNIT_EXPECT_EQ(test, t->queue.under_way, 0);
}

struct sa_queue_test_window_case {
	const char *name;
	unsigned int replies;
	unsigned int window;
};

/* The window grows by one after as many timely replies as it is large. */
static const struct sa_queue_test_window_case sa_queue_test_windows[] = {
	{ "at the beginning", 0, 1 },
	{ "after the first timely reply", 1, 2 },
	{ "before the second step", 2, 2 },
	{ "after the second step", 3, 3 },
	{ "before the maximum", 27, 7 },
	{ "at the maximum", 28, SA_QUEUE_TEST_MAX },
	{ "at the maximum, and further replies", 48, SA_QUEUE_TEST_MAX },
};

static void sa_queue_test_window_desc(const struct sa_queue_test_window_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "window of the SA: %s", c->name);
}

KUNIT_ARRAY_PARAM(sa_queue_test_window, sa_queue_test_windows, sa_queue_test_window_desc);

static void sa_queue_test_window(struct kunit *test)
{
	const struct sa_queue_test_window_case *c = test->param_value;
	struct sa_queue_test *t = sa_queue_test_new(test);

	sa_queue_test_join_first(t, SA_QUEUE_TEST_REQS);
	sa_queue_test_reply_first(t, c->replies);
	KUNIT_EXPECT_EQ(test, t->queue.window, c->window);
	KUNIT_EXPECT_EQ(test, t->queue.under_way, c->window);
	sa_queue_test_end(t);
}

/* Replies to requests that were sent before the first late reply say nothing new. */
static void sa_queue_test_late_replies_halve_once(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);
	int i;

	sa_queue_test_join_first(t, SA_QUEUE_TEST_REQS);
	sa_queue_test_reply_first(t, 28);
	for (i = 28; i < 28 + SA_QUEUE_TEST_MAX; i++)
		sa_queue_test_reply(t, i, REPEAT_MS + 100, 0);
	KUNIT_EXPECT_EQ(test, t->queue.window, SA_QUEUE_TEST_MAX / 2);
	KUNIT_EXPECT_EQ(test, t->queue.under_way, SA_QUEUE_TEST_MAX / 2);
	sa_queue_test_end(t);
}

/* A port that has nothing in progress begins anew. */
static void sa_queue_test_idle_queue_forgets_window(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);

	sa_queue_test_join_first(t, SA_QUEUE_TEST_REQS);
	sa_queue_test_reply_first(t, SA_QUEUE_TEST_REQS);
	KUNIT_EXPECT_EQ(test, t->queue.window, 1);
	sa_queue_test_end(t);
}

static void sa_queue_test_users_take_turns(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);

	t->reqs[4].req.user = test;
	sa_queue_test_join_first(t, 5);
	sa_queue_test_reply(t, 0, 0, 0);
	sa_queue_test_reply(t, 1, 0, 0);
	sa_queue_test_reply(t, 4, 0, 0);
	KUNIT_EXPECT_EQ(test, t->reqs[1].woken, 1);
	KUNIT_EXPECT_EQ(test, t->reqs[4].woken, 2);
	KUNIT_EXPECT_EQ(test, t->reqs[2].woken, 3);
	KUNIT_EXPECT_EQ(test, t->reqs[3].woken, 4);
	sa_queue_test_end(t);
}

static void sa_queue_test_kinds_take_turns(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);

	sa_queue_test_join_first(t, 3);
	sa_queue_test_start(t, 3, CMX_SA_LEAVE);
	sa_queue_test_start(t, 4, CMX_SA_REJOIN);
	sa_queue_test_reply(t, 0, 0, 0);
	sa_queue_test_reply(t, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, t->reqs[1].woken, 1);
	KUNIT_EXPECT_EQ(test, t->reqs[3].woken, 2);
	KUNIT_EXPECT_EQ(test, t->reqs[4].woken, 3);
	KUNIT_EXPECT_EQ(test, t->reqs[2].woken, 0);
	sa_queue_test_end(t);
}

/* If a request is cancelled, the user's next request takes its place. */
static void sa_queue_test_cancelled_request_leaves_queue(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);

	sa_queue_test_join_first(t, 3);
	cmx_sa_request_end(&t->queue, &t->reqs[1].req, -EINTR);
	KUNIT_EXPECT_EQ(test, t->queue.under_way, 1);
	sa_queue_test_reply(t, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, t->reqs[1].woken, 0);
	KUNIT_EXPECT_EQ(test, t->reqs[2].woken, 1);
	sa_queue_test_end(t);
}

/* Only rejoins wait for the end of a pause. */
static void sa_queue_test_late_reply_pauses_rejoins(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);

	sa_queue_test_start(t, 0, CMX_SA_JOIN);
	sa_queue_test_start(t, 1, CMX_SA_REJOIN);
	sa_queue_test_start(t, 2, CMX_SA_JOIN);
	sa_queue_test_reply(t, 0, 2000, 0);
	KUNIT_EXPECT_TRUE(test, t->queue.paused);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&t->queue.resume));
	KUNIT_EXPECT_EQ(test, t->reqs[1].woken, 0);
	KUNIT_EXPECT_EQ(test, t->reqs[2].woken, 1);

	sa_queue_test_reply(t, 2, 0, 0);
	KUNIT_EXPECT_EQ(test, t->reqs[1].woken, 0);
	flush_delayed_work(&t->queue.resume);
	KUNIT_EXPECT_FALSE(test, t->queue.paused);
	KUNIT_EXPECT_EQ(test, t->reqs[1].woken, 2);
	sa_queue_test_end(t);
}

static void sa_queue_test_restart_ends_pause(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);

	sa_queue_test_start(t, 0, CMX_SA_REJOIN);
	sa_queue_test_start(t, 1, CMX_SA_REJOIN);
	sa_queue_test_reply(t, 0, 20000, -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, t->queue.paused);
	KUNIT_EXPECT_EQ(test, t->queue.late, 1);
	cmx_sa_queue_restart(&t->queue);
	flush_delayed_work(&t->queue.resume);
	KUNIT_EXPECT_EQ(test, t->queue.late, 0);
	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 1, CMX_SA_REJOIN), 0);
	sa_queue_test_end(t);
}

struct sa_queue_test_silent_case {
	const char *name;
	enum cmx_sa_kind kind;
	unsigned int ms;
	bool expires;
};

static const struct sa_queue_test_silent_case sa_queue_test_silents[] = {
	{ "join that has waited long enough", CMX_SA_JOIN, SILENT_MS + 1000, true },
	{ "join that has not", CMX_SA_JOIN, SILENT_MS - 1000, false },
	{ "leave", CMX_SA_LEAVE, SILENT_MS + 1000, false },
	{ "rejoin", CMX_SA_REJOIN, SILENT_MS + 1000, false },
};

static void sa_queue_test_silent_desc(const struct sa_queue_test_silent_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "silent SA: %s", c->name);
}

KUNIT_ARRAY_PARAM(sa_queue_test_silent, sa_queue_test_silents, sa_queue_test_silent_desc);

/* A join of a consumer fails if the SA has answered nothing for long, and can be started again. */
static void sa_queue_test_silent(struct kunit *test)
{
	const struct sa_queue_test_silent_case *c = test->param_value;
	struct sa_queue_test *t = sa_queue_test_new(test);

	sa_queue_test_start(t, 0, CMX_SA_JOIN);
	/* another user's, which is sent next */
	t->reqs[1].req.user = test;
	sa_queue_test_start(t, 1, CMX_SA_JOIN);
	sa_queue_test_start(t, 2, c->kind);
	t->reqs[2].req.since -= msecs_to_jiffies(c->ms);
	sa_queue_test_reply(t, 0, 3300, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 2, c->kind),
			c->expires ? -ETIMEDOUT : -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 2, c->kind), -EINPROGRESS);
	sa_queue_test_end(t);
}

/* A reply to any request shows that the SA is there. */
static void sa_queue_test_reply_ends_silence(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);

	sa_queue_test_start(t, 0, CMX_SA_JOIN);
	t->reqs[1].req.user = test;
	sa_queue_test_start(t, 1, CMX_SA_JOIN);
	sa_queue_test_start(t, 2, CMX_SA_JOIN);
	t->reqs[2].req.since -= msecs_to_jiffies(SILENT_MS + 1000);
	t->queue.answered = jiffies;
	sa_queue_test_reply(t, 0, 3300, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, 2, CMX_SA_JOIN), -EINPROGRESS);
	sa_queue_test_end(t);
}

static void sa_queue_test_stop_wakes_all(struct kunit *test)
{
	struct sa_queue_test *t = sa_queue_test_new(test);
	int i;

	for (i = 0; i < 2 * CMX_SA_KINDS; i++)
		sa_queue_test_start(t, i, i % CMX_SA_KINDS);
	KUNIT_EXPECT_FALSE(test, cmx_sa_queue_is_stopped(&t->queue));
	cmx_sa_queue_stop(&t->queue);
	KUNIT_EXPECT_TRUE(test, cmx_sa_queue_is_stopped(&t->queue));
	for (i = 0; i < 2 * CMX_SA_KINDS; i++) {
		KUNIT_EXPECT_NE(test, t->reqs[i].woken, 0);
		KUNIT_EXPECT_EQ(test, sa_queue_test_start(t, i, i % CMX_SA_KINDS), -ENODEV);
	}
	sa_queue_test_end(t);
}

static struct kunit_case sa_queue_test_cases[] = {
	KUNIT_CASE(sa_queue_test_one_at_a_time),
	KUNIT_CASE_PARAM(sa_queue_test_window, sa_queue_test_window_gen_params),
	KUNIT_CASE(sa_queue_test_late_replies_halve_once),
	KUNIT_CASE(sa_queue_test_idle_queue_forgets_window),
	KUNIT_CASE(sa_queue_test_users_take_turns),
	KUNIT_CASE(sa_queue_test_kinds_take_turns),
	KUNIT_CASE(sa_queue_test_cancelled_request_leaves_queue),
	KUNIT_CASE(sa_queue_test_late_reply_pauses_rejoins),
	KUNIT_CASE(sa_queue_test_restart_ends_pause),
	KUNIT_CASE_PARAM(sa_queue_test_silent, sa_queue_test_silent_gen_params),
	KUNIT_CASE(sa_queue_test_reply_ends_silence),
	KUNIT_CASE(sa_queue_test_stop_wakes_all),
	{},
};

static struct kunit_suite sa_queue_test_suite = {
	.name = "cmx-sa-queue",
	.test_cases = sa_queue_test_cases,
};

kunit_test_suite(sa_queue_test_suite);
