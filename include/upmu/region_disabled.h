/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Empty inline versions of the region functions, for builds with UPMU_DISABLE; included by upmu/region.h.
 *
 * Each returns the same as while regions are off, evaluates its arguments, and does not need the library.
 */
#ifndef UPMU_REGION_DISABLED_H
#define UPMU_REGION_DISABLED_H

#include "upmu/region.h"

#ifdef UPMU_DISABLE

UPMU_BEGIN_DECLS

static inline int upmu_region_setup(const struct upmu_region_opts *opts)
{
    (void)opts;
    return 0;
}

static inline int upmu_region_switch(int on)
{
    (void)on;
    return 0;
}

static inline UPMU_CHECKED int upmu_region_stats_read(const char *name, pid_t thread, struct upmu_region_stats *out)
{
    (void)name, (void)thread, (void)out;
    return UPMU_E_STATE;
}

static inline UPMU_CHECKED int upmu_region_event_stats_at(const char *name, pid_t thread, size_t i,
                                                          struct upmu_region_event_stats *out)
{
    (void)name, (void)thread, (void)i, (void)out;
    return UPMU_E_STATE;
}

static inline UPMU_CHECKED int upmu_region_stats_read_all(const char *name, pid_t thread, struct upmu_region_stats *out,
                                                          struct upmu_region_event_stats *events, size_t max)
{
    (void)name, (void)thread, (void)out, (void)events, (void)max;
    return UPMU_E_STATE;
}

static inline size_t upmu_region_count(void)
{
    return 0;
}

static inline UPMU_CHECKED int upmu_region_name_at(size_t i, const char **name)
{
    (void)i;
    if (!name)
        return UPMU_E_INVAL;
    *name = NULL;
    return UPMU_E_END;
}

static inline size_t upmu_region_event_count(void)
{
    return 0;
}

static inline UPMU_CHECKED int upmu_region_event_name_at(size_t i, const char **name)
{
    return upmu_region_name_at(i, name);
}

static inline UPMU_CHECKED int upmu_region_health_read(struct upmu_region_health *out)
{
    (void)out;
    return UPMU_E_STATE;
}

static inline int upmu_region_report(int fd)
{
    (void)fd;
    return UPMU_E_STATE;
}

static inline int upmu_region_begin(const char *name)
{
    (void)name;
    return 0;
}

static inline int upmu_region_end(const char *name)
{
    (void)name;
    return 0;
}

static inline int upmu_region_enter(upmu_region_t *region)
{
    (void)region;
    return 0;
}

static inline int upmu_region_leave(upmu_region_t *region)
{
    (void)region;
    return 0;
}

static inline int upmu_mark(const char *text)
{
    (void)text;
    return 0;
}

#define UPMU_CONCAT2_(a, b) a##b
#define UPMU_CONCAT_(a, b) UPMU_CONCAT2_(a, b)

/* Declarations too, so that code compiles alike in both builds. */
#ifdef __cplusplus
#define UPMU_SCOPE(name_literal) static_assert(sizeof("" name_literal) > 0, "")
#else
#define UPMU_SCOPE(name_literal) _Static_assert(sizeof("" name_literal) > 0, "")
#endif
#define UPMU_SCOPE_NAMED(name) const char *UPMU_CONCAT_(upmu_scope_, __COUNTER__) __attribute__((unused)) = (name)

UPMU_END_DECLS

#endif /* UPMU_DISABLE */

#endif
