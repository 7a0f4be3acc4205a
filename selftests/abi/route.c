// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What lets a program resolve a route without a call: the path that comes with
 * ADDR_RESOLVED, CMX_ATTR_ROUTE_TOLD, and the page that a channel shares.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/slow.h"
#include "abi.h"

enum { IN_ADDR = 3, IN_ROUTE = 5, IN_CONNECT = 7 };	/* Documentation/states.rst */

static int take_route(int fd, uint32_t id)
{
	struct cmd c;

	cmd_init(&c, CMX_OBJ_ID, CMX_ID_RESOLVE_ROUTE);
	cmd_u32(&c, CMX_ATTR_ID, id);
	cmd_u32(&c, CMX_ATTR_TIMEOUT, 1);
	cmd_in(&c, CMX_ATTR_ROUTE_TOLD, NULL, 0);
	return cmd_issue(&c, fd);
}

static int connect_told(int fd, uint32_t id, uint8_t private_data_len)
{
	struct rdma_ucm_conn_param param = *conn_param();
	struct cmd c;

	param.private_data_len = private_data_len;
	cmd_init(&c, CMX_OBJ_ID, CMX_ID_CONNECT);
	cmd_u32(&c, CMX_ATTR_ID, id);
	cmd_in(&c, CMX_ATTR_CONN_PARAM, &param, sizeof(param));
	cmd_in(&c, CMX_ATTR_ROUTE_TOLD, NULL, 0);
	return cmd_issue(&c, fd);
}

static struct cmx_id_info *query(int fd, uint32_t id)
{
	static struct cmx_id_info info;
	struct cmd c;

	memset(&info, 0, sizeof(info));
	cmd_init(&c, CMX_OBJ_ID, CMX_ID_QUERY);
	cmd_u32(&c, CMX_ATTR_ID, id);
	cmd_out(&c, CMX_ATTR_INFO, &info, sizeof(info));
	CHECK(!cmd_issue(&c, fd));
	return &info;
}

/* The next event, without poll(). */
static struct cmx_event_resp *fetch(int fd, int type)
{
	static struct cmx_event_resp resp;
	uint32_t count;
	int i, ret;

	memset(&resp, 0, sizeof(resp));
	for (i = 0; i < slow_time(10000); i++) {
		ret = get_events(fd, &resp, 1, &count);
		if (ret != EAGAIN)
			break;
		usleep(1000);
	}
	if (!CHECK(!ret) || !CHECK((int)resp.event == type, "%u", resp.event))
		return NULL;
	return &resp;
}

static bool has_path(const struct cmx_event_resp *resp)
{
	return resp->flags & CMX_EVENT_F_PATH;
}

/* It is what resolving the route finds. */
static void test_path(void)
{
	struct cmx_event_resp *resp;
	struct ib_path_rec_data path;
	struct cmx_id_info *info;
	int fd = dev_open();
	uint32_t id;

	CHECK(!id_create(fd, RDMA_PS_TCP, 1, &id) && !id_resolve(fd, id, 7));
	resp = fetch(fd, 0);
	if (!resp || !CHECK(has_path(resp)))
		return;
	CHECK(resp->flags & CMX_EVENT_F_INFO && !resp->info.num_paths);
	CHECK(resp->info.state == IN_ADDR);
	path = resp->info.path[0];
	CHECK(!id_route(fd, id));
	info = query(fd, id);
	CHECK(info->num_paths == 1 && info->state == IN_ROUTE);
	CHECK(!memcmp(&path, &info->path[0], sizeof(path)));
	resp = fetch(fd, 2);
	CHECK(resp && !has_path(resp));
	close(fd);
}

/* Who polls needs the kernel's event. */
static void test_no_path(void)
{
	struct cmx_event_resp *resp;
	int fd = dev_open();
	uint32_t id;

	readable(fd, 0);
	CHECK(!id_create(fd, RDMA_PS_TCP, 1, &id) && !id_resolve(fd, id, 7));
	resp = fetch(fd, 0);
	CHECK(resp && !has_path(resp));
	close(fd);
}

static void test_take(void)
{
	struct scene s;

	if (!scene_open(&s, BOUND))
		return;
	CHECK(take_route(s.fd, s.id) == EINVAL);
	scene_close(&s);
	if (!scene_open(&s, ADDR))
		return;
	CHECK(!take_route(s.fd, s.id));
	CHECK(query(s.fd, s.id)->state == IN_ROUTE && query(s.fd, s.id)->num_paths == 1);
	CHECK(!readable(s.fd, 200));
	CHECK(take_route(s.fd, s.id) == EINVAL);
	CHECK(id_route(s.fd, s.id) == EINVAL);
	CHECK(!id_connect(s.fd, s.id) && next_event(s.fd, 4));
	scene_close(&s);
}

static void test_connect(void)
{
	struct cmx_event_resp *resp;
	struct scene s;

	if (!scene_open(&s, BOUND))
		return;
	CHECK(connect_told(s.fd, s.id, 0) == EINVAL && query(s.fd, s.id)->state == 1);
	scene_close(&s);
	if (!scene_open(&s, ADDR))
		return;
	CHECK(id_connect(s.fd, s.id) == EINVAL);
	/* too much private data: nothing has changed */
	CHECK(connect_told(s.fd, s.id, 200) == EINVAL);
	CHECK(query(s.fd, s.id)->state == IN_ADDR && !query(s.fd, s.id)->num_paths);
	CHECK(id_connect(s.fd, s.id) == EINVAL);
	CHECK(!connect_told(s.fd, s.id, 0));
	CHECK(query(s.fd, s.id)->state == IN_CONNECT && query(s.fd, s.id)->num_paths == 1);
	CHECK(connect_told(s.fd, s.id, 0) == EINVAL);
	resp = next_event(s.fd, 4);
	CHECK(resp && !id_accept(s.fd, resp->id, 200) && next_event(s.fd, 5));
	scene_close(&s);

	/* with the route resolved it makes no difference */
	if (!scene_open(&s, ROUTE))
		return;
	CHECK(!connect_told(s.fd, s.id, 0) && next_event(s.fd, 4));
	scene_close(&s);
}

static struct cmx_channel_page *map(int fd, size_t len, int flags, off_t at)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, at);
}

static void test_bad_map(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	int fd = dev_open();

	CHECK(map(fd, size, MAP_PRIVATE, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(map(fd, size, MAP_SHARED, size) == MAP_FAILED && errno == EINVAL);
	CHECK(map(fd, 2 * size, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL);
	close(fd);
}

static void test_page(void)
{
	size_t size = sysconf(_SC_PAGESIZE), i;
	struct cmx_channel_page *page, *again;
	struct cmx_event_resp resp;
	int fd = dev_open();
	uint32_t count;

	page = map(fd, size, MAP_SHARED, 0);
	if (!CHECK(page != MAP_FAILED))
		return;
	for (i = 0; i < size && !((char *)page)[i]; i++)
		;
	CHECK(i == size);
	CHECK(!readable(fd, 0) && page->polled == 1);
	page->held = 1;
	CHECK(readable(fd, 0));
	CHECK(get_events(fd, &resp, 1, &count) == EAGAIN);
	/* one page a file, and the kernel does not rely on what is in it */
	again = map(fd, size, MAP_SHARED, 0);
	CHECK(again != MAP_FAILED && again->held == 1 && again->polled == 1);
	again->polled = 0;
	again->held = ~0U;
	CHECK(readable(fd, 0) && page->polled == 1);
	page->held = 0;
	CHECK(!readable(fd, 0));
	CHECK(mremap(again, size, 2 * size, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(!munmap(again, size));
	/* it keeps the channel */
	close(fd);
	page->held = 1;
	CHECK(!munmap(page, size));

	/* who polled before there was a page */
	fd = dev_open();
	CHECK(!readable(fd, 0));
	page = map(fd, size, MAP_SHARED, 0);
	CHECK(page != MAP_FAILED && page->polled == 1);
	munmap(page, size);
	close(fd);
}

/* A child does not have it, and so does not keep the channel. */
static void test_child(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct cmx_channel_page *page;
	int fd = dev_open(), status;
	pid_t pid;

	page = map(fd, size, MAP_SHARED, 0);
	if (!CHECK(page != MAP_FAILED))
		return;
	pid = fork();
	if (!pid)
		_exit(!(msync(page, size, MS_ASYNC) && errno == ENOMEM));
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	munmap(page, size);
	close(fd);
}

const struct test route_tests[] = {
	{ "ADDR_RESOLVED brings the path", test_path },
	{ "but not after poll()", test_no_path },
	{ "a route is resolved in silence", test_take },
	{ "a connect that resolves the route", test_connect },
	{ "what can't be mapped", test_bad_map },
	{ "the page of a channel", test_page },
	{ "the page in a child", test_child },
	{ },
};
