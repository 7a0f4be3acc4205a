// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that are slightly wrong
 */
#include <err.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"

static const uint32_t odd_numbers[] = {
	0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 28, 31, 32, 127, 128, 129, 255, 256, 4095, 4096, 4097,
	32767, 65535,
};

uint32_t fuzz_number_pick(struct stress_rand *rnd)
{
	uint32_t number = odd_numbers[stress_rand_below(rnd, ARRAY_SIZE(odd_numbers))];

	switch (stress_rand_below(rnd, 4)) {
	case 0:
		return -number;
	case 1:
		return INT32_MAX - number;
	case 2:
		return INT32_MIN + number;
	default:
		return number;
	}
}

/* Picks a bad pointer of some kind. */
static uint64_t fuzz_pointer_pick(struct stress_rand *rnd)
{
	static char *edge;

	if (!edge) {
		char *mem = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

		if (mem == MAP_FAILED || mprotect(mem + 4096, 4096, PROT_NONE))
			err(2, "mmap");
		edge = mem + 4096;
	}
	switch (stress_rand_below(rnd, 6)) {
	case 0:
		return 0;
	case 1:
		return 0xffff888000001000;	/* of the kernel */
	case 2:
		return (uintptr_t)"read-only";
	case 3:
		return ~0ULL;
	case 4:
		return 0x00007ffffffff000 - stress_rand_below(rnd, 32);
	default:
		return (uintptr_t)edge - stress_rand_below(rnd, 64);
	}
}

static void fuzz_attr_mutate(struct stress_rand *rnd, struct ib_uverbs_attr *attr)
{
	switch (stress_rand_below(rnd, 6)) {
	case 0:
		attr->len = odd_numbers[stress_rand_below(rnd, ARRAY_SIZE(odd_numbers))];
		break;
	case 1:
		attr->len += stress_rand_below(rnd, 3) - 1;
		break;
	case 2:
		attr->attr_id = stress_rand_below(rnd, CMX_ATTR_NUM + 2);
		break;
	case 3:
		attr->data = fuzz_pointer_pick(rnd);
		break;
	case 4:
		attr->flags ^= 1 << stress_rand_below(rnd, 16);
		break;
	default:
		attr->attr_data.reserved = stress_rand_u32(rnd);
		break;
	}
}

static void fuzz_hdr_mutate(struct stress_rand *rnd, struct cmx_ioctl_hdr *hdr)
{
	switch (stress_rand_below(rnd, 6)) {
	case 0:
		hdr->length += stress_rand_below(rnd, 33) - 16;
		break;
	case 1:
		hdr->num_attrs += stress_rand_below(rnd, 5) - 2;
		break;
	case 2:
		hdr->object_id = stress_rand_below(rnd, CMX_OBJ_NUM + 1);
		break;
	case 3:
		hdr->method_id = stress_rand_below(rnd, 24);
		break;
	case 4:
		hdr->abi_version = stress_rand_below(rnd, 3);
		break;
	default:
		hdr->reserved1 = stress_rand_u32(rnd);
		break;
	}
}

void fuzz_cmd_mutate(struct stress_rand *rnd, struct cmxl_cmd *cmd)
{
	uint16_t num = cmd->hdr.num_attrs;
	struct ib_uverbs_attr *attr;

	do {
		attr = &cmd->hdr.attrs[num ? stress_rand_below(rnd, num) : 0];
		switch (stress_rand_below(rnd, 8)) {
		case 0:
			fuzz_hdr_mutate(rnd, &cmd->hdr);
			break;
		case 1:		/* given twice */
			if (!num || num == CMXL_CMD_ATTRS)
				break;
			cmd->hdr.attrs[num] = *attr;
			cmd->hdr.num_attrs = ++num;
			cmd->hdr.length += sizeof(*attr);
			break;
		case 2:		/* missing */
			if (!num)
				break;
			*attr = cmd->hdr.attrs[num - 1];
			cmd->hdr.num_attrs = --num;
			cmd->hdr.length -= sizeof(*attr);
			break;
		default:
			if (num)
				fuzz_attr_mutate(rnd, attr);
		}
	} while (stress_rand_percent(rnd, 30));
}

void fuzz_bytes_mutate(struct stress_rand *rnd, void *bytes, size_t len)
{
	unsigned char *byte = bytes;

	do {
		byte[stress_rand_below(rnd, len)] ^= 1 << stress_rand_below(rnd, 8);
	} while (stress_rand_percent(rnd, 50));
}
