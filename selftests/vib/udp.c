// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UDP links: cables to the fabrics of other hosts. A port that stands for the far end is the peer
 * of our port. A thread for each link receives, and tells the other host several times a second
 * what our end is like. The socket is connected, so it receives from the peer's address only.
 *
 * An end has a session number, which changes when its link goes down. The link is up while each end
 * hears the other one and is told its own session number. So when one end goes down, so does the
 * other one, and what was sent before is not accepted afterwards. All numbers are big-endian.
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/net.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "sma.h"

#define VIB_UDP_MAGIC	0x7669624cu	/* "vibL" */
#define VIB_UDP_VERSION	1
#define VIB_UDP_POLL	(HZ / 10)
#define VIB_UDP_BUFFER	(4 << 20)	/* bytes that wait in the socket */

static u32 udp_timeout = 3000;		/* ms without a word of the peer: the link is down */
static u32 udp_drop;			/* one RC packet in this many is lost; 0: none */

enum vib_udp_type { VIB_UDP_HELLO = 1, VIB_UDP_PACKET = 2 };

struct vib_udp_hdr {
	__be32 magic;
	u8 version, type;
	__be16 reserved;
	__be32 session;			/* of the sender */
	__be32 heard;			/* of the receiver, as the sender knows it */
};

struct vib_udp_hello {
	struct vib_udp_hdr hdr;
	u8 ready;			/* the cable is plugged in, and the port is enabled */
	u8 width_enabled, speed_enabled;
	u8 reserved;
};

enum vib_udp_flags {
	VIB_UDP_SMP = 1, VIB_UDP_RC = 2, VIB_UDP_GRH = 4, VIB_UDP_IMM = 8, VIB_UDP_SOLICITED = 16,
};

struct vib_udp_pkt {
	struct vib_udp_hdr hdr;
	u8 flags, sl, hops, reserved;
	__be16 slid, dlid, pkey, reserved2;
	__be32 src_qp, dest_qp, qkey, imm, reserved3;
	struct ib_grh grh;
};

struct vib_udp {
	struct vib_node node;
	struct vib_port port;		/* the far end; its peer is our port */
	struct socket *sock;
	struct task_struct *task;
	void *buf;
	u32 session, heard;		/* ours, the peer's; vib.lock */
	bool alive;			/* the peer has been heard lately */
	bool hello;			/* something changed: tell the peer */
	unsigned long last_heard, last_hello;	/* jiffies */
};

#define VIB_UDP_BUF	(sizeof(struct vib_udp_pkt) + VIB_MTU + 256)

static struct vib_udp *vib_udp(struct vib_port *far)
{
	return container_of(far->node, struct vib_udp, node);
}

static void vib_udp_hdr_init(const struct vib_udp *link, enum vib_udp_type type,
			     struct vib_udp_hdr *hdr)
{
	*hdr = (struct vib_udp_hdr) {
		.magic = cpu_to_be32(VIB_UDP_MAGIC),
		.version = VIB_UDP_VERSION,
		.type = type,
		.session = cpu_to_be32(READ_ONCE(link->session)),
		.heard = cpu_to_be32(READ_ONCE(link->heard)),
	};
}

/* What does not get through is lost. */
static void vib_udp_write(struct vib_udp *link, void *head, size_t len, void *data, size_t data_len)
{
	struct kvec vec[] = { { head, len }, { data, data_len } };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };

	kernel_sendmsg(link->sock, &msg, vec, data_len ? 2 : 1, len + data_len);
}

void vib_udp_send(struct vib_port *far, struct vib_pkt *pkt)
{
	struct vib_udp_pkt head = {
		.flags = (pkt->smp ? VIB_UDP_SMP : 0) | (pkt->rc ? VIB_UDP_RC : 0) |
			 (pkt->has_grh ? VIB_UDP_GRH : 0) | (pkt->has_imm ? VIB_UDP_IMM : 0) |
			 (pkt->solicited ? VIB_UDP_SOLICITED : 0),
		.sl = pkt->sl,
		.hops = pkt->hops,
		.slid = cpu_to_be16(pkt->slid),
		.dlid = cpu_to_be16(pkt->dlid),
		.pkey = cpu_to_be16(pkt->pkey),
		.src_qp = cpu_to_be32(pkt->src_qp),
		.dest_qp = cpu_to_be32(pkt->dest_qp),
		.qkey = cpu_to_be32(pkt->qkey),
		.imm = pkt->imm,
		.grh = pkt->grh,
	};

	vib_udp_hdr_init(vib_udp(far), VIB_UDP_PACKET, &head.hdr);
	vib_udp_write(vib_udp(far), &head, sizeof(head), pkt->data, pkt->len);
	kfree(pkt);
}

static void vib_udp_receive_pkt(struct vib_udp *link, const struct vib_udp_pkt *head, size_t len)
{
	struct vib_pkt *pkt;

	if (len < sizeof(*head) || be32_to_cpu(head->hdr.session) != READ_ONCE(link->heard) ||
	    be32_to_cpu(head->hdr.heard) != READ_ONCE(link->session))
		return;
	if (udp_drop && head->flags & VIB_UDP_RC && get_random_u32() % udp_drop == 0)
		return;
	pkt = vib_pkt_alloc(len - sizeof(*head), GFP_KERNEL);
	if (!pkt)
		return;
	pkt->smp = head->flags & VIB_UDP_SMP;
	pkt->rc = head->flags & VIB_UDP_RC;
	pkt->has_grh = head->flags & VIB_UDP_GRH;
	pkt->has_imm = head->flags & VIB_UDP_IMM;
	pkt->solicited = head->flags & VIB_UDP_SOLICITED;
	pkt->sl = head->sl;
	pkt->hops = min_t(u8, head->hops, VIB_MAX_HOPS);
	pkt->slid = be16_to_cpu(head->slid);
	pkt->dlid = be16_to_cpu(head->dlid);
	pkt->pkey = be16_to_cpu(head->pkey);
	pkt->src_qp = be32_to_cpu(head->src_qp);
	pkt->dest_qp = be32_to_cpu(head->dest_qp);
	pkt->qkey = be32_to_cpu(head->qkey);
	pkt->imm = head->imm;
	pkt->grh = head->grh;
	memcpy(pkt->data, head + 1, pkt->len);
	vib_link_arrive(&link->port, pkt);
}

static void vib_udp_receive_hello(struct vib_udp *link, const struct vib_udp_hello *hello,
				  size_t len)
{
	struct vib_port *far = &link->port;
	u32 session = be32_to_cpu(hello->hdr.session);
	bool fresh, ready;

	if (len < sizeof(*hello))
		return;
	spin_lock_irq(&vib.lock);
	link->last_heard = jiffies;
	link->alive = true;
	fresh = session != link->heard;
	link->hello |= fresh;
	WRITE_ONCE(link->heard, session);
	far->width_enabled = hello->width_enabled;
	far->speed_enabled = hello->speed_enabled;
	ready = hello->ready && be32_to_cpu(hello->hdr.heard) == link->session;
	if (far->phys == IB_PORT_PHYS_STATE_LINK_UP && (fresh || !ready)) {
		far->phys = IB_PORT_PHYS_STATE_DISABLED;
		vib_link_update(far);
	}
	if (far->phys != IB_PORT_PHYS_STATE_LINK_UP) {
		far->phys = ready ? IB_PORT_PHYS_STATE_POLLING : IB_PORT_PHYS_STATE_DISABLED;
		vib_link_update(far);
	}
	spin_unlock_irq(&vib.lock);
}

static void vib_udp_receive(struct vib_udp *link, size_t len)
{
	const struct vib_udp_hdr *hdr = link->buf;

	if (len < sizeof(*hdr) || be32_to_cpu(hdr->magic) != VIB_UDP_MAGIC)
		return;
	if (hdr->version != VIB_UDP_VERSION) {
		pr_warn_once("vib: the peer of a UDP link has version %u, not %u\n", hdr->version,
			     VIB_UDP_VERSION);
		return;
	}
	if (hdr->type == VIB_UDP_HELLO)
		vib_udp_receive_hello(link, link->buf, len);
	else if (hdr->type == VIB_UDP_PACKET)
		vib_udp_receive_pkt(link, link->buf, len);
}

/* Our end goes down first, and tells the peer to follow. vib.lock held. */
static void vib_udp_restart(struct vib_udp *link)
{
	WRITE_ONCE(link->session, link->session + 1);
	link->port.phys = IB_PORT_PHYS_STATE_DISABLED;
}

void vib_udp_follow(struct vib_port *far)
{
	struct vib_port *port = far->peer;

	lockdep_assert_held(&vib.lock);
	if (far->phys == IB_PORT_PHYS_STATE_LINK_UP &&
	    (!port->cable || port->phys != IB_PORT_PHYS_STATE_LINK_UP))
		vib_udp_restart(vib_udp(far));
	vib_udp(far)->hello = true;
}

static void vib_udp_send_hello(struct vib_udp *link)
{
	struct vib_udp_hello hello = {};
	struct vib_port *port;

	spin_lock_irq(&vib.lock);
	port = link->port.peer;
	if (port) {
		hello.ready = port->cable && port->phys != IB_PORT_PHYS_STATE_DISABLED;
		hello.width_enabled = port->width_enabled;
		hello.speed_enabled = port->speed_enabled;
	}
	link->hello = false;
	link->last_hello = jiffies;
	spin_unlock_irq(&vib.lock);
	vib_udp_hdr_init(link, VIB_UDP_HELLO, &hello.hdr);
	vib_udp_write(link, &hello, sizeof(hello), NULL, 0);
}

static void vib_udp_check_peer(struct vib_udp *link)
{
	spin_lock_irq(&vib.lock);
	if (link->alive &&
	    time_after(jiffies, link->last_heard + msecs_to_jiffies(udp_timeout))) {
		link->alive = false;
		if (link->port.phys == IB_PORT_PHYS_STATE_LINK_UP)
			vib_udp_restart(link);
		link->port.phys = IB_PORT_PHYS_STATE_DISABLED;
		vib_link_update(&link->port);
	}
	spin_unlock_irq(&vib.lock);
}

static int vib_udp_thread(void *data)
{
	struct vib_udp *link = data;

	while (!kthread_should_stop()) {
		struct kvec vec = { link->buf, VIB_UDP_BUF };
		struct msghdr msg = {};
		int len;

		/* returns after VIB_UDP_POLL at the latest */
		len = kernel_recvmsg(link->sock, &msg, &vec, 1, VIB_UDP_BUF, 0);
		if (len > 0)
			vib_udp_receive(link, len);
		vib_udp_check_peer(link);
		if (READ_ONCE(link->hello) ||
		    time_after_eq(jiffies, link->last_hello + 2 * VIB_UDP_POLL))
			vib_udp_send_hello(link);
	}
	return 0;
}

static int vib_udp_connect(struct vib_udp *link, unsigned int port, const char *addr,
			   const char *peer_port)
{
	struct sockaddr_storage local = {}, peer;
	int len = sizeof(struct sockaddr_in), ret;

	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, addr, peer_port, &peer);
	if (ret)
		return ret;
	local.ss_family = peer.ss_family;
	if (peer.ss_family == AF_INET6) {
		len = sizeof(struct sockaddr_in6);
		((struct sockaddr_in6 *)&local)->sin6_port = htons(port);
	} else {
		((struct sockaddr_in *)&local)->sin_port = htons(port);
	}
	ret = sock_create_kern(&init_net, peer.ss_family, SOCK_DGRAM, IPPROTO_UDP, &link->sock);
	if (ret)
		return ret;
	link->sock->sk->sk_rcvtimeo = VIB_UDP_POLL;
	WRITE_ONCE(link->sock->sk->sk_rcvbuf, VIB_UDP_BUFFER);
	WRITE_ONCE(link->sock->sk->sk_sndbuf, VIB_UDP_BUFFER);
	/* the type of an address depends on the kernel */
	ret = kernel_bind(link->sock, (void *)&local, len);
	if (!ret)
		ret = kernel_connect(link->sock, (void *)&peer, len, 0);
	if (ret)
		sock_release(link->sock);
	return ret;
}

/* Returns the far end, whose peer is to be set, or an error. */
struct vib_port *vib_udp_open(unsigned int port, const char *addr, const char *peer_port)
{
	struct vib_udp *link = kzalloc(sizeof(*link), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!link)
		return ERR_PTR(ret);
	link->node.type = VIB_NODE_REMOTE;
	link->port.node = &link->node;
	vib_sma_init(&link->port);
	link->port.phys = IB_PORT_PHYS_STATE_DISABLED;
	/* not that of an earlier boot */
	link->session = get_random_u32();
	link->hello = true;
	link->buf = kmalloc(VIB_UDP_BUF, GFP_KERNEL);
	if (!link->buf)
		goto err_link;
	ret = vib_udp_connect(link, port, addr, peer_port);
	if (ret)
		goto err_buf;
	link->task = kthread_run(vib_udp_thread, link, "vib_udp/%u", port);
	if (!IS_ERR(link->task))
		return &link->port;
	ret = PTR_ERR(link->task);
	sock_release(link->sock);
err_buf:
	kfree(link->buf);
err_link:
	kfree(link);
	return ERR_PTR(ret);
}

/* For a far end that has no peer any more. */
void vib_udp_close(struct vib_port *far)
{
	struct vib_udp *link = vib_udp(far);

	kthread_stop(link->task);
	/* no packet is on its way into the socket when this returns */
	vib_link_flush(far);
	/* the peer need not wait for its timeout */
	vib_udp_send_hello(link);
	sock_release(link->sock);
	kfree(link->buf);
	kfree(link);
}

void vib_udp_debugfs(struct dentry *root)
{
	debugfs_create_u32("udp_timeout", 0600, root, &udp_timeout);
	debugfs_create_u32("udp_drop", 0600, root, &udp_drop);
}
