/* SPDX-License-Identifier: MIT */
/** @file Names of threads and objects: the one place that decides them. */
#ifndef UPMU_ANALYSIS_IDENTITY_H
#define UPMU_ANALYSIS_IDENTITY_H

#include "upmu/analysis.h"

/**
 * What a thread is called: the name it was given, "main", the function it was started with, or the name of its program.
 * @return "" if nothing is known.
 */
const char *identity_thread(const struct upmu_overview *o, uint32_t thread);

#endif
