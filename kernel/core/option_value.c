// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The defaults of the options, and values in effect that depend on more than the option.
 */
#include <linux/capability.h>
#include "option_value.h"

/* Some of the defaults are module parameters, see kernel/cm/option.c. */
struct cmx_param cmx_opt_defaults[CMX_OPT_NUM] = {
#define CMX_OPTION_VALUE(level, name, label, field, least, most, def, ...) \
	[CMX_OPT_##label] = { .val = def, .min = least, .max = most },
#define CMX_OPTION_RECORDS(...)
#include "option_rows.h"
};

/* The field of each option; the size of an option of records is 0 */
static const struct {
	u8 offset;
	u8 size;
} opt_fields[CMX_OPT_NUM] = {
#define CMX_OPTION_VALUE(level, name, label, field, ...)		\
	[CMX_OPT_##label] = {						\
		.offset = offsetof(struct cmx_opts, field),		\
		.size = sizeof_field(struct cmx_opts, field),		\
	},
#define CMX_OPTION_RECORDS(...)
#include "option_rows.h"
};

/**
 * cmx_opts_value() - get the value of an option that is set
 * @opt: the options
 * @bit: the option
 *
 * Return: the value; 0 for an option of records.
 */
u32 cmx_opts_value(const struct cmx_opts *opt, enum cmx_opt_bit bit)
{
	const void *field = (const u8 *)opt + opt_fields[bit].offset;

	switch (opt_fields[bit].size) {
	case sizeof(u8):
		return *(const u8 *)field;
	case sizeof(u32):
		return *(const u32 *)field;
	default:
		return 0;
	}
}

/**
 * cmx_opts_store() - store the value of an option
 * @opt: the options; the caller marks the option as set
 * @bit: the option, not one of records
 * @val: the value, in the range of the option
 */
void cmx_opts_store(struct cmx_opts *opt, enum cmx_opt_bit bit, u32 val)
{
	void *field = (u8 *)opt + opt_fields[bit].offset;

	/* checks for conflicts of ports read the options of other ids without their locks */
	if (opt_fields[bit].size == sizeof(u8))
		WRITE_ONCE(*(u8 *)field, val);
	else
		WRITE_ONCE(*(u32 *)field, val);
}

/**
 * cmx_opt_lifetime_max() - find the longest packet lifetime that a consumer can choose
 * @id_priv: the id
 *
 * ib_cm derives from it how long a REQ waits for its reply, and how long an ended connection is
 * remembered, also after its id has been destroyed. No quota counts that memory, and ib_mad
 * searches the waiting MADs with interrupts disabled.
 *
 * Context: In the calling process, whose capabilities count. No lock is needed.
 * Return: the largest n of 4.096 us * 2^n.
 */
u8 cmx_opt_lifetime_max(const struct cmx_id_private *id_priv)
{
	return id_priv->user && !capable(CAP_NET_ADMIN) ? CMX_LIFETIME_USER_MAX : CMX_LIFETIME_MAX;
}

/* The tries of a message: a process can ask for 15 retries. */
#define MAX_CM_TRIES 16

/* How long a process without CAP_NET_ADMIN can have a message repeated, in ms. */
static u32 opt_longest_wait_ms(void)
{
	return MAX_CM_TRIES * cmx_opt_timeout_ms(cmx_opt_response_timeout_max());
}

/**
 * cmx_opt_connect_deadline_ms() - get the connect deadline in effect
 * @id_priv: the id
 *
 * The REQ of the peer determines how long ib_cm waits for the RTU, which may be 37 hours. So an
 * accept without a deadline waits only as long as processes of this host can.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the deadline in ms, 0 for none.
 */
u32 cmx_opt_connect_deadline_ms(const struct cmx_id_private *id_priv)
{
	u32 ms = cmx_opt_get(id_priv, CMX_OPT_CONNECT_DEADLINE_MS);

	return ms || !id_priv->passive ? ms : opt_longest_wait_ms();
}

/**
 * cmx_opt_inherit() - copy the options of a listener to the id of a request
 * @child: the id of the request
 * @listener: its listener
 *
 * The options of the route and of an active connection are not inherited: the request determines
 * the path, and nothing would use them. Nor are those of rules, which are looked up for the new id.
 *
 * Context: Caller must hold the locks of both ids.
 */
void cmx_opt_inherit(struct cmx_id_private *child, const struct cmx_id_private *listener)
{
	lockdep_assert_held(&listener->lock);
	child->opt = listener->opt;
	child->opt.set &= ~(CMX_OPTS_OF_ACTIVE | child->opt.ruled);
	child->opt.ruled = 0;
	child->opt.forced = 0;
}
