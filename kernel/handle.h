/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_HANDLE_H
#define CMX_HANDLE_H

#include <linux/atomic.h>
#include "id.h"
#include "mcast.h"

struct cmx_file;

/**
 * struct cmx_uid - an id that belongs to a process
 * @p: the id
 * @file: channel that takes its events; NULL before an id born from a request
 *	is fetched, and after it was destroyed. Changed under the lock of the
 *	handle table and that of the (old) channel's queue
 * @item: on &cmx_file.ids, under the lock of the handle table
 * @groups: &cmx_mcast.item, under the lock of the handle table
 * @from: the listener whose backlog it counts against, with a reference;
 *	NULL once it has been fetched
 * @uid: the owner's name for it; set by an accept under @p's lock
 * @handle: 0 before it has one
 * @fetched: events fetched; under @file's mutex
 * @queued: events that wait on @file's queue; under that queue's lock
 * @backlog: requests that a listener still takes
 * @muted: born from a request and not yet accepted: takes no events; under @p's lock
 */
struct cmx_uid {
	struct cmx_priv p;
	struct cmx_file *file;
	struct list_head item;
	struct list_head groups;
	struct cmx_uid *from;
	u64 uid;
	u32 handle;
	u32 fetched;
	u32 queued;
	atomic_t backlog;
	bool muted;
};

static inline struct cmx_uid *to_uid(struct cmx_priv *p)
{
	return container_of(p, struct cmx_uid, p);
}

static inline void cmx_uid_put(struct cmx_uid *u)
{
	cmx_id_put(&u->p);
}

int cmx_handle_init_module(void);
void cmx_handle_exit_module(void);

int cmx_handle_reserve(u32 *handle);
void cmx_handle_abort(u32 handle);
int cmx_handle_add_id(struct cmx_uid *u, struct cmx_file *file, u32 *handle);
void cmx_handle_publish_id(struct cmx_uid *u, u32 handle, struct cmx_file *file);
int cmx_handle_publish_mcast(struct cmx_mcast *mc);

struct cmx_uid *cmx_handle_get_id(struct cmx_file *file, u32 handle);
struct cmx_uid *cmx_handle_take_id(struct cmx_file *file, u32 handle);
struct cmx_uid *cmx_handle_take_any(struct cmx_file *file);
struct cmx_mcast *cmx_handle_get_mcast(struct cmx_file *file, u32 handle);
struct cmx_mcast *cmx_handle_take_mcast(struct cmx_file *file, u32 handle);
int cmx_handle_move_id(struct cmx_uid *u, struct cmx_file *from, struct cmx_file *to);

struct cmx_uid *cmx_handle_next_id(unsigned long *index);

#endif
