// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Port spaces: who holds which port, per network namespace.
 *
 * The owners of a port are in the hashed bucket of its number, among those of
 * other ports, and its bit is set in the bitmap. Both change under the lock of
 * the bucket, which also protects the addresses of the owners against each
 * other's checks. Looking for a free port reads the bitmap without a lock, as a
 * hint.
 */
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/hash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "port.h"
#include "portmap.h"
#include "sockaddr.h"
#include "wire.h"

#define PORTS 65536
#define BUCKET_BITS 10

struct bucket {
	spinlock_t lock;	/* protects owners and their addresses */
	struct hlist_head owners;
};

/**
 * struct cmx_space - one port space of one namespace, made on first use
 * @used: the ports held
 * @bucket: hash table of the ports held
 */
struct cmx_space {
	DECLARE_BITMAP(used, PORTS);
	struct bucket bucket[1 << BUCKET_BITS];
};

enum { SPACE_TCP, SPACE_UDP, SPACE_IPOIB, SPACE_IB, SPACE_NUM };

struct cmx_port_net {
	struct cmx_space *space[SPACE_NUM];
};

static unsigned int cmx_port_net_id;

static int space_index(enum rdma_ucm_port_space ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return SPACE_TCP;
	case RDMA_PS_UDP:
		return SPACE_UDP;
	case RDMA_PS_IPOIB:
		return SPACE_IPOIB;
	case RDMA_PS_IB:
		return SPACE_IB;
	default:
		return -EPROTONOSUPPORT;
	}
}

static struct cmx_space **space_slot(struct net *net, enum rdma_ucm_port_space ps)
{
	struct cmx_port_net *pn = net_generic(net, cmx_port_net_id);
	int i = space_index(ps);

	return i < 0 ? NULL : &pn->space[i];
}

static struct cmx_space *space_get(struct net *net, enum rdma_ucm_port_space ps)
{
	struct cmx_space **slot = space_slot(net, ps);
	struct cmx_space *space, *other;
	int i;

	if (!slot)
		return ERR_PTR(-EPROTONOSUPPORT);
	/* pairs with cmpxchg() below */
	space = smp_load_acquire(slot);
	if (space)
		return space;

	space = kvzalloc(sizeof(*space), GFP_KERNEL_ACCOUNT);
	if (!space)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < ARRAY_SIZE(space->bucket); i++)
		spin_lock_init(&space->bucket[i].lock);

	other = cmpxchg(slot, NULL, space);
	if (!other)
		return space;
	kvfree(space);
	return other;
}

/* That of an AF_IB address is in its service ID. */
static enum rdma_ucm_port_space port_space(struct cmx_priv *p)
{
	if (cmx_src(p)->sa_family == AF_IB)
		return cmx_service_id_ps(cmx_service_id(p->id.ps, cmx_src(p)));
	return p->id.ps;
}

static struct bucket *bucket_of(struct cmx_space *space, u16 port)
{
	return &space->bucket[hash_32(port, BUCKET_BITS)];
}

static struct bucket *bucket_of_id(const struct cmx_priv *p)
{
	return bucket_of(p->space, p->port);
}

/* The first owner of a port from a place in its bucket on; the bucket's lock is held. */
static struct cmx_priv *owner_from(struct hlist_node *node, u16 port)
{
	struct cmx_priv *p = hlist_entry_safe(node, struct cmx_priv, bind_node);

	hlist_for_each_entry_from(p, bind_node)
		if (p->port == port)
			return p;
	return NULL;
}

static struct cmx_priv *first_owner(const struct bucket *b, u16 port)
{
	return owner_from(b->owners.first, port);
}

static struct cmx_priv *next_owner(const struct cmx_priv *p)
{
	return owner_from(p->bind_node.next, p->port);
}

static void claim_of(struct cmx_claim *claim, const struct cmx_priv *p)
{
	claim->src = cmx_src(p);
	claim->dst = cmx_dst(p);
	claim->reuse = READ_ONCE(p->opt.reuseaddr);
	claim->afonly = READ_ONCE(p->opt.afonly);
	claim->listening = READ_ONCE(p->state) == CMX_LISTEN;
}

typedef int (*conflict_fn)(const struct cmx_claim *have, const struct cmx_claim *want);

/* The bucket's lock is held; p may be one of the owners. */
static int check_owners(struct bucket *b, u16 port, const struct cmx_priv *p,
			const struct cmx_claim *want, conflict_fn conflict)
{
	const struct cmx_priv *owner;
	struct cmx_claim have;
	int ret;

	for (owner = first_owner(b, port); owner; owner = next_owner(owner)) {
		if (owner == p)
			continue;
		claim_of(&have, owner);
		ret = conflict(&have, want);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Makes p an owner of a port if its present owners don't mind: @conflict says,
 * NULL is for those who want a port of their own.
 */
static int take(struct cmx_priv *p, struct cmx_space *space, u16 port, conflict_fn conflict)
{
	struct bucket *b = bucket_of(space, port);
	struct cmx_claim want;
	int ret = 0;

	spin_lock(&b->lock);
	if (!test_bit(port, space->used)) {
		set_bit(port, space->used);
	} else if (conflict) {
		claim_of(&want, p);
		ret = check_owners(b, port, p, &want, conflict);
	} else {
		ret = -EADDRNOTAVAIL;
	}
	if (!ret) {
		cmx_addr_set_port(cmx_src(p), htons(port));
		hlist_add_head(&p->bind_node, &b->owners);
		p->space = space;
		p->port = port;
	}
	spin_unlock(&b->lock);
	return ret;
}

/* A free port, from a random place in the range on. */
static int take_free(struct cmx_priv *p, struct cmx_space *space, unsigned int low,
		     unsigned int high)
{
	unsigned int start = low + get_random_u16() % (high - low + 1);
	unsigned int from = start, to = high + 1;
	unsigned int port;

	for (;;) {
		port = find_next_zero_bit(space->used, to, from);
		if (port < to) {
			if (!take(p, space, port, NULL))
				return 0;
			from = port + 1;	/* somebody was faster */
			continue;
		}
		if (to == start)
			return -EADDRNOTAVAIL;
		from = low;
		to = start;
	}
}

/* All ports are held: one whose owners can be told from p by their peers. */
static int take_shared(struct cmx_priv *p, struct cmx_space *space, unsigned int low,
		       unsigned int high)
{
	unsigned int num = high - low + 1;
	unsigned int start = get_random_u32() % num;
	unsigned int i;

	for (i = 0; i < num; i++) {
		if (!take(p, space, low + (start + i) % num, cmx_portmap_share))
			return 0;
		cond_resched();
	}
	return -EADDRNOTAVAIL;
}

static int take_any(struct cmx_priv *p, struct cmx_space *space)
{
	int low, high;
	int ret;

	inet_get_local_port_range(cmx_net(p), &low, &high);
	/* who made the namespace says where its range begins */
	if (low < PROT_SOCK && !capable(CAP_NET_BIND_SERVICE))
		low = PROT_SOCK;
	if (low > high)
		return -EADDRNOTAVAIL;
	ret = take_free(p, space, low, high);
	if (ret)
		ret = take_shared(p, space, low, high);
	return ret;
}

/**
 * cmx_port_claim() - take the port of an id's source address
 * @p: the id; its lock is held, its source address is set, it holds no port
 *
 * Port 0 chooses one of net.ipv4.ip_local_port_range, from 1024 on for who may
 * not have those below, and writes it to the source address. If all of them are
 * held one is shared with ids that have another local address or another peer.
 *
 * Return: 0, -EACCES for a port below 1024, -EADDRINUSE or -EADDRNOTAVAIL as
 * cmx_portmap_conflict() and cmx_portmap_share() say, -EPROTONOSUPPORT for an
 * unknown port space, -ENOMEM.
 */
int cmx_port_claim(struct cmx_priv *p)
{
	u16 port = ntohs(cmx_addr_port(cmx_src(p)));
	struct cmx_space *space;

	lockdep_assert_held(&p->lock);
	if (WARN_ON_ONCE(p->space))
		return -EINVAL;
	/* ports are service IDs of devices, which no namespace has to itself */
	if (port && port < PROT_SOCK && !capable(CAP_NET_BIND_SERVICE))
		return -EACCES;

	space = space_get(cmx_net(p), port_space(p));
	if (IS_ERR(space))
		return PTR_ERR(space);
	return port ? take(p, space, port, cmx_portmap_conflict) : take_any(p, space);
}

/**
 * cmx_port_release() - give the port back
 * @p: the id; its lock is held. Nothing to do when it holds none
 */
void cmx_port_release(struct cmx_priv *p)
{
	struct bucket *b;

	lockdep_assert_held(&p->lock);
	if (!p->space)
		return;

	b = bucket_of_id(p);
	spin_lock(&b->lock);
	hlist_del(&p->bind_node);
	if (!first_owner(b, p->port))
		clear_bit(p->port, p->space->used);
	p->space = NULL;
	spin_unlock(&b->lock);
}

/**
 * cmx_port_recheck() - check an owner of a port against the others once more
 * @p: the id; its lock is held. Nothing to do when it holds no port
 *
 * For each change that can bring the id into conflict: of AFONLY, REUSEADDR, its
 * peer's address, or to CMX_LISTEN. The caller stores the change first, so that
 * of two ids that change at the same time at least one sees the other, and
 * takes it back on error.
 *
 * Return: 0, -EADDRINUSE or -EADDRNOTAVAIL.
 */
int cmx_port_recheck(struct cmx_priv *p)
{
	struct cmx_claim want;
	struct bucket *b;
	int ret;

	lockdep_assert_held(&p->lock);
	if (!p->space)
		return 0;
	claim_of(&want, p);
	b = bucket_of_id(p);
	spin_lock(&b->lock);
	ret = check_owners(b, p->port, p, &want, cmx_portmap_coexist);
	spin_unlock(&b->lock);
	return ret;
}

static void set_addr(struct cmx_priv *p, const struct sockaddr *src, const struct sockaddr *dst)
{
	if (src)
		memcpy(cmx_src(p), src, cmx_addr_size(src));
	if (dst)
		memcpy(cmx_dst(p), dst, cmx_addr_size(dst));
}

/**
 * cmx_port_set_addr() - change the addresses of an id that may hold a port
 * @p: the id; its lock is held
 * @src: new source address, with the same port; or NULL
 * @dst: new destination address; or NULL
 */
void cmx_port_set_addr(struct cmx_priv *p, const struct sockaddr *src, const struct sockaddr *dst)
{
	struct bucket *b;

	lockdep_assert_held(&p->lock);
	if (!p->space) {
		set_addr(p, src, dst);
		return;
	}
	b = bucket_of_id(p);
	spin_lock(&b->lock);
	set_addr(p, src, dst);
	spin_unlock(&b->lock);
}

/**
 * cmx_port_find() - find who listens on a port
 * @net: network namespace
 * @ps: port space
 * @port: the port
 * @match: asked about each listener, under a spinlock
 * @arg: for @match
 *
 * Return: the first that matches, with a reference, or NULL.
 */
struct cmx_priv *cmx_port_find(struct net *net, enum rdma_ucm_port_space ps, __be16 port,
			       bool (*match)(struct cmx_priv *p, void *arg), void *arg)
{
	struct cmx_space **slot = space_slot(net, ps);
	struct cmx_priv *p, *found = NULL;
	struct cmx_space *space;
	struct bucket *b;

	/* pairs with cmpxchg() in space_get() */
	space = slot ? smp_load_acquire(slot) : NULL;
	if (!space)
		return NULL;

	b = bucket_of(space, ntohs(port));
	spin_lock(&b->lock);
	for (p = first_owner(b, ntohs(port)); p; p = next_owner(p)) {
		if (READ_ONCE(p->state) == CMX_LISTEN && match(p, arg) && cmx_id_tryget(p)) {
			found = p;
			break;
		}
	}
	spin_unlock(&b->lock);
	return found;
}

/* Each id has a reference to its namespace: none is left. */
static void __net_exit port_net_exit(struct net *net)
{
	struct cmx_port_net *pn = net_generic(net, cmx_port_net_id);
	int i;

	for (i = 0; i < SPACE_NUM; i++) {
		WARN_ON_ONCE(pn->space[i] && !bitmap_empty(pn->space[i]->used, PORTS));
		kvfree(pn->space[i]);
	}
}

static struct pernet_operations port_net_ops = {
	.exit = port_net_exit,
	.id = &cmx_port_net_id,
	.size = sizeof(struct cmx_port_net),
};

int cmx_port_init_module(void)
{
	return register_pernet_subsys(&port_net_ops);
}

void cmx_port_exit_module(void)
{
	unregister_pernet_subsys(&port_net_ops);
}
