// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * leave ADDR GROUP: a group is left before the handler has got the event of the join. The event of
 * the next join comes, and that of the first one does not.
 */
#include "cmx_ulp.h"

/**
 * struct member - a datagram id that leaves a group early
 * @id: the id
 * @r: its resources on the device. The QP is attached by a join, and detached again
 * @late: number of events of the join whose group was left
 * @left: context of that join
 * @kept: context of the next join
 * @status: status of the next join
 * @joined: the event of the next join
 */
struct member {
	struct cmx_id *id;
	struct res r;
	int late;
	char left;
	char kept;
	int status;
	struct completion joined;
};

static int member_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct member *m = id->context;

	if (ev->param.ud.private_data == &m->left) {
		m->late++;
		return 0;
	}
	if (ev->event == RDMA_CM_EVENT_MULTICAST_JOIN && ev->param.ud.private_data == &m->kept)
		m->status = ev->status;
	else
		m->status = ev->status < 0 ? ev->status : -EPROTO;
	complete(&m->joined);
	return 0;
}

/* While the handler is locked, no event is delivered. */
static int member_join(struct member *m, const struct sockaddr *group)
{
	int ret;

	cmx_lock_handler(m->id);
	ret = cmx_join_multicast(m->id, group, NULL, &m->left) ?:
	      cmx_leave_multicast(m->id, group);
	if (!ret && cmx_leave_multicast(m->id, group) != -ENOENT)
		ret = -EBADE;
	if (!ret)
		ret = cmx_join_multicast(m->id, group, NULL, &m->kept);
	cmx_unlock_handler(m->id);
	return ret;
}

static int member_run(struct member *m, const struct sockaddr *addr, const struct sockaddr *group)
{
	int ret;

	ret = cmx_bind_addr(m->id, addr) ?: res_open(m->id, &m->r) ?: member_join(m, group);
	if (!ret)
		ret = ulp_wait(&m->joined) ?: m->status;
	if (!ret)
		ret = cmx_leave_multicast(m->id, group);
	return ret;
}

int ulp_leave(int argc, char **argv)
{
	struct sockaddr_storage addr, group;
	struct member m = {};
	int ret;

	init_completion(&m.joined);
	ret = ulp_addr_parse(argv[1], "0", &addr) ?: ulp_addr_parse(argv[2], "0", &group);
	if (ret)
		return ret;
	m.id = cmx_create_id(ulp_net(), member_event, &m, RDMA_PS_UDP, IB_QPT_UD);
	if (IS_ERR(m.id))
		return PTR_ERR(m.id);
	ret = member_run(&m, (struct sockaddr *)&addr, (struct sockaddr *)&group);
	cmx_lock_handler(m.id);
	res_close(m.id, &m.r);
	cmx_unlock_handler(m.id);
	cmx_destroy_id(m.id);
	ulp_print("late %d, %d\n", m.late, ret);
	return ret ?: m.late ? -EPROTO : 0;
}
