/* SPDX-License-Identifier: MIT */
/*
 * Choice of the counting backend, and events that only a backend has.
 *
 * An event in this CPU's table is counted by its encoding through any backend, with the same result. PAPI's own
 * names are used for the rest: presets without a row in the table, and events of PAPI components.
 */
#include "core/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int backend_choose(const char *option, enum kernel_backend *out)
{
    const char *variable = secure_getenv("UPMU_BACKEND"), *reason;
    bool from_variable = variable && *variable;
    const char *wanted = from_variable ? variable : option;
    *out = KERNEL_BACKEND_PERF;
    if (!wanted || !*wanted || strcmp(wanted, "perf") == 0)
        return 0;
    if (strcmp(wanted, "papi") != 0)
        return upmu_fail(UPMU_E_INVAL, "%s'%s' is not a backend; use 'perf' (perf_event_open) or 'papi' (libpapi)",
                         from_variable ? "UPMU_BACKEND: " : "", wanted);
    if (core_kernel()->backend(KERNEL_BACKEND_PAPI, &reason) < 0)
        return upmu_fail(UPMU_E_BACKEND, "the backend 'papi' cannot be used: %s", reason);
    *out = KERNEL_BACKEND_PAPI;
    return 0;
}

/* Resolve a PAPI event by PAPI's name. */
static int backend_from_papi(const char *papi, struct event *out)
{
    uint64_t code;
    int rc = core_kernel()->named(KERNEL_BACKEND_PAPI, papi, &code);
    if (rc < 0)
        return rc;
    out->class = EVENT_CORE;
    out->type = KERNEL_TYPE_NAMED;
    out->config = code;
    out->config1 = out->config2 = 0;
    out->raw_encoding = UINT64_MAX;
    out->counters = ARCH_ANY;
    out->match = UPMU_MATCH_APPROXIMATE;
    out->source = "libpapi";
    snprintf(out->pmu, sizeof out->pmu, "papi");
    snprintf(out->note, sizeof out->note, "as PAPI defines %s for this CPU", papi);
    return 0;
}

int backend_resolve(enum kernel_backend backend, const char *name, struct event *out)
{
    int rc = event_resolve(name, out);
    if (backend != KERNEL_BACKEND_PAPI || rc == 0)
        return rc;
    struct event_name parts;
    if (event_name_parse(name, &parts) < 0)
        return rc;
    const char *papi = NULL;
    if (rc == UPMU_E_UNSUPPORTED && out->match == UPMU_MATCH_ABSENT)
        papi = out->papi;
    else if (rc == UPMU_E_NAME && strncmp(parts.base, "native::", 8) == 0)
        papi = parts.base + strlen("native::");
    else if (rc == UPMU_E_NAME && strncmp(parts.base, "PAPI_", 5) == 0)
        papi = parts.base;
    if (!papi || backend_from_papi(papi, out) < 0)
        return rc;
    if (rc == UPMU_E_NAME)
        out->summary = "event by PAPI's name";
    return 0;
}
