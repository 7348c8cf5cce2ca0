/* SPDX-License-Identifier: MIT */
/** @file The load under which events are tried. Room: core; before it event_trial.c, after it the CPU. */
#ifndef UPMU_CORE_TRIAL_LOAD_H
#define UPMU_CORE_TRIAL_LOAD_H

/** Do a little of everything that events count, `rounds` times: about a tenth of a millisecond each. Keeps nothing. */
void trial_load(unsigned rounds);

#endif
