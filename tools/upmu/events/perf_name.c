/* SPDX-License-Identifier: MIT */
/* Event names of perf, from the encoding in perf_event_open. */
#include "perf_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The types of the kernel's contract (linux/perf_event.h), whose names are perf's. */
enum { TYPE_HARDWARE = 0, TYPE_SOFTWARE = 1, TYPE_HW_CACHE = 3 };

static const char *const hardware[] = {
    "cpu-cycles",    "instructions", "cache-references",        "cache-misses",           "branch-instructions",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
};
static const char *const software[] = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};
static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
static const char *const accesses[][2] = {
    {"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}};

#define LENGTH(names) (sizeof(names) / sizeof *(names))

/* The modifier at the end of a name, without its colon; "" if it has none. */
static const char *perf_modifier_of(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon && colon[1] && colon[1 + strspn(colon + 1, "ukhpPGH")] == '\0' ? colon + 1 : "";
}

/* perf has no stores to the instruction cache, its TLB and the branch predictor, nor prefetches to the latter two. */
static bool perf_cache_has_access(uint64_t cache, uint64_t access)
{
    return cache == 1 ? access != 1 : cache == 4 || cache == 5 ? access == 0 : true;
}

static void perf_cache_words(uint64_t config, const char *colon, const char *modifier, char *words, size_t size)
{
    uint64_t cache = config & 0xff, access = config >> 8 & 0xff, result = config >> 16;
    if (cache < LENGTH(caches) && access < LENGTH(accesses) && result < 2 && perf_cache_has_access(cache, access))
        snprintf(words, size, "%s-%s%s%s", caches[cache], accesses[access][result], colon, modifier);
}

static void perf_code_words(const struct upmu_event_info *e, const char *modifier, char *words, size_t size)
{
    char second[32] = "", third[32] = "";
    if (e->config1)
        snprintf(second, sizeof second, ",config1=0x%llx", (unsigned long long)e->config1);
    if (e->config2)
        snprintf(third, sizeof third, ",config2=0x%llx", (unsigned long long)e->config2);
    snprintf(words, size, "%s/config=0x%llx%s%s/%s", e->pmu, (unsigned long long)e->config, second, third, modifier);
}

void perf_name(const struct upmu_event_info *e, char *words, size_t size)
{
    words[0] = '\0';
    /* Events read with getrusage are not events of perf. */
    if (e->match == UPMU_MATCH_ABSENT || !e->pmu || e->formula[0] || strcmp(e->pmu, "getrusage") == 0)
        return;
    const char *modifier = perf_modifier_of(e->name), *colon = modifier[0] ? ":" : "";
    switch (e->type) {
    case TYPE_HARDWARE:
        if (e->config < LENGTH(hardware))
            snprintf(words, size, "%s%s%s", hardware[e->config], colon, modifier);
        break;
    case TYPE_SOFTWARE:
        if (e->config < LENGTH(software))
            snprintf(words, size, "%s%s%s", software[e->config], colon, modifier);
        break;
    case TYPE_HW_CACHE:
        perf_cache_words(e->config, colon, modifier, words, size);
        break;
    default:
        perf_code_words(e, modifier, words, size);
        break;
    }
}
