// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queries of services on a port without an SA. The suite ib queries an SA. */
#include <unistd.h>
#include "uapi.h"

static int service_resolve(int fd, uint32_t id, const char *name, size_t len)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_RESOLVE_SERVICE, id);
	if (name)
		cmd_in(&c, CMX_ATTR_SERVICE_NAME, name, len);
	return cmd_issue(&c, fd);
}

static void test_resolve(void)
{
	static const char name[65] = "a service";
	int fd = dev_open();
	uint32_t id;

	CHECK(!id_create(fd, CMX_PS_IB, 5, &id));
	CHECK(service_resolve(fd, id, NULL, 0) == EINVAL);
	CHECK(service_resolve(fd, id, name, 0) == EINVAL);
	CHECK(service_resolve(fd, id, name, 10) == EINVAL, "with a zero");
	CHECK(service_resolve(fd, id, name, 9) == EINVAL, "not bound");
	CHECK(!id_destroy(fd, id, NULL));
	CHECK(!id_create(fd, CMX_PS_TCP, 5, &id));
	CHECK(!id_bind(fd, id, &local));
	CHECK(service_resolve(fd, id, NULL, 0) == EINVAL);
	CHECK(service_resolve(fd, id, name, 10) == EINVAL, "with a zero");
	CHECK(service_resolve(fd, id, name, 9) == EOPNOTSUPP);
	/* the failed call has changed nothing */
	CHECK(!fd_is_readable(fd, 0));
	CHECK(!id_listen(fd, id, 1, NULL));
	CHECK(service_resolve(fd, id, name, 9) == EINVAL);
	close(fd);
}

static int services_query(int fd, uint32_t id, uint32_t size, size_t len)
{
	struct cmx_service_rec recs[4];
	struct cmd c;
	uint32_t n;

	id_cmd(&c, CMX_ID_QUERY_SERVICES, id);
	cmd_u32(&c, CMX_ATTR_RECORD_SIZE, size);
	cmd_out(&c, CMX_ATTR_SERVICES, recs, len);
	cmd_out(&c, CMX_ATTR_COUNT, &n, sizeof(n));
	return cmd_issue(&c, fd);
}

static void test_query(void)
{
	const size_t size = sizeof(struct cmx_service_rec);
	int fd = dev_open();
	uint32_t id;

	CHECK(!id_create(fd, CMX_PS_IB, 5, &id));
	CHECK(services_query(fd, id, size, 4 * size) == ENOENT);
	CHECK(services_query(fd, id, size - 8, 4 * size) == EINVAL);
	CHECK(services_query(fd, id, size + 4, 4 * size) == EINVAL);
	CHECK(services_query(fd, id, 2 * size, size) == EINVAL);
	CHECK(services_query(fd, id, size, size - 8));
	close(fd);
}

const struct test service_tests[] = {
	{ "services: asked where there is no SA", test_resolve },
	{ "services: nothing to query", test_query },
	{}
};
