// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Passes MADs to the agents of an HCA. Counts, drops and delays the MADs of the fabric. */
#include <linux/debugfs.h>

#include "vib.h"

#define VIB_MAD_KINDS	256

static struct {
	u8 mgmt_class, method;
	u16 attr;
	__be64 tid;			/* of the last MAD */
	u64 sent, lost;
} kinds[VIB_MAD_KINDS];
static unsigned int kinds_used;
static DEFINE_SPINLOCK(mad_lock);

/* Class and attribute (0: any) of the MADs that are dropped or delayed. */
static struct {
	u32 mgmt_class, attr;
	u32 drop;			/* one MAD in this many; 0: none */
	u32 delay;			/* ms */
	u32 pace;			/* ms between requests */
	u32 seen;
	unsigned long next;		/* jiffies: arrival of the last paced request */
} rule;

bool vib_mad_account(struct vib_pkt *pkt)
{
	const struct ib_mad_hdr *mad = (const void *)pkt->data;
	u16 attr = be16_to_cpu(mad->attr_id);
	unsigned long flags;
	bool lost = false;
	unsigned int i;

	if (pkt->len < sizeof(*mad))
		return true;
	spin_lock_irqsave(&mad_lock, flags);
	if ((!rule.mgmt_class || rule.mgmt_class == mad->mgmt_class) &&
	    (!rule.attr || rule.attr == attr)) {
		lost = (rule.drop && ++rule.seen % rule.drop == 0) || vib_fuzz_mad_lose(pkt);
		pkt->due = jiffies + msecs_to_jiffies(rule.delay);
		if (rule.pace && !lost && !(mad->method & IB_MGMT_METHOD_RESP)) {
			if (time_before(rule.next, pkt->due))
				rule.next = pkt->due;
			rule.next += msecs_to_jiffies(rule.pace);
			pkt->due = rule.next;
		}
		vib_fuzz_mad(pkt);
	}
	for (i = 0; i < kinds_used; i++)
		if (kinds[i].mgmt_class == mad->mgmt_class && kinds[i].method == mad->method &&
		    kinds[i].attr == attr)
			break;
	if (i == kinds_used && i < VIB_MAD_KINDS) {
		kinds_used++;
		kinds[i].mgmt_class = mad->mgmt_class;
		kinds[i].method = mad->method;
		kinds[i].attr = attr;
		kinds[i].tid = ~mad->tid;
		kinds[i].sent = 0;
		kinds[i].lost = 0;
	}
	if (i < VIB_MAD_KINDS) {
		/* a retransmission has the same TID and is not counted */
		kinds[i].sent += kinds[i].tid != mad->tid;
		kinds[i].tid = mad->tid;
		kinds[i].lost += lost;
	}
	spin_unlock_irqrestore(&mad_lock, flags);
	return lost;
}

int vib_process_mad(struct ib_device *ibdev, int flags, u32 num, const struct ib_wc *wc,
		    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index)
{
	return vib_sma_process(&vib_hca(ibdev)->port[num], num, in, out);
}

static int vib_mad_count_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	seq_puts(m, "class method attr sent lost\n");
	spin_lock_irq(&mad_lock);
	for (i = 0; i < kinds_used; i++)
		seq_printf(m, "0x%02x 0x%02x 0x%04x %llu %llu\n", kinds[i].mgmt_class,
			   kinds[i].method, kinds[i].attr, kinds[i].sent, kinds[i].lost);
	spin_unlock_irq(&mad_lock);
	return 0;
}

static int vib_mad_count_open(struct inode *inode, struct file *file)
{
	return single_open(file, vib_mad_count_show, NULL);
}

/* A write clears the counts, whatever the text. */
static ssize_t vib_mad_count_write(struct file *file, const char __user *buf, size_t len,
				   loff_t *pos)
{
	spin_lock_irq(&mad_lock);
	kinds_used = 0;
	spin_unlock_irq(&mad_lock);
	return len;
}

static const struct file_operations count_fops = {
	.owner = THIS_MODULE,
	.open = vib_mad_count_open,
	.read = seq_read,
	.write = vib_mad_count_write,
	.llseek = seq_lseek,
	.release = single_release,
};

void vib_mad_debugfs(struct dentry *dir)
{
	debugfs_create_file("count", 0600, dir, NULL, &count_fops);
	debugfs_create_x32("class", 0600, dir, &rule.mgmt_class);
	debugfs_create_x32("attr", 0600, dir, &rule.attr);
	debugfs_create_u32("drop", 0600, dir, &rule.drop);
	debugfs_create_u32("delay", 0600, dir, &rule.delay);
	debugfs_create_u32("pace", 0600, dir, &rule.pace);
	vib_fuzz_debugfs(dir);
}
