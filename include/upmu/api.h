/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What every public header shares: the export macro, C linkage and the compiler hints.
 *
 * Rules that hold for the whole API unless a declaration says otherwise:
 *  - a function that can fail returns 0 (or a count) on success and a negative `enum upmu_code` on failure, and
 *    leaves the reason with its remedy in upmu_error() of the calling thread;
 *  - the library never prints, never ends the process, never changes signal handlers or the locale, keeps errno
 *    on region calls, and sets close-on-exec on every descriptor;
 *  - structs that may grow begin with `size`, which the caller sets to sizeof; an older size is accepted, a larger
 *    one only if the unknown tail is zero;
 *  - different objects may be used from different threads at the same time, one object from one thread at a time.
 */
#ifndef UPMU_API_H
#define UPMU_API_H

#if defined(_WIN32) || !defined(__GNUC__)
#error "libupmu needs Linux and a compiler that speaks GNU C (gcc or clang)"
#endif

/** The one export macro: everything else in the library is hidden. */
#define UPMU_API __attribute__((visibility("default")))
/** A result that must not be ignored. */
#define UPMU_CHECKED __attribute__((warn_unused_result))
/** printf-like format checking. */
#define UPMU_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

#ifdef __cplusplus
#define UPMU_BEGIN_DECLS extern "C" {
#define UPMU_END_DECLS }
#else
#define UPMU_BEGIN_DECLS
#define UPMU_END_DECLS
#endif

#endif
