// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Setting and getting the options of an id. The table of the options is option_rows.h.
 */
#include <linux/capability.h>
#include <linux/export.h>
#include <linux/moduleparam.h>
#include "compat.h"
#include "device.h"
#include "keys.h"
#include "option.h"
#include "option_value.h"
#include "port_space.h"
#include "rule.h"
#include "transport.h"

/* CMX_CONNECT has three stages: these two, and CMX_IN(CONNECT) after our REQ or REP was sent. */
#define CMX_CONNECT_REQ_RCVD BIT(CMX_STATE_NUM)		/* and response pending */
#define CMX_CONNECT_ESTABLISHED BIT(CMX_STATE_NUM + 1)

/* The stages in which an option can still be set, named after the step that ends them */
#define CMX_OPT_UNTIL_BIND CMX_IN(IDLE)
#define CMX_OPT_UNTIL_ADDR_QUERY (CMX_IN(IDLE) | CMX_IN(BOUND))
#define CMX_OPT_UNTIL_ROUTE_QUERY \
	(CMX_OPT_UNTIL_ADDR_QUERY | CMX_IN(ADDR_QUERY) | CMX_IN(ADDR_RESOLVED))
#define CMX_OPT_UNTIL_REQ_SENT \
	(CMX_OPT_UNTIL_ROUTE_QUERY | CMX_IN(ROUTE_QUERY) | CMX_IN(ROUTE_RESOLVED))
#define CMX_OPT_UNTIL_REP_SENT \
	(CMX_OPT_UNTIL_REQ_SENT | CMX_IN(LISTEN) | CMX_CONNECT_REQ_RCVD)
#define CMX_OPT_UNTIL_ESTABLISHED (CMX_OPT_UNTIL_REP_SENT | CMX_IN(CONNECT))
#define CMX_OPT_UNTIL_DESTROYED \
	(CMX_OPT_UNTIL_ESTABLISHED | CMX_CONNECT_ESTABLISHED | CMX_IN(DISCONNECT))

/**
 * struct cmx_option - a row of option_rows.h
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or CMX_OPTION
 * @name: within @level
 * @late: errno of a set outside the stages of @until; 0: EISCONN
 * @is_bool: any value but 0 means 1
 * @zero_resets: 0 restores the default
 * @no_rule: a rule cannot set it
 * @transports: mask of the transports that support it
 * @until: mask of the stages in which it can be set
 * @check: checks further conditions of a set, or NULL
 * @apply: applies a value that has been stored, or NULL
 * @in_effect: returns the value in effect while the option is not set; NULL: the default
 * @of_path: @in_effect gets it from the path; it is not listed before there is one
 * @set: replaces the generic set of an option that is not a single value; else NULL
 * @get: replaces the generic get, or NULL
 */
struct cmx_option {
	u32 level;
	u32 name;
	u8 late;
	u8 is_bool:1;
	u8 zero_resets:1;
	u8 no_rule:1;
	u8 transports;
	u32 until;
	int (*check)(const struct cmx_id_private *id_priv, u32 val);
	int (*apply)(struct cmx_id_private *id_priv);
	u32 (*in_effect)(const struct cmx_id_private *id_priv);
	bool of_path;
	int (*set)(struct cmx_id_private *id_priv, const void *val, size_t len);
	int (*get)(struct cmx_id_private *id_priv, void *val, size_t *len);
};

static const struct cmx_option opt_rows[CMX_OPT_NUM];

module_param_cb(tos, &cmx_param_ops, &cmx_opt_defaults[CMX_OPT_TOS], 0644);
MODULE_PARM_DESC(tos, "default of RDMA_OPTION_ID_TOS, the traffic class: 0..255 (0)");
module_param_cb(cm_retries, &cmx_param_ops, &cmx_opt_defaults[CMX_OPT_CM_RETRIES], 0644);
MODULE_PARM_DESC(cm_retries, "default of CMX_OPTION_CM_RETRIES, in resends: 0..15 (15)");
module_param_cb(cm_response_timeout, &cmx_param_ops,
		&cmx_opt_defaults[CMX_OPT_CM_RESPONSE_TIMEOUT], 0644);
MODULE_PARM_DESC(cm_response_timeout,
		 "default of CMX_OPTION_CM_RESPONSE_TIMEOUT, n for 4.096 us * 2^n: 0..31 (20)");
module_param_cb(connect_deadline_ms, &cmx_param_ops,
		&cmx_opt_defaults[CMX_OPT_CONNECT_DEADLINE_MS], 0644);
MODULE_PARM_DESC(connect_deadline_ms,
		 "default of CMX_OPTION_CONNECT_DEADLINE_MS, in ms, 0 for none: 0..2147483647 (0)");

static u32 opt_value_in_effect(const struct cmx_id_private *id_priv, enum cmx_opt_bit bit)
{
	const struct cmx_option *o = &opt_rows[bit];

	return o->in_effect && !cmx_opt_is_set(id_priv, bit) ? o->in_effect(id_priv) :
							       cmx_opt_get(id_priv, bit);
}

static u32 opt_afonly(const struct cmx_id_private *id_priv)
{
	return id_priv->opt.afonly;
}

static const struct sa_path_rec *opt_path(const struct cmx_id_private *id_priv)
{
	return id_priv->id.route.num_pri_alt_paths ? id_priv->id.route.path_rec : NULL;
}

static u32 opt_path_ack_timeout(const struct cmx_id_private *id_priv)
{
	return opt_path(id_priv) ? min(opt_path(id_priv)->packet_life_time + 1, 31) : 0;
}

static u32 opt_path_sl(const struct cmx_id_private *id_priv)
{
	return opt_path(id_priv) ? opt_path(id_priv)->sl : 0;
}

static u32 opt_path_flow_label(const struct cmx_id_private *id_priv)
{
	return opt_path(id_priv) ? be32_to_cpu(opt_path(id_priv)->flow_label) : 0;
}

static u32 opt_path_hop_limit(const struct cmx_id_private *id_priv)
{
	return opt_path(id_priv) ? opt_path(id_priv)->hop_limit :
				   id_priv->id.route.addr.dev_addr.hoplimit;
}

static u32 opt_port_gid_type(const struct cmx_id_private *id_priv)
{
	return id_priv->dev ? id_priv->gid_type : IB_GID_TYPE_ROCE_UDP_ENCAP;
}

static u32 opt_path_pkey(const struct cmx_id_private *id_priv)
{
	if (opt_path(id_priv))
		return be16_to_cpu(opt_path(id_priv)->pkey);
	return id_priv->dev ? cmx_pkey_get(id_priv) : IB_DEFAULT_PKEY_FULL;
}

static u32 opt_port_mtu(const struct cmx_id_private *id_priv)
{
	const struct cmx_dev_port *dp = id_priv->dev_port;

	return dp && dp->transport->route->mtu ? dp->transport->route->mtu(id_priv) : 0;
}

static u32 opt_path_mtu(const struct cmx_id_private *id_priv)
{
	return opt_path(id_priv) ? opt_path(id_priv)->mtu : opt_port_mtu(id_priv);
}

/*
 * ib_mad keeps the MADs that wait for a response in a list sorted by timeout, and walks the list
 * with interrupts disabled. MADs that wait for hours slow down every MAD of the port.
 */
static int opt_check_cm_response_timeout(const struct cmx_id_private *id_priv, u32 val)
{
	return !id_priv->user || val <= cmx_opt_response_timeout_max() || capable(CAP_NET_ADMIN) ?
		       0 : -EPERM;
}

/* As for SO_BINDTODEVICE: only the first choice is free. */
static int opt_check_bind_device(const struct cmx_id_private *id_priv, u32 val)
{
	struct net *net = cmx_net(id_priv);
	bool found;

	if (id_priv->user && id_priv->opt.bind_device && !ns_capable(net->user_ns, CAP_NET_RAW))
		return -EPERM;
	rcu_read_lock();
	found = !val || dev_get_by_index_rcu(net, val);
	rcu_read_unlock();
	return found ? 0 : -ENODEV;
}

/* After the bind other ids may share the port, so REUSEADDR can be cleared only before. */
static int opt_check_reuseaddr(const struct cmx_id_private *id_priv, u32 val)
{
	if (id_priv->state == CMX_IDLE || (val && id_priv->state != CMX_LISTEN))
		return 0;
	return -EINVAL;
}

static int opt_check_ack_timeout(const struct cmx_id_private *id_priv, u32 val)
{
	u8 type = id_priv->id.qp_type;

	return type == IB_QPT_RC || type == IB_QPT_XRC_INI ? 0 : -EINVAL;
}

static int opt_check_min_rnr_timer(const struct cmx_id_private *id_priv, u32 val)
{
	u8 type = id_priv->id.qp_type;

	return type == IB_QPT_RC || type == IB_QPT_XRC_TGT ? 0 : -EINVAL;
}

static int opt_check_gid_type(const struct cmx_id_private *id_priv, u32 val)
{
	return id_priv->dev ? -EISCONN : 0;
}

static int opt_check_path_mtu(const struct cmx_id_private *id_priv, u32 val)
{
	u32 mtu = opt_port_mtu(id_priv);

	return mtu && val > mtu ? -EINVAL : 0;
}

/* A SIDR REQ carries no ECE. */
static int opt_check_ece_policy(const struct cmx_id_private *id_priv, u32 val)
{
	if (val != CMX_ECE_REQUIRE)
		return 0;
	if (id_priv->id.qp_type == IB_QPT_UD)
		return -EINVAL;
	/* A request is checked when it arrives. */
	return id_priv->state == CMX_CONNECT && id_priv->passive && !id_priv->ece_remote.vendor_id ?
		       -EOPNOTSUPP : 0;
}

static int opt_check_mcast_loopback(const struct cmx_id_private *id_priv, u32 val)
{
	return id_priv->id.qp ? -EISCONN : 0;
}

#define OPT_ROW(opt_level, opt_name, opt_label, ...)					\
	[CMX_OPT_##opt_label] = {							\
		.level = opt_level, .name = opt_name, __VA_ARGS__			\
	}
#define CMX_OPT_TEXT(...)
#define CMX_OPT_KERNEL(...) __VA_ARGS__

static const struct cmx_option opt_rows[CMX_OPT_NUM] = {
#define CMX_OPTION_VALUE(level, name, label, field, least, most, def, ...)		\
	OPT_ROW(level, name, label, __VA_ARGS__),
#define CMX_OPTION_RECORDS(level, name, label, ...) OPT_ROW(level, name, label, __VA_ARGS__),
#include "option_rows.h"
};

static const struct cmx_option *opt_row_find(int level, int name)
{
	const struct cmx_option *o;

	for (o = opt_rows; o < opt_rows + ARRAY_SIZE(opt_rows); o++)
		if (o->level == level && o->name == name)
			return o;
	return NULL;
}

static enum cmx_opt_bit opt_row_bit(const struct cmx_option *o)
{
	return o - opt_rows;
}

static void opt_value_store(struct cmx_id_private *id_priv, const struct cmx_option *o, u32 val)
{
	u32 bit = BIT(opt_row_bit(o));

	if (id_priv->opt.forced & bit)
		return;
	cmx_opts_store(&id_priv->opt, opt_row_bit(o), val);
	id_priv->opt.ruled &= ~bit;
	if (o->zero_resets && !val)
		id_priv->opt.set &= ~bit;
	else
		id_priv->opt.set |= bit;
}

/* Where the value comes from */
static u32 opt_flags(const struct cmx_id_private *id_priv, enum cmx_opt_bit bit)
{
	const struct cmx_opts *opt = &id_priv->opt;

	if (opt->ruled & BIT(bit))
		return CMX_OPT_F_RULE | (opt->forced & BIT(bit) ? CMX_OPT_F_FORCE : 0);
	return opt->set & BIT(bit) ? CMX_OPT_F_SET : 0;
}

/**
 * cmx_opt_is_supported() - check whether the transport of an id supports an option
 * @id_priv: the id
 * @bit: the option
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if it does, or if the transport is not known yet.
 */
bool cmx_opt_is_supported(const struct cmx_id_private *id_priv, enum cmx_opt_bit bit)
{
	return !id_priv->dev || id_priv->dev_port->transport->bit & opt_rows[bit].transports;
}

static bool opt_value_is_known(const struct cmx_id_private *id_priv, enum cmx_opt_bit bit)
{
	const struct cmx_option *o = &opt_rows[bit];

	if (cmx_opt_is_set(id_priv, bit))
		return true;
	if (o->set)
		return false;
	if (o->of_path)
		return opt_path(id_priv);
	return o->in_effect != opt_port_gid_type || id_priv->dev;
}

/**
 * cmx_opt_list() - list the values in effect
 * @id_priv: the id
 * @to: receives the options that the transport supports and whose value is known, CMX_OPT_NUM at
 *	most
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the number of options.
 */
u32 cmx_opt_list(const struct cmx_id_private *id_priv, struct cmx_id_option *to)
{
	enum cmx_opt_bit bit;
	u32 n = 0;

	lockdep_assert_held(&id_priv->lock);
	for (bit = 0; bit < CMX_OPT_NUM; bit++) {
		const struct cmx_option *o = &opt_rows[bit];

		if (!cmx_opt_is_supported(id_priv, bit) || !opt_value_is_known(id_priv, bit))
			continue;
		to[n++] = (struct cmx_id_option) {
			.level = o->level,
			.name = o->name,
			.value = o->set ? id_priv->id.route.num_pri_alt_paths :
					  opt_value_in_effect(id_priv, bit),
			.flags = opt_flags(id_priv, bit),
		};
	}
	return n;
}

/**
 * cmx_opt_list_defaults() - list the options with the defaults of the host
 * @to: receives CMX_OPT_NUM options
 */
void cmx_opt_list_defaults(struct cmx_id_option *to)
{
	enum cmx_opt_bit bit;

	for (bit = 0; bit < CMX_OPT_NUM; bit++)
		to[bit] = (struct cmx_id_option) {
			.level = opt_rows[bit].level,
			.name = opt_rows[bit].name,
			.value = cmx_param_get(&cmx_opt_defaults[bit]),
		};
}

static bool opt_value_is_in_range(enum cmx_opt_bit bit, u32 val)
{
	return val >= cmx_opt_defaults[bit].min && val <= cmx_opt_defaults[bit].max;
}

/**
 * cmx_opt_fill_rule_value() - check an option of a rule
 * @value: receives the option, for the lookup of rules
 * @option: the option, from a process
 *
 * Context: The process, whose privileges count.
 *
 * Return: 0, or:
 *
 * * -ENOSYS: no such option.
 * * -EOPNOTSUPP: a rule cannot set it.
 * * -EINVAL: the value is out of its range, or flags are set.
 * * -EPERM: this CM_RESPONSE_TIMEOUT requires CAP_NET_ADMIN in the initial user namespace.
 */
int cmx_opt_fill_rule_value(struct cmx_rule_value *value, const struct cmx_id_option *option)
{
	const struct cmx_option *o = opt_row_find(option->level, option->name);
	enum cmx_opt_bit bit;

	if (!o)
		return -ENOSYS;
	if (o->no_rule)
		return -EOPNOTSUPP;
	bit = opt_row_bit(o);
	if (option->flags || !opt_value_is_in_range(bit, option->value))
		return -EINVAL;
	*value = (struct cmx_rule_value) {
		.bit = bit,
		.transports = o->transports,
		.val = option->value,
		.check = o->check,
	};
	/* checked here: the check of an id is one of its process */
	if (bit == CMX_OPT_CM_RESPONSE_TIMEOUT) {
		value->check = NULL;
		if (value->val > cmx_opt_response_timeout_max() && !capable(CAP_NET_ADMIN))
			return -EPERM;
	}
	/* checked with the types that the port supports */
	if (bit == CMX_OPT_GID_TYPE)
		value->check = NULL;
	return 0;
}

static u32 opt_stage(const struct cmx_id_private *id_priv)
{
	if (id_priv->state != CMX_CONNECT)
		return BIT(id_priv->state);
	/* The accept has moved the QP to RTS. */
	if (id_priv->established || (id_priv->passive && !id_priv->response_pending))
		return CMX_CONNECT_ESTABLISHED;
	return id_priv->passive ? CMX_CONNECT_REQ_RCVD : CMX_IN(CONNECT);
}

static int opt_value_decode(const struct cmx_option *o, const void *val, size_t len, u32 *out)
{
	if (len == sizeof(*out))
		memcpy(out, val, sizeof(*out));
	else if (len == 1 && o->level == RDMA_OPTION_ID)
		*out = *(const u8 *)val;
	else
		return -EINVAL;
	if (o->is_bool)
		*out = !!*out;
	return opt_value_is_in_range(opt_row_bit(o), *out) ? 0 : -EINVAL;
}

static int opt_value_set(struct cmx_id_private *id_priv, const struct cmx_option *o, u32 val)
{
	struct cmx_opts old = id_priv->opt;
	int ret = 0;

	if (id_priv->state == CMX_REMOVED)
		return -ENODEV;
	if (!(opt_stage(id_priv) & o->until))
		return -(o->late ?: EISCONN);
	if (!cmx_opt_is_supported(id_priv, opt_row_bit(o)))
		return -EOPNOTSUPP;
	if (o->check)
		ret = o->check(id_priv, val);
	if (ret)
		return ret;
	opt_value_store(id_priv, o, val);
	if (o->apply)
		ret = o->apply(id_priv);
	if (ret)
		id_priv->opt = old;
	return ret;
}

/**
 * cmx_set_option() - set an option of an id
 * @id: the id
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or CMX_OPTION
 * @name: option within @level
 * @val: the value: a u32, or for RDMA_OPTION_ID also a u8; for RDMA_OPTION_IB_PATH an array of
 *	struct ib_path_rec_data
 * @len: size of @val in bytes
 *
 * The id of an incoming request inherits the options of the listener, except for those of the path
 * and of an active connection.
 *
 * Context: process, may sleep.
 *
 * Return: 0; on error nothing has changed:
 *
 * * -ENOSYS: no such option.
 * * -EINVAL: invalid length or value, or the option cannot be set in this state.
 * * -EPERM: this CM_RESPONSE_TIMEOUT, or a packet lifetime above 21 in an IB_PATH record,
 *   requires CAP_NET_ADMIN; changing a BIND_DEVICE requires CAP_NET_RAW in the network namespace.
 * * -EISCONN: it is too late to set the option.
 * * -EOPNOTSUPP: the transport does not support the option; for CMX_ECE_REQUIRE, the request of the
 *   peer has no ECE.
 * * -ENODEV: the device is gone; for TOS on RoCE, also the network interface; for IB_PATH on RoCE,
 *   the id has a loopback address; for BIND_DEVICE, there is no such interface.
 * * -EHOSTUNREACH: for IB_PATH, or TOS after the route was resolved: GID_TYPE is set and is not
 *   RoCE v2, and the peer is behind a router.
 * * -EADDRINUSE, -EADDRNOTAVAIL: AFONLY cannot be cleared, because other ids own the port.
 * * -ENOMEM: out of memory.
 */
int cmx_set_option(struct cmx_id *id, int level, int name, const void *val, size_t len)
{
	const struct cmx_option *o = opt_row_find(level, name);
	struct cmx_id_private *id_priv = to_id_priv(id);
	u32 v;
	int ret;

	if (!o)
		return -ENOSYS;
	if (o->set)
		return o->set(id_priv, val, len);
	ret = opt_value_decode(o, val, len, &v);
	if (ret)
		return ret;
	mutex_lock(&id_priv->lock);
	ret = opt_value_set(id_priv, o, v);
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_set_option);

static int opt_value_get(struct cmx_id_private *id_priv, const struct cmx_option *o, void *val,
			 size_t *len)
{
	u32 v;

	if (*len < sizeof(v) && !(o->level == RDMA_OPTION_ID && *len))
		return -ENOSPC;
	v = opt_value_in_effect(id_priv, opt_row_bit(o));
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
 * cmx_get_option() - get the effective value of an option
 * @id: the id
 * @level: RDMA_OPTION_ID, RDMA_OPTION_IB or CMX_OPTION
 * @name: option within @level
 * @val: receives the value, see cmx_set_option()
 * @len: in: size of @val in bytes; out: number of bytes written
 * @flags: receives enum cmx_opt_flags; may be NULL
 *
 * For an option that was not set this is the value that is used instead: a host-wide default, or a
 * value of the path. It is 0 while that value is not known.
 *
 * Context: process, may sleep.
 *
 * Return: 0, or:
 *
 * * -ENOPROTOOPT: no such option.
 * * -ENOSPC: @len is too short.
 * * -EINVAL: RDMA_OPTION_IB_PATH on an id without a route.
 */
int cmx_get_option(struct cmx_id *id, int level, int name, void *val, size_t *len, u32 *flags)
{
	const struct cmx_option *o = opt_row_find(level, name);
	struct cmx_id_private *id_priv = to_id_priv(id);
	int ret;

	if (!o)
		return -ENOPROTOOPT;
	mutex_lock(&id_priv->lock);
	ret = o->get ? o->get(id_priv, val, len) : opt_value_get(id_priv, o, val, len);
	if (!ret && flags)
		*flags = opt_flags(id_priv, opt_row_bit(o));
	mutex_unlock(&id_priv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(cmx_get_option);
