// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Port spaces: which ids own which ports, per network namespace.
 *
 * The port number is hashed to a bucket, whose list has the owners of all its ports. The hash has a
 * random seed: a user may have thousands of ids on a port, and should not be able to choose one
 * that is in the bucket of a certain listener. A bitmap has the ports in use. List and bits change
 * under the lock of the bucket. That lock also protects the addresses of the owners, which conflict
 * checks of other ids read. The search for a free port reads the bitmap without a lock and rechecks
 * the result under the lock.
 */
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "port_space.h"
#include "port_conflict.h"
#include "sockaddr.h"
#include "cma_hdr.h"

#define PORTS 65536

struct port_bucket {
	spinlock_t lock;	/* protects owners and their addresses */
	struct hlist_head owners;
};

/**
 * struct cmx_port_space - one port space of one network namespace, allocated on first use
 * @used: the ports in use
 * @seed: seed of the hash
 * @bucket: owners of ports, hashed by the port
 */
struct cmx_port_space {
	DECLARE_BITMAP(used, PORTS);
	u32 seed;
	struct port_bucket bucket[1024];
};

static const enum rdma_ucm_port_space port_spaces[] = {
	RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB
};

/* The port spaces of a network namespace, in the order of port_spaces */
struct cmx_port_net {
	struct cmx_port_space *space[ARRAY_SIZE(port_spaces)];
};

static unsigned int cmx_port_net_id;

static struct cmx_port_space **port_space_slot(struct net *net, enum rdma_ucm_port_space ps)
{
	struct cmx_port_net *pn = net_generic(net, cmx_port_net_id);
	int i;

	for (i = 0; i < ARRAY_SIZE(port_spaces); i++)
		if (port_spaces[i] == ps)
			return &pn->space[i];
	return NULL;
}

static struct cmx_port_space *port_space_get(struct net *net, enum rdma_ucm_port_space ps)
{
	struct cmx_port_space **slot = port_space_slot(net, ps);
	struct cmx_port_space *space, *other;
	int i;

	if (!slot)
		return ERR_PTR(-EPROTONOSUPPORT);
	/* Pairs with cmpxchg() below. */
	space = smp_load_acquire(slot);
	if (space)
		return space;

	space = kvzalloc(sizeof(*space), GFP_KERNEL_ACCOUNT);
	if (!space)
		return ERR_PTR(-ENOMEM);
	space->seed = get_random_u32();
	for (i = 0; i < ARRAY_SIZE(space->bucket); i++)
		spin_lock_init(&space->bucket[i].lock);

	other = cmpxchg(slot, NULL, space);
	if (!other)
		return space;
	kvfree(space);
	return other;
}

/* The service ID of an AF_IB address contains its port space. */
static enum rdma_ucm_port_space port_space_of_id(struct cmx_id_private *id_priv)
{
	if (cmx_src(id_priv)->sa_family == AF_IB)
		return cmx_service_id_ps(cmx_service_id(id_priv->id.ps, cmx_src(id_priv)));
	return id_priv->id.ps;
}

static struct port_bucket *port_bucket_of(struct cmx_port_space *space, u16 port)
{
	return &space->bucket[jhash_1word(port, space->seed) % ARRAY_SIZE(space->bucket)];
}

static struct port_bucket *port_bucket_of_id(const struct cmx_id_private *id_priv)
{
	return port_bucket_of(id_priv->space, id_priv->port);
}

/* Caller must hold the lock of the bucket. */
static bool port_has_owner(const struct port_bucket *b, u16 port)
{
	const struct cmx_id_private *id_priv;

	hlist_for_each_entry(id_priv, &b->owners, bind_node)
		if (id_priv->port == port)
			return true;
	return false;
}

static void bind_key_init(struct cmx_bind_key *key, const struct cmx_id_private *id_priv)
{
	key->src = cmx_src(id_priv);
	key->dst = cmx_dst(id_priv);
	key->bind_device = id_priv->opt.bind_device;
	key->reuse = READ_ONCE(id_priv->opt.reuseaddr);
	key->afonly = READ_ONCE(id_priv->opt.afonly);
	key->listening = READ_ONCE(id_priv->state) == CMX_LISTEN;
}

typedef int (*conflict_fn)(const struct cmx_bind_key *have, const struct cmx_bind_key *want);

/* Maximum number of owners of a port. Each request to the port searches them under a spinlock. */
#define MAX_OWNERS 1024

/*
 * Check @want against all owners of @port but @id_priv, of which there may be @max. Caller must
 * hold the lock of the bucket.
 */
static int port_owners_check(struct port_bucket *b, u16 port, unsigned int max,
			     const struct cmx_id_private *id_priv,
			     const struct cmx_bind_key *want, conflict_fn conflict)
{
	const struct cmx_id_private *owner;
	struct cmx_bind_key have;
	unsigned int n = 0;
	int ret;

	hlist_for_each_entry(owner, &b->owners, bind_node) {
		if (owner->port != port || owner == id_priv)
			continue;
		if (++n >= max)
			return -EADDRINUSE;
		bind_key_init(&have, owner);
		ret = conflict(&have, want);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Make @id_priv an owner of @port. @conflict decides whether @id_priv can share a port that has
 * owners already; if it is NULL, such a port is refused.
 */
static int port_reserve(struct cmx_id_private *id_priv, struct cmx_port_space *space, u16 port,
			conflict_fn conflict)
{
	struct port_bucket *b = port_bucket_of(space, port);
	struct cmx_bind_key want;
	int ret = 0;

	spin_lock(&b->lock);
	if (!test_bit(port, space->used)) {
		set_bit(port, space->used);
	} else if (conflict) {
		bind_key_init(&want, id_priv);
		ret = port_owners_check(b, port, MAX_OWNERS, id_priv, &want, conflict);
	} else {
		ret = -EADDRNOTAVAIL;
	}
	if (!ret) {
		cmx_addr_set_port(cmx_src(id_priv), htons(port));
		hlist_add_head(&id_priv->bind_node, &b->owners);
		id_priv->space = space;
		id_priv->port = port;
	}
	spin_unlock(&b->lock);
	return ret;
}

/* Reserve a free port. The search starts at a random place in the range. */
static int port_reserve_free(struct cmx_id_private *id_priv, struct cmx_port_space *space,
			     unsigned int low, unsigned int high)
{
	unsigned int start = low + get_random_u32() % (high - low + 1);
	unsigned int from = start, to = high + 1;
	unsigned int port;

	for (;;) {
		port = find_next_zero_bit(space->used, to, from);
		if (port < to) {
			if (!port_reserve(id_priv, space, port, NULL))
				return 0;
			from = port + 1;	/* another id has taken it meanwhile */
			continue;
		}
		if (to == start)
			return -EADDRNOTAVAIL;
		from = low;
		to = start;
	}
}

/* All ports are in use: share one whose owners have another local address or another peer. */
static int port_reserve_shared(struct cmx_id_private *id_priv, struct cmx_port_space *space,
			       unsigned int low, unsigned int high)
{
	unsigned int num = high - low + 1;
	unsigned int start = get_random_u32() % num;
	unsigned int i;

	for (i = 0; i < num; i++) {
		if (!port_reserve(id_priv, space, low + (start + i) % num, cmx_port_check_share))
			return 0;
		cond_resched();
	}
	return -EADDRNOTAVAIL;
}

static int port_reserve_any(struct cmx_id_private *id_priv, struct cmx_port_space *space)
{
	int low, high;
	int ret;

	inet_get_local_port_range(cmx_net(id_priv), &low, &high);
	/* The owner of the network namespace can set a range that begins below 1024. */
	if (low < PROT_SOCK && !capable(CAP_NET_BIND_SERVICE))
		low = PROT_SOCK;
	if (low > high)
		return -EADDRNOTAVAIL;
	ret = port_reserve_free(id_priv, space, low, high);
	if (ret)
		ret = port_reserve_shared(id_priv, space, low, high);
	return ret;
}

/**
 * cmx_port_reserve() - reserve the port of an id's source address
 * @id_priv: the id; its source address is set and it owns no port. Caller must hold its lock
 *
 * For port 0 the function chooses a port in net.ipv4.ip_local_port_range and writes it to the
 * source address. Ports below 1024 are chosen only for a caller with CAP_NET_BIND_SERVICE. If all
 * ports of the range are in use, the id shares one with ids that have another local address or
 * another peer. A port has 1,024 owners at most.
 *
 * Return: 0; -EACCES for a port below 1024 without CAP_NET_BIND_SERVICE; -EADDRINUSE or
 * -EADDRNOTAVAIL as from cmx_port_check_conflict() and cmx_port_check_share(); -EPROTONOSUPPORT
 * for an unknown port space; -EINVAL if the id owns a port already; -ENOMEM.
 */
int cmx_port_reserve(struct cmx_id_private *id_priv)
{
	u16 port = ntohs(cmx_addr_port(cmx_src(id_priv)));
	struct cmx_port_space *space;

	lockdep_assert_held(&id_priv->lock);
	if (WARN_ON_ONCE(id_priv->space))
		return -EINVAL;
	/* Ports map to service IDs of devices, and those are not per network namespace. */
	if (port && port < PROT_SOCK && !capable(CAP_NET_BIND_SERVICE))
		return -EACCES;

	space = port_space_get(cmx_net(id_priv), port_space_of_id(id_priv));
	if (IS_ERR(space))
		return PTR_ERR(space);
	return port ? port_reserve(id_priv, space, port, cmx_port_check_conflict)
		    : port_reserve_any(id_priv, space);
}

/**
 * cmx_port_release() - release the port of an id
 * @id_priv: the id, which may own no port. Caller must hold its lock
 */
void cmx_port_release(struct cmx_id_private *id_priv)
{
	struct port_bucket *b;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->space)
		return;

	b = port_bucket_of_id(id_priv);
	spin_lock(&b->lock);
	hlist_del(&id_priv->bind_node);
	if (!port_has_owner(b, id_priv->port))
		clear_bit(id_priv->port, id_priv->space->used);
	id_priv->space = NULL;
	spin_unlock(&b->lock);
}

/**
 * cmx_port_recheck() - check an owner of a port for conflicts again
 * @id_priv: the id, which may own no port. Caller must hold its lock
 *
 * The caller changes AFONLY, REUSEADDR, the peer address or the state to CMX_LISTEN first, and
 * reverts the change on error. If two ids change at the same time, at least one of them therefore
 * sees the change of the other.
 *
 * Return: 0, -EADDRINUSE or -EADDRNOTAVAIL. 0 if the id owns no port.
 */
int cmx_port_recheck(struct cmx_id_private *id_priv)
{
	struct cmx_bind_key want;
	struct port_bucket *b;
	int ret;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->space)
		return 0;
	bind_key_init(&want, id_priv);
	b = port_bucket_of_id(id_priv);
	spin_lock(&b->lock);
	ret = port_owners_check(b, id_priv->port, UINT_MAX, id_priv, &want,
				cmx_port_check_coexist);
	spin_unlock(&b->lock);
	return ret;
}

static void port_addr_copy(struct cmx_id_private *id_priv, const struct sockaddr *src,
			   const struct sockaddr *dst)
{
	if (src)
		memcpy(cmx_src(id_priv), src, cmx_addr_size(src));
	if (dst)
		memcpy(cmx_dst(id_priv), dst, cmx_addr_size(dst));
}

/**
 * cmx_port_set_addr() - change the addresses of an id
 * @id_priv: the id, which may own a port. Caller must hold its lock
 * @src: new source address, with the same port; or NULL
 * @dst: new destination address; or NULL
 *
 * While the id owns a port, conflict checks of other ids see either the old or the new addresses.
 */
void cmx_port_set_addr(struct cmx_id_private *id_priv, const struct sockaddr *src,
		       const struct sockaddr *dst)
{
	struct port_bucket *b;

	lockdep_assert_held(&id_priv->lock);
	if (!id_priv->space) {
		port_addr_copy(id_priv, src, dst);
		return;
	}
	b = port_bucket_of_id(id_priv);
	spin_lock(&b->lock);
	port_addr_copy(id_priv, src, dst);
	spin_unlock(&b->lock);
}

/**
 * cmx_port_find_listener() - find a listener on a port
 * @net: network namespace
 * @ps: port space
 * @port: the port
 * @match: called for the listeners on the port, under the spinlock of its bucket
 * @arg: argument of @match
 *
 * Return: the first listener that matches, with a reference, or NULL.
 */
struct cmx_id_private *
cmx_port_find_listener(struct net *net, enum rdma_ucm_port_space ps, __be16 port,
		       bool (*match)(struct cmx_id_private *id_priv, void *arg), void *arg)
{
	struct cmx_port_space **slot = port_space_slot(net, ps);
	struct cmx_id_private *id_priv, *found = NULL;
	struct cmx_port_space *space;
	struct port_bucket *b;

	/* Pairs with cmpxchg() in port_space_get(). */
	space = slot ? smp_load_acquire(slot) : NULL;
	if (!space)
		return NULL;

	b = port_bucket_of(space, ntohs(port));
	spin_lock(&b->lock);
	hlist_for_each_entry(id_priv, &b->owners, bind_node) {
		if (id_priv->port == ntohs(port) && READ_ONCE(id_priv->state) == CMX_LISTEN &&
		    match(id_priv, arg) && cmx_id_tryget(id_priv)) {
			found = id_priv;
			break;
		}
	}
	spin_unlock(&b->lock);
	return found;
}

/* Each id holds a reference to its namespace, so no id is left here. */
static void __net_exit port_net_exit(struct net *net)
{
	struct cmx_port_net *pn = net_generic(net, cmx_port_net_id);
	int i;

	for (i = 0; i < ARRAY_SIZE(pn->space); i++) {
		WARN_ON_ONCE(pn->space[i] && !bitmap_empty(pn->space[i]->used, PORTS));
		kvfree(pn->space[i]);
	}
}

static struct pernet_operations port_net_ops = {
	.exit = port_net_exit,
	.id = &cmx_port_net_id,
	.size = sizeof(struct cmx_port_net),
};

int cmx_port_space_init_module(void)
{
	return register_pernet_subsys(&port_net_ops);
}

void cmx_port_space_exit_module(void)
{
	unregister_pernet_subsys(&port_net_ops);
}
