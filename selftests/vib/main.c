// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Loads the module, and adds and removes HCAs. */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>

#include "vib.h"

/* EUI-64 of node n or of its port: locally administered, with the letters "vib" */
#define VIB_GUID(n, port) \
	cpu_to_be64(0x0276696200000000ull | host << 24 | ((n) + 1) << 8 | (port))

static unsigned int host;
module_param(host, uint, 0444);
MODULE_PARM_DESC(host, "part of the GUIDs, different on each host that UDP links connect, 0 to 127");

static unsigned int nodes = 2;
module_param(nodes, uint, 0444);
MODULE_PARM_DESC(nodes, "how many HCAs, 1 to 64");

static unsigned int ports[VIB_MAX_SWITCHES], switches;
module_param_array(ports, uint, &switches, 0444);
MODULE_PARM_DESC(ports, "for each switch, how many ports, 1 to 64; without it, one connects all HCAs");

struct vib_fabric vib = { .lock = __SPIN_LOCK_UNLOCKED(vib.lock) };
struct workqueue_struct *vib_wq;
struct pci_dev vib_pci_dev = { .dev.init_name = "vib" };

static DEFINE_MUTEX(hca_mutex);		/* serialises adding and removing */

void vib_port_event(struct vib_port *port, enum ib_event_type type)
{
	struct ib_event event = {
		.element.port_num = port->num,
		.event = type,
	};

	if (port->node->type != VIB_NODE_HCA)
		return;
	event.device = &vib_port_hca(port)->rdi.ibdev;
	ib_dispatch_event(&event);
}

static void vib_hca_attach(struct vib_hca *hca)
{
	spin_lock_irq(&vib.lock);
	vib.hca[hca->index] = hca;
	vib_cable_attach(hca);
	spin_unlock_irq(&vib.lock);
}

static void vib_hca_detach(struct vib_hca *hca)
{
	spin_lock_irq(&vib.lock);
	vib.hca[hca->index] = NULL;
	vib_cable_disconnect(&hca->port[1]);
	spin_unlock_irq(&vib.lock);
}

int vib_hca_add(unsigned int index)
{
	struct rvt_dev_info *rdi;
	struct vib_port *port;
	struct vib_hca *hca;
	int ret = -EEXIST;

	if (index >= nodes)
		return -EINVAL;
	mutex_lock(&hca_mutex);
	if (vib.hca[index])
		goto out;
	ret = -ENOMEM;
	rdi = rvt_alloc_device(sizeof(*hca), 1);
	if (!rdi)
		goto out;
	hca = container_of(rdi, struct vib_hca, rdi);
	hca->index = index;
	hca->node.type = VIB_NODE_HCA;
	hca->node.nports = 1;
	hca->node.guid = VIB_GUID(index, 0);
	hca->node.port = hca->port;
	snprintf(hca->node.desc, sizeof(hca->node.desc), "vib%u", index);
	port = &hca->port[1];
	port->node = &hca->node;
	port->num = 1;
	port->guid[0] = VIB_GUID(index, 1);
	spin_lock_init(&port->rvp.lock);
	port->rvp.mcast_tree = RB_ROOT;
	vib_sma_init(port);
	vib_verbs_init(hca);
	ret = dev_set_name(&rdi->ibdev.dev, "vib%u", index);
	if (!ret)
		ret = rvt_register_device(rdi);
	if (ret)
		rvt_dealloc_device(rdi);
	else
		vib_hca_attach(hca);
out:
	mutex_unlock(&hca_mutex);
	return ret;
}

/* Returns when the last user has released the HCA. */
int vib_hca_remove(unsigned int index)
{
	struct vib_hca *hca;

	if (index >= nodes)
		return -EINVAL;
	mutex_lock(&hca_mutex);
	hca = vib.hca[index];
	if (hca) {
		vib_hca_detach(hca);
		/* No packet arrives without a cable; wait for one that is being delivered. */
		vib_link_flush(&hca->port[1]);
		rvt_unregister_device(&hca->rdi);
		vib_link_flush(&hca->port[1]);
		rvt_dealloc_device(&hca->rdi);
	}
	mutex_unlock(&hca_mutex);
	return hca ? 0 : -ENODEV;
}

static void vib_fabric_teardown(void)
{
	unsigned int i;

	for (i = 0; i < nodes; i++)
		vib_hca_remove(i);
	vib_topology_exit();
	vib_switch_exit();
	vib_link_exit();
	destroy_workqueue(vib_wq);
}

/* The default topology has one switch, with a port for each HCA. */
static int vib_fabric_setup(void)
{
	bool simple = !switches;
	unsigned int i;
	int ret;

	if (simple)
		ports[switches++] = nodes;
	for (i = 0; i < switches; i++) {
		ret = vib_switch_add(ports[i], VIB_GUID(VIB_MAX_HCAS + i, 0));
		if (ret)
			return ret;
	}
	if (simple)
		vib_cable_init(nodes);
	for (i = 0; i < nodes; i++) {
		ret = vib_hca_add(i);
		if (ret)
			return ret;
	}
	return 0;
}

static bool vib_params_are_valid(void)
{
	unsigned int i;

	for (i = 0; i < switches; i++)
		if (ports[i] < 1 || ports[i] >= VIB_MAX_PORTS)
			return false;
	return nodes >= 1 && nodes <= VIB_MAX_HCAS && host < 128;
}

static int __init vib_module_init(void)
{
	int ret = -ENOMEM;

	if (!vib_params_are_valid())
		return -EINVAL;
	vib_wq = alloc_workqueue("vib", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!vib_wq)
		goto err_wq;
	ret = vib_link_init();
	if (ret)
		goto err_link;
	ret = vib_fabric_setup();
	if (ret) {
		vib_fabric_teardown();
		return ret;
	}
	vib_debugfs_init(nodes);
	return 0;

err_link:
	destroy_workqueue(vib_wq);
err_wq:
	return ret;
}

static void __exit vib_module_exit(void)
{
	vib_debugfs_exit();
	vib_fabric_teardown();
}

module_init(vib_module_init);
module_exit(vib_module_exit);
MODULE_DESCRIPTION("Software InfiniBand fabric for tests");
MODULE_LICENSE("Dual BSD/GPL");
