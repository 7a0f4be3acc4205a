// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The rsocket functions are those of the system's library and must return the same results. Without
 * a device these are only errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <rdma/rsocket.h>

#define SHOW(call) do { \
	errno = 0; \
	printf("%s: %ld", #call, (long)(call)); \
	printf(" errno %d\n", errno); \
} while (0)

int main(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct iovec iov = { .iov_base = &addr, .iov_len = sizeof(addr) };
	struct pollfd pfd = { .fd = -1, .events = POLLIN };
	struct timeval now = {};
	socklen_t len = sizeof(addr);
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	char buf[16] = {};
	int fd, one = 1;

	setvbuf(stdout, NULL, _IOLBF, 0);

	SHOW(rsocket(AF_UNIX, SOCK_STREAM, 0));
	SHOW(rsocket(AF_INET, SOCK_RAW, 0));
	SHOW(rbind(1000, (struct sockaddr *)&addr, sizeof(addr)));
	SHOW(rlisten(1000, 1));
	SHOW(raccept(1000, (struct sockaddr *)&addr, &len));
	SHOW(rconnect(1000, (struct sockaddr *)&addr, sizeof(addr)));
	SHOW(rshutdown(1000, SHUT_RDWR));
	SHOW(rclose(1000));
	/* the other functions do not check the descriptor before a socket exists */
	fd = rsocket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return 1;
	SHOW(rfcntl(fd, F_SETFL, O_NONBLOCK));
	SHOW(rfcntl(fd, F_GETFL) & O_NONBLOCK);
	SHOW(rrecv(fd, buf, sizeof(buf), 0));
	SHOW(rrecvfrom(fd, buf, sizeof(buf), 0, NULL, NULL));
	SHOW(rrecvmsg(fd, &msg, MSG_PEEK));
	SHOW(rsend(1000, buf, sizeof(buf), 0));
	SHOW(rsendto(1000, buf, sizeof(buf), 0, (struct sockaddr *)&addr, sizeof(addr)));
	SHOW(rsendmsg(1000, &msg, MSG_OOB));
	SHOW(rread(fd, buf, sizeof(buf)));
	SHOW(rreadv(fd, &iov, 1));
	SHOW(rwrite(1000, buf, sizeof(buf)));
	SHOW(rwritev(1000, &iov, 1));
	SHOW(rpoll(&pfd, 1, 0));
	SHOW(rselect(0, NULL, NULL, NULL, &now));
	SHOW(rgetpeername(fd, (struct sockaddr *)&addr, &len));
	SHOW(rgetsockname(fd, (struct sockaddr *)&addr, &len));
	SHOW(rsetsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	SHOW(rgetsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, &len));
	SHOW(riomap(1000, buf, sizeof(buf), PROT_READ, 0, 0));
	SHOW(riounmap(1000, buf, sizeof(buf)));
	SHOW(riowrite(1000, buf, sizeof(buf), 0, 0));
	return 0;
}
