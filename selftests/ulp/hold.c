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
	struct sockaddr_storage addr;
	struct cmx_id *id;
	int ret;

	ret = parse_addr(argv[1], argv[2], &addr);
	if (ret)
		return ret;
	id = cmx_create_id(my_net(), ignore, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = cmx_bind_addr(id, (struct sockaddr *)&addr) ?: cmx_listen(id, 1);
	if (!ret) {
		mutex_lock(&to_priv(id)->lock);
		say("held\n");
		while (!signal_pending(current))
			msleep_interruptible(1000);
		mutex_unlock(&to_priv(id)->lock);
	}
	cmx_destroy_id(id);
	return ret;
}
