/* SPDX-License-Identifier: MIT */
/**
 * @file
 * PAPI's high-level calls over libupmu, for programs that include this header in place of <papi.h>.
 *
 * PAPI_hl_region_begin(), PAPI_hl_region_end() and PAPI_hl_stop(), and of PAPI before version 6 PAPI_start_counters(),
 * PAPI_read_counters(), PAPI_accum_counters() and PAPI_stop_counters(). Any other call of PAPI is a compile error that names ours.
 *
 * As with PAPI, regions are on from the first call. PAPI_EVENTS, PAPI_REPORT and PAPI_OUTPUT_DIRECTORY are read if no UPMU_
 * variable switches regions on.
 */
#ifndef UPMU_COMPAT_PAPI_HL_H
#define UPMU_COMPAT_PAPI_HL_H

#ifdef PAPI_VER_CURRENT
#error "<papi.h> and <upmu/compat/papi_hl.h> exclude each other"
#endif

#include <stdio.h>
#include <stdlib.h>

#include "upmu/region.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

#define PAPI_OK 0
#define PAPI_EINVAL (-1)
#define PAPI_ENOMEM (-2)
#define PAPI_ESYS (-3)
#define PAPI_ENOEVNT (-7)
#define PAPI_ECNFLCT (-8)
#define PAPI_ENOTRUN (-9)
#define PAPI_EISRUN (-10)
#define PAPI_EPERM (-15)
#define PAPI_EMISC (-14)
#define PAPI_NULL (-1)

/* Presets; the numbers are ours. */
/* clang-format off */
#define UPMU_COMPAT_PRESETS_(X)                                                                                 \
    X(L1_DCM) X(L1_ICM) X(L2_DCM) X(L2_ICM) X(L3_DCM) X(L1_TCM) X(L2_TCM) X(L3_TCM) X(TLB_DM) X(TLB_IM)         \
    X(TLB_TL) X(L1_LDM) X(L1_STM) X(L2_LDM) X(L2_STM) X(L3_LDM) X(STL_CCY) X(RES_STL) X(FUL_CCY) X(STL_ICY)     \
    X(FUL_ICY) X(BR_UCN) X(BR_CN) X(BR_TKN) X(BR_NTK) X(BR_MSP) X(BR_PRC) X(BR_INS) X(TOT_IIS) X(TOT_INS)       \
    X(INT_INS) X(FP_INS) X(LD_INS) X(SR_INS) X(LST_INS) X(VEC_INS) X(TOT_CYC) X(REF_CYC) X(L1_DCA) X(L1_DCR)    \
    X(L1_DCW) X(L1_ICA) X(L1_TCA) X(L2_DCA) X(L2_DCR) X(L2_DCW) X(L2_TCA) X(L3_DCA) X(L3_TCA) X(FP_OPS)         \
    X(SP_OPS) X(DP_OPS) X(VEC_SP) X(VEC_DP) X(FML_INS) X(FAD_INS) X(FDV_INS) X(MEM_SCY) X(HW_INT)
/* clang-format on */

enum upmu_compat_preset {
    UPMU_COMPAT_FIRST_ = (int)0x3fffffff,
#define UPMU_COMPAT_NUMBER_(name) PAPI_##name,
    UPMU_COMPAT_PRESETS_(UPMU_COMPAT_NUMBER_)
#undef UPMU_COMPAT_NUMBER_
};

/** The PAPI code of a code of libupmu. */
static inline int upmu_compat_papi_code_(int code)
{
    switch (code) {
    case UPMU_E_INVAL:
        return PAPI_EINVAL;
    case UPMU_E_NOMEM:
        return PAPI_ENOMEM;
    case UPMU_E_NAME:
    case UPMU_E_UNSUPPORTED:
    case UPMU_E_NO_PMU:
        return PAPI_ENOEVNT;
    case UPMU_E_FIT:
    case UPMU_E_BUSY:
        return PAPI_ECNFLCT;
    case UPMU_E_PERM:
    case UPMU_E_SECCOMP:
        return PAPI_EPERM;
    default:
        return code >= 0 ? PAPI_OK : PAPI_EMISC;
    }
}

/* ----------------------------------------------------------------------------------------------- regions */

/* One for all files of a program. */
__attribute__((weak)) int upmu_compat_papi_ready_;

/** Switches regions on at the first call. */
static inline void upmu_compat_papi_setup_(void)
{
    char output[4096] = "";
    const char *folder = getenv("PAPI_OUTPUT_DIRECTORY");
    struct upmu_region_opts opts = UPMU_INIT(struct upmu_region_opts);
    if (__atomic_load_n(&upmu_compat_papi_ready_, __ATOMIC_ACQUIRE))
        return;
    opts.events = getenv("PAPI_EVENTS");
    opts.report = getenv("PAPI_REPORT") ? "text" : folder ? "json" : NULL;
    if (folder && snprintf(output, sizeof output, "%s/upmu-%%h-%%p.json", folder) < (int)sizeof output &&
        !getenv("PAPI_REPORT"))
        opts.output = output;
    (void)upmu_region_setup(&opts); /* of several threads, one; the others find regions on */
    __atomic_store_n(&upmu_compat_papi_ready_, 1, __ATOMIC_RELEASE);
}

static inline int PAPI_hl_region_begin(const char *region)
{
    upmu_compat_papi_setup_();
    return upmu_compat_papi_code_(upmu_region_begin(region));
}

static inline int PAPI_hl_region_end(const char *region)
{
    return upmu_compat_papi_code_(upmu_region_end(region));
}

static inline int PAPI_hl_stop(void)
{
    (void)upmu_region_switch(0);
    return PAPI_OK;
}

/* ------------------------------------------------------------------------------- counters, before PAPI 6 */

/* Those of the thread, in all files of a program. */
__attribute__((weak)) __thread struct upmu_set *upmu_compat_papi_set_;

static inline const char *upmu_compat_preset_name_(int event)
{
    switch (event) {
#define UPMU_COMPAT_NAME_(name) \
    case PAPI_##name:           \
        return "PAPI_" #name;
        UPMU_COMPAT_PRESETS_(UPMU_COMPAT_NAME_)
#undef UPMU_COMPAT_NAME_
    default:
        return NULL;
    }
}

/** Count presets in the calling thread. An event that cannot be counted is an error, as in PAPI. */
static inline int PAPI_start_counters(int *events, int n)
{
    char names[2048] = "";
    size_t used = 0;
    struct upmu_set_opts opts = UPMU_INIT(struct upmu_set_opts);
    if (upmu_compat_papi_set_)
        return PAPI_EISRUN;
    for (int i = 0; i < n; i++) {
        const char *name = upmu_compat_preset_name_(events[i]);
        int written = name ? snprintf(names + used, sizeof names - used, "%s%s", i ? "," : "", name) : -1;
        if (written < 0 || used + (size_t)written >= sizeof names)
            return PAPI_EINVAL;
        used += (size_t)written;
    }
    opts.flags = UPMU_SET_STRICT | UPMU_SET_TOGETHER;
    int rc = upmu_set_open(&upmu_compat_papi_set_, names, &opts);
    if (rc == 0)
        rc = upmu_set_start(upmu_compat_papi_set_);
    return upmu_compat_papi_code_(rc);
}

/* Adds the counts to `values` if `add` is 1, else stores them. */
static inline int upmu_compat_papi_read_(long long *values, int n, int add)
{
    struct upmu_value read[64];
    if (!upmu_compat_papi_set_)
        return PAPI_ENOTRUN;
    int rc = upmu_set_read(upmu_compat_papi_set_, read, 64);
    for (int i = 0; i < rc && i < n; i++) {
        if (read[i].status != UPMU_EXACT)
            return PAPI_ESYS; /* never a count that is none */
        values[i] = (add ? values[i] : 0) + (long long)read[i].value;
    }
    return upmu_compat_papi_code_(rc);
}

/** Read the counters and set them to zero. */
static inline int PAPI_read_counters(long long *values, int n)
{
    int rc = upmu_compat_papi_read_(values, n, 0);
    return rc == PAPI_OK ? upmu_compat_papi_code_(upmu_set_reset(upmu_compat_papi_set_)) : rc;
}

/** Add the counters to `values` and set them to zero. */
static inline int PAPI_accum_counters(long long *values, int n)
{
    int rc = upmu_compat_papi_read_(values, n, 1);
    return rc == PAPI_OK ? upmu_compat_papi_code_(upmu_set_reset(upmu_compat_papi_set_)) : rc;
}

/** Stop counting; `values` may be NULL. */
static inline int PAPI_stop_counters(long long *values, int n)
{
    int rc = PAPI_ENOTRUN;
    if (!upmu_compat_papi_set_)
        return rc;
    rc = upmu_compat_papi_code_(upmu_set_stop(upmu_compat_papi_set_));
    if (rc == PAPI_OK && values)
        rc = upmu_compat_papi_read_(values, n, 0);
    upmu_set_close(upmu_compat_papi_set_);
    upmu_compat_papi_set_ = NULL;
    return rc;
}

/** Message for a code. */
static inline const char *PAPI_strerror(int code)
{
    return code == PAPI_OK ? "no error" : upmu_error();
}

/* ------------------------------------------------------------------------------------------ other calls */

#ifdef __cplusplus
#define UPMU_COMPAT_PAPI_(ours)                                                    \
    __extension__({                                                                \
        static_assert(false, "not in <upmu/compat/papi_hl.h>. In libupmu: " ours); \
        0;                                                                         \
    })
#else
#define UPMU_COMPAT_PAPI_(ours)                                                 \
    __extension__({                                                             \
        _Static_assert(0, "not in <upmu/compat/papi_hl.h>. In libupmu: " ours); \
        0;                                                                      \
    })
#endif
#define PAPI_hl_read(...) UPMU_COMPAT_PAPI_("upmu_region_stats_read()")
#define PAPI_library_init(...) UPMU_COMPAT_PAPI_("none needed")
#define PAPI_thread_init(...) UPMU_COMPAT_PAPI_("none needed")
#define PAPI_shutdown(...) UPMU_COMPAT_PAPI_("none needed")
#define PAPI_create_eventset(...) UPMU_COMPAT_PAPI_("upmu_set_open()")
#define PAPI_add_event(...) UPMU_COMPAT_PAPI_("upmu_set_open()")
#define PAPI_add_events(...) UPMU_COMPAT_PAPI_("upmu_set_open()")
#define PAPI_add_named_event(...) UPMU_COMPAT_PAPI_("upmu_set_open()")
#define PAPI_start(...) UPMU_COMPAT_PAPI_("upmu_set_start()")
#define PAPI_stop(...) UPMU_COMPAT_PAPI_("upmu_set_stop() and upmu_set_read()")
#define PAPI_read(...) UPMU_COMPAT_PAPI_("upmu_set_read()")
#define PAPI_accum(...) UPMU_COMPAT_PAPI_("upmu_set_read()")
#define PAPI_reset(...) UPMU_COMPAT_PAPI_("upmu_set_reset()")
#define PAPI_cleanup_eventset(...) UPMU_COMPAT_PAPI_("upmu_set_close()")
#define PAPI_destroy_eventset(...) UPMU_COMPAT_PAPI_("upmu_set_close()")
#define PAPI_attach(...) UPMU_COMPAT_PAPI_("upmu_set_open() with UPMU_TARGET_PROCESS")
#define PAPI_set_multiplex(...) UPMU_COMPAT_PAPI_("none needed: sets are multiplexed unless UPMU_SET_TOGETHER")
#define PAPI_query_event(...) UPMU_COMPAT_PAPI_("upmu_event_find()")
#define PAPI_num_counters(...) UPMU_COMPAT_PAPI_("upmu_cpu_find()")
#define PAPI_event_name_to_code(...) UPMU_COMPAT_PAPI_("upmu_event_find()")
#define PAPI_get_event_info(...) UPMU_COMPAT_PAPI_("upmu_event_find()")
#define PAPI_get_real_usec(...) UPMU_COMPAT_PAPI_("clock_gettime(CLOCK_MONOTONIC)")
#define PAPI_get_real_nsec(...) UPMU_COMPAT_PAPI_("clock_gettime(CLOCK_MONOTONIC)")
#define PAPI_get_real_cyc(...) UPMU_COMPAT_PAPI_("the event cycles of a set")
#define PAPI_ipc(...) UPMU_COMPAT_PAPI_("the metric ipc: upmu_metric_eval()")
#define PAPI_flips(...) UPMU_COMPAT_PAPI_("the metrics of group flops: upmu_metric_eval()")
#define PAPI_flops(...) UPMU_COMPAT_PAPI_("the metrics of group flops: upmu_metric_eval()")
#define PAPI_overflow(...) UPMU_COMPAT_PAPI_("no call: sampling is not a part of libupmu")
#define PAPI_profil(...) UPMU_COMPAT_PAPI_("no call: sampling is not a part of libupmu")

UPMU_END_DECLS

#endif
