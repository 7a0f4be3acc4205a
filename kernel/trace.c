// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define CREATE_TRACE_POINTS
#include "trace.h"
#include "channel.h"
#include "ulp.h"

/**
 * cmx_trace_owner() - get the process or the module that an id belongs to
 * @id_priv: the id
 * @comm: receives the name of the process or of the module, TASK_COMM_LEN bytes; empty: not known
 *
 * Context: Caller must hold id_priv->lock.
 * Return: the process in the initial PID namespace; 0: not known, or a module.
 */
pid_t cmx_trace_owner(struct cmx_id_private *id_priv, char *comm)
{
	const struct cmx_channel *channel;
	struct task_struct *task;
	pid_t pid = 0;

	memset(comm, 0, TASK_COMM_LEN);
	if (!id_priv->user) {
		strscpy(comm, cmx_ulp_owner(id_priv) ?: "", TASK_COMM_LEN);
		return 0;
	}
	rcu_read_lock();
	channel = READ_ONCE(to_user_id(id_priv)->channel);
	task = channel ? cmx_channel_process(channel) : NULL;
	if (task) {
		pid = task_tgid_nr(task);
		/* the process may change its name meanwhile; the last byte stays 0 */
		data_race(memcpy(comm, task->comm, TASK_COMM_LEN));
	}
	rcu_read_unlock();
	return pid;
}
