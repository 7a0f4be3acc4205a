// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends MPA frames (RFC 5044, RFC 6581) of an iWARP connection that are wrong in some way:
 *   fuzz_mpa [-s SEED] [-T SECONDS] client|server ADDRESS PORT
 *
 * A client sends requests to a listener, a server answers requests with replies. Bytes are changed
 * at random, frames are cut, sent in pieces and too late, and connections are closed or reset at
 * any point.
 */
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "stress.h"

#define MPA_KEY_LEN 16
#define MPA_HDR_LEN 20
#define MPA_MAX_DATA 512
/* flags in the first byte after the key: markers, CRC, reject, enhanced set-up */
#define MPA_CRC 0x40
#define MPA_REJECT 0x20
#define MPA_ENHANCED 0x10

struct mpa_frame {
	unsigned char bytes[MPA_HDR_LEN + MPA_MAX_DATA];
	size_t len;
};

static unsigned long num_sent, num_answered;

static void frame_build(struct stress_rand *rnd, struct mpa_frame *frame, const char *key)
{
	size_t data = stress_rand_percent(rnd, 50) ? 4 + stress_rand_below(rnd, 60)
						   : stress_rand_below(rnd, MPA_MAX_DATA);
	size_t i;

	memcpy(frame->bytes, key, MPA_KEY_LEN);
	frame->bytes[MPA_KEY_LEN] = MPA_CRC | (stress_rand_percent(rnd, 50) ? MPA_ENHANCED : 0) |
				    (stress_rand_percent(rnd, 10) ? MPA_REJECT : 0);
	frame->bytes[MPA_KEY_LEN + 1] = stress_rand_percent(rnd, 50) ? 1 : 2;
	frame->bytes[MPA_KEY_LEN + 2] = data >> 8;
	frame->bytes[MPA_KEY_LEN + 3] = data;
	for (i = 0; i < data; i++)
		frame->bytes[MPA_HDR_LEN + i] = stress_rand_u32(rnd);
	frame->len = MPA_HDR_LEN + data;
}

static void frame_change(struct stress_rand *rnd, struct mpa_frame *frame)
{
	size_t head = stress_rand_percent(rnd, 70) ? MPA_HDR_LEN : frame->len;

	while (stress_rand_percent(rnd, 60))
		frame->bytes[stress_rand_below(rnd, head)] = stress_rand_u32(rnd);
	if (stress_rand_percent(rnd, 20))
		frame->len = stress_rand_below(rnd, frame->len);
	else if (stress_rand_percent(rnd, 10))
		frame->len = sizeof(frame->bytes);
}

/* Sends the frame at once or in two pieces. */
static void frame_send(struct stress_rand *rnd, int fd, const struct mpa_frame *frame)
{
	size_t first = stress_rand_percent(rnd, 60) ? frame->len
						    : stress_rand_below(rnd, frame->len + 1);

	if (send(fd, frame->bytes, first, MSG_NOSIGNAL) < 0)
		return;
	num_sent++;
	if (first == frame->len)
		return;
	usleep(1000 * stress_rand_below(rnd, 30));
	send(fd, frame->bytes + first, frame->len - first, MSG_NOSIGNAL);
}

static void peer_await(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[2048];

	if (poll(&p, 1, ms) == 1 && recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		num_answered++;
}

static void conn_end(struct stress_rand *rnd, int fd)
{
	struct linger reset = { .l_onoff = 1 };

	if (stress_rand_percent(rnd, 30))
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
}

static void client_step(struct stress_rand *rnd, const struct sockaddr_in *addr)
{
	struct mpa_frame frame;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		err(2, "socket");
	if (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr))) {
		frame_build(rnd, &frame, "MPA ID Req Frame");
		frame_change(rnd, &frame);
		frame_send(rnd, fd, &frame);
		peer_await(fd, stress_rand_below(rnd, 100));
	}
	conn_end(rnd, fd);
}

static int server_listen(const struct sockaddr_in *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) || listen(fd, 16))
		err(2, "listen");
	return fd;
}

static void server_step(struct stress_rand *rnd, int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	struct mpa_frame frame;
	int fd;

	if (poll(&p, 1, 500) != 1)
		return;
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		return;
	peer_await(fd, 1000);
	frame_build(rnd, &frame, "MPA ID Rep Frame");
	frame_change(rnd, &frame);
	if (stress_rand_percent(rnd, 95))
		frame_send(rnd, fd, &frame);
	usleep(1000 * stress_rand_below(rnd, 50));
	conn_end(rnd, fd);
}

static void usage_exit(void)
{
	errx(2, "[-s SEED] [-T SECONDS] client|server ADDRESS PORT");
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct stress_rand rnd = { .state = time(NULL) };
	time_t end = time(NULL) + 10;
	int c, listener = -1;

	while ((c = getopt(argc, argv, "s:T:")) != -1) {
		if (c == 's')
			rnd.state = strtoull(optarg, NULL, 0);
		else if (c == 'T')
			end = time(NULL) + atoi(optarg);
		else
			usage_exit();
	}
	if (argc - optind != 3 || inet_pton(AF_INET, argv[optind + 1], &addr.sin_addr) != 1)
		usage_exit();
	addr.sin_port = htons(atoi(argv[optind + 2]));
	printf("seed %llu\n", (unsigned long long)rnd.state);
	if (!strcmp(argv[optind], "server"))
		listener = server_listen(&addr);
	while (time(NULL) < end) {
		if (listener >= 0)
			server_step(&rnd, listener);
		else
			client_step(&rnd, &addr);
	}
	printf("%lu frames sent, %lu answered\n", num_sent, num_answered);
	return 0;
}
