// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of CMX_OBJ_ID: services.
 */
#include <linux/slab.h>
#include "ioctl.h"
#include "service.h"

static int ioctl_id_resolve_service(struct cmx_call *call, struct cmx_user_id *user_id)
{
	const struct ib_uverbs_attr *name = cmx_call_attr(call, CMX_ATTR_SERVICE_NAME);
	struct cmx_service service = {
		.has_id = cmx_call_attr(call, CMX_ATTR_SERVICE_ID),
		.id = (__force __be64)cmx_call_u64(call, CMX_ATTR_SERVICE_ID),
	};
	int ret;

	if (cmx_user_id_queue_is_full(user_id))
		return -ENOBUFS;
	if (!name && !service.has_id)
		return -EINVAL;
	ret = cmx_call_in(call, CMX_ATTR_SERVICE_NAME, service.name, sizeof(service.name));
	if (ret < 0)
		return ret;
	if (name && strnlen(service.name, sizeof(service.name)) != name->len)
		return -EINVAL;
	return cmx_resolve_service(&user_id->id_priv, &service);
}

const struct cmx_method cmx_method_resolve_service = {
	.id_call = ioctl_id_resolve_service,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_OPT(SERVICE_ID, sizeof(u64), sizeof(u64)),
		CMX_INPUT_OPT(SERVICE_NAME, 1, CMX_SERVICE_NAME - 1),
	},
};

/*
 * A copy of the records, which user memory can be written from without the lock of the id, or an
 * ERR_PTR. Another query may replace the records, but an id that has some never loses them.
 */
static struct cmx_service_rec *ioctl_services_get(struct cmx_id_private *id_priv, u32 *num)
{
	struct cmx_service_rec *recs;

	if (!READ_ONCE(id_priv->services))
		return ERR_PTR(-ENOENT);
	recs = kvmalloc_array(CMX_MAX_SERVICE_RECS, sizeof(*recs), GFP_KERNEL_ACCOUNT);
	if (!recs)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&id_priv->lock);
	*num = id_priv->services->num;
	memcpy(recs, id_priv->services->recs, array_size(*num, sizeof(*recs)));
	mutex_unlock(&id_priv->lock);
	return recs;
}

static int ioctl_id_query_services(struct cmx_call *call, struct cmx_user_id *user_id)
{
	const struct ib_uverbs_attr *out = cmx_call_attr(call, CMX_ATTR_SERVICES);
	u32 size = cmx_call_u32(call, CMX_ATTR_RECORD_SIZE), num, i;
	u8 __user *to = u64_to_user_ptr(out->data);
	struct cmx_service_rec *recs;
	int ret = 0;

	if (size < CMX_MIN_SERVICE_REC || size % sizeof(u64) || size > out->len)
		return -EINVAL;
	recs = ioctl_services_get(&user_id->id_priv, &num);
	if (IS_ERR(recs))
		return PTR_ERR(recs);
	for (i = 0; i < num && (i + 1) * size <= out->len && !ret; i++, to += size)
		ret = cmx_ioctl_copy_out(to, &recs[i], sizeof(recs[i]), size);
	kvfree(recs);
	return ret ?: cmx_call_out_u32(call, CMX_ATTR_COUNT, num);
}

const struct cmx_method cmx_method_query_services = {
	.id_call = ioctl_id_query_services,
	.attrs = {
		CMX_INPUT_U32(ID),
		CMX_INPUT_U32(RECORD_SIZE),
		CMX_OUTPUT(SERVICES, CMX_MIN_SERVICE_REC),
		CMX_OUTPUT_U32(COUNT),
	},
};
