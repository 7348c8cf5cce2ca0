/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Definitions shared by all public headers: export macro, C linkage, compiler attributes, sized structs.
 *
 * Rules of the whole API, unless a declaration states otherwise:
 *  - A function that can fail returns 0 (or a count) on success and a negative enum upmu_code on failure. upmu_error() then
 *    has a message with the cause and a remedy, in the calling thread.
 *  - Structs that may grow begin with `size`, which the caller sets to sizeof (UPMU_INIT() does). Sizes of older releases are
 *    accepted, larger ones only if the unknown tail is zero. Functions that fill a struct set `size` to the bytes filled.
 *  - Tables have a `_count` and an `_at` function, which returns UPMU_E_END past the last entry. Streams have `_next` and
 *    `_read`.
 *  - Enumerations grow. Their `_name` functions return "?" for an unknown number, never NULL, and their numbers
 *    begin at 0 and have no gaps (those of enum upmu_trace_kind have): the first "?" ends a loop over them.
 *  - Different objects may be used by different threads at the same time, one object by one thread at a time.
 *  - NULL is a valid argument of every `_close` function.
 *
 * Effects on the process: the library does not end it, does not change signal handlers (except for what upmu/overflow.h is asked
 * for), signal masks or the locale, sets close-on-exec on its descriptors, and keeps errno in region, mark and lock calls. It prints only on standard error, and only
 * if recording is switched on by a variable of the environment or by upmu_region_setup():
 *  - the report of regions at exit, if it has no file or its file cannot be written;
 *  - one line when the library is loaded, if recording as set by the environment is not possible, or is possible in part only
 *    and there is no report to state that (docs/guide/environment.md).
 */
#ifndef UPMU_API_H
#define UPMU_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) || !defined(__GNUC__)
#error "libupmu needs Linux and a compiler that speaks GNU C (gcc or clang)"
#endif

/** Exports a function; all other symbols of the libraries are hidden. */
#define UPMU_API __attribute__((visibility("default")))
/** Result must not be ignored. */
#define UPMU_CHECKED __attribute__((warn_unused_result))
/** Index field without a value: thread, object or process unknown. */
#define UPMU_NO_INDEX UINT32_MAX
/** Format checking as of printf(). */
#define UPMU_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/** Size of a sized struct in its first release; `lp64` is the size with 64-bit pointers. */
#define UPMU_SIZE_V1_(type, lp64) (sizeof(void *) == 8 ? (size_t)(lp64) : sizeof(type))

/**
 * A sized struct, all zero but `size`. In C, with initial values of fields:
 *
 *     struct upmu_set_opts opts = UPMU_INIT(struct upmu_set_opts, .target = UPMU_TARGET_CPU, .cpu = 3);
 *
 * In C++: `auto opts = UPMU_INIT(upmu_set_opts);`, then assign fields.
 */
#ifdef __cplusplus
template <class T> inline T upmu_init_()
{
    T zero = T();
    zero.size = sizeof(T);
    return zero;
}
#define UPMU_INIT(type) (::upmu_init_<type>())
#else
#define UPMU_INIT_(type, ...) ((type){.size = sizeof(type), __VA_ARGS__})
#define UPMU_INIT(...) UPMU_INIT_(__VA_ARGS__, )
#endif

/**
 * In place of the directory of a recording (upmu_region_opts.trace, upmu_sync_opts.trace, UPMU_TRACE): a recording in memory, for
 * programs that read their own recording (upmu/subscription.h) and leave no file. Each process has one of its own, below /dev/shm,
 * with a ring of 4 MiB for each thread unless UPMU_TRACE_POLICY is set. It is removed when the process ends; that of a killed process,
 * by the next recording in memory of the same user.
 */
#define UPMU_TRACE_MEMORY "memory:"

#ifdef __cplusplus
#define UPMU_BEGIN_DECLS extern "C" {
#define UPMU_END_DECLS }
#else
#define UPMU_BEGIN_DECLS
#define UPMU_END_DECLS
#endif

#endif
