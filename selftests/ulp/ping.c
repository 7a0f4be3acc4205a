// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ping over a reliable connection. The client writes to the second half of the buffer of the server
 * and reads it back. The server returns each message that it receives.
 *
 * A connection is on the list until it is ended. The handler or thread that takes it off the list
 * ends it: the handler by returning 1, a thread by cmx_destroy_id().
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "cmx_ulp.h"

#define HALF (BUF_SIZE / 2)
#define MSG 64

static const struct rdma_ucm_ece offer = { .vendor_id = 0x123456, .attr_mod = 7 };
static const struct rdma_ucm_ece answer = { .vendor_id = 0x654321, .attr_mod = 9 };

/* private data of the REP: the memory that the client may access */
struct lent {
	__be64 addr;
	__be32 rkey;
} __packed;

struct conn {
	struct list_head item;
	struct cmx_id *id;
	struct res r;
	bool closing;
	bool server;
	int status;		/* 0, or the reason why the connection has ended */
	u64 addr;
	u32 rkey;
	struct ib_cqe send_cqe;
	struct ib_cqe recv_cqe;
	struct completion settled;	/* the connect has succeeded or failed */
	struct completion ended;
	struct completion sent;
	struct completion received;
};

static struct cmx_id *listener;
static LIST_HEAD(conns);
static DEFINE_SPINLOCK(conns_lock);	/* protects conns */

static struct conn *conn_new(bool server)
{
	struct conn *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	c->server = server;
	init_completion(&c->settled);
	init_completion(&c->ended);
	init_completion(&c->sent);
	init_completion(&c->received);
	spin_lock(&conns_lock);
	list_add(&c->item, &conns);
	spin_unlock(&conns_lock);
	return c;
}

static bool conn_take_off(struct conn *c)
{
	bool mine;

	spin_lock(&conns_lock);
	mine = !list_empty(&c->item);
	list_del_init(&c->item);
	spin_unlock(&conns_lock);
	return mine;
}

/*
 * Caller must be a thread that has taken the connection off the list. The QP is destroyed first,
 * while the id still holds the device.
 */
static void conn_end(struct conn *c)
{
	if (c->id) {
		cmx_lock_handler(c->id);
		c->closing = true;
		cmx_disconnect(c->id);
		res_close(c->id, &c->r);
		cmx_unlock_handler(c->id);
		cmx_destroy_id(c->id);
	}
	kfree(c);
}

/* Called by the handler. Returns 1 if the handler must end the id. */
static int conn_end_in_handler(struct conn *c)
{
	if (!conn_take_off(c))
		return 0;
	cmx_disconnect(c->id);
	res_close(c->id, &c->r);
	kfree(c);
	return 1;
}

static void conn_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct conn *c = container_of(wc->wr_cqe, struct conn, send_cqe);

	if (wc->status)
		c->status = -EIO;
	complete(&c->sent);
}

static int conn_post(struct conn *c, enum ib_wr_opcode opcode, u32 offset, u32 len)
{
	struct ib_sge sge = {
		.addr = c->r.dma + offset,
		.length = len,
		.lkey = c->r.pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &c->send_cqe, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = c->addr,
		.rkey = c->rkey,
	};

	return ib_post_send(c->id->qp, &wr.wr, NULL);
}

static void conn_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct conn *c = container_of(wc->wr_cqe, struct conn, recv_cqe);

	if (wc->status) {
		c->status = -EIO;
	} else {
		/* the first message may arrive before the RTU */
		cmx_notify(c->id, IB_EVENT_COMM_EST);
		res_recv(c->id, &c->r, &c->recv_cqe, HALF - MSG, MSG);
		if (c->server)
			conn_post(c, IB_WR_SEND, HALF - MSG, MSG);
	}
	complete(&c->received);
}

static int conn_open(struct conn *c)
{
	int ret = res_open(c->id, &c->r);

	if (ret)
		return ret;
	c->send_cqe.done = conn_send_done;
	c->recv_cqe.done = conn_recv_done;
	return res_recv(c->id, &c->r, &c->recv_cqe, HALF - MSG, MSG);
}

/* Checks that cmx_query_event() zeroes what the module does not know, and truncates the rest. */
static bool event_info_is_good(struct cmx_id *id, const struct rdma_cm_event *ev)
{
	bool iwarp = rdma_protocol_iwarp(id->device, id->port_num);
	struct {
		struct cmx_event_info info;
		u64 more;
	} grown;
	u32 few[3];

	memset(&grown, 0xa5, sizeof(grown));
	memset(few, 0xa5, sizeof(few));
	cmx_query_event(ev, &grown.info, sizeof(grown));
	cmx_query_event(ev, (void *)few, 2 * sizeof(u32));
	return !grown.more && !grown.info.flags && grown.info.path == id->route.path_rec &&
	       grown.info.num_paths == !iwarp && few[1] == !iwarp && few[2] == 0xa5a5a5a5;
}

static int conn_accept(struct cmx_id *id, const struct rdma_cm_event *ev)
{
	struct rdma_conn_param param = {
		.responder_resources = ev->param.conn.initiator_depth,
		.initiator_depth = ev->param.conn.responder_resources,
		.rnr_retry_count = 7,
	};
	struct conn *c = conn_new(true);
	struct rdma_ucm_ece ece;
	struct lent lent;
	int ret = -ENOMEM;

	if (!c)
		return ret;
	if (!event_info_is_good(id, ev))
		c->status = -EBADMSG;
	c->id = id;
	id->context = c;
	ret = c->status ?: conn_open(c);
	/* iWARP has no ECE */
	if (!ret && cmx_get_remote_ece(id, &ece))
		ece.vendor_id = 0;
	if (!ret) {
		lent.addr = cpu_to_be64(c->r.dma + HALF);
		lent.rkey = cpu_to_be32(c->r.pd->unsafe_global_rkey);
		param.private_data = &lent;
		param.private_data_len = sizeof(lent);
		ret = cmx_accept_ece(id, &param, ece.vendor_id ? &answer : NULL);
	}
	return ret ? conn_end_in_handler(c) : 0;
}

static int server_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return conn_accept(id, ev);
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		/* the device of the listener is removed, which ends the listener */
		if (cmpxchg(&listener, id, NULL) == id)
			return 1;
		return conn_end_in_handler(id->context);
	}
}

static bool conn_is_iwarp(const struct conn *c)
{
	return rdma_protocol_iwarp(c->id->device, c->id->port_num);
}

static int conn_connect(struct conn *c)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	int ret = conn_open(c);

	if (!ret)
		ret = cmx_connect_ece(c->id, &param, &offer);
	if (!conn_is_iwarp(c))
		return ret;
	/* iWARP has no ECE, no path records and no MADs */
	if (ret != -EOPNOTSUPP)
		return ret ?: -EBADE;
	if (cmx_set_option_u32(c->id, CMX_OPTION, CMX_OPTION_CM_RETRIES, 3) != -EOPNOTSUPP ||
	    cmx_set_ack_timeout(c->id, 15) != -EOPNOTSUPP ||
	    cmx_set_ib_path(c->id, &rec) != -EOPNOTSUPP)
		return -EBADE;
	return cmx_set_service_type(c->id, 32) ?: cmx_connect(c->id, &param);
}

static void conn_set_established(struct conn *c, const struct rdma_cm_event *ev)
{
	const struct lent *lent = ev->param.conn.private_data;

	if (ev->param.conn.private_data_len >= sizeof(*lent)) {
		c->addr = be64_to_cpu(lent->addr);
		c->rkey = be32_to_cpu(lent->rkey);
	}
	complete(&c->settled);
}

static int client_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct conn *c = id->context;
	int ret = 0;

	if (c->closing)
		return 0;
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = cmx_resolve_route(id, ulp_timeout_ms);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = conn_connect(c);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		conn_set_established(c, ev);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		complete(&c->ended);
		fallthrough;
	default:
		ret = ev->status < 0 ? ev->status : -ECONNRESET;
	}
	if (ret) {
		c->status = ret;
		/* stop the QP, so that waits for its work requests end */
		cmx_disconnect(id);
		complete(&c->settled);
	}
	return 0;
}

static int conn_start(struct conn *c, const struct sockaddr_storage *addr)
{
	int ret;

	c->id = cmx_create_id(ulp_net(), client_event, c, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(c->id)) {
		ret = PTR_ERR(c->id);
		c->id = NULL;
		return ret;
	}
	ret = cmx_set_service_type(c->id, 96) ?: cmx_set_ack_timeout(c->id, 15) ?:
	      cmx_set_min_rnr_timer(c->id, 5);
	return ret ?: cmx_resolve_addr(c->id, NULL, (const struct sockaddr *)addr, ulp_timeout_ms);
}

/*
 * siw confirms a connection before its QP accepts data, and handles data that has arrived meanwhile
 * only when more data arrives. An empty RDMA write is such data.
 */
static void conn_nudge(struct conn *c)
{
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &c->send_cqe, .opcode = IB_WR_RDMA_WRITE },
		.remote_addr = c->addr,
		.rkey = c->rkey,
	};

	ib_post_send(c->id->qp, &wr.wr, NULL);
}

static int conn_wait_transfer(struct conn *c, struct completion *done)
{
	int i;

	for (i = 0; i < ulp_timeout_ms; i += 1000) {
		if (wait_for_completion_timeout(done, HZ))
			return c->status;
		if (conn_is_iwarp(c))
			conn_nudge(c);
	}
	return -ETIMEDOUT;
}

static int conn_transfer(struct conn *c, enum ib_wr_opcode opcode, u32 offset, u32 len)
{
	return conn_post(c, opcode, offset, len) ?: conn_wait_transfer(c, &c->sent);
}

static int conn_exchange(struct conn *c, int i)
{
	u32 len = HALF - MSG;
	int ret;

	memset(c->r.buf, 1 + i % 250, len);
	ret = conn_transfer(c, IB_WR_RDMA_WRITE, 0, len);
	if (ret)
		return ret;
	memset(c->r.buf, 0, len);
	ret = conn_transfer(c, IB_WR_RDMA_READ, 0, len);
	if (ret)
		return ret;
	if (memchr_inv(c->r.buf, 1 + i % 250, len))
		return -EBADMSG;

	snprintf(c->r.buf, MSG, "ping %d", i);
	ret = conn_transfer(c, IB_WR_SEND, 0, MSG);
	if (!ret)
		ret = conn_wait_transfer(c, &c->received);
	if (!ret && memcmp(c->r.buf, c->r.buf + HALF - MSG, MSG))
		ret = -EBADMSG;
	return ret;
}

/* Checks that options can be read back, and that the QP has their values. */
static int conn_check_options(struct conn *c)
{
	struct ib_qp_init_attr init;
	struct rdma_ucm_ece ece;
	struct ib_qp_attr attr;
	size_t len = sizeof(u32);
	u32 val, flags;
	int ret;

	ret = cmx_get_option(c->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &val, &len, &flags);
	if (ret || val != 15 || flags != CMX_OPT_F_SET)
		return ret ?: -EBADE;
	if (conn_is_iwarp(c))
		return cmx_get_remote_ece(c->id, &ece) == -EOPNOTSUPP ? 0 : -EBADE;
	ret = ib_query_qp(c->id->qp, &attr, IB_QP_TIMEOUT | IB_QP_MIN_RNR_TIMER | IB_QP_AV, &init);
	if (ret)
		return ret;
	ulp_print("timeout %u rnr %u tclass %u\n", attr.timeout, attr.min_rnr_timer,
		  rdma_ah_read_grh(&attr.ah_attr)->traffic_class);
	ret = cmx_get_remote_ece(c->id, &ece);
	if (ret)
		return ret;
	ulp_print("ece %#x %u\n", ece.vendor_id, ece.attr_mod);
	/* on InfiniBand the SA decides, and this one has a single service level */
	if (attr.ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE &&
	    rdma_ah_read_grh(&attr.ah_attr)->traffic_class != 96)
		return -EBADE;
	return ece.vendor_id == answer.vendor_id && attr.timeout == 15 &&
	       attr.min_rnr_timer == 5 ? 0 : -EBADE;
}

int ulp_ping(int argc, char **argv)
{
	struct sockaddr_storage addr;
	int i = 0, count, ret;
	struct conn *c;

	ret = ulp_addr_parse(argv[1], argv[2], &addr) ?: kstrtoint(argv[3], 0, &count);
	if (ret)
		return ret;
	c = conn_new(false);
	if (!c)
		return -ENOMEM;
	ret = conn_start(c, &addr);
	if (!ret)
		ret = ulp_wait(&c->settled) ?: c->status;
	if (!ret)
		ret = conn_check_options(c);
	for (; !ret && i < count; i++) {
		ret = conn_exchange(c, i);
		/* simulated time stands still, and RCU frees nothing, while something is to be done */
		usleep_range(100, 200);
	}
	ulp_print("%d rounds, %d\n", i, ret);
	if (!ret) {
		ret = cmx_disconnect(c->id);
		if (!ret)
			ret = ulp_wait(&c->ended);
	}
	conn_take_off(c);
	conn_end(c);
	return ret;
}

int ulp_storm(int argc, char **argv)
{
	struct sockaddr_storage addr;
	struct conn *c;
	int count, ret;

	ret = ulp_addr_parse(argv[1], argv[2], &addr) ?: kstrtoint(argv[3], 0, &count);
	while (!ret && count--) {
		c = conn_new(false);
		ret = c ? conn_start(c, &addr) : -ENOMEM;
	}
	return ret;
}

int ulp_serve(int argc, char **argv)
{
	struct cmx_id *id = ulp_id_create_bound(argv, server_event);
	u8 node_type = RDMA_NODE_UNSPECIFIED;
	int ret = 0;

	if (IS_ERR(id))
		return PTR_ERR(id);
	/* an id that is bound to a wildcard has no device yet */
	if (argc > 3)
		ret = kstrtou8(argv[3], 0, &node_type) ?: cmx_restrict_node_type(id, node_type);
	if (ret)
		goto err;
	ret = -EBUSY;
	if (cmpxchg(&listener, NULL, id))
		goto err;
	ret = cmx_listen(id, 0);
	if (!ret)
		return 0;
	if (cmpxchg(&listener, id, NULL) != id)
		return ret;
err:
	cmx_destroy_id(id);
	return ret;
}

void ulp_ping_exit(void)
{
	struct cmx_id *id = xchg(&listener, NULL);
	struct conn *c;

	/* afterwards no new connection can arrive */
	if (id)
		cmx_destroy_id(id);
	for (;;) {
		spin_lock(&conns_lock);
		c = list_first_entry_or_null(&conns, struct conn, item);
		if (c)
			list_del_init(&c->item);
		spin_unlock(&conns_lock);
		if (!c)
			break;
		conn_end(c);
	}
}
