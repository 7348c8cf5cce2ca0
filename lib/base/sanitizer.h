/* SPDX-License-Identifier: MIT */
/** @file Detection of sanitizer builds by gcc and clang. */
#ifndef UPMU_BASE_SANITIZER_H
#define UPMU_BASE_SANITIZER_H

#if defined(__has_feature)
#define UNDER_ASAN __has_feature(address_sanitizer)
#define UNDER_TSAN __has_feature(thread_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif
#ifdef __SANITIZE_THREAD__
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif
#endif

#endif
