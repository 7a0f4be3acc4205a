/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SCALE_H
#define SCALE_H

#include <stdint.h>

enum { SCALE_HCAS = 64, SCALE_GROUPS = 256 };

/**
 * struct scale - what the processes share
 * @mark: when members may have been lost: only what was reported later counts
 * @epoch: number of the present round of datagrams
 * @got: the last round of which a datagram came, by HCA and group
 * @members: groups of each HCA that were reported as joined after @mark
 * @last: when the last of them was
 * @errors: events and calls that reported an error
 * @connected: connections that have been set up
 * @failed: those that have not
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
};

extern struct scale *scale;

/*
 * scale_hca.c: the process of an HCA. It reads a byte for each stage from @commands, and writes
 * one to
 * @done when the stage is over:
 *	m	all groups are joined after the mark
 *	f	the datagrams that it sends have reached all other members of the group
 *	c	it has connected to every other HCA, and disconnected
 */
void scale_hca(int i, int commands, int done);

#endif
