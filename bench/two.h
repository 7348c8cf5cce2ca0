/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Two threads in one region name. Room: bench.
 *
 * Two CPUs at work are slower than one for reasons that are not ours: shared execution units, caches, power. So the
 * control is the same pair in two processes that share nothing; what the second thread costs beyond that is the library's.
 */
#ifndef BENCH_TWO_H
#define BENCH_TWO_H

#include "bench.h"

void two_four_events(struct bench *b);
void two_switches(struct bench *b);

#endif
