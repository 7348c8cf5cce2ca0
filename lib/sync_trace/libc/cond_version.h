/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Symbol versions of pthread_cond_*, where glibc has two.
 *
 * A program linked before 2003 has condition variables of another size under the same names; the dynamic linker
 * distinguishes them by version. A wrapper without a version would get both. So these names, and no others, have the
 * versions of libc's own (lib/libupmu_sync.map has the nodes).
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
/** Its declaration and exported name. */
#define COND_DECLARE(name)                                    \
    UPMU_API __typeof__(pthread_cond_##name) COND_NAME(name); \
    __asm__(".symver sync_cond_" #name ", pthread_cond_" #name "@@@" COND_NEW)
#else
#define COND_NAME(name) pthread_cond_##name
#define COND_DECLARE(name) UPMU_API __typeof__(pthread_cond_##name) COND_NAME(name)
#endif

#endif
