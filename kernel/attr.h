/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ATTR_H
#define CMX_ATTR_H

#include <rdma/cmx_ioctl.h>

/** define CMX_ABI_VERSION_MIN - oldest CMX_ABI_VERSION that is still accepted */
#define CMX_ABI_VERSION_MIN 1

enum cmx_attr_dir {
	CMX_DIR_END,	/* ends a method's list */
	CMX_DIR_IN,
	CMX_DIR_OUT,
};

/**
 * struct cmx_attr_spec - one attribute that a method takes
 * @id: enum cmx_attr
 * @dir: enum cmx_attr_dir
 * @mandatory: the call fails without it
 * @min: least length
 * @max: of an input: what this kernel knows; what is longer must be zero there.
 *	Of an output 0: no limit
 */
struct cmx_attr_spec {
	u8 id;
	u8 dir;
	bool mandatory;
	u16 min;
	u16 max;
};

/** define CMX_METHOD_ATTRS - attributes that a method may have, and the end */
#define CMX_METHOD_ATTRS 12

#define CMX_SPEC(attr, direction, must, least, most) {					\
	.id = CMX_ATTR_##attr, .dir = CMX_DIR_##direction, .mandatory = must,		\
	.min = least, .max = most,							\
}

#define CMX_INPUT(attr, least, most) CMX_SPEC(attr, IN, true, least, most)
#define CMX_INPUT_OPT(attr, least, most) CMX_SPEC(attr, IN, false, least, most)
#define CMX_OUTPUT(attr, least) CMX_SPEC(attr, OUT, true, least, 0)
#define CMX_OUTPUT_OPT(attr, least) CMX_SPEC(attr, OUT, false, least, 0)
#define CMX_INPUT_U32(attr) CMX_INPUT(attr, sizeof(u32), sizeof(u32))
#define CMX_OUTPUT_U32(attr) CMX_OUTPUT(attr, sizeof(u32))

int cmx_attr_check_hdr(const struct ib_uverbs_ioctl_hdr *hdr);
int cmx_attr_check(const struct cmx_attr_spec *specs, const struct ib_uverbs_attr *attrs,
		   unsigned int num, u8 *at);

#endif
