/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The two versions that glibc has of condition variables where its first port is old enough. Room: sync_trace; before it
 * cond.c and cond_old.c, after it the linker.
 *
 * A program of before 2003 has condition variables of another size under the same names; the dynamic linker tells them
 * apart by version. A wrapper without a version would be given both. So these names, and no others, have versions, the
 * same as libc's own (lib/libupmu_sync.map has the nodes): callers of either find the wrapper that is meant.
 */
#ifndef UPMU_SYNC_COND_VERSION_H
#define UPMU_SYNC_COND_VERSION_H

#include <pthread.h>

#include "upmu/api.h"

#if defined(__GLIBC__) && defined(__x86_64__) && !defined(__ILP32__)
#define COND_OLD "GLIBC_2.2.5"
#elif defined(__GLIBC__) && (defined(__i386__) || defined(__mips__) || defined(__alpha__))
#define COND_OLD "GLIBC_2.0"
#endif

#ifdef COND_OLD
#define COND_NEW "GLIBC_2.3.2"
/** The C name of a wrapper. */
#define COND_NAME(name) sync_cond_##name
/** Its declaration, and its name for others. */
#define COND_DECLARE(name)                                    \
    UPMU_API __typeof__(pthread_cond_##name) COND_NAME(name); \
    __asm__(".symver sync_cond_" #name ", pthread_cond_" #name "@@@" COND_NEW)
#else
#define COND_NAME(name) pthread_cond_##name
#define COND_DECLARE(name) UPMU_API __typeof__(pthread_cond_##name) COND_NAME(name)
#endif

#endif
