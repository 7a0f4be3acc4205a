// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device that an id is bound to
 *
 *	restrict ADDR PORT	ids for devices of one node type
 *	gids ADDR PORT		the GIDs of an id and of its peer, and the service ID of the peer
 */
#include "cmx_ulp.h"

/* Returns the node type of the device that has the address. */
static int addr_node_type(char **argv)
{
	struct cmx_id *id = ulp_id_create_bound(argv, ulp_event_ignore);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = id->device ? id->device->node_type : -ENODEV;
	/* the id has its device */
	if (ret > 0 && cmx_restrict_node_type(id, RDMA_NODE_UNSPECIFIED) != -EALREADY)
		ret = -EBADE;
	cmx_destroy_id(id);
	return ret;
}

static int restricted_bind(struct cmx_id *id, const struct sockaddr *addr, u8 own)
{
	u8 other = own == RDMA_NODE_RNIC ? RDMA_NODE_IB_CA : RDMA_NODE_RNIC;

	if (cmx_restrict_node_type(id, RDMA_NODE_IB_SWITCH) != -EINVAL ||
	    cmx_restrict_node_type(id, other) || cmx_bind_addr(id, addr) != -ENODEV)
		return -EBADE;
	/* the bind that failed has changed nothing */
	return cmx_restrict_node_type(id, own) ?: cmx_bind_addr(id, addr);
}

int ulp_restrict(int argc, char **argv)
{
	struct sockaddr_storage addr;
	int ret = addr_node_type(argv);
	struct cmx_id *id;

	if (ret < 0)
		return ret;
	id = ulp_id_create(argv, &addr, ulp_event_ignore, NULL);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = restricted_bind(id, (struct sockaddr *)&addr, ret);
	cmx_destroy_id(id);
	return ret;
}

/**
 * struct resolved - an id whose route is resolved
 * @sgid: its GID at ADDR_RESOLVED
 * @dgid: the GID of its peer at ADDR_RESOLVED
 * @status: 0, or -errno
 * @settled: the route is resolved, or that has failed
 */
struct resolved {
	union ib_gid sgid;
	union ib_gid dgid;
	int status;
	struct completion settled;
};

static bool gid_equal(const union ib_gid *a, const union ib_gid *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* The GIDs are those of the path, and the route has not changed them. */
static int gids_check(const struct resolved *r, struct cmx_id *id)
{
	const struct sa_path_rec *rec = id->route.path_rec;
	union ib_gid sgid, dgid;

	/* iWARP has no paths */
	if (!rec)
		return -EOPNOTSUPP;
	cmx_read_gids(id, &sgid, &dgid);
	if (!gid_equal(&sgid, &r->sgid) || !gid_equal(&dgid, &r->dgid))
		return -EBADMSG;
	if (!gid_equal(&sgid, &rec->sgid) || !gid_equal(&dgid, &rec->dgid))
		return -EBADE;
	/* each of them may be left out */
	memset(&sgid, 0, sizeof(sgid));
	memset(&dgid, 0, sizeof(dgid));
	cmx_read_gids(id, &sgid, NULL);
	cmx_read_gids(id, NULL, &dgid);
	return gid_equal(&sgid, &r->sgid) && gid_equal(&dgid, &r->dgid) ? 0 : -EBADMSG;
}

static int gids_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct resolved *r = id->context;

	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		cmx_read_gids(id, &r->sgid, &r->dgid);
		r->status = cmx_resolve_route(id, ulp_timeout_ms);
		if (!r->status)
			return 0;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		r->status = gids_check(r, id);
		break;
	default:
		r->status = ev->status < 0 ? ev->status : -EPROTO;
	}
	complete(&r->settled);
	return 0;
}

static bool gids_are_zero(struct cmx_id *id)
{
	union ib_gid sgid, dgid;

	memset(&sgid, 0xff, sizeof(sgid));
	memset(&dgid, 0xff, sizeof(dgid));
	cmx_read_gids(id, &sgid, &dgid);
	return gid_equal(&sgid, &zgid) && gid_equal(&dgid, &zgid);
}

int ulp_gids(int argc, char **argv)
{
	struct sockaddr_storage addr;
	struct resolved r = {};
	struct cmx_id *id = ulp_id_create(argv, &addr, gids_event, &r);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	init_completion(&r.settled);
	ret = gids_are_zero(id) ? 0 : -EBADMSG;
	if (!ret)
		ret = cmx_resolve_addr(id, NULL, (struct sockaddr *)&addr, ulp_timeout_ms) ?:
		      ulp_wait(&r.settled) ?: r.status;
	ulp_print("%pI6c to %pI6c, service %#llx, %d\n", r.sgid.raw, r.dgid.raw,
		  be64_to_cpu(cmx_get_service_id(id, (struct sockaddr *)&addr)), ret);
	cmx_destroy_id(id);
	return ret;
}
