// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Changes, loses, repeats and reorders MADs on their way, to test the code that receives them. The
 * bytes change in the packet, never in the buffer of the sender.
 */
#include <linux/debugfs.h>
#include <linux/prandom.h>
#include <rdma/ib_sa.h>

#include "vib.h"

#define FUZZ_WORDS	(IB_MGMT_MAD_SIZE / sizeof(u32))
#define FUZZ_EARLIER	64

static struct {
	u32 change;			/* change one MAD in this many; 0: none */
	u32 lose;			/* lose one MAD in this many; 0: none */
	u32 repeat;			/* deliver one MAD in this many once more; 0: none */
	u32 shuffle;			/* ms: the largest random delay */
	u32 seed;
	u32 started;			/* the seed that @rnd began with */
	struct rnd_state rnd;
	u64 changed, repeated;
} fuzz;

/* Words of earlier MADs at their offsets: communication IDs, QP numbers and keys of others */
static u32 earlier[FUZZ_EARLIER][FUZZ_WORDS];

static u32 fuzz_rand_below(u32 n)
{
	return prandom_u32_state(&fuzz.rnd) % n;
}

static bool fuzz_rand_one_in(u32 n)
{
	return n && fuzz_rand_below(n) == 0;
}

/*
 * Base version, class and class version stay, so that the MAD reaches its receiver. The method and,
 * of the SA, the RMPP header stay as well: with wrong ones, ib_mad has lost receive buffers.
 */
static u32 fuzz_first_byte(const u8 *data)
{
	const struct ib_mad_hdr *mad = (const void *)data;

	return mad->mgmt_class == IB_MGMT_CLASS_CM ? sizeof(u32) : IB_MGMT_RMPP_HDR;
}

static void fuzz_byte_change(u8 *data)
{
	u32 first = fuzz_first_byte(data);
	u8 *byte = data + first + fuzz_rand_below(IB_MGMT_MAD_SIZE - first);

	switch (fuzz_rand_below(4)) {
	case 0:
		*byte ^= 1 << fuzz_rand_below(8);
		break;
	case 1:
		*byte = 0;
		break;
	case 2:
		*byte = 0xff;
		break;
	default:
		*byte = fuzz_rand_below(256);
	}
}

/* A word of an earlier MAD replaces the one at the same offset. */
static void fuzz_word_change(u8 *data)
{
	u32 first = fuzz_first_byte(data) / sizeof(u32);
	u32 i = first + fuzz_rand_below(FUZZ_WORDS - first);

	memcpy(data + i * sizeof(u32), &earlier[fuzz_rand_below(FUZZ_EARLIER)][i], sizeof(u32));
}

static bool fuzz_mad_has_mgid(const struct ib_mad_hdr *mad)
{
	return mad->mgmt_class == IB_MGMT_CLASS_SUBN_ADM &&
	       mad->attr_id == cpu_to_be16(IB_SA_ATTR_MC_MEMBER_REC);
}

/*
 * The MGID of an MCMemberRecord stays as well. If a reply has that of another group, ib_core does
 * not put the group back into its tree, and later removes it from there again.
 */
static void fuzz_mad_change(u8 *data)
{
	u8 mgid[sizeof(union ib_gid)];

	memcpy(mgid, data + IB_MGMT_SA_HDR, sizeof(mgid));
	do {
		if (fuzz_rand_below(2))
			fuzz_byte_change(data);
		else
			fuzz_word_change(data);
	} while (fuzz_rand_below(2));
	if (fuzz_mad_has_mgid((const void *)data))
		memcpy(data + IB_MGMT_SA_HDR, mgid, sizeof(mgid));
	fuzz.changed++;
}

/* Without its MADs, an SM would take the ports down. */
static bool fuzz_mad_is_smp(const struct ib_mad_hdr *mad)
{
	return mad->mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       mad->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

/* An SA in user space is not to be tested: requests to it do not change. */
static bool fuzz_mad_is_for_sa(const struct ib_mad_hdr *mad)
{
	return mad->mgmt_class != IB_MGMT_CLASS_CM && !(mad->method & IB_MGMT_METHOD_RESP);
}

/* Seeds the random numbers when a seed has been written. */
static void fuzz_seed_follow(void)
{
	if (fuzz.started == fuzz.seed)
		return;
	prandom_seed_state(&fuzz.rnd, fuzz.seed);
	fuzz.started = fuzz.seed;
}

bool vib_fuzz_mad_lose(const struct vib_pkt *pkt)
{
	if (!fuzz.lose || fuzz_mad_is_smp((const void *)pkt->data))
		return false;
	fuzz_seed_follow();
	return fuzz_rand_one_in(fuzz.lose);
}

void vib_fuzz_mad(struct vib_pkt *pkt)
{
	const struct ib_mad_hdr *mad = (const void *)pkt->data;

	if (!(fuzz.change || fuzz.repeat || fuzz.shuffle) || pkt->len != IB_MGMT_MAD_SIZE ||
	    fuzz_mad_is_smp(mad) || fuzz_mad_is_for_sa(mad))
		return;
	fuzz_seed_follow();
	memcpy(earlier[fuzz_rand_below(FUZZ_EARLIER)], pkt->data, IB_MGMT_MAD_SIZE);
	if (fuzz_rand_one_in(fuzz.change))
		fuzz_mad_change(pkt->data);
	if (fuzz.shuffle)
		pkt->due += msecs_to_jiffies(fuzz_rand_below(fuzz.shuffle));
	if (fuzz_rand_one_in(fuzz.repeat)) {
		pkt->repeat = 1 + fuzz_rand_below(2 * HZ);
		fuzz.repeated++;
	}
}

void vib_fuzz_debugfs(struct dentry *dir)
{
	debugfs_create_u32("change", 0600, dir, &fuzz.change);
	debugfs_create_u32("lose", 0600, dir, &fuzz.lose);
	debugfs_create_u32("repeat", 0600, dir, &fuzz.repeat);
	debugfs_create_u32("shuffle", 0600, dir, &fuzz.shuffle);
	debugfs_create_u32("seed", 0600, dir, &fuzz.seed);
	debugfs_create_u64("changed", 0400, dir, &fuzz.changed);
	debugfs_create_u64("repeated", 0400, dir, &fuzz.repeated);
}
