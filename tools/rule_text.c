// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <rdma/rdma_user_cm.h>
#include "args.h"
#include "cgroup.h"
#include "cmx_show.h"
#include "file.h"
#include "json.h"
#include "option_table.h"
#include "rule_text.h"

#define FORCE "force"
#define SET "set"

/* Addresses are compared as those of IPv6. */
#define ADDR_BITS 128
#define IPV4_BITS 32
#define IPV4_AT 12

static const uint8_t rule_ipv4_prefix[IPV4_AT] = { [10] = 0xff, [11] = 0xff };

/* As in the text of the last error */
static char rule_range[48];

static const char *rule_range_error(uint64_t min, uint64_t max)
{
	snprintf(rule_range, sizeof(rule_range), "not in %llu..%llu", (unsigned long long)min,
		 (unsigned long long)max);
	return rule_range;
}

static bool rule_has_host_bits(const uint8_t *addr, unsigned int len)
{
	for (; len < ADDR_BITS; len++)
		if (addr[len / 8] & 0x80 >> len % 8)
			return true;
	return false;
}

/* Bits of the host are an error, as for ip-route(8): one of the two numbers is wrong. */
static const char *rule_prefix_parse(const char *value, uint8_t *addr, uint8_t *len)
{
	bool is_ipv4 = !strchr(value, ':');
	uint64_t max = is_ipv4 ? IPV4_BITS : ADDR_BITS, n = max;
	char text[INET6_ADDRSTRLEN + sizeof("/128")], *slash;

	if (snprintf(text, sizeof(text), "%s", value) >= (int)sizeof(text))
		return "not an address";
	slash = strchr(text, '/');
	if (slash)
		*slash++ = 0;
	if (is_ipv4)
		memcpy(addr, rule_ipv4_prefix, IPV4_AT);
	if (inet_pton(is_ipv4 ? AF_INET : AF_INET6, text, is_ipv4 ? addr + IPV4_AT : addr) != 1)
		return "not an address";
	if (slash && !tool_number_parse(slash, 0, max, &n))
		return "invalid length of a prefix";
	*len = n + ADDR_BITS - max;
	return rule_has_host_bits(addr, *len) ? "invalid prefix: it has bits beyond its length" :
						NULL;
}

static void rule_prefix_write(const uint8_t *addr, uint8_t len, char *to, size_t size)
{
	bool is_ipv4 = len >= ADDR_BITS - IPV4_BITS && !memcmp(addr, rule_ipv4_prefix, IPV4_AT);
	char text[INET6_ADDRSTRLEN];

	inet_ntop(is_ipv4 ? AF_INET : AF_INET6, is_ipv4 ? addr + IPV4_AT : addr, text,
		  sizeof(text));
	if (len == ADDR_BITS)
		snprintf(to, size, "%s", text);
	else
		snprintf(to, size, "%s/%u", text, is_ipv4 ? len - ADDR_BITS + IPV4_BITS : len);
}

static const char *rule_src_parse(struct cmx_rule *rule, const char *value)
{
	rule->match |= CMX_RULE_SRC;
	return rule_prefix_parse(value, rule->src, &rule->src_len);
}

static void rule_src_write(const struct cmx_rule *rule, char *to, size_t size)
{
	rule_prefix_write(rule->src, rule->src_len, to, size);
}

static const char *rule_dst_parse(struct cmx_rule *rule, const char *value)
{
	rule->match |= CMX_RULE_DST;
	return rule_prefix_parse(value, rule->dst, &rule->dst_len);
}

static void rule_dst_write(const struct cmx_rule *rule, char *to, size_t size)
{
	rule_prefix_write(rule->dst, rule->dst_len, to, size);
}

static const char *rule_dport_parse(struct cmx_rule *rule, const char *value)
{
	uint64_t min, max;
	char text[32], *dash;

	snprintf(text, sizeof(text), "%s", value);
	dash = strchr(text, '-');
	if (dash)
		*dash++ = 0;
	if (!tool_number_parse(text, 0, UINT16_MAX, &min) ||
	    !tool_number_parse(dash ?: text, min, UINT16_MAX, &max))
		return "not a port or a range of ports";
	rule->match |= CMX_RULE_PORT;
	rule->port_min = min;
	rule->port_max = max;
	return NULL;
}

static void rule_dport_write(const struct cmx_rule *rule, char *to, size_t size)
{
	if (rule->port_min == rule->port_max)
		snprintf(to, size, "%u", rule->port_min);
	else
		snprintf(to, size, "%u-%u", rule->port_min, rule->port_max);
}

/* Returns false if the name is too long, or empty. */
static bool rule_name_parse(const char *value, size_t len, char *to, size_t size)
{
	if (!len || len >= size)
		return false;
	memcpy(to, value, len);
	return true;
}

/* "/PORT" is that port of each device. */
static const char *rule_dev_parse(struct cmx_rule *rule, const char *value)
{
	size_t len = strcspn(value, "/");
	uint64_t port;

	if (len || !value[len]) {
		if (!rule_name_parse(value, len, rule->device, sizeof(rule->device)))
			return "not the name of a device";
		rule->match |= CMX_RULE_DEVICE;
	}
	if (value[len]) {
		if (!tool_number_parse(value + len + 1, 1, UINT32_MAX, &port))
			return "not a device and a port";
		rule->match |= CMX_RULE_PORT_NUM;
		rule->port_num = port;
	}
	return NULL;
}

/* A name in one word; the kernel has set it, or another program */
static void rule_name_write(const char *name, char *to, size_t size)
{
	snprintf(to, size, "%.63s", name);
	tool_text_escape(to, TOOL_TEXT_MAX);
}

static void rule_dev_write(const struct cmx_rule *rule, char *to, size_t size)
{
	char name[TOOL_TEXT_MAX];

	rule_name_write(rule->device, name, sizeof(name));
	if (rule->match & CMX_RULE_PORT_NUM)
		snprintf(to, size, "%s/%u", name, rule->port_num);
	else
		snprintf(to, size, "%s", name);
}

static const char *rule_ps_parse(struct cmx_rule *rule, const char *value)
{
	static const uint16_t spaces[] = { CMX_PS_TCP, CMX_PS_UDP, CMX_PS_IB, CMX_PS_IPOIB };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (strcasecmp(value, show_ps_name(spaces[i])))
			continue;
		rule->match |= CMX_RULE_PS;
		rule->ps = spaces[i];
		return NULL;
	}
	return "not one of tcp, udp, ib, ipoib";
}

/* A name in lower case */
static void rule_word_write(const char *name, char *to, size_t size)
{
	for (snprintf(to, size, "%s", name); *to; to++)
		*to = tolower((unsigned char)*to);
}

static void rule_ps_write(const struct cmx_rule *rule, char *to, size_t size)
{
	const char *name = show_ps_name(rule->ps);

	if (name)
		rule_word_write(name, to, size);
	else
		snprintf(to, size, "%u", rule->ps);
}

/* The number -1 is no user. */
static const char *rule_uid_parse(struct cmx_rule *rule, const char *value)
{
	const struct passwd *user;
	uint64_t uid;

	if (isdigit((unsigned char)*value)) {
		if (!tool_number_parse(value, 0, UINT32_MAX - 1, &uid))
			return "no such user";
	} else {
		user = getpwnam(value);
		if (!user)
			return "no such user";
		uid = user->pw_uid;
	}
	rule->match |= CMX_RULE_UID;
	rule->uid = uid;
	return NULL;
}

static void rule_uid_write(const struct cmx_rule *rule, char *to, size_t size)
{
	snprintf(to, size, "%u", rule->uid);
}

static const char *rule_cgroup_parse(struct cmx_rule *rule, const char *value)
{
	const char *wrong = NULL;
	uint64_t id = 0;

	if (!tool_number_parse(value, 1, UINT64_MAX, &id))
		wrong = tool_cgroup_find(value, &id);
	rule->match |= CMX_RULE_CGROUP;
	rule->cgroup = id;
	return wrong;
}

static void rule_cgroup_write(const struct cmx_rule *rule, char *to, size_t size)
{
	if (!tool_cgroup_path(rule->cgroup, to, size))
		snprintf(to, size, "%llu", (unsigned long long)rule->cgroup);
}

/* The kernel has "_" where the name of a file has "-". */
static const char *rule_ulp_parse(struct cmx_rule *rule, const char *value)
{
	char *at;

	if (!rule_name_parse(value, strlen(value), rule->ulp, sizeof(rule->ulp)))
		return "not the name of a module";
	for (at = rule->ulp; *at; at++)
		if (*at == '-')
			*at = '_';
	rule->match |= CMX_RULE_ULP;
	return NULL;
}

static void rule_ulp_write(const struct cmx_rule *rule, char *to, size_t size)
{
	rule_name_write(rule->ulp, to, size);
}

/**
 * struct rule_condition - a condition, and its value as text
 * @name: its word
 * @match: enum cmx_rule_match; with two of them, the rule has at least one
 * @parse: gets it from the text. Returns what is wrong
 * @write: writes the text
 */
static const struct rule_condition {
	const char *name;
	uint32_t match;
	const char *(*parse)(struct cmx_rule *rule, const char *value);
	void (*write)(const struct cmx_rule *rule, char *to, size_t size);
} conditions[] = {
	{ "dst", CMX_RULE_DST, rule_dst_parse, rule_dst_write },
	{ "src", CMX_RULE_SRC, rule_src_parse, rule_src_write },
	{ "dport", CMX_RULE_PORT, rule_dport_parse, rule_dport_write },
	{ "dev", CMX_RULE_DEVICE | CMX_RULE_PORT_NUM, rule_dev_parse, rule_dev_write },
	{ "ps", CMX_RULE_PS, rule_ps_parse, rule_ps_write },
	{ "uid", CMX_RULE_UID, rule_uid_parse, rule_uid_write },
	{ "cgroup", CMX_RULE_CGROUP, rule_cgroup_parse, rule_cgroup_write },
	{ "ulp", CMX_RULE_ULP, rule_ulp_parse, rule_ulp_write },
};

const char *rule_condition_name(size_t i)
{
	return i < ARRAY_SIZE(conditions) ? conditions[i].name : NULL;
}

static const struct rule_condition *rule_condition_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(conditions); i++)
		if (!strcmp(name, conditions[i].name))
			return &conditions[i];
	return NULL;
}

const char *rule_option_name(size_t i)
{
	static char name[32];
	size_t row;

	for (row = 0; row < CMX_OPTION_ROWS; row++) {
		if (cmx_option_rows[row].no_rule || i--)
			continue;
		rule_word_write(cmx_option_rows[row].label, name, sizeof(name));
		return name;
	}
	return NULL;
}

static const struct cmx_option_row *rule_row_find(const char *name)
{
	size_t i;

	for (i = 0; i < CMX_OPTION_ROWS; i++)
		if (!strcasecmp(name, cmx_option_rows[i].label))
			return &cmx_option_rows[i];
	return NULL;
}

static bool rule_sets(const struct cmx_rule *rule, const struct cmx_option_row *row)
{
	uint32_t i;

	for (i = 0; i < rule->num_options; i++)
		if (cmx_option_find(&rule->options[i]) == row)
			return true;
	return false;
}

/* An option and its value; @value is NULL if there is no further word. */
static const char *rule_option_parse(struct cmx_rule *rule, const char *name, const char *value,
				     const char **word)
{
	const struct cmx_option_row *row = rule_row_find(name);
	uint64_t n;

	*word = name;
	if (!row)
		return "no such option";
	if (row->no_rule)
		return "an option that a rule cannot set";
	if (rule_sets(rule, row))
		return "set twice";
	if (rule->num_options == CMX_RULE_OPTIONS)
		return "one option too many: a rule sets at most 8";
	if (!value)
		return "no value";
	*word = value;
	if (!tool_number_parse(value, row->min, row->max, &n))
		return rule_range_error(row->min, row->max);
	rule->options[rule->num_options++] = (struct cmx_id_option) {
		.level = row->level,
		.name = row->name,
		.value = n,
	};
	return NULL;
}

static const char *rule_condition_parse(struct cmx_rule *rule, const char *name, const char *value,
					const char **word)
{
	const struct rule_condition *condition = rule_condition_find(name);

	*word = name;
	if (!condition)
		return "no such condition";
	if (rule->match & condition->match)
		return "given twice";
	if (!value)
		return "no value";
	*word = value;
	return condition->parse(rule, value);
}

static const char *rule_force_parse(struct cmx_rule *rule, const char **word)
{
	*word = FORCE;
	if (rule->flags & CMX_RULE_F_FORCE)
		return "given twice";
	rule->flags |= CMX_RULE_F_FORCE;
	return NULL;
}

const char *rule_parse(struct cmx_rule *rule, int argc, char *const *argv, const char **word)
{
	const char *wrong = NULL, *value;
	bool is_set = false;
	int i;

	memset(rule, 0, sizeof(*rule));
	for (i = 0; !wrong && i < argc; i++) {
		value = i + 1 < argc ? argv[i + 1] : NULL;
		if (!is_set && !strcmp(argv[i], SET)) {
			is_set = true;
		} else if (!is_set && !strcmp(argv[i], FORCE)) {
			wrong = rule_force_parse(rule, word);
		} else {
			wrong = is_set ? rule_option_parse(rule, argv[i], value, word) :
					 rule_condition_parse(rule, argv[i], value, word);
			i++;
		}
	}
	if (wrong || rule->num_options)
		return wrong;
	*word = SET;
	return is_set ? "no option follows" : "missing";
}

void rule_print(FILE *to, const struct cmx_rule *rule)
{
	const struct cmx_id_option *o = rule->options;
	const struct cmx_option_row *row;
	char text[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(conditions); i++) {
		if (!(rule->match & conditions[i].match))
			continue;
		conditions[i].write(rule, text, sizeof(text));
		fprintf(to, "%s %s ", conditions[i].name, text);
	}
	fprintf(to, "%s" SET, rule->flags & CMX_RULE_F_FORCE ? FORCE " " : "");
	for (; o < rule->options + rule->num_options; o++) {
		row = cmx_option_find(o);
		if (row)
			rule_word_write(row->label, text, sizeof(text));
		else
			cmx_option_label(o, text, sizeof(text));
		fprintf(to, " %s %u", text, o->value);
	}
}

static void rule_json_dev_put(const struct cmx_rule *rule)
{
	if (rule->match & CMX_RULE_DEVICE)
		json_string_put("dev", rule->device);
	if (rule->match & CMX_RULE_PORT_NUM)
		json_number_put("port", "%u", rule->port_num);
}

static void rule_json_addrs_put(const struct cmx_rule *rule)
{
	char text[SHOW_TEXT_MAX];

	if (rule->match & CMX_RULE_DST) {
		rule_dst_write(rule, text, sizeof(text));
		json_string_put("dst-prefix", text);
	}
	if (rule->match & CMX_RULE_SRC) {
		rule_src_write(rule, text, sizeof(text));
		json_string_put("src-prefix", text);
	}
	if (rule->match & CMX_RULE_PORT) {
		json_number_put("dport-min", "%u", rule->port_min);
		json_number_put("dport-max", "%u", rule->port_max);
	}
}

static void rule_json_consumer_put(const struct cmx_rule *rule)
{
	char path[PATH_MAX];

	if (rule->match & CMX_RULE_UID)
		json_number_put("uid", "%u", rule->uid);
	if (rule->match & CMX_RULE_CGROUP) {
		json_number_put("cgroup-id", "%llu", (unsigned long long)rule->cgroup);
		if (tool_cgroup_path(rule->cgroup, path, sizeof(path)))
			json_string_put("cgroup", path);
	}
	if (rule->match & CMX_RULE_ULP)
		json_string_put("ulp", rule->ulp);
}

static void rule_json_options_put(const struct cmx_rule *rule)
{
	const struct cmx_id_option *o = rule->options;
	char unknown[32];

	json_open("options", '{');
	for (; o < rule->options + rule->num_options; o++) {
		json_open(cmx_option_label(o, unknown, sizeof(unknown)), '{');
		json_number_put("value", "%u", o->value);
		json_close('}');
	}
	json_close('}');
}

void rule_json_put(const struct cmx_rule *rule, uint32_t number)
{
	char ps[16];

	json_open(NULL, '{');
	json_number_put("number", "%u", number);
	rule_json_addrs_put(rule);
	rule_json_dev_put(rule);
	if (rule->match & CMX_RULE_PS) {
		snprintf(ps, sizeof(ps), "%u", rule->ps);
		json_string_put("ps", show_ps_name(rule->ps) ?: ps);
	}
	rule_json_consumer_put(rule);
	json_bool_put("force", rule->flags & CMX_RULE_F_FORCE);
	rule_json_options_put(rule);
	json_close('}');
}
