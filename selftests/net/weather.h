/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A bad network: netem on network interfaces, or the knobs for MADs of selftests/vib.
 */
#ifndef WEATHER_H
#define WEATHER_H

#include <netinet/in.h>
#include <stdint.h>

/**
 * struct weather - what happens to each packet, independently of the others
 * @name: of the row in the table
 * @lose: lost, in percent
 * @repeat: delivered twice, in percent
 * @delay: milliseconds
 * @jitter: the delay varies by up to this many milliseconds, so packets are reordered
 * @dark: from time to time, nothing arrives in one direction or in both
 * @mgmt_class: class of the MADs that are affected; 0: any
 * @attr: attribute of the MADs that are affected; 0: any
 */
struct weather {
	const char *name;
	int lose;
	int repeat;
	int delay;
	int jitter;
	int dark;
	int mgmt_class;
	int attr;
};

/* Directions that are interrupted: bit 0 from the first device, bit 1 from the second one */
#define DARK_NONE 0
#define DARK_BOTH 3

/* Returns the row of the table, or NULL. */
const struct weather *weather_find(const char *name);

/* Prints the names. @mads: also of those that need the knobs of vib. */
void weather_list(int mads);

/* The network consists of these two interfaces, each NAME or NAME@NAMESPACE. */
void weather_use_netem(const char *first, const char *second);

/* The network is that of vib. */
void weather_use_vib(void);

/*
 * Sets what happens from now on. Packets that are delayed already arrive when they would have
 * arrived. @w: NULL for a good network. Exits if that fails.
 */
void weather_set(const struct weather *w, int dark, uint64_t seed);

/* Forgets the link layer address of a peer of this interface, so that it is asked for again. */
void weather_forget(const char *dev, struct in_addr peer);

/* Moves the thread to the namespace of an interface; NULL, or one without @: that of the program's start. */
void weather_enter(const char *dev);

#endif
