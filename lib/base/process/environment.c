/* SPDX-License-Identifier: MIT */
/* Check of the environment for unknown UPMU_ variables. */
#include "base/process/environment.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/text/suggest.h"
#include "base/text/textbuf.h"

static const char prefix[] = "UPMU_";
enum { PREFIX = sizeof prefix - 1, ENVIRONMENT_NAME_MAX = 64 };

/* Known names without their prefix; docs/guide/environment.md describes them. */
static const char *const known[] = {
    "BACKEND",       "EVENTS",           "FSROOT",         "FUNC_BELOW",
    "FUNC_CSV",      "FUNC_DEPTH",       "FUNC_EXCLUDE",   "FUNC_INCLUDE",
    "FUNC_MIN",      "FUNC_MODE",        "FUNC_NODES",     "FUNC_WRAP",
    "HEAP",          "FUNC_RING",        "KERNEL_LOCKS",   "METRICS",
    "MPI",           "MPI_JOB",          "MPI_LOCKS",      "MPI_RANKS",
    "OPENMP",        "OUTPUT",           "REGION_THREADS", "REPORT",
    "SCHED",         "SNAPSHOT_ON",      "SYNC",           "SYNC_ALL_STACKS",
    "SYNC_COUNTERS", "SYNC_CPU_SAMPLES", "SYNC_NO_CALLS",  "SYNC_REQUESTS",
    "SYNC_SAMPLE",   "SYNC_STACKS",      "TRACE",          "TRACE_PACKET",
    "TRACE_POLICY",  "WRAPPERS",         "FUNC_COUNTERS",  "FUNC_PAUSED",
    "DEBUG_DIR",
};

/* @return whether `name` is unknown; `*nearest` is then a known name or NULL. */
static bool environment_is_unknown(const char *name, const char **nearest)
{
    struct suggest s;
    suggest_begin(&s, name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i]) == 0)
            return false;
        suggest_offer(&s, known[i]);
    }
    *nearest = s.best;
    return true;
}

size_t environment_unknown(struct textbuf *out, bool only_similar)
{
    size_t n = 0;
    if (getauxval(AT_SECURE))
        return 0;
    for (char **variable = environ; variable && *variable; variable++) {
        char name[ENVIRONMENT_NAME_MAX];
        const char *nearest, *end = strchr(*variable, '=');
        size_t len = end ? (size_t)(end - *variable) : 0;
        if (len <= PREFIX || len - PREFIX >= sizeof name || strncmp(*variable, prefix, PREFIX) != 0)
            continue;
        memcpy(name, *variable + PREFIX, len - PREFIX);
        name[len - PREFIX] = '\0';
        if (!environment_is_unknown(name, &nearest) || (only_similar && !nearest))
            continue;
        textbuf_printf(out, "%sunknown variable UPMU_%s is ignored%s%s%s", n++ ? "; " : "", name,
                       nearest ? ", did you mean UPMU_" : "", nearest ? nearest : "", nearest ? "?" : "");
    }
    return n;
}
