/* SPDX-License-Identifier: MIT */
/** @file Functions that lock holders executed while other threads waited, by samples. */
#ifndef UPMU_TOOL_SAMPLES_HOLDERS_H
#define UPMU_TOOL_SAMPLES_HOLDERS_H

#include <stddef.h>
#include <stdint.h>

struct samples_holders;

/** Join the samples of a recording with its waits. `stacks`: enum upmu_stacks of the functions. @return to be closed; NULL without
 *  samples, or after a message. */
struct samples_holders *samples_holders_open(const char *dir, int32_t stacks);
void samples_holders_close(struct samples_holders *h);

/** "checksum 62 %, memcpy 38 % (120 samples)" of a lock, an index of upmu_overview_object_at(): to be freed. NULL: no samples. */
char *samples_holders_text(const struct samples_holders *h, size_t object);

#endif
