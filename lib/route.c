// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Routes that are resolved without a call.
 *
 * Where nobody has to be asked for a path, as on RoCE, ADDR_RESOLVED brings it
 * along. rdma_resolve_route() then makes ROUTE_RESOLVED itself, and the kernel
 * learns of it with the request for the connection. Whatever else is done to
 * the id settles the matter first, so that the kernel's answer is the one that
 * a resolved route would have got: an event that still waits here is made by
 * the kernel instead, and one that was handed out is made up for in silence.
 *
 * After a call that may change the path (an option), or have events of its own
 * (a group), the path that was brought along is forgotten.
 */
#include <stdlib.h>
#include "cmx_lib.h"

/* Nothing waits for an answer, see CMX_EVENT_F_PATH. */
#define TIMEOUT_MS 1

static struct cmx_channel *lock_channel(const struct cmx_id *id)
{
	struct cmx_channel *ch = to_cmx_channel(id->id.channel);

	pthread_mutex_lock(&ch->lock);
	return ch;
}

/* The address is about to be resolved. */
void cmx_route_await(struct cmx_id *id)
{
	struct cmx_channel *ch = lock_channel(id);

	if (id->route == CMX_ROUTE_ASK)
		id->route = CMX_ROUTE_AWAITED;
	pthread_mutex_unlock(&ch->lock);
}

/* ADDR_RESOLVED has brought a path. */
void cmx_route_offer(struct cmx_id *id, const struct ib_path_rec_data *path)
{
	struct cmx_channel *ch;
	bool known;

	pthread_mutex_lock(&id->lock);
	known = cmx_id_known(id);
	if (known)
		cmx_path_from_kernel(&id->known->paths[0], path);
	pthread_mutex_unlock(&id->lock);

	ch = lock_channel(id);
	if (known && id->route == CMX_ROUTE_AWAITED)
		id->route = CMX_ROUTE_OFFERED;
	pthread_mutex_unlock(&ch->lock);
}

/* Makes ROUTE_RESOLVED. False when that is for the kernel to do. */
bool cmx_route_tell(struct cmx_id *id)
{
	struct cmx_channel *ch;
	struct cmx_event *e;
	bool told;

	e = calloc(1, sizeof(*e));
	if (!e)
		return false;
	e->id = id;
	e->event.id = &id->id;
	e->event.event = RDMA_CM_EVENT_ROUTE_RESOLVED;

	ch = lock_channel(id);
	told = id->route == CMX_ROUTE_OFFERED && cmx_channel_hold(ch, e);
	if (told)
		id->route = CMX_ROUTE_TOLD;
	pthread_mutex_unlock(&ch->lock);
	if (!told)
		free(e);
	return told;
}

/* The application gets to see ROUTE_RESOLVED, and the path with it. */
void cmx_route_handed_out(struct cmx_id *id)
{
	pthread_mutex_lock(&id->lock);
	id->id.route.path_rec = id->known->paths;
	id->id.route.num_paths = 1;
	pthread_mutex_unlock(&id->lock);
}

/* The event that waits for the application, or NULL. */
static struct cmx_event *waiting(struct cmx_channel *ch, const struct cmx_id *id)
{
	return id->route == CMX_ROUTE_TOLD ? cmx_channel_held(ch, id) : NULL;
}

bool cmx_route_is_waiting(struct cmx_id *id)
{
	struct cmx_channel *ch = lock_channel(id);
	bool ret = waiting(ch, id);

	pthread_mutex_unlock(&ch->lock);
	return ret;
}

/* Whether all that is left to do about the route is to let the kernel know. */
bool cmx_route_is_told(struct cmx_id *id)
{
	struct cmx_channel *ch = lock_channel(id);
	bool told = id->route == CMX_ROUTE_TOLD && !waiting(ch, id);

	pthread_mutex_unlock(&ch->lock);
	return told;
}

/* The kernel has been told with a command. */
void cmx_route_connected(struct cmx_id *id)
{
	struct cmx_channel *ch = lock_channel(id);

	id->route = CMX_ROUTE_ASK;
	pthread_mutex_unlock(&ch->lock);
}

static int issue_resolve(struct cmx_id *id, bool silent)
{
	struct cmx_cmd cmd;

	cmx_id_cmd(&cmd, id, CMX_ID_RESOLVE_ROUTE);
	cmx_cmd_u32(&cmd, CMX_ATTR_TIMEOUT, TIMEOUT_MS);
	if (silent)
		cmx_cmd_in(&cmd, CMX_ATTR_ROUTE_TOLD, NULL, 0);
	return cmx_id_issue_plain(&cmd, id);
}

/* EINVAL: the id is not what it was (its device is gone), as its next command will say. */
static int settle(struct cmx_channel *ch, struct cmx_id *id)
{
	struct cmx_event *e = waiting(ch, id);

	if (issue_resolve(id, !e))
		return errno == EINVAL ? 0 : -1;
	id->route = CMX_ROUTE_ASK;
	if (e) {
		cmx_channel_unhold(ch, e);
		free(e);
	}
	return 0;
}

/* From here on the route is the kernel's business. 0, or -1 with errno. */
int cmx_route_settle(struct cmx_id *id)
{
	struct cmx_channel *ch;
	int ret = 0;

	if (__atomic_load_n(&id->route, __ATOMIC_RELAXED) == CMX_ROUTE_ASK)
		return 0;
	ch = lock_channel(id);
	if (id->route == CMX_ROUTE_TOLD)
		ret = settle(ch, id);
	else
		id->route = CMX_ROUTE_ASK;
	pthread_mutex_unlock(&ch->lock);
	return ret;
}

/* The id is destroyed: nobody gets its event any more. */
void cmx_route_discard(struct cmx_id *id)
{
	struct cmx_channel *ch;
	struct cmx_event *e;

	if (__atomic_load_n(&id->route, __ATOMIC_RELAXED) != CMX_ROUTE_TOLD)
		return;
	ch = lock_channel(id);
	e = waiting(ch, id);
	if (e)
		cmx_channel_unhold(ch, e);
	pthread_mutex_unlock(&ch->lock);
	free(e);
}
