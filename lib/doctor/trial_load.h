/* SPDX-License-Identifier: MIT */
/** @file The load for trials of events. */
#ifndef UPMU_DOCTOR_TRIAL_LOAD_H
#define UPMU_DOCTOR_TRIAL_LOAD_H

/** Do a little of everything that events count, `rounds` times: about a tenth of a millisecond each. Frees
 *  everything. */
void trial_load(unsigned rounds);

#endif
