// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The knobs, in /sys/kernel/debug/vib:
 *	add, remove	write the number of an HCA to add or remove
 *	switches/N	tables and ports of switch N; "switch" is switch 0
 *	connect, disconnect, links, name	topology.c
 *	ports/N/	for HCA N: cable (plugged in), up (HCA's end of the link enabled),
 *			mtu (the largest, enum ib_mtu), late (ms), state, event (write)
 *	mad/		count (without repetitions; write to reset); drop (one MAD in this many),
 *			delay (ms) and pace (ms) for MADs of class and attr (0: any);
 *			change, lose, repeat, shuffle, seed, changed, repeated: mad_fuzz.c
 */
#include <linux/debugfs.h>

#include "vib.h"

static struct dentry *root;

static int vib_knob_cable_get(void *data, u64 *val)
{
	struct vib_port *end;

	spin_lock_irq(&vib.lock);
	end = vib.end[(uintptr_t)data];
	*val = end && end->cable;
	spin_unlock_irq(&vib.lock);
	return 0;
}

static int vib_knob_cable_set(void *data, u64 val)
{
	struct vib_port *end;

	spin_lock_irq(&vib.lock);
	end = vib.end[(uintptr_t)data];
	if (end) {
		end->cable = val;
		vib_link_update(end);
	}
	spin_unlock_irq(&vib.lock);
	return end ? 0 : -ENODEV;
}

DEFINE_DEBUGFS_ATTRIBUTE(cable_fops, vib_knob_cable_get, vib_knob_cable_set, "%llu\n");

static struct vib_port *vib_knob_port(void *data)
{
	struct vib_hca *hca = vib.hca[(uintptr_t)data];

	return hca ? &hca->port[1] : NULL;
}

static int vib_knob_up_get(void *data, u64 *val)
{
	struct vib_port *peer;

	spin_lock_irq(&vib.lock);
	peer = vib_knob_port(data);
	*val = peer && peer->phys != IB_PORT_PHYS_STATE_DISABLED;
	spin_unlock_irq(&vib.lock);
	return 0;
}

static int vib_knob_up_set(void *data, u64 val)
{
	struct vib_port *peer;

	spin_lock_irq(&vib.lock);
	peer = vib_knob_port(data);
	if (peer && !val)
		peer->phys = IB_PORT_PHYS_STATE_DISABLED;
	else if (peer && peer->phys == IB_PORT_PHYS_STATE_DISABLED)
		peer->phys = IB_PORT_PHYS_STATE_POLLING;
	if (peer)
		vib_link_update(peer);
	spin_unlock_irq(&vib.lock);
	return peer ? 0 : -ENODEV;
}

DEFINE_DEBUGFS_ATTRIBUTE(up_fops, vib_knob_up_get, vib_knob_up_set, "%llu\n");

static int vib_knob_state_get(void *data, u64 *val)
{
	struct vib_port *peer;

	spin_lock_irq(&vib.lock);
	peer = vib_knob_port(data);
	*val = peer ? peer->state : IB_PORT_NOP;
	spin_unlock_irq(&vib.lock);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(state_fops, vib_knob_state_get, NULL, "%llu\n");

static int vib_knob_mtu_get(void *data, u64 *val)
{
	struct vib_port *peer;

	spin_lock_irq(&vib.lock);
	peer = vib_knob_port(data);
	*val = peer ? peer->mtu_cap : 0;
	spin_unlock_irq(&vib.lock);
	return 0;
}

static int vib_knob_mtu_set(void *data, u64 val)
{
	struct vib_port *peer;

	if (val < IB_MTU_256 || val > IB_MTU_4096)
		return -EINVAL;
	spin_lock_irq(&vib.lock);
	peer = vib_knob_port(data);
	if (peer)
		peer->mtu_cap = val;
	spin_unlock_irq(&vib.lock);
	return peer ? 0 : -ENODEV;
}

DEFINE_DEBUGFS_ATTRIBUTE(mtu_fops, vib_knob_mtu_get, vib_knob_mtu_set, "%llu\n");

static int vib_knob_late_get(void *data, u64 *val)
{
	struct vib_port *peer;

	spin_lock_irq(&vib.lock);
	peer = vib_knob_port(data);
	*val = peer ? peer->late : 0;
	spin_unlock_irq(&vib.lock);
	return 0;
}

static int vib_knob_late_set(void *data, u64 val)
{
	struct vib_port *peer;

	if (val > 100 * MSEC_PER_SEC)
		return -EINVAL;
	spin_lock_irq(&vib.lock);
	peer = vib_knob_port(data);
	if (peer)
		peer->late = val;
	spin_unlock_irq(&vib.lock);
	return peer ? 0 : -ENODEV;
}

DEFINE_DEBUGFS_ATTRIBUTE(late_fops, vib_knob_late_get, vib_knob_late_set, "%llu\n");

static int vib_knob_event_set(void *data, u64 val)
{
	struct vib_port *peer;

	if (val < IB_EVENT_PORT_ACTIVE || val > IB_EVENT_GID_CHANGE)
		return -EINVAL;
	spin_lock_irq(&vib.lock);
	peer = vib_knob_port(data);
	if (peer)
		vib_port_event(peer, val);
	spin_unlock_irq(&vib.lock);
	return peer ? 0 : -ENODEV;
}

DEFINE_DEBUGFS_ATTRIBUTE(event_fops, NULL, vib_knob_event_set, "%llu\n");

static int vib_knob_add_set(void *data, u64 val)
{
	return vib_hca_add(val);
}

DEFINE_DEBUGFS_ATTRIBUTE(add_fops, NULL, vib_knob_add_set, "%llu\n");

static int vib_knob_remove_set(void *data, u64 val)
{
	return vib_hca_remove(val);
}

DEFINE_DEBUGFS_ATTRIBUTE(remove_fops, NULL, vib_knob_remove_set, "%llu\n");

static int vib_knob_switch_show(struct seq_file *m, void *unused)
{
	vib_switch_show(m, m->private);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vib_knob_switch);

void vib_debugfs_init(unsigned int nodes)
{
	struct dentry *ports, *dir;
	char name[16];
	uintptr_t i;

	root = debugfs_create_dir("vib", NULL);
	debugfs_create_file_unsafe("add", 0200, root, NULL, &add_fops);
	debugfs_create_file_unsafe("remove", 0200, root, NULL, &remove_fops);
	debugfs_create_symlink("switch", root, "switches/0");
	dir = debugfs_create_dir("switches", root);
	for (i = 0; i < vib.switches; i++) {
		snprintf(name, sizeof(name), "%u", (unsigned int)i);
		debugfs_create_file(name, 0400, dir, vib.sw[i], &vib_knob_switch_fops);
	}
	vib_topology_debugfs(root);
	vib_mad_debugfs(debugfs_create_dir("mad", root));
	ports = debugfs_create_dir("ports", root);
	for (i = 0; i < nodes; i++) {
		snprintf(name, sizeof(name), "%u", (unsigned int)i);
		dir = debugfs_create_dir(name, ports);
		debugfs_create_file_unsafe("cable", 0600, dir, (void *)i, &cable_fops);
		debugfs_create_file_unsafe("up", 0600, dir, (void *)i, &up_fops);
		debugfs_create_file_unsafe("mtu", 0600, dir, (void *)i, &mtu_fops);
		debugfs_create_file_unsafe("late", 0600, dir, (void *)i, &late_fops);
		debugfs_create_file_unsafe("state", 0400, dir, (void *)i, &state_fops);
		debugfs_create_file_unsafe("event", 0200, dir, (void *)i, &event_fops);
	}
}

void vib_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
