// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limit on the number of ids and memberships of one user.
 *
 * Handles, ports, entries of ib_cm and messages that wait for a response are resources of the whole
 * host, and each of them needs an id. Without a limit one user could use them up for all others.
 * A user of a user namespace is charged to the owner of the outermost user namespace below the
 * initial one, because that owner can create any number of users. If the owner is root, as for
 * containers that a daemon has created, the user is charged to the user of the host that is root in
 * that namespace: containers with maps of their own do not share a quota.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>
#include "param.h"
#include "quota.h"

CMX_PARAM(max_user_ids, 0, 2147483647, 65536,
	  "maximum number of ids and memberships of a user without CAP_SYS_RESOURCE; 0: such a user can create none");

/**
 * struct cmx_quota - quota of one user
 * @uid: the user, and the index of the quota in the table
 * @refs: one for each open file and one for each charge
 * @charged: number of ids, memberships and leaves that are charged
 */
struct cmx_quota {
	uid_t uid;
	refcount_t refs;
	atomic_t charged;
};

static DEFINE_XARRAY(quotas);

static kuid_t quota_current_uid(void)
{
	struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();
	kuid_t root = INVALID_UID;

	for (; ns != &init_user_ns; ns = ns->parent) {
		uid = ns->owner;
		root = make_kuid(ns, 0);
	}
	return uid_eq(uid, GLOBAL_ROOT_UID) && uid_valid(root) ? root : uid;
}

/**
 * cmx_quota_open() - get the quota of the calling process
 *
 * Return: the quota with a reference, NULL if the caller has no limit, or ERR_PTR(-ENOMEM).
 */
struct cmx_quota *cmx_quota_open(void)
{
	struct cmx_quota *quota, *new;

	if (capable(CAP_SYS_RESOURCE))
		return NULL;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->uid = __kuid_val(quota_current_uid());
	refcount_set(&new->refs, 1);
	xa_lock(&quotas);
	quota = __xa_cmpxchg(&quotas, new->uid, NULL, new, GFP_KERNEL_ACCOUNT);
	/* the quota of the user cannot be freed while the table is locked */
	if (quota && !xa_is_err(quota))
		refcount_inc(&quota->refs);
	xa_unlock(&quotas);
	if (!quota)
		return new;
	kfree(new);
	return xa_is_err(quota) ? ERR_PTR(-ENOMEM) : quota;
}

/**
 * cmx_quota_put() - drop a reference
 * @quota: the quota, or NULL
 */
void cmx_quota_put(struct cmx_quota *quota)
{
	bool last;

	if (!quota || refcount_dec_not_one(&quota->refs))
		return;
	xa_lock(&quotas);
	last = refcount_dec_and_test(&quota->refs);
	if (last)
		__xa_erase(&quotas, quota->uid);
	xa_unlock(&quotas);
	if (last)
		kfree(quota);
}

/**
 * cmx_quota_charge() - charge one id or membership
 * @quota: the quota, or NULL. Caller must hold a reference
 *
 * Each charge holds a reference.
 *
 * Return: 0, or -EMFILE if the quota is used up.
 */
int cmx_quota_charge(struct cmx_quota *quota)
{
	if (!quota)
		return 0;
	if (atomic_inc_return(&quota->charged) > cmx_param_get(&max_user_ids)) {
		atomic_dec(&quota->charged);
		return -EMFILE;
	}
	refcount_inc(&quota->refs);
	return 0;
}

/**
 * cmx_quota_charge_always() - as cmx_quota_charge(), but never fails
 * @quota: the quota, or NULL. An id of the user is charged, which keeps the quota
 *
 * The leave of a group is charged in this way, because it continues after its membership, whose
 * charge ends. The next charge of the user may fail.
 */
void cmx_quota_charge_always(struct cmx_quota *quota)
{
	if (!quota)
		return;
	atomic_inc(&quota->charged);
	refcount_inc(&quota->refs);
}

/**
 * cmx_quota_uncharge() - undo cmx_quota_charge() or cmx_quota_charge_always()
 * @quota: the quota, or NULL
 */
void cmx_quota_uncharge(struct cmx_quota *quota)
{
	if (!quota)
		return;
	atomic_dec(&quota->charged);
	cmx_quota_put(quota);
}

/**
 * cmx_quota_is_half_used() - check whether more than half of a quota is in use
 * @quota: the quota, or NULL
 *
 * If so, callers should release resources as early as they can.
 *
 * Return: true if more than half is in use; false without a limit.
 */
bool cmx_quota_is_half_used(const struct cmx_quota *quota)
{
	return quota && atomic_read(&quota->charged) > cmx_param_get(&max_user_ids) / 2;
}
