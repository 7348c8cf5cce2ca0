/* SPDX-License-Identifier: MIT */
/** @file Choice of the counting backend: perf_event_open or libpapi. */
#ifndef UPMU_CORE_BACKEND_H
#define UPMU_CORE_BACKEND_H

#include <stdbool.h>

#include "core/names/event.h"
#include "core/kernel_ops.h"

/** The backend of UPMU_BACKEND, else that of the option (NULL or "": perf_event_open). @return 0; UPMU_E_INVAL (no
 *  such backend), UPMU_E_BACKEND (not usable here; the message has the remedy). */
int backend_choose(const char *option, enum kernel_backend *out);

/** As event_resolve(), but an event that this CPU's table lacks is looked up among the backend's own. */
int backend_resolve(enum kernel_backend backend, const char *name, struct event *out);

#endif
