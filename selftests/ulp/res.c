// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Resources on the device that both ends of each test have. */
#include <linux/slab.h>
#include "cmx_ulp.h"

int res_open(struct cmx_id *id, struct res *r)
{
	struct ib_qp_init_attr attr = {
		.qp_type = id->qp_type,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int ret;

	/* one key for all memory, which is acceptable because the peer is this module */
	r->pd = ib_alloc_pd(id->device, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(r->pd)) {
		ret = PTR_ERR(r->pd);
		r->pd = NULL;
		return ret;
	}
	r->cq = ib_alloc_cq(id->device, NULL, 32, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(r->cq)) {
		ret = PTR_ERR(r->cq);
		r->cq = NULL;
		goto err;
	}
	ret = -ENOMEM;
	r->buf = kzalloc(BUF_SIZE, GFP_KERNEL);
	if (!r->buf)
		goto err;
	r->dma = ib_dma_map_single(id->device, r->buf, BUF_SIZE, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(id->device, r->dma)) {
		kfree(r->buf);
		r->buf = NULL;
		goto err;
	}
	attr.send_cq = r->cq;
	attr.recv_cq = r->cq;
	ret = cmx_create_qp(id, r->pd, &attr);
	if (!ret)
		return 0;
err:
	res_close(id, r);
	return ret;
}

void res_close(struct cmx_id *id, struct res *r)
{
	struct ib_device *device = r->pd ? r->pd->device : NULL;

	/* a send queue of datagrams cannot be drained, and its sends hold no memory of ours */
	if (id->qp && id->qp_type == IB_QPT_UD)
		ib_drain_rq(id->qp);
	else if (id->qp)
		ib_drain_qp(id->qp);
	cmx_destroy_qp(id);
	if (r->cq)
		ib_free_cq(r->cq);
	if (r->buf)
		ib_dma_unmap_single(device, r->dma, BUF_SIZE, DMA_BIDIRECTIONAL);
	kfree(r->buf);
	if (r->pd)
		ib_dealloc_pd(r->pd);
	memset(r, 0, sizeof(*r));
}

int res_recv(struct cmx_id *id, struct res *r, struct ib_cqe *cqe, u32 offset, u32 len)
{
	struct ib_sge sge = {
		.addr = r->dma + offset,
		.length = len,
		.lkey = r->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = cqe, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(id->qp, &wr, NULL);
}
