// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every way to pass wrong attributes or a wrong header to a method, for each method.
 *
 * All wrong calls are made on one id. The right call must still succeed afterwards, which shows
 * that none of them had an effect. Calls that are unusual but valid each get an id of their own.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "uapi.h"

#define UNKNOWN_ATTR 0x7abc
#define UNMAPPED ((void *)16)

static const struct spec *attr_spec(const struct method *m, const struct ib_uverbs_attr *a)
{
	const struct spec *spec;

	for (spec = m->specs; spec->dir != END; spec++)
		if (spec->id == a->attr_id)
			return spec;
	abort();
}

static void *attr_data(struct ib_uverbs_attr *a)
{
	return a->len > sizeof(a->data) ? (void *)(uintptr_t)a->data : &a->data;
}

/* Extends the input to @len bytes. The last byte is @tail. */
static void attr_lengthen(struct ib_uverbs_attr *a, size_t len, uint8_t tail)
{
	uint8_t *copy = guarded_alloc(len);

	memcpy(copy, attr_data(a), a->len);
	if (tail)
		copy[len - 1] = tail;
	a->len = len;
	if (len > sizeof(a->data))
		a->data = (uintptr_t)copy;
	else
		memcpy(&a->data, copy, len);
}

static void cmd_remove_attr(struct cmd *c, int i)
{
	memmove(&c->attrs[i], &c->attrs[i + 1], (CMD_ATTRS - i - 1) * sizeof(c->attrs[0]));
	c->hdr.num_attrs--;
	c->hdr.length -= sizeof(c->attrs[0]);
}

static void cmd_add_attr(struct cmd *c, const struct ib_uverbs_attr *a)
{
	c->attrs[c->hdr.num_attrs++] = *a;
	c->hdr.length += sizeof(*a);
}

/*
 * Changes attribute @i of a call, or the call itself. Returns false if the change does not apply to
 * that attribute.
 */
typedef bool (*spoil_fn)(const struct method *m, struct cmd *c, int i);

static enum dir attr_dir(const struct method *m, const struct ib_uverbs_attr *a)
{
	return attr_spec(m, a)->dir;
}

static bool spoil_missing(const struct method *m, struct cmd *c, int i)
{
	if (!attr_spec(m, &c->attrs[i])->mandatory)
		return false;
	cmd_remove_attr(c, i);
	return true;
}

static bool spoil_twice(const struct method *m, struct cmd *c, int i)
{
	(void)m;
	cmd_add_attr(c, &c->attrs[i]);
	return true;
}

static bool spoil_short_input(const struct method *m, struct cmd *c, int i)
{
	struct ib_uverbs_attr *a = &c->attrs[i];
	const struct spec *spec = attr_spec(m, a);
	uint64_t inlined = 0;

	if (spec->dir != IN || !spec->min)
		return false;
	if (a->len > sizeof(a->data) && spec->min - 1 <= sizeof(a->data)) {
		memcpy(&inlined, attr_data(a), spec->min - 1);
		a->data = inlined;
	}
	a->len = spec->min - 1;
	return true;
}

static bool spoil_short_output(const struct method *m, struct cmd *c, int i)
{
	const struct spec *spec = attr_spec(m, &c->attrs[i]);

	c->attrs[i].len = spec->min - 1;
	return spec->dir == OUT;
}

static bool spoil_empty_input(const struct method *m, struct cmd *c, int i)
{
	const struct spec *spec = attr_spec(m, &c->attrs[i]);

	c->attrs[i].len = 0;
	return spec->dir == IN && spec->min;
}

static bool spoil_empty_output(const struct method *m, struct cmd *c, int i)
{
	c->attrs[i].len = 0;
	return attr_dir(m, &c->attrs[i]) == OUT;
}

static bool spoil_surplus(const struct method *m, struct cmd *c, int i)
{
	const struct spec *spec = attr_spec(m, &c->attrs[i]);

	if (spec->dir != IN)
		return false;
	attr_lengthen(&c->attrs[i], spec->max + 9, 1);
	return true;
}

static bool spoil_surplus_inline(const struct method *m, struct cmd *c, int i)
{
	const struct spec *spec = attr_spec(m, &c->attrs[i]);

	if (spec->dir != IN || spec->max >= 8)
		return false;
	attr_lengthen(&c->attrs[i], 8, 1);
	return true;
}

/* Makes the attribute point to @to. A short input, which would be inline, is extended first. */
static void attr_set_pointer(const struct method *m, struct ib_uverbs_attr *a, const void *to)
{
	if (attr_dir(m, a) == IN && a->len <= sizeof(a->data))
		attr_lengthen(a, 24, 0);
	a->data = (uintptr_t)to;
}

static bool spoil_unmapped(const struct method *m, struct cmd *c, int i)
{
	attr_set_pointer(m, &c->attrs[i], UNMAPPED);
	return true;
}

static bool spoil_null(const struct method *m, struct cmd *c, int i)
{
	attr_set_pointer(m, &c->attrs[i], NULL);
	return true;
}

static bool spoil_kernel_memory(const struct method *m, struct cmd *c, int i)
{
	attr_set_pointer(m, &c->attrs[i], (void *)0xffff888000000000ULL);
	return true;
}

static bool spoil_half_unmapped(const struct method *m, struct cmd *c, int i)
{
	struct ib_uverbs_attr *a = &c->attrs[i];

	attr_set_pointer(m, a, NULL);
	a->data = (uintptr_t)guarded_alloc(a->len / 2);
	return true;
}

static bool spoil_not_writable(const struct method *m, struct cmd *c, int i)
{
	if (attr_dir(m, &c->attrs[i]) != OUT)
		return false;
	c->attrs[i].data = (uintptr_t)read_only_alloc();
	return true;
}

static bool spoil_reserved(const struct method *m, struct cmd *c, int i)
{
	(void)m;
	c->attrs[i].attr_data.reserved = 1;
	return true;
}

static bool spoil_elem_id(const struct method *m, struct cmd *c, int i)
{
	(void)m;
	c->attrs[i].attr_data.enum_data.elem_id = 1;
	return true;
}

static bool spoil_unknown_flag(const struct method *m, struct cmd *c, int i)
{
	(void)m;
	c->attrs[i].flags |= 1 << (i + 1);
	return true;
}

/* An attribute that the method does not know replaces a mandatory one. */
static bool spoil_misdirected(const struct method *m, struct cmd *c, int i)
{
	if (!attr_spec(m, &c->attrs[i])->mandatory)
		return false;
	c->attrs[i].attr_id = UNKNOWN_ATTR;
	c->attrs[i].flags = 0;
	return true;
}

/* An inline value instead of a pointer. */
static bool spoil_not_a_pointer(const struct method *m, struct cmd *c, int i)
{
	c->attrs[i].data = 4711;
	return attr_dir(m, &c->attrs[i]) == OUT;
}

static const struct {
	const char *name;
	spoil_fn fn;
	int want;
} spoils[] = {
	{ "missing", spoil_missing, EINVAL },
	{ "twice", spoil_twice, EINVAL },
	{ "too short", spoil_short_input, EINVAL },
	{ "too short", spoil_short_output, ENOSPC },
	{ "empty", spoil_empty_input, EINVAL },
	{ "empty", spoil_empty_output, ENOSPC },
	{ "surplus", spoil_surplus, E2BIG },
	{ "inline surplus", spoil_surplus_inline, E2BIG },
	{ "unmapped", spoil_unmapped, EFAULT },
	{ "null", spoil_null, EFAULT },
	{ "kernel memory", spoil_kernel_memory, EFAULT },
	{ "half unmapped", spoil_half_unmapped, EFAULT },
	{ "not writable", spoil_not_writable, EFAULT },
	{ "reserved", spoil_reserved, EINVAL },
	{ "elem_id", spoil_elem_id, EINVAL },
	{ "unknown flag", spoil_unknown_flag, EINVAL },
	{ "misdirected", spoil_misdirected, EINVAL },
	{ "not a pointer", spoil_not_a_pointer, EFAULT },
};

static void method_spoil_attrs(const struct method *m, struct scene *s)
{
	struct cmd c;
	size_t k;
	int i, n, got;

	method_build(m, &c, s);
	n = c.hdr.num_attrs;
	for (k = 0; k < ARRAY_SIZE(spoils); k++) {
		for (i = 0; i < n; i++) {
			method_build(m, &c, s);
			if (!spoils[k].fn(m, &c, i))
				continue;
			got = cmd_issue(&c, s->fd);
			CHECK(got == spoils[k].want, "%s, attribute %d %s: %d, not %d", m->name,
			      i, spoils[k].name, got, spoils[k].want);
		}
	}
}

static bool method_takes(const struct method *m, uint16_t id)
{
	const struct spec *spec;

	for (spec = m->specs; spec->dir != END; spec++)
		if (spec->id == id)
			return true;
	return false;
}

static bool method_needs_attrs(const struct method *m)
{
	const struct spec *spec;

	for (spec = m->specs; spec->dir != END; spec++)
		if (spec->mandatory)
			return true;
	return false;
}

static void method_add_unknown_attrs(const struct method *m, struct scene *s)
{
	struct cmd c;
	int id, got;

	for (id = 0; id <= CMX_ATTR_NUM; id++) {
		if (method_takes(m, id))
			continue;
		method_build(m, &c, s);
		cmd_out(&c, id, UNMAPPED, 4);
		got = cmd_issue(&c, s->fd);
		CHECK(got == EPROTONOSUPPORT, "%s with attribute %d: %d", m->name, id, got);
	}
	method_build(m, &c, s);
	cmd_u32(&c, 0xffff, 0);
	CHECK(cmd_issue(&c, s->fd) == EPROTONOSUPPORT, "%s", m->name);
}

static void method_spoil_headers(const struct method *m, struct scene *s)
{
	struct cmx_ioctl_hdr *hdr;
	struct cmd c;
	size_t len;
	char *end;

#define HDR(change, want) do {								\
	method_build(m, &c, s);								\
	hdr = &c.hdr;									\
	change;										\
	CHECK(cmd_issue(&c, s->fd) == (want), "%s with %s", m->name, #change);		\
} while (0)
	HDR(hdr->length--, EINVAL);
	HDR(hdr->length++, EINVAL);
	HDR(hdr->length = 0, EINVAL);
	HDR(hdr->num_attrs++, EINVAL);
	HDR(hdr->num_attrs = 0, EINVAL);
	HDR((hdr->num_attrs = CMX_MAX_ATTRS + 1, hdr->length = 24 + 16 * hdr->num_attrs), EINVAL);
	HDR((hdr->num_attrs = 4095, hdr->length = 24 + 16 * hdr->num_attrs), EINVAL);
	HDR(hdr->num_attrs = 0xffff, EINVAL);
	HDR(hdr->reserved1 = 1, EINVAL);
	HDR(hdr->reserved1 = 1ULL << 63, EINVAL);
	HDR(hdr->reserved2 = 1, EINVAL);
	HDR(hdr->abi_version = CMX_ABI_VERSION + 1, EPROTO);
	HDR(hdr->abi_version = ~0U, EPROTO);
	HDR(hdr->object_id = CMX_OBJ_NUM, EPROTONOSUPPORT);
	HDR(hdr->object_id = 0xffff, EPROTONOSUPPORT);
	HDR(hdr->method_id = CMX_ID_QUERY_SERVICES + 1, EPROTONOSUPPORT);
	HDR(hdr->method_id = 0xffff, EPROTONOSUPPORT);
	HDR((hdr->num_attrs = 0, hdr->length = 24), method_needs_attrs(m) ? EINVAL : 0);
#undef HDR

	method_build(m, &c, s);
	CHECK(ioctl(s->fd, RDMA_VERBS_IOCTL, &c) < 0 && errno == ENOTTY);
	CHECK(ioctl(s->fd, _IOWR(RDMA_IOCTL_MAGIC, 2, c.hdr), &c) < 0 && errno == ENOTTY);
	CHECK(ioctl(s->fd, 0, &c) < 0 && errno == ENOTTY);
	CHECK(ioctl(s->fd, CMX_IOCTL, NULL) < 0 && errno == EFAULT);
	len = c.hdr.length;
	for (end = guarded_alloc(len - 1); len > 1; len -= len > 24 ? 16 : 6,
	     end = guarded_alloc(len - 1)) {
		memcpy(end, &c, len - 1);
		CHECK(ioctl(s->fd, CMX_IOCTL, end) < 0 && errno == EFAULT, "%zu bytes", len - 1);
	}
}

/* Checks that the unchanged call succeeds. */
static bool method_succeeds(const struct method *m, struct scene *s, const char *after)
{
	struct cmd c;
	int ret;

	method_build(m, &c, s);
	ret = cmd_issue(&c, s->fd);
	return CHECK(!ret, "%s after %s: %d", m->name, after, ret);
}

static void method_check_refused(const struct method *m)
{
	static void (*const ways[])(const struct method *, struct scene *) = {
		method_spoil_attrs, method_add_unknown_attrs, method_spoil_headers,
	};
	struct scene s;
	size_t i;

	if (scene_open(&s, m->stage)) {
		for (i = 0; i < ARRAY_SIZE(ways); i++)
			ways[i](m, &s);
		method_succeeds(m, &s, "calls that failed");
	}
	scene_close(&s);
}

/* Changes that must have no effect */
static bool vary_optional_missing(const struct method *m, struct cmd *c, int i)
{
	if (attr_spec(m, &c->attrs[i])->mandatory)
		return false;
	cmd_remove_attr(c, i);
	return true;
}

static bool vary_not_mandatory_flag(const struct method *m, struct cmd *c, int i)
{
	(void)m;
	c->attrs[i].flags = 0;
	return true;
}

static bool vary_zero_surplus(const struct method *m, struct cmd *c, int i)
{
	const struct spec *spec = attr_spec(m, &c->attrs[i]);

	/* the length of variable data is significant */
	if (spec->dir != IN || spec->min != spec->max)
		return false;
	attr_lengthen(&c->attrs[i], spec->max + 4000, 0);
	return true;
}

static bool vary_zero_surplus_inline(const struct method *m, struct cmd *c, int i)
{
	const struct spec *spec = attr_spec(m, &c->attrs[i]);

	if (spec->dir != IN || spec->max >= 8)
		return false;
	attr_lengthen(&c->attrs[i], 8, 0);
	return true;
}

static bool vary_to_the_edge(const struct method *m, struct cmd *c, int i)
{
	struct ib_uverbs_attr *a = &c->attrs[i];

	if (attr_spec(m, a)->dir == OUT)
		a->data = (uintptr_t)guarded_alloc(a->len);
	else if (a->len > sizeof(a->data))
		attr_lengthen(a, a->len, 0);
	else
		return false;
	return true;
}

static bool vary_unknown_optional(const struct method *m, struct cmd *c, int i)
{
	const struct ib_uverbs_attr a = {
		.attr_id = UNKNOWN_ATTR, .len = 0xffff, .data = (uintptr_t)UNMAPPED,
	};

	(void)m;
	if (i)
		return false;
	while (c->hdr.num_attrs < CMX_MAX_ATTRS)
		cmd_add_attr(c, &a);
	return true;
}

static bool vary_others_optional(const struct method *m, struct cmd *c, int i)
{
	struct ib_uverbs_attr a = { .len = 4, .data = (uintptr_t)UNMAPPED };

	if (i)
		return false;
	for (a.attr_id = 0; a.attr_id <= CMX_ATTR_NUM && c->hdr.num_attrs < CMX_MAX_ATTRS;
	     a.attr_id++)
		if (!method_takes(m, a.attr_id))
			cmd_add_attr(c, &a);
	return true;
}

static bool vary_reversed(const struct method *m, struct cmd *c, int i)
{
	int n = c->hdr.num_attrs, k;
	struct ib_uverbs_attr a;

	(void)m;
	if (i)
		return false;
	for (k = 0; k < n / 2; k++) {
		a = c->attrs[k];
		c->attrs[k] = c->attrs[n - 1 - k];
		c->attrs[n - 1 - k] = a;
	}
	return true;
}

static const struct {
	const char *name;
	spoil_fn fn;
} variations[] = {
	{ "missing", vary_optional_missing }, { "not flagged", vary_not_mandatory_flag },
	{ "zero surplus", vary_zero_surplus }, { "inline zero surplus", vary_zero_surplus_inline },
	{ "to the edge", vary_to_the_edge },
	{ "with unknown optional ones", vary_unknown_optional },
	{ "with those of others", vary_others_optional }, { "in reverse order", vary_reversed },
};

static void method_check_variation(const struct method *m, size_t k, int i)
{
	struct scene s;
	struct cmd c;
	int ret;

	if (scene_open(&s, m->stage)) {
		method_build(m, &c, &s);
		if (variations[k].fn(m, &c, i)) {
			ret = cmd_issue(&c, s.fd);
			CHECK(!ret, "%s, attribute %d %s: %d", m->name, i, variations[k].name, ret);
		}
	}
	scene_close(&s);
}

static void method_check_accepted(const struct method *m)
{
	struct scene none = {};
	struct cmd c, probe;
	size_t k;
	int i;

	method_build(m, &c, &none);
	for (k = 0; k < ARRAY_SIZE(variations); k++) {
		for (i = 0; i < c.hdr.num_attrs; i++) {
			probe = c;
			if (variations[k].fn(m, &probe, i))
				method_check_variation(m, k, i);
		}
	}
}

/* An output buffer that is too long is zeroed to its end. */
static void method_check_zeroed(const struct method *m, int i)
{
	const size_t extra = 100;
	unsigned char *to;
	struct scene s;
	size_t len, k;
	struct cmd c;
	int ret;

	if (!scene_open(&s, m->stage))
		goto out;
	method_build(m, &c, &s);
	len = c.attrs[i].len;
	to = guarded_alloc(len + extra);
	memset(to, 0xa5, len + extra);
	c.attrs[i].data = (uintptr_t)to;
	c.attrs[i].len = len + extra;
	ret = cmd_issue(&c, s.fd);
	CHECK(!ret, "%s, output %d is long: %d", m->name, i, ret);
	for (k = len; k < len + extra && !to[k]; k++)
		;
	CHECK(k == len + extra, "%s, output %d, byte %zu", m->name, i, k);
out:
	scene_close(&s);
}

static void method_check_long_outputs(const struct method *m)
{
	const struct spec *spec;
	struct scene none = {};
	struct cmd c;
	int i;

	method_build(m, &c, &none);
	for (i = 0; i < c.hdr.num_attrs; i++) {
		spec = attr_spec(m, &c.attrs[i]);
		if (spec->dir == OUT && spec->max)
			method_check_zeroed(m, i);
	}
}

static void methods_run(void (*fn)(const struct method *m))
{
	size_t i;

	for (i = 0; i < num_methods; i++)
		fn(&methods[i]);
}

static void test_refused(void)
{
	methods_run(method_check_refused);
}

static void test_accepted(void)
{
	methods_run(method_check_accepted);
}

static void test_long_outputs(void)
{
	methods_run(method_check_long_outputs);
}

/* Neither read() nor write() nor mmap() is part of the ABI. */
static void test_no_other_calls(void)
{
	int fd = dev_open();
	char buf[64] = "";

	CHECK(read(fd, buf, sizeof(buf)) < 0 && errno == EINVAL);
	CHECK(write(fd, buf, sizeof(buf)) < 0 && errno == EINVAL);
	CHECK(lseek(fd, 0, SEEK_SET) < 0 && errno == ESPIPE);
	CHECK(mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED &&
	      errno == ENODEV);
	close(fd);
}

static void test_version(void)
{
	int fd = dev_open();
	uint32_t version = 0, oldest = 0;
	struct cmd c;

	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_INFO);
	cmd_out(&c, CMX_ATTR_VERSION, &version, sizeof(version));
	CHECK(!cmd_issue(&c, fd) && version == CMX_ABI_VERSION, "%u", version);
	cmd_out(&c, CMX_ATTR_VERSION_MIN, &oldest, sizeof(oldest));
	CHECK(!cmd_issue(&c, fd) && oldest && oldest <= version, "%u", oldest);
	for (c.hdr.abi_version = oldest; c.hdr.abi_version <= version; c.hdr.abi_version++)
		CHECK(!cmd_issue(&c, fd), "%u", c.hdr.abi_version);
	c.hdr.abi_version = oldest - 1;
	CHECK(cmd_issue(&c, fd) == (oldest == 1 ? 0 : EPROTO));
	c.hdr.abi_version = CMX_ABI_VERSION;
	CHECK(!cmd_issue(&c, fd));
	c.hdr.abi_version = CMX_ABI_VERSION + 1;
	CHECK(cmd_issue(&c, fd) == EPROTO);
	close(fd);
}

static void test_module_info(void)
{
	struct cmx_module_info info = {};
	struct cmx_id_option options[64] = {};
	bool has_retries = false;
	int fd = dev_open();
	struct cmd c;
	uint32_t i;

	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_INFO);
	cmd_out(&c, CMX_ATTR_MODULE_INFO, &info, sizeof(info));
	cmd_out(&c, CMX_ATTR_OPTIONS, options, sizeof(options));
	CHECK(!cmd_issue(&c, fd));
	CHECK(info.max_attrs == CMX_MAX_ATTRS && info.max_queued == CMX_MAX_QUEUED);
#ifndef UAPI_FEWER
	CHECK(info.num_options && info.num_options < ARRAY_SIZE(options), "%u", info.num_options);
	CHECK(options[info.num_options - 1].name && !options[info.num_options].name);
#endif
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (options[i].level != CMX_OPTION || options[i].name != CMX_OPTION_CM_RETRIES)
			continue;
		has_retries = true;
		CHECK(options[i].value <= 15 && !options[i].flags, "%u", options[i].value);
	}
	CHECK(has_retries);
	close(fd);
}

const struct test attr_tests[] = {
	{ "the version is that of the header", test_version },
	{ "the module tells its limits and options", test_module_info },
	{ "the device accepts only ioctl", test_no_other_calls },
	{ "malformed calls are refused and have no effect", test_refused },
	{ "unusual calls are accepted", test_accepted },
	{ "long outputs are zeroed", test_long_outputs },
	{ },
};
