// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * tsc: the frequency of this machine's time stamp counter, in kHz. Emulated
 * processors have the same, and measure it wrongly when the machine is busy.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(void)
{
	double begin = now(), end = begin;
	unsigned long long ticks = __rdtsc();

	while (end < begin + 100)
		end = now();
	printf("%.0f\n", (__rdtsc() - ticks) / (end - begin));
	return 0;
}
