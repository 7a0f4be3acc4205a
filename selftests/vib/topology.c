// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The cables of the fabric. An end of a cable is written swM/P for port P of switch M, vibN for HCA
 * N, which may be absent, or "udp PORT ADDRESS PORT" for a link to another host, by UDP from our
 * first to its second port. The first end is at a switch. In debugfs:
 *	connect		write "END END [WIDTH [SPEED [MTU]]]", the best that the link can do: 1 or 4
 *			lanes, a bit of enum ib_port_speed up to QDR, enum ib_mtu
 *	disconnect	write the end at a switch
 *	links		the cables, with width, speed, MTU and state of the link
 *	name		write "swM NAME", the NodeDescription of a switch
 */
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sma.h"

#define MAX_TEXT	128

static DEFINE_MUTEX(cable_mutex);	/* serialises the changes */

/* The best that a link can do. */
struct vib_limits {
	unsigned int width, speed, mtu;
};

void vib_cable_disconnect(struct vib_port *port)
{
	struct vib_port *peer = port->peer;

	lockdep_assert_held(&vib.lock);
	port->peer = NULL;
	vib_link_update(port);
	if (peer) {
		peer->peer = NULL;
		vib_link_update(peer);
	}
}

/* @end is at a switch and has the limits of the link. */
static void vib_cable_connect(struct vib_port *end, struct vib_port *port)
{
	port->width_supported = end->width_supported;
	port->width_enabled = end->width_supported;
	port->speed_supported = end->speed_supported;
	port->speed_enabled = end->speed_supported;
	port->peer = end;
	end->peer = port;
	vib_link_update(end);
}

void vib_cable_attach(struct vib_hca *hca)
{
	struct vib_port *end = vib.end[hca->index];

	lockdep_assert_held(&vib.lock);
	if (end)
		vib_cable_connect(end, &hca->port[1]);
}

void vib_cable_init(unsigned int nodes)
{
	unsigned int i;

	for (i = 0; i < nodes; i++) {
		vib.end[i] = &vib.sw[0]->port[i + 1];
		vib.end[i]->cable = true;
	}
}

static struct vib_port *vib_end_get(unsigned int sw, unsigned int num)
{
	if (sw >= vib.switches || !num || num > vib.sw[sw]->node.nports)
		return NULL;
	return &vib.sw[sw]->port[num];
}

/* Returns the number of the HCA whose cable ends there, or -1. */
static int vib_end_hca(const struct vib_port *end)
{
	int i;

	for (i = 0; i < VIB_MAX_HCAS; i++)
		if (vib.end[i] == end)
			return i;
	return -1;
}

static bool vib_end_is_free(const struct vib_port *end)
{
	return end && !end->peer && vib_end_hca(end) < 0;
}

static void vib_end_plug(struct vib_port *end, const struct vib_limits *limits)
{
	end->cable = true;
	end->width_supported = limits->width == 1 ? IB_WIDTH_1X : VIB_WIDTHS;
	end->width_enabled = end->width_supported;
	/* a link can also be slower */
	end->speed_supported = limits->speed * 2 - 1;
	end->speed_enabled = end->speed_supported;
	end->mtu_cap = limits->mtu;
	end->mtu = limits->mtu;
}

static int vib_cable_add(struct vib_port *end, struct vib_port *other, unsigned int index,
			 const struct vib_limits *limits)
{
	lockdep_assert_held(&vib.lock);
	if (!vib_end_is_free(end) || end == other ||
	    (other ? !vib_end_is_free(other) : index >= VIB_MAX_HCAS || vib.end[index]))
		return -EBUSY;
	vib_end_plug(end, limits);
	if (other) {
		vib_end_plug(other, limits);
		other->cable = vib_is_switch(other);
		vib_cable_connect(end, other);
	} else {
		vib.end[index] = end;
		if (vib.hca[index])
			vib_cable_attach(vib.hca[index]);
	}
	return 0;
}

static bool vib_limits_are_valid(const struct vib_limits *l)
{
	return (l->width == 1 || l->width == 4) && is_power_of_2(l->speed) &&
	       l->speed <= IB_SPEED_QDR && l->mtu >= IB_MTU_256 && l->mtu <= IB_MTU_4096;
}

/* What is at the other end: a port, or if that is NULL, an HCA, which may be absent. */
static struct vib_port *vib_other_end_open(const char *text, struct vib_limits *l,
					   unsigned int *index)
{
	char addr[48], peer_port[8];
	unsigned int sw, num, port;

	if (sscanf(text, "vib%u %u %u %u", index, &l->width, &l->speed, &l->mtu) >= 1)
		return NULL;
	if (sscanf(text, "sw%u/%u %u %u %u", &sw, &num, &l->width, &l->speed, &l->mtu) >= 2)
		return vib_end_get(sw, num) ?: ERR_PTR(-EINVAL);
	if (sscanf(text, "udp %u %47s %7s %u %u %u", &port, addr, peer_port, &l->width, &l->speed,
		   &l->mtu) >= 3)
		return vib_udp_open(port, addr, peer_port);
	return ERR_PTR(-EINVAL);
}

static int vib_topology_connect(const char *text)
{
	struct vib_limits l = { .width = 4, .speed = IB_SPEED_QDR, .mtu = IB_MTU_4096 };
	struct vib_port *end, *other;
	unsigned int sw, num, index = 0;
	int begin = 0, ret = -EINVAL;

	if (sscanf(text, "sw%u/%u %n", &sw, &num, &begin) != 2 || !begin)
		return -EINVAL;
	end = vib_end_get(sw, num);
	other = vib_other_end_open(text + begin, &l, &index);
	if (IS_ERR(other))
		return PTR_ERR(other);
	if (end && vib_limits_are_valid(&l)) {
		spin_lock_irq(&vib.lock);
		ret = vib_cable_add(end, other, index, &l);
		spin_unlock_irq(&vib.lock);
	}
	if (ret && other && vib_is_remote(other))
		vib_udp_close(other);
	return ret;
}

static void vib_cable_remove(struct vib_port *end)
{
	struct vib_port *peer;
	int index;

	spin_lock_irq(&vib.lock);
	index = vib_end_hca(end);
	if (index >= 0)
		vib.end[index] = NULL;
	peer = end->peer;
	vib_cable_disconnect(end);
	spin_unlock_irq(&vib.lock);
	if (peer && vib_is_remote(peer))
		vib_udp_close(peer);
}

static int vib_topology_disconnect(const char *text)
{
	struct vib_port *end = NULL;
	unsigned int sw, num;

	if (sscanf(text, "sw%u/%u", &sw, &num) == 2)
		end = vib_end_get(sw, num);
	if (!end)
		return -EINVAL;
	vib_cable_remove(end);
	return 0;
}

/* All HCAs are gone, and no file in debugfs is left. */
void vib_topology_exit(void)
{
	unsigned int i, num;

	for (i = 0; i < vib.switches; i++)
		for (num = 1; num <= vib.sw[i]->node.nports; num++)
			vib_cable_remove(&vib.sw[i]->port[num]);
}

static int vib_topology_name(const char *text)
{
	struct vib_node *node;
	unsigned int sw;
	int begin = 0;

	if (sscanf(text, "sw%u %n", &sw, &begin) != 1 || sw >= vib.switches || !begin)
		return -EINVAL;
	node = &vib.sw[sw]->node;
	spin_lock_irq(&vib.lock);
	strscpy_pad(node->desc, text + begin, sizeof(node->desc));
	spin_unlock_irq(&vib.lock);
	return 0;
}

/* A file whose private data is the function that takes the text. */
static ssize_t vib_topology_text_write(struct file *file, const char __user *buf, size_t len,
				       loff_t *pos)
{
	int (*take)(const char *text) = file_inode(file)->i_private;
	char *text;
	int ret;

	if (len > MAX_TEXT)
		return -EINVAL;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&cable_mutex);
	ret = take(strim(text));
	mutex_unlock(&cable_mutex);
	kfree(text);
	return ret ?: len;
}

static const struct file_operations text_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = vib_topology_text_write,
};

static void vib_link_show(struct seq_file *m, struct vib_port *end)
{
	struct vib_port *peer = end->peer;
	int index = vib_end_hca(end);

	if (vib_end_is_free(end))
		return;
	seq_printf(m, "sw%u/%u ", vib_port_switch(end)->index, end->num);
	if (index >= 0)
		seq_printf(m, "vib%d", index);
	else if (vib_is_remote(peer))
		seq_puts(m, "udp");
	else
		seq_printf(m, "sw%u/%u", vib_port_switch(peer)->index, peer->num);
	seq_printf(m, " %u %u %u %s\n", end->width == IB_WIDTH_1X ? 1 : 4, end->speed, end->mtu,
		   vib_port_state_name(end));
}

static int vib_topology_links_show(struct seq_file *m, void *unused)
{
	unsigned int i, num;

	/* for each switch, so that the fabric does not stop for long */
	for (i = 0; i < vib.switches; i++) {
		spin_lock_irq(&vib.lock);
		for (num = 1; num <= vib.sw[i]->node.nports; num++)
			vib_link_show(m, &vib.sw[i]->port[num]);
		spin_unlock_irq(&vib.lock);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vib_topology_links);

void vib_topology_debugfs(struct dentry *root)
{
	debugfs_create_file("connect", 0200, root, vib_topology_connect, &text_fops);
	debugfs_create_file("disconnect", 0200, root, vib_topology_disconnect, &text_fops);
	debugfs_create_file("name", 0200, root, vib_topology_name, &text_fops);
	debugfs_create_file("links", 0400, root, NULL, &vib_topology_links_fops);
	vib_udp_debugfs(root);
}
