/* SPDX-License-Identifier: MIT */
/**
 * @file libpapi, opened at run time: functions and usability.
 *
 * PAPI's header is not included, because it may be missing where libupmu is built: the parts used are the same from
 * 5.7 to 7.3. The version to request follows from the name of the library found.
 */
#ifndef UPMU_KERNEL_PAPI_LIBRARY_H
#define UPMU_KERNEL_PAPI_LIBRARY_H

#include <stdbool.h>

/** PAPI error codes that are distinguished here. */
enum papi_code {
    PAPI_CODE_OK = 0,
    PAPI_CODE_EINVAL = -1,
    PAPI_CODE_ENOMEM = -2,
    PAPI_CODE_ESYS = -3,
    PAPI_CODE_ENOEVNT = -7,
    PAPI_CODE_ECNFLCT = -8,
    PAPI_CODE_EISRUN = -10,
    PAPI_CODE_ENOCNTR = -13,
    PAPI_CODE_EPERM = -15,
    PAPI_CODE_ENOSUPP = -18,
    PAPI_CODE_EINVAL_DOM = -21,
    PAPI_CODE_ECOUNT = -23,
    PAPI_CODE_ECOMBO = -24,
    PAPI_CODE_ECMP_DISABLED = -25,
};

enum { PAPI_NO_SET = -1, PAPI_DOMAIN_OPTION = 5, PAPI_CPU_OPTION = 27 };

/** Modes of a PAPI domain. */
enum { PAPI_MODE_USER = 1, PAPI_MODE_KERNEL = 2 };

/** Argument of PAPI_set_opt(); PAPI's own union is longer. */
union papi_option {
    struct {
        int component, set, modes;
    } domain;
    struct {
        int set;
        unsigned cpu;
    } cpu;
    char reserved[256];
};

struct papi_calls {
    int (*library_init)(int version);
    int (*is_initialized)(void);
    int (*thread_init)(unsigned long (*id)(void));
    int (*unregister_thread)(void);
    int (*component_index)(const char *name);
    const void *(*component_info)(int index);
    int (*name_to_code)(const char *name, int *code);
    int (*query_named)(const char *name);
    int (*create)(int *set);
    int (*assign)(int set, int component);
    int (*attach)(int set, unsigned long tid);
    int (*set_opt)(int option, void *value);
    int (*add_named)(int set, const char *name);
    int (*add)(int set, int code);
    int (*start)(int set);
    int (*stop)(int set, long long *values);
    int (*read)(int set, long long *values);
    int (*cleanup)(int set);
    int (*destroy)(int *set);
};

struct papi_library {
    bool usable;
    char reason[512]; /**< why it cannot be used, with the remedy; or its description */
    int component;    /**< index of PAPI's perf_event component */
    struct papi_calls call;
};

/** libpapi, opened and initialized at the first call. Thread safe, not signal safe. */
const struct papi_library *papi_library(void);

#endif
