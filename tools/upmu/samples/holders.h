/* SPDX-License-Identifier: MIT */
/** @file Functions that lock holders executed while other threads waited, by samples. */
#ifndef UPMU_TOOL_SAMPLES_HOLDERS_H
#define UPMU_TOOL_SAMPLES_HOLDERS_H

#include "report/report_views.h"

struct samples_holders;
struct upmu_overview_object;

/** Join the samples of a recording with its waits, both in the stretch of the request. @return to be closed; NULL without samples, or
 *  after a message. */
struct samples_holders *samples_holders_open(const struct report_request *q);
void samples_holders_close(struct samples_holders *h);

/** "checksum 62 %, memcpy 38 % (120 samples)" of a lock: to be freed. NULL: no samples. */
char *samples_holders_text(const struct samples_holders *h, const struct upmu_overview_object *object);

#endif
