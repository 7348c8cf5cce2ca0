/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Triggers of snapshots: their text, and the request that a thread leaves in the control file.
 *
 * The recorded process compares durations with thresholds and fills in a request; the recorder, another process, polls for it
 * and copies the files. No system call is made in the recorded process.
 */
#ifndef UPMU_TRACE_TRIGGER_H
#define UPMU_TRACE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/control.h"

enum {
    TRIGGER_TEXT_MAX = 320, /**< longest trigger, with the longest name of a region */
    TRIGGERS_MAX = 16,      /**< of a process */
};

enum trigger_kind { TRIGGER_REGION = 1, TRIGGER_WAIT = 2, TRIGGER_DEADLOCK = 3 };

struct trigger {
    enum trigger_kind kind;
    uint32_t waits; /**< TRIGGER_WAIT: a bit for each enum control_wait */
    uint64_t ns;    /**< threshold; 0 without one */
    size_t name_at; /**< TRIGGER_REGION: the name in `text` */
    size_t name_len;
    char text[TRIGGER_TEXT_MAX]; /**< without blanks around it */
};

/** Parse "region NAME > 50 ms", "wait [KIND] > 100 ms" or "deadlock", `len` bytes. @return 0; UPMU_E_INVAL. */
int trigger_parse(const char *text, size_t len, struct trigger *out);

/** Parse triggers with ';' in between into `out`, at most TRIGGERS_MAX. @return their number; UPMU_E_INVAL. */
int trigger_parse_list(const char *text, struct trigger *out);

/** A threshold is exceeded at `tick`, after `ticks`: count it, and request a snapshot if the recorder accepts one. Traced
 *  path; async-signal-safe. */
void trigger_request(struct control_header *h, const char *text, int32_t tid, uint64_t tick, uint64_t ticks);

#endif
