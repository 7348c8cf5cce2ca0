/* SPDX-License-Identifier: MIT */
/** @file Whether a test is built with a sanitizer, by gcc or clang. */
#ifndef UPMU_TESTS_SANITIZER_H
#define UPMU_TESTS_SANITIZER_H

#if defined(__has_feature)
#define UNDER_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define UNDER_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITIZER 1
#else
#define UNDER_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#else
#define UNDER_THREAD_SANITIZER 0
#endif
#endif

#endif
