/* SPDX-License-Identifier: MIT */
/** @file Recorded machines: data and consistency of an unpacked archive of `upmu gather`. */
#ifndef UPMU_CORE_MACHINE_SNAPSHOT_H
#define UPMU_CORE_MACHINE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "core/machine/machine.h"
#include "upmu/upmu.h"

/** Whether files come from a machine snapshot instead of the running machine. */
bool machine_snapshot_in_use(void);

/** Check the snapshot that `m` was examined from: files missing from or different in its manifest, and files that
 *  contradict each other. @param fault out: the defect as the rest of a sentence; "" if there is none */
void machine_snapshot_check(const struct machine *m, const char *cpuinfo, char *fault, size_t cap);

/** The recorded trial of an event. @param seen out, may be NULL @return as upmu_event_probe(); UPMU_E_STATE if the
 *  snapshot has none. */
int machine_snapshot_trial(const char *name, uint64_t *seen);

/** As machine_snapshot_findings(), but reports nothing on a topic without recorded findings. @param recorded out:
 *  whether there are any */
int machine_snapshot_findings_if_any(const char *topic, int (*found)(const struct upmu_diagnosis *finding, void *arg),
                                     void *arg, bool *recorded);

/** Report the recorded machine's doctor findings on a topic; a single finding of unknown state if the snapshot has
 *  none. @return 0, or what `found` returned. */
int machine_snapshot_findings(const char *topic, int (*found)(const struct upmu_diagnosis *finding, void *arg),
                              void *arg);

#endif
