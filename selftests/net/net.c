// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * net: many connections through a bad network, over the public API, so that it runs on either stack
 *
 *	net [OPTION...] WEATHER SERVER DEV CLIENT DEV
 *	net -l [-v]			prints the names of the weathers; -v also those of MADs
 *
 * SERVER and CLIENT are the IPv4 addresses of the two ends, and each DEV is the network interface of
 * the address before it, NAME or NAME@NAMESPACE. Both ends are in this process and run in one thread, so
 * that a kernel in simulated time repeats a run of a seed exactly.
 *
 *	-s SEED		decides what each connection does, and what the network does (1)
 *	-r ROUNDS	repeats all with the next seeds (1)
 *	-n NUM		number of connections of a round (60)
 *	-v		the network is that of selftests/vib
 *	-i		the in-tree stack: what differs is only counted
 *	-t		prints all events
 *
 * A connection is an id of the client, whose plan follows from the seed and its number, and the ids of
 * the requests that the server gets with this number. A round has these phases: connections are
 * made and end in bad weather; the network heals, and data is sent on what is left; the other
 * connections end in bad weather; the network heals, and all that is left must end by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "../lib/address.h"
#include "../lib/die.h"
#include "net.h"

#define PORT		7790

struct net_options opt = { .seed = 1, .rounds = 1, .num = 60 };
struct rdma_event_channel *channel[2];
struct conn *conns;
enum phase phase;
double begun, loop_now;

static double weather_next, next_act, dark_since;
static int weather_step, dark, open_ends;

static void end_run(struct end *e)
{
	struct conn *c = e->conn;

	if (!e->index && e->state != NEW && e->state != GONE && loop_now - begun >= c->plan.start + c->plan.cancel) {
		count.cancelled++;
		end_destroy(e);
	}
	if (loop_now >= e->act)
		end_act(e);
	end_check_time(e);
	end_check_half_open(e);
	if (e->act < next_act)
		next_act = e->act;
}

static void weather_change(void)
{
	double wait = random_time(weather_step, 100, 40);
	bool bad = phase == BAD || phase == BAD_AGAIN;

	weather_step++;
	if (dark)
		groups_note_interruption(dark_since, now());
	dark = DARK_NONE;
	dark_since = now();
	if (bad && opt.weather->dark && weather_step % 2 == 0) {
		dark = 1 + random_get(weather_step, 101) % 3;
		wait = random_time(weather_step, 102, 90);
	}
	weather_set(bad ? opt.weather : NULL, dark, random_get(weather_step, 103));
	if (opt.trace)
		printf("# %9.3f weather: %s, dark %d\n", now() - begun, bad ? "bad" : "good", dark);
	weather_next = bad && opt.weather->dark ? now() + 5 + wait : INFINITY;
}

static void end_count_open(struct end *e)
{
	if (e->state == GONE || (phase <= HEALED && e->conn->plan.held && e->state == UP))
		return;
	open_ends++;
}

static bool ends_are_settled(void)
{
	open_ends = 0;
	ends_walk(end_count_open);
	return !open_ends;
}

void loop_run(double seconds)
{
	struct pollfd p[] = {
		{ .fd = channel[0]->fd, .events = POLLIN },
		{ .fd = channel[1]->fd, .events = POLLIN },
	};
	double wait;

	loop_now = now();
	next_act = loop_now + seconds;
	ends_walk(end_run);
	if (loop_now >= weather_next)
		weather_change();
	wait = fmin(next_act, weather_next) - now();
	poll(p, 2, wait > 0 ? wait * 1000 + 1 : 0);
	channel_drain(0);
	channel_drain(1);
}

static void loop_run_for(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		loop_run(fmin(1, end - now()));
}

static void phase_begin(enum phase next)
{
	phase = next;
	weather_change();
}

/* Until the ids are where they should be, in their own time */
static void phase_settle(void)
{
	while (!ends_are_settled())
		loop_run(1);
}

static void end_release_held(struct end *e)
{
	if (e->conn->plan.held && e->state == UP)
		e->act = now() + ending_time(e);
}

static void round_run(void)
{
	int i;

	if (opt.vib)
		groups_clear();
	conns = calloc(opt.num, sizeof(*conns));
	begun = now();
	weather_step = 0;
	for (i = 0; i < opt.num; i++) {
		conns[i].num = i;
		conns[i].plan = plan_make(i);
		conns[i].client.conn = &conns[i];
		conns[i].client.since = begun;
		conns[i].client.act = begun + conns[i].plan.start;
	}
	phase_begin(BAD);
	phase_settle();
	phase_begin(HEALED);
	loop_run_for(20);
	phase_settle();
	data_exchange();
	phase_begin(BAD_AGAIN);
	ends_walk(end_release_held);
	phase_settle();
	phase_begin(GOOD);
	/* until what is still on its way has arrived, and has ended */
	loop_run_for(20);
	phase_settle();
}

static void round_free(void)
{
	struct end *e;
	int i;

	for (i = 0; i < opt.num; i++) {
		while ((e = conns[i].requests)) {
			conns[i].requests = e->next;
			free(e);
		}
	}
	free(conns);
}

static void listener_create(enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	weather_enter(opt.dev[1]);
	if (rdma_create_id(channel[1], &id, NULL, ps) || rdma_bind_addr(id, (void *)&opt.addr[1]) ||
	    rdma_listen(id, 1000))
		die("listener");
	weather_enter(NULL);
}

static void channel_open(int side)
{
	channel[side] = rdma_create_event_channel();
	if (!channel[side] || fcntl(channel[side]->fd, F_SETFL, O_NONBLOCK))
		die("rdma_create_event_channel");
}

static int usage(void)
{
	fprintf(stderr, "net [-s SEED] [-r ROUNDS] [-n NUM] [-vit] WEATHER SERVER DEV CLIENT DEV\n");
	return 2;
}

static bool options_parse(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "s:r:n:vitl")) != -1) {
		switch (o) {
		case 's':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			opt.rounds = atoi(optarg);
			break;
		case 'n':
			opt.num = atoi(optarg);
			break;
		case 'v':
			opt.vib = true;
			break;
		case 'i':
			opt.intree = true;
			break;
		case 't':
			opt.trace = true;
			break;
		case 'l':
			opt.rounds = 0;
			break;
		default:
			return false;
		}
	}
	if (!opt.rounds)
		return true;
	if (argc - optind != 5)
		return false;
	opt.weather = weather_find(argv[optind]);
	opt.addr[1] = address_parse(argv[optind + 1], PORT);
	opt.dev[1] = argv[optind + 2];
	opt.addr[0] = address_parse(argv[optind + 3], 0);
	opt.dev[0] = argv[optind + 4];
	return opt.weather;
}

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };
	uint64_t last;

	if (!options_parse(argc, argv))
		return usage();
	if (!opt.rounds) {
		weather_list(opt.vib);
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_NOFILE, &files);
	weather_use_netem(opt.dev[0], opt.dev[1]);
	if (opt.vib)
		weather_use_vib();
	channel_open(0);
	channel_open(1);
	listener_create(RDMA_PS_TCP);
	listener_create(RDMA_PS_UDP);
	for (last = opt.seed + opt.rounds - 1; opt.seed <= last; opt.seed++) {
		int before = faults_count();

		round_run();
		if (faults_count() != before && !opt.intree)
			printf("# that was seed %llu\n", (unsigned long long)opt.seed);
		round_free();
	}
	counts_print();
	groups_print();
	if (opt.intree)
		faults_print();
	else
		result_print();
	return !opt.intree && faults_count();
}
