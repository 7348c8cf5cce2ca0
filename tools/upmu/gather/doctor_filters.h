/* SPDX-License-Identifier: MIT */
/** @file Whether a command's seccomp filters allow the system calls of a recording. */
#ifndef UPMU_TOOL_DOCTOR_FILTERS_H
#define UPMU_TOOL_DOCTOR_FILTERS_H

#include "upmu/upmu.h"

/** Run a command to its end and report findings, topic "seccomp". @return 0; what `found` returned; or -1 after a message, with
 *  `*status` what to exit with. */
int doctor_filters(char **argv, int (*found)(const struct upmu_diagnosis *f, void *arg), void *arg, int *status);

#endif
