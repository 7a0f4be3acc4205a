/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SCALE_H
#define SCALE_H

#include <stdint.h>

enum { SCALE_HCAS = 64, SCALE_GROUPS = 256, SCALE_STREAM = 4000, SCALE_STREAM_PER_S = 200 };

/**
 * struct scale - memory that the processes share
 * @mark: time at which memberships may be lost. Only joins that are reported later count
 * @epoch: number of the current round of datagrams
 * @got: round of the last datagram that arrived, by HCA and group
 * @members: number of groups of each HCA that were reported as joined after @mark
 * @last: time of the last of these reports
 * @errors: number of events and calls with an error
 * @connected: number of connections that were set up
 * @failed: number of connections that failed
 * @sent: number of datagrams of the stream that were sent
 * @streamed: number of different ones that arrived from another HCA
 */
struct scale {
	double mark;
	uint32_t epoch;
	uint32_t got[SCALE_HCAS][SCALE_GROUPS];
	int members[SCALE_HCAS];
	double last[SCALE_HCAS];
	int errors[SCALE_HCAS];
	int connected[SCALE_HCAS];
	int failed[SCALE_HCAS];
	int sent[SCALE_HCAS];
	int streamed[SCALE_HCAS];
};

extern struct scale *scale;

/*
 * scale_hca.c: the process of an HCA. It reads a byte for each stage from @commands, and writes one
 * to @done when the stage is over:
 *	m	all groups are joined after the mark
 *	f	the datagrams that it sends have reached all other members of the group
 *	c	it has connected to every other HCA, and disconnected
 *	s	it has sent a stream of datagrams to its first group, if it is the sender of that group
 */
void scale_hca(int i, int commands, int done);

#endif
