// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A ULP over <rdma/cmx.h>, as an example and for tests. A command is written to
 * /sys/kernel/debug/cmx_ulp/run and has ended when write() returns; the file "result" has its
 * output. The command runs in the network namespace of the writer.
 *
 *	serve ADDR PORT [NODE_TYPE]	take connections, on devices of that node type
 *	ping ADDR PORT COUNT		RDMA write, RDMA read and send, COUNT times
 *	storm ADDR PORT COUNT		start COUNT connections and keep them
 *	echo ADDR GROUP OTHER COUNT	two ids exchange messages over a multicast group, then
 *				one of them uses the other address of the group
 *	break HOW SIDE EVENT ADDR PORT	an id is destroyed at an event, see break.c
 *	hold ADDR PORT			a listener stays locked until a signal comes
 *	lock ADDR PORT			the handler of a listener is locked until a signal comes
 *	stall ADDR PORT			the handlers of many ids wait for a signal
 *	delay INTERFACE CALL		a call of an iWARP provider waits for a signal, see delay.c
 *	reject HOW REASON LEN ADDR PORT	a request is rejected, see reject.c
 *	refuse ADDR PORT		requests are rejected with the reason 0 until a signal comes
 *	restrict ADDR PORT		ids for devices of one node type
 *	gids ADDR PORT			the GIDs of an id and of its peer
 *	leave ADDR GROUP		a group is left before the event of the join is handled
 *	states FUNCTION ADDR PORT SILENT MISSING	a function in each state of an id
 *	request6 ADDR PORT		a REQ over IPv4 whose CMA header is for IPv6, see wire.c
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "cmx_ulp.h"

unsigned int ulp_timeout_ms = 10000;
module_param_named(timeout_ms, ulp_timeout_ms, uint, 0644);
MODULE_PARM_DESC(timeout_ms, "how long to wait for the peer (10000)");

static const struct command {
	const char *name;
	int words;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "serve", 3, ulp_serve },
	{ "serve", 4, ulp_serve },
	{ "ping", 4, ulp_ping },
	{ "storm", 4, ulp_storm },
	{ "echo", 5, ulp_echo },
	{ "break", 6, ulp_break },
	{ "hold", 3, ulp_hold },
	{ "lock", 3, ulp_lock },
	{ "stall", 3, ulp_stall },
	{ "delay", 3, ulp_delay },
	{ "reject", 6, ulp_reject },
	{ "refuse", 3, ulp_refuse },
	{ "restrict", 3, ulp_restrict },
	{ "gids", 3, ulp_gids },
	{ "leave", 3, ulp_leave },
	{ "states", 6, ulp_states },
	{ "request6", 3, ulp_request6 },
};

static struct dentry *dir;
static DEFINE_SPINLOCK(said_lock);	/* protects said */
static char said[2048];

void ulp_print(const char *fmt, ...)
{
	size_t len;
	va_list args;

	spin_lock(&said_lock);
	len = strlen(said);
	va_start(args, fmt);
	vsnprintf(said + len, sizeof(said) - len, fmt, args);
	va_end(args);
	spin_unlock(&said_lock);
}

int ulp_addr_parse(const char *host, const char *port, struct sockaddr_storage *addr)
{
	memset(addr, 0, sizeof(*addr));
	return inet_pton_with_scope(ulp_net(), AF_UNSPEC, host, port, addr);
}

int ulp_event_ignore(struct cmx_id *id, struct rdma_cm_event *event)
{
	return 0;
}

/* Parses the address of the command and creates an id. Returns the id or an ERR_PTR. */
struct cmx_id *ulp_id_create(char **argv, struct sockaddr_storage *addr, cmx_event_handler handler,
			     void *context)
{
	int ret = ulp_addr_parse(argv[1], argv[2], addr);

	return ret ? ERR_PTR(ret) : cmx_create_id(ulp_net(), handler, context, RDMA_PS_TCP, IB_QPT_RC);
}

/* The same, and binds the id to the address. */
struct cmx_id *ulp_id_create_bound(char **argv, cmx_event_handler handler)
{
	struct sockaddr_storage addr;
	struct cmx_id *id = ulp_id_create(argv, &addr, handler, NULL);
	int ret;

	if (IS_ERR(id))
		return id;
	ret = cmx_bind_addr(id, (struct sockaddr *)&addr);
	if (!ret)
		return id;
	cmx_destroy_id(id);
	return ERR_PTR(ret);
}

static int command_run(char *line)
{
	int i, argc, ret = -EINVAL;
	char **argv = argv_split(GFP_KERNEL, line, &argc);

	if (!argv)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (argc == commands[i].words && !strcmp(argv[0], commands[i].name))
			ret = commands[i].run(argc, argv);
	argv_free(argv);
	return ret;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char *line = memdup_user_nul(from, min_t(size_t, len, 256));
	int ret;

	if (IS_ERR(line))
		return PTR_ERR(line);
	spin_lock(&said_lock);
	said[0] = 0;
	spin_unlock(&said_lock);
	ret = command_run(line);
	kfree(line);
	return ret ?: len;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.write = run_write,
};

static int result_show(struct seq_file *s, void *unused)
{
	seq_puts(s, said);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int __init cmx_ulp_init(void)
{
	dir = debugfs_create_dir("cmx_ulp", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("result", 0400, dir, NULL, &result_fops);
	return 0;
}

static void __exit cmx_ulp_exit(void)
{
	debugfs_remove_recursive(dir);
	ulp_ping_exit();
}

module_init(cmx_ulp_init);
module_exit(cmx_ulp_exit);
MODULE_DESCRIPTION("Test ULP of rdma_cmx");
MODULE_LICENSE("Dual BSD/GPL");
