/* SPDX-License-Identifier: MIT */
/** @file Which backend counts: the kernel itself, or libpapi. Room: core; before it options and the environment, after it
 *  event resolution and the kernel door. */
#ifndef UPMU_CORE_BACKEND_H
#define UPMU_CORE_BACKEND_H

#include <stdbool.h>

#include "core/names/event.h"
#include "core/kernel_ops.h"

/** The backend of UPMU_BACKEND, else that of the option (NULL or "": perf_event_open).
 *  @return 0; UPMU_E_INVAL (no such backend), UPMU_E_BACKEND (it cannot be used here; the message has the remedy). */
int backend_choose(const char *option, enum kernel_backend *out);

/** As event_resolve(), and what this CPU's table lacks is looked for among the backend's own events. */
int backend_resolve(enum kernel_backend backend, const char *name, struct event *out);

#endif
