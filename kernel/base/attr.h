/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_ATTR_H
#define CMX_ATTR_H

#include <rdma/cmx_ioctl.h>

/** define CMX_ABI_VERSION_MIN - oldest accepted CMX_ABI_VERSION */
#define CMX_ABI_VERSION_MIN 1

enum cmx_attr_dir {
	CMX_DIR_END,	/* end of the list of a method */
	CMX_DIR_IN,
	CMX_DIR_OUT,
};

/**
 * struct cmx_attr_spec - one attribute that a method accepts
 * @id: enum cmx_attr
 * @dir: enum cmx_attr_dir
 * @mandatory: the call fails without this attribute
 * @min: minimum length
 * @max: for an input, the length that this kernel knows; further bytes must be zero. An output has
 *	no limit
 */
struct cmx_attr_spec {
	u8 id;
	u8 dir;
	bool mandatory;
	u16 min;
	u16 max;
};

/** define CMX_METHOD_ATTRS - size of the attribute list of a method, end marker included */
#define CMX_METHOD_ATTRS 12

#define CMX_SPEC(attr, direction, must, least, most) {					\
	.id = CMX_ATTR_##attr, .dir = CMX_DIR_##direction, .mandatory = must,		\
	.min = least, .max = most,							\
}

#define CMX_INPUT(attr, least, most) CMX_SPEC(attr, IN, true, least, most)
#define CMX_INPUT_OPT(attr, least, most) CMX_SPEC(attr, IN, false, least, most)
#define CMX_OUTPUT(attr, least) CMX_SPEC(attr, OUT, true, least, U16_MAX)
#define CMX_OUTPUT_OPT(attr, least) CMX_SPEC(attr, OUT, false, least, U16_MAX)
#define CMX_INPUT_U32(attr) CMX_INPUT(attr, sizeof(u32), sizeof(u32))
#define CMX_OUTPUT_U32(attr) CMX_OUTPUT(attr, sizeof(u32))

/**
 * struct cmx_attr_index - which attributes a command has
 * @at: 1 + the position of each enum cmx_attr, or 0 if it is absent
 * @surplus: an input is longer than this kernel knows
 * @outputs: bit n: the attribute at position n is an output
 */
struct cmx_attr_index {
	u8 at[CMX_ATTR_NUM];
	bool surplus;
	u16 outputs;
};

int cmx_attr_check_hdr(const struct cmx_ioctl_hdr *hdr);
int cmx_attr_check(const struct cmx_attr_spec *specs, const struct ib_uverbs_attr *attrs,
		   unsigned int num, struct cmx_attr_index *index);

#endif
