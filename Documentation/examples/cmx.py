#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
A binding of the char device of rdma_cmx without the library, for <rdma/cmx_ioctl.h>, <rdma/cmx_types.h> and
Documentation/uapi.rst. As a program it sets options, connects with ECE and joins a group, all on one host:

    cmx.py ADDRESS GROUP
"""
import ctypes, fcntl, os, socket, struct, sys

CMX_IOCTL = 3 << 30 | 24 << 16 | 0x1b << 8 | 0xc0	# _IOWR(RDMA_IOCTL_MAGIC, 0xc0, struct cmx_ioctl_hdr)
MANDATORY = 1						# UVERBS_ATTR_F_MANDATORY
CHANNEL, ID, MCAST = range(3)
INFO, GET_EVENTS = 0, 1
CREATE, DESTROY, BIND, RESOLVE_ADDR, RESOLVE_ROUTE, QUERY, LISTEN, CONNECT, ACCEPT, ESTABLISH = range(10)
DISCONNECT, SET_OPTION, GET_OPTION = 11, 14, 15
JOIN, LEAVE = 0, 1
A_ID, A_OUT_ID, A_MCAST_ID, A_USER_DATA, A_PS, A_QP_TYPE, A_SRC, A_DST, A_TIMEOUT, A_BACKLOG, A_PARAM, A_ECE = range(12)
A_LEVEL, A_NAME, A_VALUE, A_OPT, A_OPT_FLAGS = 17, 18, 19, 20, 21
A_ECE_INFO, A_EVENTS, A_COUNT, A_VERSION, A_SIZES, A_MODULE_INFO = 25, 26, 27, 28, 29, 41
PS_TCP, PS_UDP, QPT_RC, QPT_UD = 0x0106, 0x0111, 2, 4
EVENTS = """ADDR_RESOLVED ADDR_ERROR ROUTE_RESOLVED ROUTE_ERROR CONNECT_REQUEST CONNECT_RESPONSE CONNECT_ERROR
    UNREACHABLE REJECTED ESTABLISHED DISCONNECTED DEVICE_REMOVAL MULTICAST_JOIN MULTICAST_ERROR ADDR_CHANGE
    TIMEWAIT_EXIT ADDRINFO_RESOLVED ADDRINFO_ERROR USER""".split()
CMX_OPTION, CM_RETRIES, CONNECT_DEADLINE_MS = 0x434d, 2, 4
ECE_APPLIED = 1 << 3
EVENT_LEN = 344		# struct cmx_event_resp up to and including param

u32 = struct.Struct("=I").pack
u64 = struct.Struct("=Q").pack

def sockaddr(host, port=0):
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(host))

def conn_param(qp_num, data):
    return struct.pack("=II256s8B", qp_num, 0, data, len(data), 0, 1, 1, 0, 7, 7, 1)

class Channel:
    """One open file: its ids, and the queue of their events."""
    def __init__(self):
        self.fd = os.open("/dev/infiniband/rdma_cmx", os.O_RDWR | os.O_CLOEXEC)

    def call(self, obj, method, inputs, outputs=()):
        """inputs: {attribute: bytes}; outputs: {attribute: length}. Returns {attribute: bytes}."""
        attrs, keep, out = [], [], {}
        for attr, value in inputs.items():
            if len(value) <= 8:
                data = int.from_bytes(value.ljust(8, b"\0"), sys.byteorder)
            else:
                keep.append(ctypes.create_string_buffer(value, len(value)))
                data = ctypes.addressof(keep[-1])
            attrs.append(struct.pack("=HHHHQ", attr, len(value), MANDATORY, 0, data))
        for attr, length in dict(outputs).items():
            out[attr] = ctypes.create_string_buffer(length)
            attrs.append(struct.pack("=HHHHQ", attr, length, 0, 0, ctypes.addressof(out[attr])))
        head = struct.pack("=HHHHQII", 24 + 16 * len(attrs), obj, method, len(attrs), 0, 1, 0)
        fcntl.ioctl(self.fd, CMX_IOCTL, bytearray(head + b"".join(attrs)))
        return {attr: buffer.raw for attr, buffer in out.items()}

    def event(self, want):
        """Wait for the next event, which must be of this type. Returns (handle, private data)."""
        ev = self.call(CHANNEL, GET_EVENTS, {A_SIZES: struct.pack("=II", EVENT_LEN, 0)},
                       {A_EVENTS: EVENT_LEN, A_COUNT: 4})[A_EVENTS]
        handle, _, event, status = struct.unpack_from("=IIIi", ev, 8)
        if EVENTS[event] != want:
            raise RuntimeError(f"{EVENTS[event]}, status {status}, instead of {want}")
        data = 40 + 8	# param.conn.private_data
        return handle, ev[data:data + ev[data + 256]]

class Id:
    def __init__(self, channel, ps=PS_TCP, qp_type=QPT_RC, handle=None):
        self.channel = channel
        if handle is None:
            out = channel.call(ID, CREATE, {A_USER_DATA: u64(0), A_PS: u32(ps), A_QP_TYPE: u32(qp_type)}, {A_OUT_ID: 4})
            handle = struct.unpack("=I", out[A_OUT_ID])[0]
        self.handle = handle

    def call(self, method, inputs=(), outputs=()):
        return self.channel.call(ID, method, {A_ID: u32(self.handle), **dict(inputs)}, outputs)

    def set_option(self, name, value, level=CMX_OPTION):
        self.call(SET_OPTION, {A_LEVEL: u32(level), A_NAME: u32(name), A_VALUE: u32(value)})

    def get_option(self, name, level=CMX_OPTION):
        """Returns (value, whether it was set on this id)."""
        out = self.call(GET_OPTION, {A_LEVEL: u32(level), A_NAME: u32(name)}, {A_OPT: 4, A_COUNT: 4, A_OPT_FLAGS: 4})
        return struct.unpack("=I", out[A_OPT])[0], struct.unpack("=I", out[A_OPT_FLAGS])[0] == 1

    def ece(self):
        """Returns (local vendor, local options, remote vendor, remote options, flags)."""
        return struct.unpack_from("=5I", self.call(QUERY, outputs={A_ECE_INFO: 24})[A_ECE_INFO])

    def destroy(self):
        """Returns how many events of the id were fetched."""
        return struct.unpack("=I", self.call(DESTROY, outputs={A_COUNT: 4})[A_COUNT])[0]

def main(host, group):
    server, client = Channel(), Channel()
    out = client.call(CHANNEL, INFO, {}, {A_VERSION: 4, A_MODULE_INFO: 24})
    print("ABI %u, %u options" % (*struct.unpack("=I", out[A_VERSION]), struct.unpack("=QIIII", out[A_MODULE_INFO])[4]))

    listener = Id(server)
    listener.call(BIND, {A_SRC: sockaddr(host, 7474)})
    listener.call(LISTEN, {A_BACKLOG: u32(4)})
    active = Id(client)
    active.set_option(CONNECT_DEADLINE_MS, 5000)
    print("CONNECT_DEADLINE_MS is %u, set: %s" % active.get_option(CONNECT_DEADLINE_MS))
    print("CM_RETRIES is %u, set: %s" % active.get_option(CM_RETRIES))
    active.call(RESOLVE_ADDR, {A_DST: sockaddr(host, 7474), A_TIMEOUT: u32(2000)})
    client.event("ADDR_RESOLVED")
    active.call(RESOLVE_ROUTE, {A_TIMEOUT: u32(2000)})
    client.event("ROUTE_RESOLVED")
    active.call(CONNECT, {A_PARAM: conn_param(0x4711, b"hello, server"), A_ECE: struct.pack("=II", 0x15b3, 3)})
    handle, data = server.event("CONNECT_REQUEST")
    print("server received:", data.rstrip(b"\0").decode())
    passive = Id(server, handle=handle)
    passive.call(ACCEPT, {A_PARAM: conn_param(0x4712, b"hello, client"), A_ECE: struct.pack("=II", 0x15b3, 2)})
    _, data = client.event("CONNECT_RESPONSE")
    print("client received:", data.rstrip(b"\0").decode())
    active.call(ESTABLISH)
    server.event("ESTABLISHED")
    *pair, flags = active.ece()
    print("ECE %#x:%#x, peer %#x:%#x, %s" % (*pair, "applied" if flags & ECE_APPLIED else "not applied"))
    active.call(DISCONNECT)
    server.event("DISCONNECTED")
    passive.call(DISCONNECT)
    client.event("DISCONNECTED")

    member = Id(client, PS_UDP, QPT_UD)
    member.call(BIND, {A_SRC: sockaddr(host)})
    out = client.call(MCAST, JOIN, {A_ID: u32(member.handle), A_DST: sockaddr(group), A_USER_DATA: u64(0)}, {A_OUT_ID: 4})
    membership, _ = client.event("MULTICAST_JOIN")
    print("joined:", membership == struct.unpack("=I", out[A_OUT_ID])[0])
    client.call(MCAST, LEAVE, {A_MCAST_ID: u32(membership)}, {A_COUNT: 4})
    print("events:", [id.destroy() for id in (member, active, passive, listener)])

if __name__ == "__main__":
    main(*sys.argv[1:])
