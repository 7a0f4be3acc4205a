// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hello_ulp: a first ULP. It is the client of "hello -s": it connects within two seconds or gives
 * up, sends a line and logs the answer.
 *
 *   insmod hello_ulp.ko peer=10.77.0.1 port=7471
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/cmx.h>

#define SIZE 64

static char *peer, *port = "7471";
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "address of the server");
module_param(port, charp, 0444);
MODULE_PARM_DESC(port, "port of the server (7471)");

static struct cmx_id *hello_id;	/* the code that takes it from here destroys it */
static struct ib_pd *pd;
static struct ib_cq *cq;
static char *text;		/* receive buffer, followed by the send buffer */
static u64 dma;

static void hello_close(struct cmx_id *id)
{
	if (id->qp) {
		cmx_disconnect(id);
		ib_drain_qp(id->qp);
		cmx_destroy_qp(id);
	}
	if (dma)
		ib_dma_unmap_single(id->device, dma, 2 * SIZE, DMA_BIDIRECTIONAL);
	if (!IS_ERR_OR_NULL(cq))
		ib_free_cq(cq);
	if (!IS_ERR_OR_NULL(pd))
		ib_dealloc_pd(pd);
}

static void hello_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status)
		pr_err("hello: send, %s: %s\n", peer, ib_wc_status_msg(wc->status));
}

static void hello_received(struct ib_cq *cq, struct ib_wc *wc)
{
	/* flushed when the connection ends */
	if (wc->status)
		return;
	ib_dma_sync_single_for_cpu(cq->device, dma, SIZE, DMA_BIDIRECTIONAL);
	pr_info("hello: received: %.*s\n", SIZE, text);
}

static struct ib_cqe send_cqe = { .done = hello_sent }, recv_cqe = { .done = hello_received };

static int hello_open(struct cmx_id *id)
{
	struct ib_recv_wr wr = { .wr_cqe = &recv_cqe, .num_sge = 1 };
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		/* ib_drain_qp() posts one more of each */
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ib_sge sge = { .length = SIZE };
	u64 addr;

	pd = ib_alloc_pd(id->device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	cq = ib_alloc_cq(id->device, NULL, 4, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	addr = ib_dma_map_single(id->device, text, 2 * SIZE, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(id->device, addr))
		return -ENOMEM;
	dma = addr;
	sge.addr = dma;
	sge.lkey = pd->local_dma_lkey;
	wr.sg_list = &sge;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	return cmx_create_qp(id, pd, &attr) ?: ib_post_recv(id->qp, &wr, NULL);
}

static int hello_send(struct cmx_id *id)
{
	struct ib_sge sge = { .addr = dma + SIZE, .length = SIZE, .lkey = pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.wr_cqe = &send_cqe, .sg_list = &sge, .num_sge = 1,
		.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
	};

	strscpy(text + SIZE, "hello from the kernel", SIZE);
	ib_dma_sync_single_for_device(id->device, dma, 2 * SIZE, DMA_BIDIRECTIONAL);
	return ib_post_send(id->qp, &wr, NULL);
}

/* Nonzero destroys the id. This is done at DEVICE_REMOVAL only, otherwise by rmmod. */
static int hello_event(struct cmx_id *id, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	int ret = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = cmx_resolve_route(id, 2000);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = hello_open(id) ?: cmx_connect(id, &param);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		ret = hello_send(id);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (cmpxchg(&hello_id, id, NULL) != id)
			break;
		hello_close(id);
		return 1;
	default:
		pr_err("hello: %s, %s port %s: %s, status %d\n", cmx_event_msg(event->event), peer,
		       port, event->event == RDMA_CM_EVENT_REJECTED ?
		       cmx_reject_msg(id, event->status) : "failed", event->status);
	}
	if (ret)
		pr_err("hello: after %s, %s port %s: %d\n", cmx_event_msg(event->event), peer, port,
		       ret);
	return 0;
}

static int hello_ignore(struct cmx_id *id, struct rdma_cm_event *event)
{
	return 0;
}

/* Locks the handler out while its resources are freed. QP first, as the id holds the device. */
static void hello_end(void)
{
	struct cmx_id *id = xchg(&hello_id, NULL);

	if (!id)
		return;
	cmx_lock_handler(id);
	id->event_handler = hello_ignore;
	hello_close(id);
	cmx_unlock_handler(id);
	cmx_destroy_id(id);
}

static int __init hello_init(void)
{
	struct sockaddr_storage addr = {};
	int ret;

	if (!peer || inet_pton_with_scope(&init_net, AF_UNSPEC, peer, port, &addr))
		return -EINVAL;
	text = kzalloc(2 * SIZE, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	hello_id = cmx_create_id(&init_net, hello_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	ret = PTR_ERR_OR_ZERO(hello_id);
	if (ret)
		goto err;
	ret = cmx_set_service_type(hello_id, 104) ?:
	      cmx_set_option_u32(hello_id, CMX_OPTION, CMX_OPTION_CONNECT_DEADLINE_MS, 2000) ?:
	      cmx_resolve_addr(hello_id, NULL, (struct sockaddr *)&addr, 2000);
	if (!ret)
		return 0;
	hello_end();
err:
	kfree(text);
	return ret;
}

static void __exit hello_exit(void)
{
	hello_end();
	kfree(text);
}

module_init(hello_init);
module_exit(hello_exit);
MODULE_DESCRIPTION("A first ULP of rdma_cmx");
MODULE_LICENSE("Dual BSD/GPL");
