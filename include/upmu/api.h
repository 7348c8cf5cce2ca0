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

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) || !defined(__GNUC__)
#error "libupmu needs Linux and a compiler that speaks GNU C (gcc or clang)"
#endif

/** The one export macro: everything else in the library is hidden. */
#define UPMU_API __attribute__((visibility("default")))
/** A result that must not be ignored. */
#define UPMU_CHECKED __attribute__((warn_unused_result))
/** An index that is absent: no such thread, object or process is known. */
#define UPMU_NO_INDEX UINT32_MAX
/** printf-like format checking. */
#define UPMU_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/** Size of a sized struct in the release that introduced it; the number is that of machines with 64-bit pointers. */
#define UPMU_SIZE_V1_(type, lp64) (sizeof(void *) == 8 ? (size_t)(lp64) : sizeof(type))

/**
 * A sized struct that is zero but for `size`. C takes initial values of fields, too:
 *
 *     struct upmu_set_opts opts = UPMU_INIT(struct upmu_set_opts, .target = UPMU_TARGET_CPU, .cpu = 3);
 *
 * C++: `auto opts = UPMU_INIT(upmu_set_opts);`, then set the fields.
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

#ifdef __cplusplus
#define UPMU_BEGIN_DECLS extern "C" {
#define UPMU_END_DECLS }
#else
#define UPMU_BEGIN_DECLS
#define UPMU_END_DECLS
#endif

#endif
