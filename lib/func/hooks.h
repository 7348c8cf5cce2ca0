/* SPDX-License-Identifier: MIT */
/** @file The functions that code built with -finstrument-functions calls at entry and return. */
#ifndef UPMU_FUNC_HOOKS_H
#define UPMU_FUNC_HOOKS_H

#include "upmu/api.h"

UPMU_API void __cyg_profile_func_enter(void *function, void *site);
UPMU_API void __cyg_profile_func_exit(void *function, void *site);

#endif
