// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send window of a user: the MADs of ib_cm that the user may have unanswered on a port
 *
 * Since Linux 6.17 ib_mad sends at most 128 MADs of ib_cm on a port that wait for a reply. All
 * others wait in one queue until one of these is answered, or not answered in time, after 4.3 s by
 * default. A user with 10,000 requests to silent peers would stop everybody for minutes. Therefore
 * each user has a send window of its own on each port, and ids whose messages are beyond it wait
 * here. REQ, SIDR REQ and DREQ are counted. REP is not, because ib_mad does not count it.
 *
 * This file counts messages and wakes ids. ib_send.c sends the messages, and gives back the place
 * of one that cannot be sent. ib_close.c gives back that of one that has ended or is cancelled.
 */
#include <linux/slab.h>
#include "charge.h"
#include "compat.h"
#include "ib_close.h"
#include "ib_port.h"
#include "ib_wake.h"
#include "ib_window.h"
#include "param.h"

CMX_PARAM(max_user_requests, 0, 2147483647, CMX_MAX_USER_REQUESTS,
	  "maximum number of unanswered REQs, SIDR REQs and DREQs of a user without CAP_SYS_RESOURCE on a port; 0: no limit");

/**
 * struct cmx_ib_window - send window of a user on a port
 * @item: in &cmx_ib_port.windows
 * @port: the port; its lock protects @sent and @waiting
 * @user: the user
 * @sent: number of messages that may be sent and have not ended. 0 only while it is being set up
 * @waiting: list of &cmx_ib_conn.window_item
 */
struct cmx_ib_window {
	struct list_head item;
	struct cmx_ib_port *port;
	const struct cmx_quota *user;
	unsigned int sent;
	struct list_head waiting;
};

/* Caller must hold the lock of the port. */
static struct cmx_ib_window *window_find(struct cmx_ib_port *port, const struct cmx_quota *user)
{
	struct cmx_ib_window *window;

	lockdep_assert_held(&port->windows_lock);
	list_for_each_entry(window, &port->windows, item)
		if (window->user == user)
			return window;
	return NULL;
}

/**
 * cmx_ib_window_is_half_used() - check whether half of the window of a user is in use
 * @id_priv: an id of the user, with a port
 *
 * Context: Caller must hold id_priv->lock.
 * Return: true if at least half of it is in use; false if there is no limit.
 */
bool cmx_ib_window_is_half_used(const struct cmx_id_private *id_priv)
{
	struct cmx_ib_port *port = cmx_ib_port(id_priv->dev, id_priv->id.port_num);
	unsigned int limit = cmx_param_get(&max_user_requests);
	const struct cmx_ib_window *window;
	bool half_used;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->quota || !limit)
		return false;
	spin_lock(&port->windows_lock);
	window = window_find(port, id_priv->quota);
	half_used = window && (window->sent >= limit / 2 || !list_empty(&window->waiting));
	spin_unlock(&port->windows_lock);
	return half_used;
}

/* Caller must hold the lock of the port. The user has no window. */
static void window_add(struct cmx_ib_port *port, const struct cmx_quota *user,
		       struct cmx_ib_window *window)
{
	lockdep_assert_held(&port->windows_lock);
	window->port = port;
	window->user = user;
	INIT_LIST_HEAD(&window->waiting);
	list_add(&window->item, &port->windows);
}

/*
 * The list holds no reference: an id whose REQ waits leaves the list before it is shut down, and
 * that of a DREQ is held by its ib_cm id. Caller must hold the lock of the port.
 */
static int window_take_place(struct cmx_ib_window *window, struct cmx_id_private *id_priv,
			     unsigned int limit, bool may_wait)
{
	bool full = window->sent >= limit || !list_empty(&window->waiting);

	lockdep_assert_held(&window->port->windows_lock);
	if (full && !may_wait)
		return -EBUSY;
	id_priv->ib.window = window;
	INIT_LIST_HEAD(&id_priv->ib.window_item);
	if (!full) {
		window->sent++;
		return 0;
	}
	list_add_tail(&id_priv->ib.window_item, &window->waiting);
	return -EINPROGRESS;
}

/* @new is used, and cleared, if the user has no window. Without it -ENOENT is returned then. */
static int window_enter(struct cmx_id_private *id_priv, unsigned int limit, bool may_wait,
			struct cmx_ib_window **new)
{
	struct cmx_ib_port *port = cmx_ib_port(cmx_close_get_device(id_priv), id_priv->id.port_num);
	struct cmx_ib_window *window;
	int ret = -ENOENT;

	spin_lock(&port->windows_lock);
	window = window_find(port, id_priv->quota);
	if (!window && *new) {
		window = *new;
		*new = NULL;
		window_add(port, id_priv->quota, window);
	}
	if (window)
		ret = window_take_place(window, id_priv, limit, may_wait);
	spin_unlock(&port->windows_lock);
	return ret;
}

/**
 * cmx_ib_window_enter() - take a place in the window of a user, or wait for one
 * @id_priv: an id of the user, with a port, that does not wait for one
 * @may_wait: the id waits if there is no place, and is woken with CMX_IB_HAS_ROOM when it gets one
 *
 * Memory is allocated only for the first message of a user on a port.
 *
 * Context: Caller must hold id_priv->lock.
 * Return: 0 if the id has a place, or needs none; -EINPROGRESS if it waits; -EBUSY if it must not
 * wait; -ENOMEM.
 */
int cmx_ib_window_enter(struct cmx_id_private *id_priv, bool may_wait)
{
	unsigned int limit = cmx_param_get(&max_user_requests);
	struct cmx_ib_window *new = NULL;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->quota || !limit || id_priv->ib.window)
		return 0;
	ret = window_enter(id_priv, limit, may_wait, &new);
	if (ret != -ENOENT)
		return ret;
	new = cmx_charge_alloc(id_priv, sizeof(*new));
	if (!new)
		return -ENOMEM;
	ret = window_enter(id_priv, limit, may_wait, &new);
	kfree(new);
	return ret;
}

/* Wake the waiting ids that fit the window. Caller must hold the lock of the port. */
static void window_fill(struct cmx_ib_window *window)
{
	unsigned int limit = cmx_param_get(&max_user_requests);
	struct cmx_id_private *id_priv, *next;

	lockdep_assert_held(&window->port->windows_lock);
	list_for_each_entry_safe(id_priv, next, &window->waiting, ib.window_item) {
		if (limit && window->sent >= limit)
			break;
		window->sent++;
		list_del_init(&id_priv->ib.window_item);
		cmx_ib_wake(id_priv, CMX_IB_HAS_ROOM);
	}
}

/**
 * cmx_ib_window_leave() - give back a place in the window, or no longer wait for one
 * @id_priv: the id; nothing is done if it has no place and does not wait
 *
 * Another id of the user may get the place.
 *
 * Context: Caller must hold id_priv->lock.
 */
void cmx_ib_window_leave(struct cmx_id_private *id_priv)
{
	struct cmx_ib_window *window = id_priv->ib.window;
	struct cmx_ib_port *port;

	lockdep_assert_held(&id_priv->lock);
	if (!window)
		return;
	port = window->port;
	spin_lock(&port->windows_lock);
	if (list_empty(&id_priv->ib.window_item)) {
		window->sent--;
		window_fill(window);
	} else {
		list_del(&id_priv->ib.window_item);
	}
	/* Ids wait only while messages of others are sent. */
	if (window->sent)
		window = NULL;
	else
		list_del(&window->item);
	spin_unlock(&port->windows_lock);
	id_priv->ib.window = NULL;
	kfree(window);
}
