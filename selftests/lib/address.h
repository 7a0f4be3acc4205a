/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns the address that replaces a fixed address of a test. On hardware (CMX_DEV is set) the
 * device has two IPv4 addresses and possibly an IPv6 address. Returns NULL if none of them replaces
 * @text.
 */
static inline const char *address_real(const char *text)
{
	struct in6_addr in6;
	struct in_addr in;

	if (!getenv("CMX_DEV"))
		return text;
	if (!strcmp(text, "10.77.0.1"))
		return getenv("CMX_ADDR");
	if (!strcmp(text, "10.77.0.2"))
		return getenv("CMX_PEER");
	if (!strcmp(text, "fd77::1"))
		return getenv("CMX_ADDR6");
	if (inet_pton(AF_INET, text, &in) == 1)
		return !in.s_addr || IN_MULTICAST(ntohl(in.s_addr)) ||
		       ntohl(in.s_addr) >> 24 == IN_LOOPBACKNET ? text : NULL;
	/* an address with a scope belongs to an interface of the test */
	if (strchr(text, '%'))
		return NULL;
	if (inet_pton(AF_INET6, text, &in6) == 1)
		return IN6_IS_ADDR_UNSPECIFIED(&in6) || IN6_IS_ADDR_MULTICAST(&in6) ||
		       IN6_IS_ADDR_LOOPBACK(&in6) ? text : NULL;
	/* a host name */
	return text;
}

/* "fe80::1%d0" includes the scope. */
static inline struct sockaddr_storage address_parse(const char *text, int port)
{
	struct sockaddr_storage ss = {};
	struct sockaddr_in *in = (void *)&ss;
	struct sockaddr_in6 *in6 = (void *)&ss;
	size_t len = strcspn(text, "%");
	char host[64] = "";

	if (strchr(text, ':')) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		memcpy(host, text, len < sizeof(host) ? len : 0);
		inet_pton(AF_INET6, host, &in6->sin6_addr);
		if (text[len])
			in6->sin6_scope_id = if_nametoindex(text + len + 1);
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		inet_pton(AF_INET, text, &in->sin_addr);
	}
	return ss;
}

#endif
