/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Recorded machines: what an unpacked archive of `upmu gather` says, and whether it may be believed. Room: core; before
 * it the kernel door, which reads files below UPMU_FSROOT; after it machine.c, trials and the doctor.
 */
#ifndef UPMU_CORE_RECORDING_H
#define UPMU_CORE_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "core/machine/machine.h"
#include "upmu/upmu.h"

/** Whether files come from a recording instead of the running machine. */
bool recording_in_use(void);

/**
 * Look for what is wrong with the recording that `m` was examined from: files of its manifest that are missing or changed,
 * and files that contradict each other.
 * @param fault out: what is wrong, as the rest of a sentence; "" if nothing is
 */
void recording_check(const struct machine *m, const char *cpuinfo, char *fault, size_t cap);

/** How the trial of an event came out on the recorded machine. @param seen out, may be NULL @return as upmu_event_probe(); UPMU_E_STATE if the
 *  recording does not tell. */
int recording_trial(const char *name, uint64_t *seen);

/** As recording_findings(), but a topic on which the recording tells nothing is not told. @param told out: whether it does */
int recording_told(const char *topic, int (*found)(const struct upmu_finding *finding, void *arg), void *arg,
                   bool *told);

/** Tell what the recorded machine's doctor found on a topic; one finding that says so if the recording does not tell.
 *  @return 0, or what `found` returned. */
int recording_findings(const char *topic, int (*found)(const struct upmu_finding *finding, void *arg), void *arg);

#endif
