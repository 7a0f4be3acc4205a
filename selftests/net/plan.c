// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What each connection is to do */
#include <math.h>
#include "net.h"

/* SplitMix64 */
uint64_t random_get(int num, int purpose)
{
	uint64_t x = opt.seed * 0x9e3779b97f4a7c15 + num * 0xd1342543de82ef95 + purpose * 0xff51afd7ed558ccd;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

bool random_percent(int num, int purpose, unsigned int percent)
{
	return random_get(num, purpose) % 100 < percent;
}

double random_time(int num, int purpose, double max)
{
	return random_get(num, purpose) % 10000 * max / 10000;
}

struct plan plan_make(int n)
{
	struct plan p = {
		.kind = random_percent(n, 0, 75) ? RC : random_percent(n, 1, 60) ? UD : GROUP,
		.qp = random_percent(n, 2, 50),
		.start = random_time(n, 3, 20),
		.cancel = random_percent(n, 4, 15) ? random_time(n, 5, 30) : INFINITY,
		.answer = random_percent(n, 6, 70) ? ACCEPT : random_percent(n, 7, 50) ? REJECT : DROP,
		.answer_after = random_percent(n, 17, 3) ? 1200 :	/* when nobody waits any more */
				random_percent(n, 8, 50) ? 0 : random_time(n, 9, 15),
		.hold = random_time(n, 10, 10),
		.ending = random_get(n, 11) % NUM_ENDINGS,
		.linger[0] = random_percent(n, 12, 50) ? 0 : random_time(n, 13, 200),
		.linger[1] = random_percent(n, 14, 50) ? 0 : random_time(n, 15, 200),
	};

	p.held = p.kind == RC && p.answer == ACCEPT && p.cancel == INFINITY && random_percent(n, 16, 50);
	return p;
}
