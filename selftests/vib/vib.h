/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vib: a software InfiniBand fabric for tests. It consists of software HCAs of one port each, of
 * switches, and of cables between them. By default there is one switch, and the cable of HCA n
 * leads to its port n + 1.
 *
 * The files:
 *	main.c		the module; adds and removes HCAs
 *	verbs.c		the functions that rdmavt requires of a driver
 *	send.c		send queues
 *	ud.c		datagrams of QP0, QP1 and UD, in both directions
 *	rc.c		RC and UC: data is copied directly between queue pairs
 *	rc_pkt.c	RC to other hosts: packets with acknowledgements
 *	udp.c		cables to other hosts: UDP links
 *	mad.c		process_mad; counts, drops and delays MADs
 *	mad_fuzz.c	changes, loses, repeats and reorders MADs
 *	topology.c	the cables
 *	link.c		the state of the links, and the queue of packets in transit
 *	switch.c	the switches: forwarding and routes
 *	sma*.c		the subnet management agent of HCAs and switches, in groups of attributes
 *	trap.c		the traps of HCAs and switches
 *	pma.c		the counters that perfquery reads
 *	debugfs.c	the knobs
 */
#ifndef VIB_H
#define VIB_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_vt.h>
#include <rdma/rdmavt_qp.h>

#define VIB_MAX_HCAS	64
#define VIB_MAX_SWITCHES 64
#define VIB_MAX_PORTS	65	/* of a switch, port 0 included */
#define VIB_MAX_HOPS	64	/* a packet that has crossed more links is in a loop */
#define VIB_PKEYS	16
#define VIB_GUIDS	8
#define VIB_MTU		4096
#define VIB_MAX_MSG	0x80000000u		/* the limit of rdmavt for all its drivers */
#define VIB_LIDS	0xc000			/* capacity of the LFT, in unicast LIDs */
#define VIB_MLIDS	4096			/* capacity of the MFT, in LIDs from 0xc000 */
#define VIB_POSITIONS	DIV_ROUND_UP(VIB_MAX_PORTS, 16)	/* of the MFT: groups of 16 ports */

/* A datagram on the wire. A function that takes one has to free it (kfree) or pass it on. */
struct vib_pkt {
	struct list_head list;		/* queue of link.c, while in transit */
	struct vib_port *from;		/* HCA that sent it, or switch that it reached (link.c) */
	unsigned long due;		/* jiffies: earliest delivery (mad.c) */
	u32 repeat;			/* jiffies until a second delivery; 0: none (mad_fuzz.c) */
	u8 hops;			/* links that it has crossed */
	u8 flood;			/* multicast: counter of its copies (switch.c) */
	u16 slid, dlid;
	u16 pkey;
	u8 sl;
	bool smp;			/* sent on VL15 */
	bool rc;			/* data begins with struct vib_rc_hdr (rc_pkt.c) */
	bool has_grh, has_imm;
	bool solicited;
	u32 src_qp, dest_qp, qkey;
	__be32 imm;
	struct ib_grh grh;
	u32 len;
	u8 data[] __aligned(8);
};

enum vib_node_type {
	VIB_NODE_HCA = 1, VIB_NODE_SWITCH = 2,	/* as in NodeInfo */
	VIB_NODE_REMOTE = 0xff,		/* stands for whatever is at the far end of a UDP link */
};

struct vib_node;

/* The traffic of a port, counted by link.c. */
struct vib_counters {
	atomic64_t xmit_data, rcv_data;		/* bytes of payload */
	atomic64_t xmit_pkts, rcv_pkts;		/* all packets, also SMPs */
	atomic64_t xmit_mcast, rcv_mcast;	/* those to a multicast LID */
	atomic64_t xmit_ucast, rcv_ucast;	/* the others; each is cleared alone */
	atomic64_t downed;			/* how often the link went down */
	atomic64_t dropped;			/* switch: no route, no link, or a loop */
};

/*
 * One end of a cable: the port of an HCA, an external port of a switch, or port 0 of a switch.
 * vib.lock protects all members. Values that the struct of rdmavt has are kept only there, also for
 * ports of a switch: gid_prefix, mkey, mkeyprot, mkey_lease_period, sm_lid, sm_sl,
 * subnet_timeout, port_cap_flags, vl_high_limit, pkey_violations, qkey_violations, mkey_violations.
 */
struct vib_port {
	struct rvt_ibport rvp;
	struct vib_node *node;
	struct vib_port *peer;		/* the other end of the cable, or NULL */
	u8 num;				/* HCA: 1; switch: from 0 */
	bool cable;			/* plugged in; valid at an end at a switch */
	u8 state;			/* enum ib_port_state */
	u8 phys;			/* enum ib_port_phys_state: DISABLED, POLLING or LINK_UP */
	u8 mtu, mtu_cap;		/* NeighborMTU, MTUCap: enum ib_mtu */
	u8 oper_vls;
	u8 width_supported, speed_supported;	/* bits of enum ib_port_width and _speed */
	u8 width_enabled, speed_enabled;
	u8 width, speed;		/* active: negotiated when the link came up */
	u16 lid;			/* switch: of port 0 only */
	u8 lmc;
	u32 late;			/* HCA: delay of completions of QP1 sends, ms (ud.c) */
	__be64 guid[VIB_GUIDS];		/* [0] is the GUID of the port; the SM cannot set it */
	u16 pkey[VIB_PKEYS];		/* the P_Key table of rvp */
	u8 sl2vl[VIB_MAX_PORTS][8];	/* [ingress]; HCA: [0] */
	u8 vlarb[4][64];		/* low, low, high, high, as in the attribute */
	struct vib_counters count;
};

struct vib_node {
	u8 type;			/* enum vib_node_type */
	u8 nports;			/* port 0 of a switch excluded */
	__be64 guid;			/* of node and system image */
	char desc[IB_DEVICE_NODE_DESC_MAX];
	struct vib_port *port;		/* HCA: [1]; switch: [0..nports] */
};

struct vib_hca {
	struct rvt_dev_info rdi;	/* must be first: rdmavt frees it */
	struct vib_node node;
	struct vib_port port[2];	/* only [1] is used, the port number on the wire */
	unsigned int index;
};

struct vib_switch {
	struct vib_node node;
	unsigned int index;
	u16 lft_top;			/* LinearFDBTop */
	u8 life_time;
	bool port_state_change;
	struct delayed_work trap_work;	/* trap.c */
	unsigned int traps_left;
	u32 trap_tid;
	u8 lft[VIB_LIDS];		/* 255: no route */
	u16 mft[VIB_MLIDS][VIB_POSITIONS];	/* a bit per port */
	struct vib_port port[];
};

struct vib_fabric {
	spinlock_t lock;	/* topology, ports, tables of the switches; irqs off */
	struct vib_hca *hca[VIB_MAX_HCAS];
	struct vib_port *end[VIB_MAX_HCAS];	/* where the cable of the HCA ends, or NULL */
	struct vib_switch *sw[VIB_MAX_SWITCHES];	/* allocated until the module exits */
	unsigned int switches;
};

extern struct vib_fabric vib;

static inline struct vib_hca *vib_hca(struct ib_device *ibdev)
{
	return container_of(ibdev, struct vib_hca, rdi.ibdev);
}

static inline struct vib_hca *vib_port_hca(struct vib_port *port)
{
	return container_of(port->node, struct vib_hca, node);
}

static inline struct vib_switch *vib_port_switch(struct vib_port *port)
{
	return container_of(port->node, struct vib_switch, node);
}

static inline bool vib_is_switch(const struct vib_port *port)
{
	return port->node->type == VIB_NODE_SWITCH;
}

static inline bool vib_is_remote(const struct vib_port *port)
{
	return port->node->type == VIB_NODE_REMOTE;
}

/* topology.c */
/* Connects an HCA that appears to the port at which its cable ends, if any. vib.lock held. */
void vib_cable_attach(struct vib_hca *hca);
/* Disconnects a port from its peer. vib.lock held. */
void vib_cable_disconnect(struct vib_port *port);
/* The cables of the default topology. */
void vib_cable_init(unsigned int nodes);
void vib_topology_debugfs(struct dentry *root);
void vib_topology_exit(void);

/* link.c */
/* Sends a packet of an HCA or of port 0 of a switch. Any context. */
void vib_link_post(struct vib_port *from, struct vib_pkt *pkt);
/* A switch sends @pkt through @out. From vib_switch_receive() only, without vib.lock. */
void vib_link_send(struct vib_port *out, struct vib_pkt *pkt);
/* A packet comes through the far end of a UDP link. */
void vib_link_arrive(struct vib_port *far, struct vib_pkt *pkt);
/* Updates the link after a change of cable, peer or phys (DISABLED or POLLING). vib.lock held. */
void vib_link_update(struct vib_port *port);
/* Reports an event to the users of an HCA; no-op for a switch. Any context, also with vib.lock. */
void vib_port_event(struct vib_port *port, enum ib_event_type event);
struct vib_pkt *vib_pkt_alloc(u32 len, gfp_t gfp);
struct vib_pkt *vib_pkt_clone(const struct vib_pkt *pkt, gfp_t gfp);

static inline bool vib_is_mlid(u32 lid)
{
	return lid >= 0xc000 && lid < 0xffff;
}

/* Is @lid one of the LIDs of the port? */
static inline bool vib_port_has_lid(const struct vib_port *port, u16 lid)
{
	return port->lid && (lid & ~((1u << port->lmc) - 1)) == port->lid;
}

static inline bool vib_pkey_match(u16 a, u16 b)
{
	return (a & 0x7fff) && !((a ^ b) & 0x7fff) && ((a | b) & 0x8000);
}

/* switch.c; called without vib.lock unless stated otherwise */
int vib_switch_add(unsigned int nports, __be64 guid);
void vib_switch_exit(void);
/* link.c reports that the state of a port of a switch changed. vib.lock held. */
void vib_switch_state_changed(struct vib_port *port);
const char *vib_port_state_name(const struct vib_port *port);
/* Prints the tables for debugfs. */
void vib_switch_show(struct seq_file *m, struct vib_switch *sw);
/* Handles a packet that arrives at port @in of a switch. Process context, not concurrently. */
void vib_switch_receive(struct vib_port *in, struct vib_pkt *pkt);
/*
 * Returns the HCA port that a unicast LID leads to from the HCA port @from, if all links in both
 * directions are ACTIVE, or NULL. For a LID of @from this is @from itself. If one of the directions
 * leads to another host, this is the far end of the UDP link. vib.lock held.
 */
struct vib_port *vib_switch_route(struct vib_port *from, u16 dlid);

/* sma.c */
/* Sets the power-on values of a zeroed port: enabled, default P_Key, VL tables, capabilities. */
void vib_sma_init(struct vib_port *port);
/*
 * Processes a subnet management or performance management MAD on @port of an HCA, or on port 0 of
 * a switch, where AttributeModifier selects the port. @in_port is the port of arrival, which
 * NodeInfo and PortInfo report. Returns IB_MAD_RESULT_*. Any context, without vib.lock.
 */
int vib_sma_process(struct vib_port *port, u8 in_port, const struct ib_mad *in, struct ib_mad *out);

/* trap.c: reports that the capabilities of an HCA changed; without vib.lock */
void vib_trap_cap_mask(struct vib_port *port);
void vib_trap_init(struct vib_switch *sw);
void vib_trap_exit(struct vib_switch *sw);

/* main.c */
extern struct workqueue_struct *vib_wq;		/* runs the send queues */
extern struct pci_dev vib_pci_dev;	/* no device: rdmavt prints its name */
int vib_hca_add(unsigned int index);
int vib_hca_remove(unsigned int index);

/* link.c */
int vib_link_init(void);
void vib_link_exit(void);
/* For a port that no longer sends, or NULL: none of its (any) packets waits when this returns. */
void vib_link_flush(struct vib_port *port);

/* verbs.c */
/* RC by packets (rc_pkt.c). */
struct vib_rc_wire {
	/* requester: s_lock */
	bool busy;			/* the oldest send goes by packets */
	bool kick;			/* a response came after the work item looked */
	u32 acked, sent;		/* segments of the oldest send */
	int answer;			/* 0, or a response other than success */
	bool gap;			/* a read has been asked for again */
	u8 rnr;				/* the code of the timer, for VIB_NOT_READY */
	unsigned long deadline;		/* jiffies: resend */
	struct rvt_sge_state ss;	/* local memory, from segment ss_at on */
	u32 ss_at;
	/* responder: r_lock */
	bool naked;			/* asked to resend from r_psn on */
	bool open;			/* within a message */
	u32 left;			/* bytes of the message that are missing */
	u32 atomic_psn;			/* the last atomic request, and its result */
	u64 atomic_old;
	bool atomic_valid;
};

struct vib_qp {				/* the private part of struct rvt_qp */
	struct rvt_qp *qp;
	struct delayed_work work;	/* empties the send queue */
	unsigned int tries;		/* of the oldest send, without a response */
	bool tell_drained;		/* SQ_DRAINED is pending; under s_lock */
	struct vib_rc_wire wire;
};

static inline struct vib_qp *vib_qp(struct rvt_qp *qp)
{
	return qp->priv;
}

void vib_verbs_init(struct vib_hca *hca);

/* send.c */
int vib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
bool vib_send_schedule(struct rvt_qp *qp);
void vib_send_work(struct work_struct *work);
/* Returns the oldest send or NULL. @status: SUCCESS: execute it; FLUSH_ERR: only complete it. */
struct rvt_swqe *vib_send_next(struct rvt_qp *qp, enum ib_wc_status *status);
void vib_send_complete(struct rvt_qp *qp, struct rvt_swqe *wqe, enum ib_wc_status status);
/* Initialises @ss to iterate over the data of a send. */
void vib_send_data(struct rvt_swqe *wqe, struct rvt_sge_state *ss);
/* Copies data from @ss, and releases its regions if @put is set. */
void vib_sges_read(struct rvt_sge_state *ss, void *data, u32 len, bool put);
void vib_recv_complete(struct rvt_qp *qp, struct ib_wc *wc, bool solicited);
/* Reports an event to the user of a queue pair. Any context. */
void vib_qp_event(struct rvt_qp *qp, enum ib_event_type type);

/* ud.c */
void vib_ud_send(struct rvt_qp *qp);
/* Handles a packet that arrives at a port of an HCA. Process context. */
void vib_port_receive(struct vib_port *port, struct vib_pkt *pkt);

/* rc.c */
void vib_rc_send(struct rvt_qp *qp);

/* rc_pkt.c: handles an RC packet for @qp. Under RCU, takes ownership of nothing. */
void vib_rc_pkt_receive(struct vib_port *port, struct rvt_qp *qp, struct vib_pkt *pkt);

/* udp.c; these two are called with the mutex of topology.c */
struct vib_port *vib_udp_open(unsigned int port, const char *addr, const char *peer_port);
void vib_udp_close(struct vib_port *far);
/* Sends a packet to the other host. Process context. */
void vib_udp_send(struct vib_port *far, struct vib_pkt *pkt);
/* The local end of the link changes: the far end has to follow. vib.lock held. */
void vib_udp_follow(struct vib_port *far);
void vib_udp_debugfs(struct dentry *root);

/* mad.c */
/*
 * Counts a MAD that a node sends, and sets pkt->due and pkt->repeat. Returns true if the MAD is to
 * be dropped.
 */
bool vib_mad_account(struct vib_pkt *pkt);
int vib_process_mad(struct ib_device *ibdev, int flags, u32 num, const struct ib_wc *wc,
		    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index);
void vib_mad_debugfs(struct dentry *dir);

/* mad_fuzz.c */
/* Both are called by mad.c under its lock. */
/* Is the MAD to be lost, at random? */
bool vib_fuzz_mad_lose(const struct vib_pkt *pkt);
/* Changes a MAD at random, and sets pkt->due and pkt->repeat. */
void vib_fuzz_mad(struct vib_pkt *pkt);
void vib_fuzz_debugfs(struct dentry *dir);

/* debugfs.c */
void vib_debugfs_init(unsigned int nodes);
void vib_debugfs_exit(void);

#endif
