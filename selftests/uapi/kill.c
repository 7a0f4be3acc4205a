// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CMX_CHANNEL_KILL ends ids of any file: their owners get events that they know, and so do the peers.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include "uapi.h"

#define NOBODY 65534
#define REJECTED 8
#define DISCONNECTED 10
#define DEVICE_REMOVAL 11

static int id_kill(int fd, uint32_t id)
{
	struct cmd c;

	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_KILL);
	cmd_u32(&c, CMX_ATTR_ID, id);
	return cmd_issue(&c, fd);
}

/* The next event is of the type and of the id. */
static void event_expect(int fd, int type, uint32_t id)
{
	struct cmx_event_resp *resp = next_event(fd, type);

	if (resp)
		CHECK(resp->id == id && !resp->status, "id %u, status %d", resp->id, resp->status);
}

/* Both ends get DISCONNECTED. An owner that ignores it loses the id by the next call. */
static void test_connection(void)
{
	struct cmx_event_resp *resp;
	uint32_t ended[2], child;
	struct scene s;

	if (!scene_open(&s, CONNECTED))
		return;
	CHECK(!id_kill(s.other, s.id));
	/* the peer's event may come first */
	for (int i = 0; i < 2; i++) {
		resp = next_event(s.fd, DISCONNECTED);
		ended[i] = resp ? resp->id : 0;
	}
	child = ended[0] == s.id ? ended[1] : ended[0];
	CHECK(ended[0] + ended[1] == s.id + child && child && child != s.id);
	CHECK(!id_disconnect(s.fd, child));
	CHECK(!id_kill(s.other, child));
	event_expect(s.fd, DEVICE_REMOVAL, child);
	CHECK(id_kill(s.other, child) == EINVAL);
	CHECK(!id_destroy(s.fd, child, NULL));
	CHECK(id_kill(s.other, child) == ENOENT);
	/* the listener and the device have not noticed */
	CHECK(!id_destroy(s.fd, s.id, NULL));
	CHECK(!id_create(s.fd, CMX_PS_TCP, 1, &s.id) && !id_resolve(s.fd, s.id, s.port));
	CHECK(next_event(s.fd, 0));
	scene_close(&s);
}

/* A listener gives back its port. */
static void listener_check(struct sockaddr_in addr)
{
	uint32_t listener, next;
	int fd = dev_open(), other = dev_open();
	uint16_t port, again;

	CHECK(!id_create(fd, CMX_PS_TCP, 1, &listener) && !id_bind(fd, listener, &addr) &&
	      !id_listen(fd, listener, 0, &port));
	CHECK(!id_kill(other, listener));
	event_expect(fd, DEVICE_REMOVAL, listener);
	CHECK(id_listen(fd, listener, 0, &again) == ENODEV);
	addr.sin_port = port;
	CHECK(!id_create(other, CMX_PS_TCP, 1, &next) && !id_bind(other, next, &addr) &&
	      !id_listen(other, next, 0, &again));
	CHECK(!id_destroy(fd, listener, NULL));
	close(fd);
	close(other);
}

static void test_listener(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	listener_check(local);
	listener_check(any);
}

/* The peer of an attempt is told, whichever end is ended. */
static void test_attempt(void)
{
	struct cmx_event_resp *resp;
	struct scene s;

	if (!scene_open(&s, RESPONSE))
		return;
	CHECK(!id_kill(s.other, s.id));
	event_expect(s.fd, DEVICE_REMOVAL, s.id);
	resp = next_event(s.fd, REJECTED);
	CHECK(resp && resp->id != s.id);
	scene_close(&s);

	if (!scene_open(&s, REQUEST))
		return;
	CHECK(!id_kill(s.other, s.id));
	resp = next_event(s.fd, REJECTED);
	CHECK(resp && resp->status == 28, "%d", resp ? resp->status : 0);
	CHECK(id_accept(s.fd, s.id, 200) == ENODEV);
	scene_close(&s);
}

/* An id without a device, and one that is a member of a group */
static void test_others(void)
{
	struct scene s;

	if (!scene_open(&s, IDLE))
		return;
	CHECK(!id_kill(s.other, s.id));
	event_expect(s.fd, DEVICE_REMOVAL, s.id);
	CHECK(id_bind(s.fd, s.id, &local) == ENODEV);
	scene_close(&s);
	if (!scene_open(&s, JOINED))
		return;
	CHECK(id_kill(s.other, s.mc) == ENOENT);
	CHECK(!id_kill(s.other, s.id));
	event_expect(s.fd, DEVICE_REMOVAL, s.id);
	CHECK(!mc_leave(s.fd, s.mc, NULL));
	CHECK(!id_destroy(s.fd, s.id, NULL));
	scene_close(&s);
}

/* Returns whether there are ids, and all of them are ids of kernel ULPs. */
static bool ids_are_of_ulps(int fd)
{
	static uint64_t list[CMX_LIST_MIN_LEN / sizeof(uint64_t)];
	const struct cmx_id_record *record = (const void *)list;
	uint32_t count, i;
	uint64_t cursor = 0;

	if (!CHECK(!ids_list(fd, sizeof(*record), &cursor, list, sizeof(list), &count)))
		return false;
	for (i = 0; i < count && record->flags & CMX_ID_F_KERNEL; i++) {
		CHECK(!record->handle);
		record = (const void *)record + record->size;
	}
	return count && i == count && !cursor;
}

/* The list does not tell the handles of these ids, so this looks for the last one before an own id. */
static void test_ulp(void)
{
	int fd = dev_open(), err = ENOENT;
	uint32_t id;

	if (!ids_are_of_ulps(fd))
		tap_case_skip("needs ids of a kernel ULP, and no others");
	CHECK(!id_create(fd, CMX_PS_TCP, 1, &id));
	while (err == ENOENT && --id)
		err = id_kill(fd, id);
	CHECK(err == EOPNOTSUPP, "%d", err);
	close(fd);
}

static int kill_errno(int (*change)(void), uint32_t id)
{
	int fd;

	if (change())
		return -1;
	fd = dev_open();
	return fd < 0 ? -2 : id_kill(fd, id);
}

static int become_nobody(void)
{
	return setuid(NOBODY);
}

static int become_container(void)
{
	return unshare(CLONE_NEWNET);
}

static int become_user_namespace(void)
{
	return setuid(NOBODY) || unshare(CLONE_NEWUSER | CLONE_NEWNET);
}

static void denied_check(int (*change)(void), uint32_t id, int err, const char *who)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(kill_errno(change, id));
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == err,
	      "%s: status %#x", who, status);
}

static void test_denied(void)
{
	struct scene s;

	if (!scene_open(&s, CONNECTED))
		return;
	denied_check(become_nobody, s.id, EPERM, "a user");
	denied_check(become_nobody, s.id + 1000000, EPERM, "a user, no such id");
	denied_check(become_container, s.id, ENOENT, "root of another network namespace");
	denied_check(become_user_namespace, s.id, ENOENT, "root of a user namespace");
	CHECK(!fd_is_readable(s.fd, 100));
	scene_close(&s);
}

/* CAP_NET_ADMIN in a network namespace is enough for its ids, and the host may end them as well. */
static int kills_in_own_namespace(void *arg)
{
	uint32_t id;
	int fd;

	(void)arg;
	if (become_user_namespace())
		return 1;
	fd = dev_open();
	if (fd < 0 || id_create(fd, CMX_PS_TCP, 1, &id))
		return 2;
	return id_kill(fd, id);
}

static void test_namespace(void)
{
	int status = -1;

	waitpid(child_start(kills_in_own_namespace, NULL, 0), &status, 0);
	CHECK(!status, "status %#x", status);
}

const struct test kill_tests[] = {
	{ "kill: a connection", test_connection },
	{ "kill: a listener", test_listener },
	{ "kill: an attempt to connect", test_attempt },
	{ "kill: other ids", test_others },
	{ "kill: an id of a kernel ULP", test_ulp },
	{ "kill: a caller without the privilege", test_denied },
	{ "kill: in a namespace of one's own", test_namespace },
	{ },
};
