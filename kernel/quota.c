// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How many ids and memberships one user may have.
 *
 * Handles, ports, entries of ib_cm and messages that wait for an answer are the host's, and an id
 * is what it takes to have one: who can make ids without end keeps others from having any. Users
 * of user namespaces count as the owner of the outermost one, who can make as many as he likes.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include "quota.h"

static unsigned int user_ids = 65536;
module_param(user_ids, uint, 0644);
MODULE_PARM_DESC(user_ids, "most ids and memberships of a user without CAP_SYS_RESOURCE (65536)");

/**
 * struct cmx_quota - a user
 * @item: on the list of users
 * @uid: who it is
 * @refs: open files, and what is charged
 * @charged: ids and memberships
 */
struct cmx_quota {
	struct list_head item;
	kuid_t uid;
	refcount_t refs;
	atomic_t charged;
};

static LIST_HEAD(quotas);
static DEFINE_SPINLOCK(quotas_lock);	/* protects quotas */

static kuid_t accountable_uid(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static struct cmx_quota *find_quota(kuid_t uid)
{
	struct cmx_quota *quota;

	lockdep_assert_held(&quotas_lock);
	list_for_each_entry(quota, &quotas, item)
		if (uid_eq(quota->uid, uid))
			return quota;
	return NULL;
}

/**
 * cmx_quota_open() - the quota of the caller
 *
 * Return: the quota with a reference; NULL: the caller is not limited; or ERR_PTR(-ENOMEM).
 */
struct cmx_quota *cmx_quota_open(void)
{
	struct cmx_quota *quota, *new;
	kuid_t uid = accountable_uid();

	if (capable(CAP_SYS_RESOURCE))
		return NULL;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->uid = uid;
	refcount_set(&new->refs, 1);
	spin_lock(&quotas_lock);
	quota = find_quota(uid);
	if (quota) {
		refcount_inc(&quota->refs);
	} else {
		quota = new;
		new = NULL;
		list_add(&quota->item, &quotas);
	}
	spin_unlock(&quotas_lock);
	kfree(new);
	return quota;
}

/**
 * cmx_quota_put() - drop a reference
 * @quota: the quota
 */
void cmx_quota_put(struct cmx_quota *quota)
{
	bool last;

	if (!quota || refcount_dec_not_one(&quota->refs))
		return;
	spin_lock(&quotas_lock);
	last = refcount_dec_and_test(&quota->refs);
	if (last)
		list_del(&quota->item);
	spin_unlock(&quotas_lock);
	if (last)
		kfree(quota);
}

/**
 * cmx_quota_charge() - one id or membership more
 * @quota: the quota; the caller has a reference
 *
 * Return: 0, with another reference; or -EMFILE.
 */
int cmx_quota_charge(struct cmx_quota *quota)
{
	if (!quota)
		return 0;
	if (atomic_inc_return(&quota->charged) > READ_ONCE(user_ids)) {
		atomic_dec(&quota->charged);
		return -EMFILE;
	}
	refcount_inc(&quota->refs);
	return 0;
}

/**
 * cmx_quota_uncharge() - undo cmx_quota_charge()
 * @quota: the quota
 */
void cmx_quota_uncharge(struct cmx_quota *quota)
{
	if (!quota)
		return;
	atomic_dec(&quota->charged);
	cmx_quota_put(quota);
}

/**
 * cmx_quota_is_short() - whether less than half of it is left
 * @quota: the quota
 *
 * Then nothing should stay that can go.
 */
bool cmx_quota_is_short(const struct cmx_quota *quota)
{
	return quota && atomic_read(&quota->charged) > READ_ONCE(user_ids) / 2;
}
