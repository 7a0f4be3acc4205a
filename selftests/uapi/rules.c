// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules: which ids they reach, what a program sees of them, and who may set them.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "uapi.h"

#define NOBODY 65534
#define RTR 2

/** struct answer - a value as GET_OPTION returns it */
struct answer {
	uint32_t value;
	uint32_t flags;
};

int rules_get(int fd, struct cmx_rule *rules, size_t num, uint64_t *generation)
{
	uint32_t count = 0;
	struct cmd c;
	int ret;

	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_GET_RULES);
	if (num)
		cmd_out(&c, CMX_ATTR_RULES, rules, num * sizeof(*rules));
	cmd_out(&c, CMX_ATTR_COUNT, &count, sizeof(count));
	cmd_out(&c, CMX_ATTR_GENERATION, generation, sizeof(*generation));
	ret = cmd_issue(&c, fd);
	return ret ? -ret : (int)count;
}

static int rules_set_from(int fd, const struct cmx_rule *rules, size_t num, uint64_t generation)
{
	struct cmd c;

	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_SET_RULES);
	if (num)
		cmd_in(&c, CMX_ATTR_RULES, rules, num * sizeof(*rules));
	cmd_u64(&c, CMX_ATTR_GENERATION, generation);
	return cmd_issue(&c, fd);
}

static int rules_set(int fd, const struct cmx_rule *rules, size_t num)
{
	uint64_t generation;
	int ret = rules_get(fd, NULL, 0, &generation);

	return ret < 0 ? -ret : rules_set_from(fd, rules, num, generation);
}

static struct cmx_rule rule_of(uint32_t level, uint32_t name, uint32_t value)
{
	return (struct cmx_rule) {
		.num_options = 1, .options[0] = { .level = level, .name = name, .value = value },
	};
}

static struct cmx_rule rule_of_rnr(uint32_t value)
{
	return rule_of(CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, value);
}

static struct answer option_get(int fd, uint32_t id, uint32_t level, uint32_t name)
{
	struct answer a = { -1, -1 };
	uint32_t len;
	struct cmd c;

	id_cmd(&c, CMX_ID_GET_OPTION, id);
	cmd_u32(&c, CMX_ATTR_OPT_LEVEL, level);
	cmd_u32(&c, CMX_ATTR_OPT_NAME, name);
	cmd_out(&c, CMX_ATTR_OPT_OUT, &a.value, sizeof(a.value));
	cmd_out(&c, CMX_ATTR_COUNT, &len, sizeof(len));
	cmd_out(&c, CMX_ATTR_OPT_FLAGS, &a.flags, sizeof(a.flags));
	CHECK(!cmd_issue(&c, fd));
	return a;
}

static int option_set(int fd, uint32_t id, uint32_t level, uint32_t name, uint32_t value)
{
	struct cmd c;

	id_cmd(&c, CMX_ID_SET_OPTION, id);
	cmd_u32(&c, CMX_ATTR_OPT_LEVEL, level);
	cmd_u32(&c, CMX_ATTR_OPT_NAME, name);
	cmd_u32(&c, CMX_ATTR_OPT_VALUE, value);
	return cmd_issue(&c, fd);
}

static void rnr_expect(int fd, uint32_t id, uint32_t value, uint32_t flags, const char *what)
{
	struct answer a = option_get(fd, id, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER);

	CHECK(a.value == value && a.flags == flags, "%s: %u, flags %#x", what, a.value, a.flags);
}

/* The QP gets what the option says. */
static void test_qp(void)
{
	struct cmx_rule rule = rule_of_rnr(14);
	struct ib_uverbs_qp_attr attr;
	struct scene s;
	struct cmd c;

	if (!scene_open(&s, NOTHING))
		return;
	CHECK(!rules_set(s.fd, &rule, 1));
	scene_close(&s);
	if (!scene_open(&s, RESPONSE))
		return;
	rnr_expect(s.fd, s.id, 14, CMX_OPT_F_RULE, "active");
	id_cmd(&c, CMX_ID_INIT_QP_ATTR, s.id);
	cmd_u32(&c, CMX_ATTR_QP_STATE, RTR);
	cmd_out(&c, CMX_ATTR_QP_ATTR, &attr, sizeof(attr));
	CHECK(!cmd_issue(&c, s.fd) && attr.min_rnr_timer == 14, "%u", attr.min_rnr_timer);
	scene_close(&s);
	if (!scene_open(&s, REQUEST))
		return;
	rnr_expect(s.fd, s.id, 14, CMX_OPT_F_RULE, "passive");
	CHECK(!rules_set(s.fd, NULL, 0));
	scene_close(&s);
}

/* A value of the program counts, before and after the rule is looked up, except with FORCE. */
static void test_program(void)
{
	struct cmx_rule rule = rule_of_rnr(14);
	struct scene s;

	if (!scene_open(&s, IDLE))
		return;
	CHECK(!rules_set(s.fd, &rule, 1));
	CHECK(!option_set(s.fd, s.id, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 3));
	CHECK(!id_bind(s.fd, s.id, &local));
	rnr_expect(s.fd, s.id, 3, CMX_OPT_F_SET, "set before");
	CHECK(!id_destroy(s.fd, s.id, NULL) && !id_create(s.fd, CMX_PS_TCP, 1, &s.id));
	CHECK(!id_bind(s.fd, s.id, &local));
	rnr_expect(s.fd, s.id, 14, CMX_OPT_F_RULE, "bound");
	CHECK(!option_set(s.fd, s.id, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 3));
	rnr_expect(s.fd, s.id, 3, CMX_OPT_F_SET, "set after");
	rule.flags = CMX_RULE_F_FORCE;
	CHECK(!rules_set(s.fd, &rule, 1));
	CHECK(!id_resolve(s.fd, s.id, s.port) && next_event(s.fd, 0));
	rnr_expect(s.fd, s.id, 14, CMX_OPT_F_RULE | CMX_OPT_F_FORCE, "forced");
	CHECK(!option_set(s.fd, s.id, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 3));
	rnr_expect(s.fd, s.id, 14, CMX_OPT_F_RULE | CMX_OPT_F_FORCE, "set has no effect");
	CHECK(option_set(s.fd, s.id, CMX_OPTION, CMX_OPTION_MIN_RNR_TIMER, 32) == EINVAL);
	CHECK(!rules_set(s.fd, NULL, 0));
	scene_close(&s);
}

/* The same conditions at both ends: the port of the service, and each end's peer */
static void test_match(void)
{
	struct cmx_rule rules[3] = { rule_of_rnr(1), rule_of_rnr(2), rule_of_rnr(3) };
	struct scene s;

	if (!scene_open(&s, IDLE))
		return;
	rules[0].match = CMX_RULE_PORT;
	rules[0].port_min = ntohs(s.port) + 1;
	rules[0].port_max = UINT16_MAX;
	rules[1].match = CMX_RULE_PORT | CMX_RULE_DST | CMX_RULE_SRC;
	rules[1].port_min = ntohs(s.port);
	rules[1].port_max = ntohs(s.port);
	memset(&rules[1].dst[10], 0xff, 2);
	memcpy(&rules[1].dst[12], &local.sin_addr, 4);
	rules[1].dst_len = 128;
	memcpy(rules[1].src, rules[1].dst, 16);
	rules[1].src_len = 96 + 16;
	CHECK(!rules_set(s.fd, rules, 3));
	CHECK(!id_bind(s.fd, s.id, &local));
	rnr_expect(s.fd, s.id, 3, CMX_OPT_F_RULE, "no peer yet");
	CHECK(!id_resolve(s.fd, s.id, s.port) && next_event(s.fd, 0));
	rnr_expect(s.fd, s.id, 2, CMX_OPT_F_RULE, "with a peer");
	CHECK(!rules_set(s.fd, NULL, 0));
	scene_close(&s);
}

static void test_owner(void)
{
	struct cmx_rule rules[3] = { rule_of_rnr(1), rule_of_rnr(2), rule_of_rnr(3) };
	struct scene s;

	if (!scene_open(&s, IDLE))
		return;
	rules[0].match = CMX_RULE_UID;
	rules[0].uid = NOBODY;
	rules[1].match = CMX_RULE_ULP;
	strcpy(rules[1].ulp, "rds_rdma");
	rules[2].match = CMX_RULE_UID;
	rules[2].uid = getuid();
	CHECK(!rules_set(s.fd, rules, 3));
	CHECK(!id_bind(s.fd, s.id, &local));
	rnr_expect(s.fd, s.id, 3, CMX_OPT_F_RULE, "uid");
	CHECK(!rules_set(s.fd, NULL, 0));
	scene_close(&s);
}

/* What was set is read, and nobody overwrites what he has not read. */
static void test_table(void)
{
	struct cmx_rule rules[CMX_MAX_RULES], back[CMX_MAX_RULES + 1];
	uint64_t generation, next;
	int fd = dev_open();
	size_t i;

	for (i = 0; i < CMX_MAX_RULES; i++) {
		rules[i] = rule_of(CMX_OPTION_LEVEL_ID, CMX_ID_OPTION_TOS, i);
		rules[i].match = CMX_RULE_DEVICE | CMX_RULE_PORT_NUM | CMX_RULE_UID;
		snprintf(rules[i].device, sizeof(rules[i].device), "none%zu", i);
		rules[i].port_num = i + 1;
		rules[i].uid = 1000 + i;
	}
	CHECK(!rules_set(fd, rules, CMX_MAX_RULES));
	CHECK(rules_get(fd, back, CMX_MAX_RULES + 1, &generation) == CMX_MAX_RULES && generation);
	CHECK(!memcmp(rules, back, sizeof(rules)));
	memset(back, 0x55, sizeof(back));
	CHECK(rules_get(fd, back, 2, &next) == CMX_MAX_RULES && next == generation);
	CHECK(!memcmp(rules, back, 2 * sizeof(rules[0])) && back[2].match == 0x55555555);
	CHECK(rules_set_from(fd, rules, 1, 0) == EAGAIN);
	CHECK(!rules_set_from(fd, rules, 1, generation));
	CHECK(rules_set_from(fd, rules, 2, generation) == EAGAIN);
	CHECK(rules_get(fd, back, 2, &next) == 1 && next != generation);
	CHECK(!rules_set_from(fd, NULL, 0, next));
	CHECK(rules_get(fd, back, 2, &next) == 0 && !next);
	close(fd);
}

/** struct wrong - a rule that is refused: a field of a valid one has another value */
struct wrong {
	const char *name;
	size_t offset;
	uint32_t value;
	int err;
};

#define RULE_FIELD(field) offsetof(struct cmx_rule, field)

static const struct wrong wrongs[] = {
	{ "unknown condition", RULE_FIELD(match), CMX_RULE_ULP << 1, EINVAL },
	{ "device without a name", RULE_FIELD(match), CMX_RULE_DEVICE, EINVAL },
	{ "port 0 of a device", RULE_FIELD(match), CMX_RULE_PORT_NUM, EINVAL },
	{ "ULP without a name", RULE_FIELD(match), CMX_RULE_ULP, EINVAL },
	{ "unknown flag", RULE_FIELD(flags), CMX_RULE_F_FORCE << 1, EINVAL },
	{ "address without a condition", RULE_FIELD(src), 1, EINVAL },
	{ "peer without a condition", RULE_FIELD(dst), 1, EINVAL },
	{ "length without a condition", RULE_FIELD(src_len), 0x01010101, EINVAL },
	{ "port without a condition", RULE_FIELD(port_min), 1, EINVAL },
	{ "port of a device without a condition", RULE_FIELD(port_num), 1, EINVAL },
	{ "user without a condition", RULE_FIELD(uid), 1, EINVAL },
	{ "cgroup without a condition", RULE_FIELD(cgroup), 1, EINVAL },
	{ "device without a condition", RULE_FIELD(device), 1, EINVAL },
	{ "ULP without a condition", RULE_FIELD(ulp), 1, EINVAL },
	{ "no option", RULE_FIELD(num_options), 0, EINVAL },
	{ "too many options", RULE_FIELD(num_options), CMX_RULE_OPTIONS + 1, EINVAL },
	{ "an option beyond the number", RULE_FIELD(options[1].name), 1, EINVAL },
	{ "reserved", RULE_FIELD(reserved), 1, EINVAL },
	{ "no such level", RULE_FIELD(options[0].level), 7, ENOSYS },
	{ "no such option", RULE_FIELD(options[0].name), 77, ENOSYS },
	{ "value out of range", RULE_FIELD(options[0].value), 32, EINVAL },
	{ "flags of an option", RULE_FIELD(options[0].flags), CMX_OPT_F_SET, EINVAL },
	{ "an option that rules cannot set", RULE_FIELD(options[0].name), CMX_OPTION_BIND_DEVICE,
	  EOPNOTSUPP },
};

static void test_wrong(void)
{
	struct cmx_rule good = rule_of_rnr(1), rules[2];
	uint64_t generation;
	int fd = dev_open();
	struct cmd c;
	size_t i;
	int ret;

	CHECK(!rules_set(fd, &good, 1));
	for (i = 0; i < ARRAY_SIZE(wrongs); i++) {
		rules[0] = good;
		rules[1] = good;
		memcpy((char *)&rules[1] + wrongs[i].offset, &wrongs[i].value, 4);
		ret = rules_set(fd, rules, 2);
		CHECK(ret == wrongs[i].err, "%s: %d", wrongs[i].name, ret);
	}
	/* prefixes and ranges that no address and no port fits */
	rules[0] = good;
	rules[0].match = CMX_RULE_SRC;
	rules[0].src_len = 129;
	CHECK(rules_set(fd, rules, 1) == EINVAL);
	rules[0] = good;
	rules[0].match = CMX_RULE_PORT;
	rules[0].port_min = 2;
	rules[0].port_max = 1;
	CHECK(rules_set(fd, rules, 1) == EINVAL);
	rules[0] = good;
	rules[0].match = CMX_RULE_DEVICE;
	memset(rules[0].device, 'x', sizeof(rules[0].device));
	CHECK(rules_set(fd, rules, 1) == EINVAL);
	CHECK(rules_get(fd, rules, 2, &generation) == 1 && !memcmp(rules, &good, sizeof(good)));
	cmd_init(&c, CMX_OBJ_CHANNEL, CMX_CHANNEL_SET_RULES);
	cmd_in(&c, CMX_ATTR_RULES, rules, sizeof(good) + 8);
	cmd_u64(&c, CMX_ATTR_GENERATION, generation);
	CHECK(cmd_issue(&c, fd) == EINVAL);
	CHECK(!rules_set(fd, NULL, 0));
	close(fd);
}

static int become_container(void)
{
	return setuid(NOBODY) || unshare(CLONE_NEWUSER | CLONE_NEWNET);
}

/* A user may read the rules of the host, and not set them. */
static int rules_of_user(void *arg)
{
	struct cmx_rule rule = rule_of_rnr(2);
	uint64_t generation;
	int fd;

	(void)arg;
	if (setuid(NOBODY))
		return 1;
	fd = dev_open();
	if (rules_get(fd, &rule, 1, &generation) != 1)
		return 2;
	return rules_set_from(fd, &rule, 1, generation) == EPERM ? 0 : 3;
}

/* A container has rules of its own, for its ids only, and no rights that others lack. */
static int rules_of_container(void *arg)
{
	struct cmx_rule rule = rule_of(CMX_OPTION, CMX_OPTION_CM_RESPONSE_TIMEOUT, 31);
	uint64_t generation;
	int fd;

	(void)arg;
	if (become_container())
		return 1;
	fd = dev_open();
	if (rules_get(fd, NULL, 0, &generation) || generation)
		return 2;
	if (rules_set_from(fd, &rule, 1, 0) != EPERM)
		return 3;
	rule.options[0].value = 20;
	if (rules_set_from(fd, &rule, 1, 0))
		return 4;
	rule.match = CMX_RULE_UID;
	rule.uid = 77777;	/* maps to no user */
	if (rules_set(fd, &rule, 1) != EINVAL)
		return 5;
	return rules_get(fd, &rule, 1, &generation) == 1 ? 0 : 6;
}

static void child_expect(int (*fn)(void *), const char *who)
{
	int status = -1;

	waitpid(child_start(fn, NULL, 0), &status, 0);
	CHECK(!status, "%s: status %#x", who, status);
}

static void test_rights(void)
{
	struct cmx_rule rule = rule_of_rnr(1), back;
	uint64_t before, after;
	int fd = dev_open();

	CHECK(!rules_set(fd, &rule, 1));
	CHECK(rules_get(fd, &back, 1, &before) == 1);
	child_expect(rules_of_user, "a user");
	child_expect(rules_of_container, "a container");
	CHECK(rules_get(fd, &back, 1, &after) == 1 && before == after);
	CHECK(!rules_set(fd, NULL, 0));
	close(fd);
}

const struct test rule_tests[] = {
	{ "rules: the option of a QP", test_qp },
	{ "rules: a value that the program sets", test_program },
	{ "rules: addresses and the port of the service", test_match },
	{ "rules: the owner of an id", test_owner },
	{ "rules: what was set is read", test_table },
	{ "rules: a wrong one changes nothing", test_wrong },
	{ "rules: rights of users and containers", test_rights },
	{ },
};
