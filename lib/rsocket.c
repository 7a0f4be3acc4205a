// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * This library does not implement the rsocket API. It forwards the calls to the librdmacm of the
 * system, which it loads at the first call (system.c).
 */
#include <stdarg.h>
#include <sys/epoll.h>
#include "cmx_lib.h"
#pragma GCC visibility push(default)
#include <rdma/rsocket.h>

/* older versions of <rdma/rsocket.h> lack them */
int repoll_create(int flags);
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout);
#pragma GCC visibility pop

/* FORWARD(return type, name, parameters, arguments) for all but rfcntl() */
#define RSOCKET_FUNCTIONS(FORWARD) \
	FORWARD(int, rsocket, (int domain, int type, int protocol), (domain, type, protocol)) \
	FORWARD(int, rbind, (int s, const struct sockaddr *addr, socklen_t len), (s, addr, len)) \
	FORWARD(int, rlisten, (int s, int backlog), (s, backlog)) \
	FORWARD(int, raccept, (int s, struct sockaddr *addr, socklen_t *len), (s, addr, len)) \
	FORWARD(int, rconnect, (int s, const struct sockaddr *addr, socklen_t len), \
		(s, addr, len)) \
	FORWARD(int, rshutdown, (int s, int how), (s, how)) \
	FORWARD(int, rclose, (int s), (s)) \
	FORWARD(ssize_t, rrecv, (int s, void *buf, size_t len, int flags), (s, buf, len, flags)) \
	FORWARD(ssize_t, rrecvfrom, (int s, void *buf, size_t len, int flags, \
				     struct sockaddr *addr, socklen_t *addrlen), \
		(s, buf, len, flags, addr, addrlen)) \
	FORWARD(ssize_t, rrecvmsg, (int s, struct msghdr *msg, int flags), (s, msg, flags)) \
	FORWARD(ssize_t, rsend, (int s, const void *buf, size_t len, int flags), \
		(s, buf, len, flags)) \
	FORWARD(ssize_t, rsendto, (int s, const void *buf, size_t len, int flags, \
				   const struct sockaddr *addr, socklen_t addrlen), \
		(s, buf, len, flags, addr, addrlen)) \
	FORWARD(ssize_t, rsendmsg, (int s, const struct msghdr *msg, int flags), (s, msg, flags)) \
	FORWARD(ssize_t, rread, (int s, void *buf, size_t count), (s, buf, count)) \
	FORWARD(ssize_t, rreadv, (int s, const struct iovec *iov, int n), (s, iov, n)) \
	FORWARD(ssize_t, rwrite, (int s, const void *buf, size_t count), (s, buf, count)) \
	FORWARD(ssize_t, rwritev, (int s, const struct iovec *iov, int n), (s, iov, n)) \
	FORWARD(int, rpoll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout)) \
	FORWARD(int, rselect, (int n, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, \
			       struct timeval *timeout), \
		(n, readfds, writefds, exceptfds, timeout)) \
	FORWARD(int, rgetpeername, (int s, struct sockaddr *addr, socklen_t *len), (s, addr, len)) \
	FORWARD(int, rgetsockname, (int s, struct sockaddr *addr, socklen_t *len), (s, addr, len)) \
	FORWARD(int, rsetsockopt, (int s, int level, int name, const void *val, socklen_t len), \
		(s, level, name, val, len)) \
	FORWARD(int, rgetsockopt, (int s, int level, int name, void *val, socklen_t *len), \
		(s, level, name, val, len)) \
	FORWARD(off_t, riomap, (int s, void *buf, size_t len, int prot, int flags, off_t offset), \
		(s, buf, len, prot, flags, offset)) \
	FORWARD(int, riounmap, (int s, void *buf, size_t len), (s, buf, len)) \
	FORWARD(size_t, riowrite, (int s, const void *buf, size_t n, off_t offset, int flags), \
		(s, buf, n, offset, flags)) \
	FORWARD(int, repoll_create, (int flags), (flags)) \
	FORWARD(int, repoll_ctl, (int epfd, int op, int fd, struct epoll_event *event), \
		(epfd, op, fd, event)) \
	FORWARD(int, repoll_wait, (int epfd, struct epoll_event *events, int maxevents, \
				   int timeout), \
		(epfd, events, maxevents, timeout))

#define INDEX(type, name, params, args) INDEX_##name,
enum { RSOCKET_FUNCTIONS(INDEX) INDEX_rfcntl, INDEX_NUM };

#define NAME(type, name, params, args) #name,
static const char *const names[INDEX_NUM] = { RSOCKET_FUNCTIONS(NAME) "rfcntl" };

static void *functions[INDEX_NUM];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void cmxl_rsocket_find_functions(void)
{
	int i;

	/* decides how the library is opened */
	cmxl_system_is_used();
	for (i = 0; i < INDEX_NUM; i++)
		functions[i] = cmxl_system_function(names[i]);
}

static void *cmxl_rsocket_function(int index)
{
	pthread_once(&once, cmxl_rsocket_find_functions);
	if (!functions[index])
		errno = ENOSYS;
	return functions[index];
}

#define DEFINE(type, name, params, args) \
type name params \
{ \
	type (*f) params = cmxl_rsocket_function(INDEX_##name); \
\
	return f ? f args : (type)-1; \
}
RSOCKET_FUNCTIONS(DEFINE)

int rfcntl(int s, int cmd, ...)
{
	int (*f)(int s, int cmd, ...) = cmxl_rsocket_function(INDEX_rfcntl);
	va_list args;
	long arg;

	va_start(args, cmd);
	arg = va_arg(args, long);
	va_end(args);
	return f ? f(s, cmd, arg) : -1;
}
