// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The options of an id: one row each.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>
#include "option.h"
#include "port.h"
#include "verbs.h"

/* What an option can be set on, once the id is bound to a device */
#define ON_IB BIT(0)
#define ON_ROCE BIT(1)
#define ON_IWARP BIT(2)
#define ON_ANY (ON_IB | ON_ROCE | ON_IWARP)

/* Two stages of CMX_CONNECT beside the one in which our request or answer is out */
#define IN_REQUESTED BIT(CMX_STATE_NUM)		/* the peer's request waits */
#define IN_ESTABLISHED BIT(CMX_STATE_NUM + 1)

/* When an option can take effect: until ... */
#define TILL_BOUND (CMX_IN(IDLE) | CMX_IN(BOUND))
#define TILL_ROUTE (TILL_BOUND | CMX_IN(ADDR_QUERY) | CMX_IN(ADDR_RESOLVED))
#define TILL_ASKED (TILL_ROUTE | CMX_IN(ROUTE_QUERY) | CMX_IN(ROUTE_RESOLVED))
#define TILL_SENT (TILL_ASKED | CMX_IN(LISTEN) | IN_REQUESTED)
#define TILL_ESTABLISHED (TILL_SENT | CMX_IN(CONNECT))
#define ALWAYS (TILL_ESTABLISHED | IN_ESTABLISHED | CMX_IN(DISCONNECT))

/* By so much an unprivileged CM_RESPONSE_TIMEOUT may exceed the default: four times as long */
#define RESPONSE_TIMEOUT_MARGIN 2

/**
 * struct cmx_option - an option
 * @label: for people
 * @level: RDMA_OPTION_ID or CMX_OPTION
 * @name: within @level
 * @bit: enum cmx_opt_bit
 * @offset: of its field in &struct cmx_opts
 * @size: of that field in bytes
 * @byte: a value of one byte is taken beside one of four
 * @flag: any value but 0 means 1
 * @zero_resets: 0 means to go back to the default
 * @min: least value
 * @max: greatest value
 * @when: states in which it may be set
 * @on: transports that have it
 * @check: more conditions, or NULL
 * @apply: brings it into effect where more is needed than to store it, or NULL
 * @fallback: value in effect while it is not set; NULL: 0
 */
struct cmx_option {
	const char *label;
	u32 level;
	u32 name;
	u8 bit;
	u8 offset;
	u8 size;
	u8 byte:1;
	u8 flag:1;
	u8 zero_resets:1;
	u32 min;
	u32 max;
	u32 when;
	u8 on;
	int (*check)(const struct cmx_priv *p, u32 val);
	int (*apply)(struct cmx_priv *p);
	u32 (*fallback)(const struct cmx_priv *p);
};

/**
 * struct host_default - an option's default, as a module parameter
 * @val: the value
 * @max: greatest one
 */
struct host_default {
	unsigned int val;
	unsigned int max;
};

static struct host_default def_tos = { .max = U8_MAX };
static struct host_default def_cm_retries = { .val = 15, .max = 15 };
static struct host_default def_cm_response_timeout = { .val = 20, .max = 31 };
static struct host_default def_connect_deadline_ms = { .max = INT_MAX };

static int set_default(const char *text, const struct kernel_param *kp)
{
	struct host_default *def = kp->arg;
	unsigned int val;
	int ret;

	ret = kstrtouint(text, 0, &val);
	if (ret)
		return ret;
	if (val > def->max)
		return -EINVAL;
	WRITE_ONCE(def->val, val);
	return 0;
}

static int get_default(char *buf, const struct kernel_param *kp)
{
	const struct host_default *def = kp->arg;

	return sysfs_emit(buf, "%u\n", def->val);
}

static const struct kernel_param_ops default_ops = {
	.set = set_default,
	.get = get_default,
};

module_param_cb(tos, &default_ops, &def_tos, 0644);
MODULE_PARM_DESC(tos, "default of RDMA_OPTION_ID_TOS: 0..255 (0)");
module_param_cb(cm_retries, &default_ops, &def_cm_retries, 0644);
MODULE_PARM_DESC(cm_retries, "default of CMX_OPTION_CM_RETRIES: 0..15 (15)");
module_param_cb(cm_response_timeout, &default_ops, &def_cm_response_timeout, 0644);
MODULE_PARM_DESC(cm_response_timeout,
		 "default of CMX_OPTION_CM_RESPONSE_TIMEOUT: 0..31, 4.096 us * 2^n a try (20)");
module_param_cb(connect_deadline_ms, &default_ops, &def_connect_deadline_ms, 0644);
MODULE_PARM_DESC(connect_deadline_ms,
		 "default of CMX_OPTION_CONNECT_DEADLINE_MS: ms, 0 for none (0)");

/**
 * cmx_opt_tos() - traffic class in effect
 * @p: the id; its lock is held
 */
u8 cmx_opt_tos(const struct cmx_priv *p)
{
	return cmx_opt_set(p, CMX_OPT_TOS) ? p->opt.tos : READ_ONCE(def_tos.val);
}

/**
 * cmx_opt_cm_retries() - resends of a CM message in effect
 * @p: the id; its lock is held
 */
u8 cmx_opt_cm_retries(const struct cmx_priv *p)
{
	return cmx_opt_set(p, CMX_OPT_CM_RETRIES) ? p->opt.cm_retries
						  : READ_ONCE(def_cm_retries.val);
}

/**
 * cmx_opt_cm_response_timeout() - time for an answer in effect, 4.096 us * 2^n
 * @p: the id; its lock is held
 */
u8 cmx_opt_cm_response_timeout(const struct cmx_priv *p)
{
	return cmx_opt_set(p, CMX_OPT_CM_RESPONSE_TIMEOUT) ? p->opt.cm_response_timeout
							   : READ_ONCE(def_cm_response_timeout.val);
}

/**
 * cmx_opt_connect_deadline_ms() - deadline of a connect in effect, 0 for none
 * @p: the id; its lock is held
 */
u32 cmx_opt_connect_deadline_ms(const struct cmx_priv *p)
{
	return cmx_opt_set(p, CMX_OPT_CONNECT_DEADLINE_MS) ? p->opt.connect_deadline_ms
							   : READ_ONCE(def_connect_deadline_ms.val);
}

static u32 now_tos(const struct cmx_priv *p)
{
	return cmx_opt_tos(p);
}

static u32 now_cm_retries(const struct cmx_priv *p)
{
	return cmx_opt_cm_retries(p);
}

static u32 now_cm_response_timeout(const struct cmx_priv *p)
{
	return cmx_opt_cm_response_timeout(p);
}

static const struct sa_path_rec *path(const struct cmx_priv *p)
{
	return p->id.route.num_pri_alt_paths ? p->id.route.path_rec : NULL;
}

static u32 now_ack_timeout(const struct cmx_priv *p)
{
	return path(p) ? min(path(p)->packet_life_time + 1, 31) : 0;
}

static u32 now_sl(const struct cmx_priv *p)
{
	return path(p) ? path(p)->sl : 0;
}

static u32 now_flow_label(const struct cmx_priv *p)
{
	return path(p) ? be32_to_cpu(path(p)->flow_label) : 0;
}

static u32 now_hop_limit(const struct cmx_priv *p)
{
	return path(p) ? path(p)->hop_limit : p->id.route.addr.dev_addr.hoplimit;
}

static u32 now_gid_type(const struct cmx_priv *p)
{
	return p->dev ? p->gid_type : IB_GID_TYPE_ROCE_UDP_ENCAP;
}

static u32 now_pkey(const struct cmx_priv *p)
{
	if (path(p))
		return be16_to_cpu(path(p)->pkey);
	return p->dev ? cmx_pkey(p) : IB_DEFAULT_PKEY_FULL;
}

static u32 port_mtu(const struct cmx_priv *p)
{
	struct ib_port_attr attr;

	if (!p->dev || ib_query_port(p->id.device, p->id.port_num, &attr))
		return 0;
	return attr.active_mtu;
}

static u32 now_path_mtu(const struct cmx_priv *p)
{
	return path(p) ? path(p)->mtu : port_mtu(p);
}

static u32 now_mcast_loopback(const struct cmx_priv *p)
{
	return 1;
}

/*
 * ib_mad keeps what waits for an answer in a list that is sorted by time and walked with interrupts
 * off: messages that wait for hours make each one of the port slower.
 */
static int check_cm_response_timeout(const struct cmx_priv *p, u32 val)
{
	u32 max = READ_ONCE(def_cm_response_timeout.val) + RESPONSE_TIMEOUT_MARGIN;

	return !p->user || val <= max || capable(CAP_NET_ADMIN) ? 0 : -EPERM;
}

/* REUSEADDR can be withdrawn only before it was of use to anybody. */
static int check_reuseaddr(const struct cmx_priv *p, u32 val)
{
	if (p->state == CMX_IDLE || (val && p->state != CMX_LISTEN))
		return 0;
	return -EINVAL;
}

static int check_afonly(const struct cmx_priv *p, u32 val)
{
	return BIT(p->state) & TILL_BOUND ? 0 : -EINVAL;
}

static int check_ack_timeout(const struct cmx_priv *p, u32 val)
{
	return p->id.qp_type == IB_QPT_RC || p->id.qp_type == IB_QPT_XRC_INI ? 0 : -EINVAL;
}

static int check_min_rnr_timer(const struct cmx_priv *p, u32 val)
{
	return p->id.qp_type == IB_QPT_RC || p->id.qp_type == IB_QPT_XRC_TGT ? 0 : -EINVAL;
}

static int check_gid_type(const struct cmx_priv *p, u32 val)
{
	return p->dev ? -EISCONN : 0;
}

static int check_path_mtu(const struct cmx_priv *p, u32 val)
{
	return p->dev && val > port_mtu(p) ? -EINVAL : 0;
}

/* Datagrams' messages can't carry it. */
static int check_ece_policy(const struct cmx_priv *p, u32 val)
{
	return val == CMX_ECE_REQUIRE && p->id.qp_type == IB_QPT_UD ? -EINVAL : 0;
}

static int check_mcast_loopback(const struct cmx_priv *p, u32 val)
{
	return p->id.qp ? -EISCONN : 0;
}

#define FIELD(opt, field)								\
	.bit = CMX_OPT_##opt,								\
	.offset = offsetof(struct cmx_opts, field),					\
	.size = sizeof_field(struct cmx_opts, field)

#define ID_OPTION(opt, field)								\
	.label = #opt, .level = RDMA_OPTION_ID, .name = RDMA_OPTION_ID_##opt,		\
	.byte = 1, FIELD(opt, field)

#define CMX_OPTION_ROW(opt, field)							\
	.label = #opt, .level = CMX_OPTION, .name = CMX_OPTION_##opt, FIELD(opt, field)

static const struct cmx_option options[] = {
	{
		ID_OPTION(TOS, tos), .zero_resets = 1, .max = U8_MAX,
		.when = TILL_ESTABLISHED, .on = ON_ANY,
		.apply = cmx_opt_tos_changed, .fallback = now_tos,
	}, {
		ID_OPTION(REUSEADDR, reuseaddr), .flag = 1, .max = 1,
		.when = ALWAYS, .on = ON_ANY, .check = check_reuseaddr,
	}, {
		ID_OPTION(AFONLY, afonly), .flag = 1, .max = 1,
		.when = ALWAYS, .on = ON_ANY, .check = check_afonly,
		.apply = cmx_port_recheck,
	}, {
		ID_OPTION(ACK_TIMEOUT, ack_timeout), .max = 31,
		.when = TILL_ESTABLISHED, .on = ON_IB | ON_ROCE,
		.check = check_ack_timeout, .fallback = now_ack_timeout,
	}, {
		CMX_OPTION_ROW(MIN_RNR_TIMER, min_rnr_timer), .max = 31,
		.when = TILL_ESTABLISHED, .on = ON_IB | ON_ROCE, .check = check_min_rnr_timer,
	}, {
		/* the reply goes by what the request says */
		CMX_OPTION_ROW(CM_RETRIES, cm_retries), .max = 15,
		.when = TILL_ASKED, .on = ON_IB | ON_ROCE, .fallback = now_cm_retries,
	}, {
		CMX_OPTION_ROW(CM_RESPONSE_TIMEOUT, cm_response_timeout), .max = 31,
		.when = TILL_ASKED, .on = ON_IB | ON_ROCE,
		.check = check_cm_response_timeout, .fallback = now_cm_response_timeout,
	}, {
		CMX_OPTION_ROW(CONNECT_DEADLINE_MS, connect_deadline_ms), .max = INT_MAX,
		.when = TILL_SENT, .on = ON_ANY, .fallback = cmx_opt_connect_deadline_ms,
	}, {
		CMX_OPTION_ROW(RESOLVE_RETRIES, resolve_retries), .max = 15,
		.when = TILL_ROUTE, .on = ON_IB,
	}, {
		CMX_OPTION_ROW(SL, sl), .max = 15,
		.when = TILL_ROUTE, .on = ON_IB | ON_ROCE, .fallback = now_sl,
	}, {
		CMX_OPTION_ROW(FLOW_LABEL, flow_label), .max = 0xfffff,
		.when = TILL_ROUTE, .on = ON_IB | ON_ROCE, .fallback = now_flow_label,
	}, {
		CMX_OPTION_ROW(HOP_LIMIT, hop_limit), .min = 1, .max = U8_MAX,
		.when = TILL_ROUTE, .on = ON_IB | ON_ROCE, .fallback = now_hop_limit,
	}, {
		CMX_OPTION_ROW(GID_TYPE, gid_type), .max = IB_UVERBS_GID_TYPE_ROCE_V2,
		.when = TILL_BOUND, .on = ON_ROCE,
		.check = check_gid_type, .fallback = now_gid_type,
	}, {
		CMX_OPTION_ROW(PKEY, pkey), .min = 1, .max = U16_MAX,
		.when = TILL_ROUTE, .on = ON_IB, .fallback = now_pkey,
	}, {
		CMX_OPTION_ROW(PATH_MTU, path_mtu), .min = IB_MTU_256, .max = IB_MTU_4096,
		.when = TILL_ROUTE, .on = ON_IB | ON_ROCE,
		.check = check_path_mtu, .fallback = now_path_mtu,
	}, {
		CMX_OPTION_ROW(ECE_POLICY, ece_policy), .max = CMX_ECE_REQUIRE,
		.when = TILL_SENT, .on = ON_IB | ON_ROCE, .check = check_ece_policy,
	}, {
		CMX_OPTION_ROW(MCAST_REJOIN, mcast_rejoin), .max = 1,
		.when = ALWAYS, .on = ON_IB | ON_ROCE,
	}, {
		CMX_OPTION_ROW(MCAST_LOOPBACK, mcast_loopback), .max = 1,
		.when = ALWAYS, .on = ON_IB | ON_ROCE,
		.check = check_mcast_loopback, .fallback = now_mcast_loopback,
	},
};

static const struct cmx_option *find(int level, int name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].level == level && options[i].name == name)
			return &options[i];
	return NULL;
}

static u32 load(const struct cmx_priv *p, const struct cmx_option *o)
{
	const void *field = (const void *)&p->opt + o->offset;

	switch (o->size) {
	case 1:
		return *(const u8 *)field;
	case 2:
		return *(const u16 *)field;
	default:
		return *(const u32 *)field;
	}
}

static void store(struct cmx_priv *p, const struct cmx_option *o, u32 val)
{
	void *field = (void *)&p->opt + o->offset;

	switch (o->size) {
	case 1:
		*(u8 *)field = val;
		break;
	case 2:
		*(u16 *)field = val;
		break;
	default:
		*(u32 *)field = val;
	}
	if (o->zero_resets && !val)
		p->opt.set &= ~BIT(o->bit);
	else
		p->opt.set |= BIT(o->bit);
}

/**
 * cmx_opt_show() - write the options that were set, for people
 * @p: the id; its lock is held
 * @s: where to
 */
void cmx_opt_show(const struct cmx_priv *p, struct seq_file *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (cmx_opt_set(p, options[i].bit))
			seq_printf(s, " %s=%u", options[i].label, load(p, &options[i]));
	if (cmx_opt_set(p, CMX_OPT_IB_PATH))
		seq_puts(s, " IB_PATH");
}

static u8 transport(const struct cmx_priv *p)
{
	if (!p->dev)
		return ON_ANY;
	if (rdma_protocol_roce(p->id.device, p->id.port_num))
		return ON_ROCE;
	return rdma_protocol_iwarp(p->id.device, p->id.port_num) ? ON_IWARP : ON_IB;
}

static u32 stage(const struct cmx_priv *p)
{
	if (p->state != CMX_CONNECT)
		return BIT(p->state);
	if (p->established)
		return IN_ESTABLISHED;
	return p->passive && p->owed ? IN_REQUESTED : CMX_IN(CONNECT);
}

static int decode(const struct cmx_option *o, const void *val, size_t len, u32 *out)
{
	if (len == sizeof(*out))
		memcpy(out, val, sizeof(*out));
	else if (len == 1 && o->byte)
		*out = *(const u8 *)val;
	else
		return -EINVAL;
	if (o->flag)
		*out = !!*out;
	return *out < o->min || *out > o->max ? -EINVAL : 0;
}

static int set(struct cmx_priv *p, const struct cmx_option *o, u32 val)
{
	struct cmx_opts old = p->opt;
	int ret = 0;

	if (p->state == CMX_REMOVED)
		return -ENODEV;
	if (!(stage(p) & o->when))
		return -EISCONN;
	if (!(transport(p) & o->on))
		return -EOPNOTSUPP;
	if (o->check)
		ret = o->check(p, val);
	if (ret)
		return ret;
	store(p, o, val);
	if (o->apply)
		ret = o->apply(p);
	if (ret)
		p->opt = old;
	return ret;
}

static bool is_path(int level, int name)
{
	return level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH;
}

/**
 * cmx_set_option() - set an option of an id
 * @id: the id
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or CMX_OPTION
 * @name: option within @level
 * @val: its value: four bytes, for RDMA_OPTION_ID also one; for
 *	RDMA_OPTION_IB_PATH an array of struct ib_path_rec_data
 * @len: bytes at @val
 *
 * Requests that reach a listener bring ids that begin with its options.
 *
 * Context: process, may sleep.
 *
 * Return: 0, or -errno with nothing changed: -ENOSYS: no such option;
 * -EINVAL: bad length or value, or not in this state; -EPERM: a
 * CM_RESPONSE_TIMEOUT for CAP_NET_ADMIN only; -EISCONN: it can't take
 * effect any more; -EOPNOTSUPP: the transport does not have it; -ENODEV:
 * the device is gone; -EADDRINUSE, -EADDRNOTAVAIL: AFONLY can't be withdrawn,
 * as others have the port; -ENOMEM.
 */
int cmx_set_option(struct cmx_id *id, int level, int name, const void *val, size_t len)
{
	const struct cmx_option *o = find(level, name);
	struct cmx_priv *p = to_priv(id);
	u32 v;
	int ret;

	if (is_path(level, name))
		return cmx_opt_set_path(p, val, len);
	if (!o)
		return -ENOSYS;
	ret = decode(o, val, len, &v);
	if (ret)
		return ret;
	mutex_lock(&p->lock);
	ret = set(p, o, v);
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_set_option);

static int get(struct cmx_priv *p, const struct cmx_option *o, void *val, size_t *len)
{
	u32 v;

	if (*len < sizeof(v) && !(o->byte && *len))
		return -ENOSPC;
	if (cmx_opt_set(p, o->bit))
		v = load(p, o);
	else
		v = o->fallback ? o->fallback(p) : 0;
	if (*len >= sizeof(v)) {
		*len = sizeof(v);
		memcpy(val, &v, sizeof(v));
	} else {
		*len = 1;
		*(u8 *)val = v;
	}
	return 0;
}

/**
 * cmx_get_option() - value of an option in effect
 * @id: the id
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or CMX_OPTION
 * @name: option within @level
 * @val: receives the value, see cmx_set_option()
 * @len: in: bytes at @val; out: bytes filled in
 * @flags: receives enum cmx_opt_flags; may be NULL
 *
 * An option that was not set has the value that is used instead: a host-wide
 * default, or what the path brought. What is not known yet is 0.
 *
 * Context: process, may sleep.
 *
 * Return: 0, -ENOPROTOOPT: no such option; -ENOSPC: @len is too short;
 * -EINVAL: RDMA_OPTION_IB_PATH without a route.
 */
int cmx_get_option(struct cmx_id *id, int level, int name, void *val, size_t *len, u32 *flags)
{
	const struct cmx_option *o = find(level, name);
	struct cmx_priv *p = to_priv(id);
	int ret;

	if (!o && !is_path(level, name))
		return -ENOPROTOOPT;
	mutex_lock(&p->lock);
	ret = o ? get(p, o, val, len) : cmx_opt_get_path(p, val, len);
	if (!ret && flags)
		*flags = cmx_opt_set(p, o ? o->bit : CMX_OPT_IB_PATH) ? CMX_OPT_F_SET : 0;
	mutex_unlock(&p->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_get_option);

/**
 * cmx_opt_inherit() - options of an id that a request brings
 * @child: the new id
 * @listener: its listener; both locks are held
 *
 * All but the path, which is the request's.
 */
void cmx_opt_inherit(struct cmx_priv *child, const struct cmx_priv *listener)
{
	lockdep_assert_held(&listener->lock);
	child->opt = listener->opt;
	child->opt.set &= ~BIT(CMX_OPT_IB_PATH);
}
