/* SPDX-License-Identifier: MIT */
/** @file Repair of ring streams. */
#ifndef UPMU_TRACE_REPAIR_RING_H
#define UPMU_TRACE_REPAIR_RING_H

#include <stdbool.h>

#include "trace/read/meta.h"

/** Write the ring `path` anew with its packets in order, unless they are. @return 0 and `*changed`; UPMU_E_IO, UPMU_E_NOMEM,
 *  UPMU_E_FORMAT (damage; left as it is). */
int repair_ring(const char *path, const struct meta *m, bool *changed);

#endif
