/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Mapped files of a recording that another program truncates.
 *
 * A store beyond the end of a mapped file raises SIGBUS, which would end the recorded program. No mapping of a file avoids
 * that, and only a file keeps the events of a killed process: so SIGBUS is handled, if the program leaves it at its default.
 */
#ifndef UPMU_TRACE_GUARD_H
#define UPMU_TRACE_GUARD_H

#include <stddef.h>
#include <stdint.h>

struct stream_home;

/** Handle SIGBUS from now on, for these streams and the memory of trace_guard_add(), unless the program does. The handler
 *  replaces the memory of such a file by anonymous memory. Any other SIGBUS has the default effect. */
void trace_guard_start(struct stream_home *home);

/** In a forked child: none of these is mapped or written any more. Async-signal-safe. */
void trace_guard_stop(void);

/** Memory of another file of the recording, which stays mapped. Beyond some 65,000 files there is no protection. */
void trace_guard_add(void *at, size_t bytes);

#endif
