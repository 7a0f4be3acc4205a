// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A call on an id that does not end: who wrote the command holds the id's lock until a signal comes.
 *
 *	hold ADDR PORT
 */
#include <linux/delay.h>
#include <linux/err.h>
#include "id.h"
#include "cmx_ulp.h"

static int ignore(struct cmx_id *id, struct rdma_cm_event *event)
{
	return 0;
}

int hold(int argc, char **argv)
{
	struct cmx_id *id = bound_id_new(argv, ignore);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = cmx_listen(id, 1);
	if (!ret) {
		mutex_lock(&to_id_priv(id)->lock);
		say("held\n");
		while (!signal_pending(current))
			msleep_interruptible(1000);
		mutex_unlock(&to_id_priv(id)->lock);
	}
	cmx_destroy_id(id);
	return ret;
}
