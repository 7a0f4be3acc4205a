// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rejects: the reason and the private data, as both ends see them
 *
 *	reject call|raw REASON LEN ADDR PORT	a listener rejects a request with LEN bytes
 *	refuse ADDR PORT			a listener sends REJs with the reason 0
 *
 * call: by cmx_reject(), where the reason 0 stands for "consumer defined". raw: by ib_cm, which
 * sends any reason, as a peer may do.
 */
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include "id.h"
#include "cmx_ulp.h"

/* the pair that the client offers, and that the reason 35 refuses */
static const struct rdma_ucm_ece offer = { .vendor_id = 0x123456, .attr_mod = 7 };

/**
 * struct refusal - a listener that rejects, and its client
 * @raw: the REJ is sent by ib_cm
 * @offered: the client offers an ECE pair
 * @reason: reason of the reject
 * @len: length of the private data in bytes
 * @sent: result of the last reject
 * @r: resources of the client on its device
 * @status: 0 if the client got the right REJECTED, or -errno
 * @settled: the client has its event
 */
struct refusal {
	bool raw;
	bool offered;
	u8 reason;
	u8 len;
	int sent;
	struct res r;
	int status;
	struct completion settled;
};

static bool id_is_iwarp(const struct cmx_id *id)
{
	return rdma_protocol_iwarp(id->device, id->port_num);
}

static void data_fill(u8 *data, u8 len)
{
	int i;

	for (i = 0; i < len; i++)
		data[i] = i + 1;
}

static int refusal_send(const struct refusal *f, struct cmx_id *id)
{
	struct cmx_id_private *id_priv = to_id_priv(id);
	u8 data[U8_MAX];
	int ret;

	data_fill(data, f->len);
	if (!f->raw)
		return cmx_reject(id, data, f->len, f->reason);
	/* an MPA reply has no reason */
	if (id_is_iwarp(id))
		return -EOPNOTSUPP;
	mutex_lock(&id_priv->lock);
	ret = ib_send_cm_rej(id_priv->ib.cm, f->reason, NULL, 0, data, f->len);
	mutex_unlock(&id_priv->lock);
	return ret;
}

/* Has the id the pair of the client, and does it know whether this pair was refused? */
static bool ece_is_good(const struct refusal *f, struct cmx_id *id, const struct rdma_cm_event *ev)
{
	bool refused = !f->raw && f->reason == IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED;
	struct cmx_ece_info info;

	if (!f->offered || id_is_iwarp(id))
		return true;
	cmx_query_ece(id, &info);
	return ev->ece.vendor_id == offer.vendor_id && ev->ece.attr_mod == offer.attr_mod &&
	       info.remote.vendor_id == offer.vendor_id &&
	       !(info.flags & CMX_ECE_F_REJECTED) == !refused;
}

static int server_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct refusal *f = id->context;

	if (ev->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	f->sent = refusal_send(f, id);
	if (!f->sent && !ece_is_good(f, id, ev))
		f->sent = -EBADE;
	return 1;
}

static int client_connect(struct refusal *f, struct cmx_id *id)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .retry_count = 7, .rnr_retry_count = 7,
	};
	int ret = cmx_set_local_ece(id, &offer);

	if (ret != (id_is_iwarp(id) ? -EOPNOTSUPP : 0))
		return ret ?: -EBADE;
	return res_open(id, &f->r) ?: cmx_connect(id, &param);
}

/* A REJ has room for 148 bytes, and those after the private data are 0. */
static bool data_is_good(const struct refusal *f, const struct rdma_conn_param *param)
{
	const u8 *data = param->private_data;
	u8 want[U8_MAX];

	if (param->private_data_len < f->len)
		return false;
	data_fill(want, f->len);
	return !param->private_data_len ||
	       (!memcmp(data, want, f->len) &&
		!memchr_inv(data + f->len, 0, param->private_data_len - f->len));
}

/* On iWARP the status is an errno, which the provider chooses. */
static bool reason_is_good(const struct refusal *f, struct cmx_id *id,
			   const struct rdma_cm_event *ev)
{
	int consumer = id_is_iwarp(id) ? -ECONNREFUSED : IB_CM_REJ_CONSUMER_DEFINED;
	int want = f->raw || f->reason ? f->reason : IB_CM_REJ_CONSUMER_DEFINED;
	bool by_consumer = ev->status == consumer;
	const void *data;
	u8 len;

	if (id_is_iwarp(id) ? ev->status >= 0 : ev->status != want)
		return false;
	data = cmx_consumer_reject_data(id, ev, &len);
	if (by_consumer && len != ev->param.conn.private_data_len)
		return false;
	return cmx_is_consumer_reject(id, ev->status) == by_consumer &&
	       data == (by_consumer ? ev->param.conn.private_data : NULL) && (by_consumer || !len);
}

static void client_check(struct refusal *f, struct cmx_id *id, const struct rdma_cm_event *ev)
{
	struct cmx_ece_info info;

	ulp_print("status %d, %s, %u bytes\n", ev->status, cmx_reject_msg(id, ev->status),
		  ev->param.conn.private_data_len);
	cmx_query_ece(id, &info);
	if (!reason_is_good(f, id, ev) || !data_is_good(f, &ev->param.conn))
		f->status = -EBADMSG;
	else if (!(info.flags & CMX_ECE_F_REJECTED) !=
		 (ev->status != IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED))
		f->status = -EBADE;
}

static int client_event(struct cmx_id *id, struct rdma_cm_event *ev)
{
	struct refusal *f = id->context;
	int ret = 0;

	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = cmx_resolve_route(id, ulp_timeout_ms);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = client_connect(f, id);
		break;
	case RDMA_CM_EVENT_REJECTED:
		client_check(f, id, ev);
		complete(&f->settled);
		break;
	default:
		ret = ev->status < 0 ? ev->status : -EPROTO;
	}
	if (ret) {
		f->status = ret;
		complete(&f->settled);
	}
	return 0;
}

static int client_run(struct refusal *f, const struct sockaddr *addr)
{
	struct cmx_id *id = cmx_create_id(ulp_net(), client_event, f, RDMA_PS_TCP, IB_QPT_RC);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = cmx_resolve_addr(id, NULL, addr, ulp_timeout_ms) ?: ulp_wait(&f->settled);
	cmx_lock_handler(id);
	res_close(id, &f->r);
	cmx_unlock_handler(id);
	cmx_destroy_id(id);
	return ret ?: f->status;
}

int ulp_reject(int argc, char **argv)
{
	struct refusal *f = kzalloc(sizeof(*f), GFP_KERNEL);
	struct cmx_id *id;
	int ret;

	if (!f)
		return -ENOMEM;
	init_completion(&f->settled);
	f->raw = !strcmp(argv[1], "raw");
	f->offered = true;
	ret = kstrtou8(argv[2], 0, &f->reason) ?: kstrtou8(argv[3], 0, &f->len);
	id = ret ? ERR_PTR(ret) : ulp_id_create_bound(argv + 3, server_event);
	if (IS_ERR(id)) {
		kfree(f);
		return PTR_ERR(id);
	}
	id->context = f;
	ret = cmx_listen(id, 1) ?: client_run(f, (struct sockaddr *)&id->route.addr.src_addr);
	/* waits for the handler of the request */
	cmx_destroy_id(id);
	ret = ret ?: f->sent;
	ulp_print("sent %d, %d\n", f->sent, ret);
	kfree(f);
	return ret;
}

int ulp_refuse(int argc, char **argv)
{
	struct cmx_id *id = ulp_id_create_bound(argv, server_event);
	struct refusal f = { .raw = true };
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	id->context = &f;
	ret = cmx_listen(id, 1);
	if (!ret) {
		ulp_print("refusing\n");
		ulp_wait_signal();
	}
	cmx_destroy_id(id);
	return ret;
}
