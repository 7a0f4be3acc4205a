/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints in /sys/kernel/tracing/events/rdma_cmx. Each line shows the same value for an id as
 * cmx show -d does.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdma_cmx

#if !defined(CMX_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CMX_TRACE_H

#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>
#include "compat.h"
#include "id.h"
#include "mcast.h"

pid_t cmx_trace_owner(struct cmx_id_private *id_priv, char *comm);

#define cmx_trace_event_name(type)							\
	__print_symbolic(type, RDMA_CM_EVENT_LIST,					\
		{ CMX_EVENT_ADDRINFO_RESOLVED, "ADDRINFO_RESOLVED" },			\
		{ CMX_EVENT_ADDRINFO_ERROR, "ADDRINFO_ERROR" },				\
		{ CMX_EVENT_USER, "USER" })

#define cmx_trace_assign_id(id_priv)								\
	do {										\
		const struct cmx_id_private *__p = (id_priv);					\
											\
		__entry->id = __p;							\
		memcpy(__entry->src, cmx_src(__p), sizeof(struct sockaddr_in6));	\
		memcpy(__entry->dst, cmx_dst(__p), sizeof(struct sockaddr_in6));	\
	} while (0)

#define cmx_trace_assign_device(ibdev)								\
	strscpy(__entry->device, (ibdev) ? dev_name(&(ibdev)->dev) : "-", IB_DEVICE_NAME_MAX)

DECLARE_EVENT_CLASS(cmx_move,
		    TP_PROTO(const struct cmx_id_private *id_priv, const char *from,
			     const char *to),
		    TP_ARGS(id_priv, from, to),
		    TP_STRUCT__entry(__field(const void *, id)
				     __array(u8, src, sizeof(struct sockaddr_in6))
				     __array(u8, dst, sizeof(struct sockaddr_in6))
				     __string(from, from)
				     __string(to, to)),
		    TP_fast_assign(cmx_trace_assign_id(id_priv);
				   cmx_assign_str(from, from);
				   cmx_assign_str(to, to);),
		    TP_printk("id=%p %pISpc > %pISpc %s -> %s",
			      __entry->id, __entry->src, __entry->dst,
			      __get_str(from), __get_str(to))
);

DEFINE_EVENT(cmx_move, cmx_state,
	     TP_PROTO(const struct cmx_id_private *id_priv, const char *from, const char *to),
	     TP_ARGS(id_priv, from, to));

DEFINE_EVENT(cmx_move, cmx_ib_state,
	     TP_PROTO(const struct cmx_id_private *id_priv, const char *from, const char *to),
	     TP_ARGS(id_priv, from, to));

TRACE_EVENT(cmx_event,
	    TP_PROTO(struct cmx_id_private *id_priv, enum rdma_cm_event_type type, int status),
	    TP_ARGS(id_priv, type, status),
	    TP_STRUCT__entry(__field(const void *, id)
			     __array(u8, src, sizeof(struct sockaddr_in6))
			     __array(u8, dst, sizeof(struct sockaddr_in6))
			     __field(u32, type)
			     __field(int, status)
			     __array(char, comm, TASK_COMM_LEN)
			     __field(pid_t, pid)),
	    TP_fast_assign(cmx_trace_assign_id(id_priv);
			   __entry->type = type;
			   __entry->status = status;
			   __entry->pid = cmx_trace_owner(id_priv, __entry->comm);),
	    TP_printk("id=%p %pISpc > %pISpc %s status=%d comm=%s pid=%d", __entry->id,
		      __entry->src, __entry->dst, cmx_trace_event_name(__entry->type),
		      __entry->status, __entry->comm, __entry->pid)
);

TRACE_EVENT(cmx_cm_send,
	    TP_PROTO(const struct cmx_id_private *id_priv, const char *msg, int ret),
	    TP_ARGS(id_priv, msg, ret),
	    TP_STRUCT__entry(__field(const void *, id)
			     __array(u8, src, sizeof(struct sockaddr_in6))
			     __array(u8, dst, sizeof(struct sockaddr_in6))
			     __string(msg, msg)
			     __field(int, ret)),
	    TP_fast_assign(cmx_trace_assign_id(id_priv);
			   cmx_assign_str(msg, msg);
			   __entry->ret = ret;),
	    TP_printk("id=%p %pISpc > %pISpc %s ret=%d",
		      __entry->id, __entry->src, __entry->dst,
		      __get_str(msg), __entry->ret)
);

/*
 * Reasons for which an incoming connection or datagram request is refused. The transports use each
 * errno for one reason only.
 */
#define cmx_trace_refusal_name(ret)							\
	__print_symbolic(-(ret),							\
		{ ECONNREFUSED, "no-listener" },					\
		{ EADDRNOTAVAIL, "no-listener-on-address" },				\
		{ EAGAIN, "backlog-full" },						\
		{ EDQUOT, "quota" },							\
		{ EINVAL, "bad-private-data" },						\
		{ EAFNOSUPPORT, "bad-private-data" },					\
		{ ENODEV, "no-interface" },						\
		{ ENOENT, "no-gid" },							\
		{ EHOSTUNREACH, "no-route" },						\
		{ ECONNABORTED, "listener-closing" },					\
		{ EOPNOTSUPP, "ece-required" },						\
		{ EPROTONOSUPPORT, "ipoib-over-roce" },					\
		{ ENOMEM, "no-memory" })

TRACE_EVENT(cmx_req_refused,
	    TP_PROTO(const struct ib_device *device, u32 port, const struct sockaddr_storage *peer,
		     const struct sockaddr_storage *local, const union ib_gid *gid, int ret),
	    TP_ARGS(device, port, peer, local, gid, ret),
	    TP_STRUCT__entry(__array(char, device, IB_DEVICE_NAME_MAX)
			     __field(u32, port)
			     __array(u8, peer, sizeof(struct sockaddr_in6))
			     __array(u8, local, sizeof(struct sockaddr_in6))
			     __array(u8, gid, sizeof(union ib_gid))
			     __field(int, ret)),
	    TP_fast_assign(cmx_trace_assign_device(device);
			   __entry->port = port;
			   memcpy(__entry->peer, peer, sizeof(struct sockaddr_in6));
			   memcpy(__entry->local, local, sizeof(struct sockaddr_in6));
			   memcpy(__entry->gid, gid, sizeof(union ib_gid));
			   __entry->ret = ret;),
	    TP_printk("%s/%u %pISpc > %pISpc %s gid=%pI6c ret=%d",
		      __entry->device, __entry->port, __entry->peer, __entry->local,
		      cmx_trace_refusal_name(__entry->ret), __entry->gid, __entry->ret)
);

TRACE_EVENT(cmx_mcast,
	    TP_PROTO(const struct cmx_mcast *mc, const char *what, int status),
	    TP_ARGS(mc, what, status),
	    TP_STRUCT__entry(__field(const void *, id)
			     __array(char, device, IB_DEVICE_NAME_MAX)
			     __field(u32, port)
			     __array(u8, mgid, sizeof(union ib_gid))
			     __string(what, what)
			     __field(int, status)
			     __array(char, comm, TASK_COMM_LEN)
			     __field(pid_t, pid)),
	    TP_fast_assign(__entry->id = mc->id_priv;
			   cmx_trace_assign_device(mc->id_priv->id.device);
			   __entry->port = mc->id_priv->id.port_num;
			   memcpy(__entry->mgid, mc->mgid.raw, sizeof(union ib_gid));
			   cmx_assign_str(what, what);
			   __entry->status = status;
			   __entry->pid = cmx_trace_owner(mc->id_priv, __entry->comm);),
	    TP_printk("id=%p %s/%u %s mgid=%pI6c status=%d comm=%s pid=%d", __entry->id,
		      __entry->device, __entry->port, __get_str(what), __entry->mgid,
		      __entry->status, __entry->comm, __entry->pid)
);

TRACE_EVENT(cmx_member,
	    TP_PROTO(const struct ib_device *device, u32 port, const union ib_gid *mgid,
		     const void *member, const char *from, const char *to),
	    TP_ARGS(device, port, mgid, member, from, to),
	    TP_STRUCT__entry(__array(char, device, IB_DEVICE_NAME_MAX)
			     __field(u32, port)
			     __array(u8, mgid, sizeof(union ib_gid))
			     __field(const void *, member)
			     __string(from, from)
			     __string(to, to)),
	    TP_fast_assign(cmx_trace_assign_device(device);
			   __entry->port = port;
			   memcpy(__entry->mgid, mgid, sizeof(union ib_gid));
			   __entry->member = member;
			   cmx_assign_str(from, from);
			   cmx_assign_str(to, to);),
	    TP_printk("member=%p %s/%u mgid=%pI6c %s -> %s", __entry->member, __entry->device,
		      __entry->port, __entry->mgid, __get_str(from), __get_str(to))
);

#define cmx_trace_port_event_name(event)						\
	__print_symbolic(event,								\
		{ IB_EVENT_PORT_ACTIVE, "active" },					\
		{ IB_EVENT_PORT_ERR, "down" },						\
		{ IB_EVENT_LID_CHANGE, "lid-change" },					\
		{ IB_EVENT_PKEY_CHANGE, "pkey-change" },				\
		{ IB_EVENT_SM_CHANGE, "sm-change" },					\
		{ IB_EVENT_CLIENT_REREGISTER, "reregister" })

TRACE_EVENT(cmx_port_event,
	    TP_PROTO(const struct ib_device *device, u32 port, enum ib_event_type event),
	    TP_ARGS(device, port, event),
	    TP_STRUCT__entry(__array(char, device, IB_DEVICE_NAME_MAX)
			     __field(u32, port)
			     __field(u32, event)),
	    TP_fast_assign(cmx_trace_assign_device(device);
			   __entry->port = port;
			   __entry->event = event;),
	    TP_printk("%s/%u %s", __entry->device, __entry->port,
		      cmx_trace_port_event_name(__entry->event))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
