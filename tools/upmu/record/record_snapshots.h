/* SPDX-License-Identifier: MIT */
/** @file Snapshots of a flight recorder, while the command runs. */
#ifndef UPMU_TOOL_RECORD_SNAPSHOTS_H
#define UPMU_TOOL_RECORD_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

struct upmu_snapshot_watch;

/** Triggers and limits, as given. */
struct snapshot_request {
    char *triggers;       /**< for UPMU_SNAPSHOT_ON, to be freed; NULL: none */
    bool deadlock;        /**< "deadlock" is one of them */
    const char *dir;      /**< directory of the snapshots, as given; NULL: beside the recording */
    uint64_t interval_ns; /**< 0: the library's choice */
    uint32_t most;        /**< 0: the library's choice */
};

/** Add a trigger. @return 0; -1: it is not valid, see upmu_error(). */
int snapshots_add(struct snapshot_request *q, const char *trigger);

/** Watch the recording `dir`, shown as `shown`. @return NULL without triggers, or after a message. */
struct upmu_snapshot_watch *snapshots_open(const struct snapshot_request *q, const char *dir, const char *shown);
/** Take a snapshot if one is requested, and print a line about it. */
void snapshots_poll(struct upmu_snapshot_watch *watch);
/** Take one for `reason`. */
void snapshots_take(struct upmu_snapshot_watch *watch, const char *reason);
/** Take what was requested last, print a line about all, and close; NULL does nothing. */
void snapshots_close(struct upmu_snapshot_watch *watch);

#endif
