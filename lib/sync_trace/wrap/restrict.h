/* SPDX-License-Identifier: MIT */
/** @file Programs that restrict their system calls or time stamps. */
#ifndef UPMU_SYNC_RESTRICT_H
#define UPMU_SYNC_RESTRICT_H

/** Before prctl(option, a, b): end the recording if it could not continue after it. Keep errno. */
void sync_restrict_prctl(long option, long a, long b);

/** Before seccomp(operation, flags, program). */
void sync_restrict_seccomp(long operation, long program);

#endif
