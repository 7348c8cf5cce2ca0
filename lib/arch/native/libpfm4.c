/* SPDX-License-Identifier: MIT */
/**
 * @file Native event names through libpfm4, opened at run time.
 *
 * Three functions of libpfm4 are used; the two types they need are declared here, with the layout of libpfm4 4.x
 * (the struct contains its size).
 */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/own_once.h"
#include "core/arch_ops.h"

enum { PFM_SUCCESS = 0, PFM_OS_PERF_EVENT = 1, PFM_PLM_KERNEL = 0x1, PFM_PLM_USER = 0x8 };

struct pfm_encode_arg {
    struct perf_event_attr *attr; /* in: buffer; out: filled */
    char **name;                  /* out: the full name, from malloc */
    size_t size;                  /* in */
    int index;
    int cpu;
    int flags;
    int padding;
};

struct pfm_library {
    int (*initialize)(void);
    int (*encode)(const char *name, int modes, int os, void *arg);
    const char *(*strerror)(int code);
    char missing[200]; /* why it cannot be used; "" if it can */
};

static struct pfm_library pfm;

static void libpfm4_open(void)
{
    void *handle = dlopen("libpfm.so.4", RTLD_LOCAL | RTLD_NOW);
    if (!handle) {
        snprintf(pfm.missing, sizeof(pfm.missing), "libpfm4 is not installed (%s)", dlerror());
        return;
    }
    /* POSIX's way to convert dlsym's result to a function pointer. */
    *(void **)&pfm.initialize = dlsym(handle, "pfm_initialize");
    *(void **)&pfm.encode = dlsym(handle, "pfm_get_os_event_encoding");
    *(void **)&pfm.strerror = dlsym(handle, "pfm_strerror");
    if (!pfm.initialize || !pfm.encode || !pfm.strerror) {
        snprintf(pfm.missing, sizeof(pfm.missing), "libpfm.so.4 lacks functions of libpfm4");
        dlclose(handle);
        return;
    }
    int result = pfm.initialize();
    if (result != PFM_SUCCESS) {
        snprintf(pfm.missing, sizeof(pfm.missing), "pfm_initialize() failed: %s", pfm.strerror(result));
        dlclose(handle);
    }
}

/** libpfm4 modifiers that need fields of perf_event_attr other than type and config. */
static bool libpfm4_has_modes(const struct perf_event_attr *attr)
{
    return attr->exclude_user || attr->exclude_kernel || attr->exclude_host || attr->exclude_idle || attr->precise_ip ||
           attr->pinned || attr->exclusive || attr->sample_period;
}

int arch_native_encode(const char *name, struct arch_native_code *out)
{
    static struct own_once once;
    *out = (struct arch_native_code){0};
    own_once(&once, libpfm4_open);
    if (pfm.missing[0] != '\0')
        return upmu_fail(UPMU_E_UNSUPPORTED, "%s needs libpfm4: %s. Install the package libpfm4.", name, pfm.missing);

    struct perf_event_attr attr = {.size = sizeof(attr)};
    char *full = NULL;
    struct pfm_encode_arg arg = {.attr = &attr, .name = &full, .size = sizeof(arg)};
    int result = pfm.encode(name, PFM_PLM_KERNEL | PFM_PLM_USER, PFM_OS_PERF_EVENT, &arg);
    if (result != PFM_SUCCESS)
        return upmu_fail(UPMU_E_NAME, "%s: libpfm4 refuses the name: %s. Its program `showevtinfo` lists all names.",
                         name, pfm.strerror(result));

    if (libpfm4_has_modes(&attr)) {
        free(full);
        return upmu_fail(
            UPMU_E_NAME,
            "%s: libpfm4's modifiers of modes and sampling are not supported. Append :u or :k of libupmu instead.",
            name);
    }
    out->type = attr.type;
    out->config = attr.config;
    out->config1 = attr.config1;
    out->config2 = attr.config2;
    snprintf(out->name, sizeof(out->name), "%s", full ? full : name);
    free(full);
    return 0;
}
