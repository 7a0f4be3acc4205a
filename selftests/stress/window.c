// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes it possible to destroy an id while ib_cm reports that its REQ was not answered.
 *
 * cm_process_send_error() drops the reference of the MAD, unlocks the ib_cm id and only then calls
 * the handler. ib_destroy_cm_id() on another processor does not wait for that handler. Without this
 * module the race is a few instructions wide. With it, ib_cm pauses twice:
 *
 * - while it holds the lock of the ib_cm id, so that ib_destroy_cm_id() waits for that lock
 * - after the unlock and before the handler, so that ib_destroy_cm_id() ends and the id is freed
 *
 * The first pause is a probe of the tracepoint icm_mad_send_err. The second one is an interrupt
 * that the probe raises: the processor takes it as soon as the unlock enables interrupts. Neither
 * ib_cm nor rdma_cmx is changed.
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>

static unsigned int pause_ms = 50;
module_param(pause_ms, uint, 0444);
MODULE_PARM_DESC(pause_ms, "how long ib_cm pauses, with its lock and again without (50)");

static unsigned int reported;
module_param(reported, uint, 0444);
MODULE_PARM_DESC(reported, "REQs that nobody has answered, counted when the first pause begins");

static unsigned int destroyed;
module_param(destroyed, uint, 0444);
MODULE_PARM_DESC(destroyed, "works of rdma_cmx that ended in a second pause");

static bool unlocked;	/* the second pause */

static void window_irq(struct irq_work *work)
{
	WRITE_ONCE(unlocked, true);
	mdelay(pause_ms);
	WRITE_ONCE(unlocked, false);
}

static struct irq_work window_irq_work = IRQ_WORK_INIT_HARD(window_irq);

static void probe_send_error(void *data, enum ib_cm_state state, enum ib_wc_status status)
{
	if (state != IB_CM_REQ_SENT)
		return;
	WRITE_ONCE(reported, reported + 1);
	irq_work_queue(&window_irq_work);
	mdelay(pause_ms);
}

/* rdma_cmx destroys its ib_cm ids in work items. */
static void probe_work_end(void *data, struct work_struct *work, work_func_t function)
{
	char name[KSYM_SYMBOL_LEN];

	if (!READ_ONCE(unlocked))
		return;
	snprintf(name, sizeof(name), "%ps", function);
	if (strstr(name, "[rdma_cmx]"))
		WRITE_ONCE(destroyed, destroyed + 1);
}

static struct window_probe {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} probes[] = {
	{ "icm_mad_send_err", probe_send_error },
	{ "workqueue_execute_end", probe_work_end },
};

static void probe_match(struct tracepoint *tp, void *data)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

/* Called for each module that is loaded. */
static int probe_match_module(struct notifier_block *nb, unsigned long action, void *data)
{
	struct tp_module *tp_mod = data;
	unsigned int i;

	for (i = 0; i < tp_mod->mod->num_tracepoints; i++)
		probe_match(tracepoint_ptr_deref(&tp_mod->mod->tracepoints_ptrs[i]), NULL);
	return NOTIFY_OK;
}

static struct notifier_block module_nb = { .notifier_call = probe_match_module };

static void probe_unregister_all(size_t n)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tp, probes[n].probe, NULL);
	tracepoint_synchronize_unregister();
	irq_work_sync(&window_irq_work);
}

static int __init window_init(void)
{
	size_t i;
	int ret;

	for_each_kernel_tracepoint(probe_match, NULL);
	ret = register_tracepoint_module_notifier(&module_nb);
	if (ret)
		return ret;
	unregister_tracepoint_module_notifier(&module_nb);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = -ENOENT;
		if (probes[i].tp)
			ret = tracepoint_probe_register(probes[i].tp, probes[i].probe, NULL);
		if (ret) {
			probe_unregister_all(i);
			return ret;
		}
	}
	return 0;
}
module_init(window_init);

static void __exit window_exit(void)
{
	probe_unregister_all(ARRAY_SIZE(probes));
}
module_exit(window_exit);

MODULE_DESCRIPTION("Widens a race of ib_cm, for a test");
MODULE_LICENSE("Dual BSD/GPL");
