/* SPDX-License-Identifier: MIT */
/*
 * Machine snapshots: files, checks, trials and findings of an unpacked archive of `upmu gather`.
 *
 * A snapshot contains the files of /proc and /sys that describe a machine, and in upmu/ the results of trials.
 * Missing data is unknown; the running machine is never used instead.
 */
#include "core/machine/machine_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/kernel_ops.h"

enum { RECORDED_MAX = 8 << 20, PMUS_MAX = 512 };

bool machine_snapshot_in_use(void)
{
    return core_kernel()->recorded();
}

/* Read a file of the snapshot; the caller frees it. @return its bytes, or -errno with *text NULL. */
static ssize_t snapshot_text(const char *path, char **text)
{
    *text = malloc(RECORDED_MAX);
    ssize_t n = *text ? core_kernel()->read_file(path, *text, RECORDED_MAX) : -ENOMEM;
    if (n < 0) {
        free(*text);
        *text = NULL;
    }
    return n;
}

/* ---------------------------------------------------------------------------------------------- the manifest */

static uint64_t snapshot_checksum(const char *text, size_t len)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a: detects damage, not manipulation */
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* One line of the manifest: checksum, size and path. */
static void snapshot_check_file(const char *line, char *fault, size_t cap)
{
    char path[1024], *text;
    uint64_t sum;
    size_t size;
    path[0] = '/';
    if (sscanf(line, "%16" SCNx64 " %zu %1000s", &sum, &size, path + 1) != 3) {
        snprintf(fault, cap, "upmu/manifest has a malformed line: '%.60s'", line);
        return;
    }
    ssize_t n = snapshot_text(path, &text);
    if (n < 0)
        snprintf(fault, cap, "%.300s of its manifest cannot be read (%s)", path + 1, upmu_errno_name((int)-n));
    else if ((size_t)n != size || snapshot_checksum(text, size) != sum)
        snprintf(fault, cap, "%.300s differs from what was recorded (size or checksum)", path + 1);
    free(text);
}

/* A snapshot made by hand has no manifest. */
static void snapshot_check_manifest(char *fault, size_t cap)
{
    char *manifest, *rest, *line;
    ssize_t n = snapshot_text("/upmu/manifest", &manifest);
    if (n == -ENOENT)
        return;
    if (n <= 0 || manifest[n - 1] != '\n')
        snprintf(fault, cap, "upmu/manifest is truncated or cannot be read");
    rest = manifest;
    while (!fault[0] && (line = strsep(&rest, "\n")) != NULL && *line)
        snapshot_check_file(line, fault, cap);
    free(manifest);
}

/* ------------------------------------------------------------------------------------------- contradictions */

struct pmu_walk {
    const struct machine *m;
    size_t n;
    uint32_t types[PMUS_MAX];
    char names[PMUS_MAX][48];
    char *fault;
    size_t cap;
};

/* PMUs that exist on one architecture only. */
static bool snapshot_is_foreign_pmu(const char *pmu, const char *machine)
{
    static const struct {
        const char *pmu, *machine; /* prefixes */
    } kinds[] = {
        {"armv", "arm"}, {"cpu_core", "x86"}, {"cpu_atom", "x86"}, {"intel_", "x86"},
        {"amd_", "x86"}, {"uncore_", "x86"},  {"msr", "x86"},      {"riscv", "riscv"},
    };
    for (size_t i = 0; machine[0] && i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(pmu, kinds[i].pmu, strlen(kinds[i].pmu)) == 0)
            return strncmp(machine, kinds[i].machine, strlen(kinds[i].machine)) != 0;
    return false;
}

static int snapshot_check_pmu(const char *name, void *arg)
{
    struct pmu_walk *w = arg;
    uint32_t type;
    if (machine_pmu_type(name, &type) < 0)
        snprintf(w->fault, w->cap, "sys/bus/event_source/devices/%.60s/type is missing or not a number", name);
    else if (snapshot_is_foreign_pmu(name, w->m->cpu.machine))
        snprintf(w->fault, w->cap, "its proc/cpuinfo is of a machine of type %s, which has no PMU '%.60s'",
                 w->m->cpu.machine, name);
    for (size_t i = 0; !w->fault[0] && i < w->n; i++)
        if (w->types[i] == type)
            snprintf(w->fault, w->cap, "its PMUs '%s' and '%.60s' have the same type %u", w->names[i], name, type);
    if (w->fault[0] || w->n == PMUS_MAX)
        return 1;
    snprintf(w->names[w->n], sizeof w->names[0], "%s", name);
    w->types[w->n++] = type;
    return 0;
}

static void snapshot_check_pmus(const struct machine *m, char *fault, size_t cap)
{
    struct pmu_walk *w = calloc(1, sizeof *w);
    if (!w) {
        snprintf(fault, cap, "out of memory");
        return;
    }
    w->m = m;
    w->fault = fault;
    w->cap = cap;
    /* A snapshot without PMUs is of a machine without. */
    (void)core_kernel()->list_dir(MACHINE_PMU_DIR, snapshot_check_pmu, w);
    free(w);
}

/* Number of CPUs in a list like "0-3,8"; 0 if it is malformed. */
static size_t snapshot_count_cpus(const char *list)
{
    size_t n = 0;
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last < first)
            return 0;
        n += last - first + 1;
        list = end + (*end == ',');
    }
    return *list == '\0' ? n : 0;
}

static size_t snapshot_count_processors(const char *cpuinfo)
{
    size_t n = 0;
    for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "processor", 9) == 0 && line[9 + strspn(line + 9, " \t")] == ':')
            n++;
    }
    return n;
}

/* A container's /proc/cpuinfo may list fewer processors than are online, never more. */
static void snapshot_check_processors(const char *cpuinfo, char *fault, size_t cap)
{
    char online[1024];
    if (machine_line("/sys/devices/system/cpu/online", online, sizeof online) <= 0)
        return;
    size_t listed = snapshot_count_processors(cpuinfo), running = snapshot_count_cpus(online);
    if (listed > running)
        snprintf(fault, cap, "its proc/cpuinfo has %zu processors, but online are %.100s", listed, online);
}

void machine_snapshot_check(const struct machine *m, const char *cpuinfo, char *fault, size_t cap)
{
    fault[0] = '\0';
    snapshot_check_manifest(fault, cap);
    if (!fault[0])
        snapshot_check_processors(cpuinfo, fault, cap);
    if (!fault[0])
        snapshot_check_pmus(m, fault, cap);
}

/* ------------------------------------------------------------------------------------------------- answers */

/* Split a row into its `n` fields. @return whether it has as many. */
static bool snapshot_split_row(char *row, char **field, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(field[i] = strsep(&row, "\t")))
            return false;
    return !row;
}

static int snapshot_fail_missing(const char *name)
{
    return upmu_fail(UPMU_E_STATE,
                     "%s: UPMU_FSROOT is set, and the machine snapshot has no trial of the event. Unset it to try the "
                     "event on this machine",
                     name);
}

/* A row of upmu/trials: code, seen, name and message. */
static int snapshot_row_trial(char **field, uint64_t *seen)
{
    char *end;
    errno = 0;
    long code = strtol(field[0], &end, 10);
    uint64_t count = strtoull(field[1], &end, 10);
    if (errno || *end != '\0' || code > 0 || code < UPMU_E_RANGE)
        return upmu_fail(UPMU_E_FORMAT, "%s: its row of upmu/trials in the machine snapshot is malformed", field[2]);
    if (code < 0)
        return upmu_fail((int)code, "%s", field[3]);
    if (seen)
        *seen = count;
    return 0;
}

int machine_snapshot_trial(const char *name, uint64_t *seen)
{
    char *text, *rest, *row, *field[4];
    int rc = 0;
    bool found = false;
    ssize_t n = snapshot_text("/upmu/trials", &text);
    if (n < 0)
        return snapshot_fail_missing(name);
    rest = text;
    while (!found && (row = strsep(&rest, "\n")) != NULL) {
        found = snapshot_split_row(row, field, 4) && strcmp(field[2], name) == 0;
        if (found)
            rc = snapshot_row_trial(field, seen);
    }
    free(text);
    return found ? rc : snapshot_fail_missing(name);
}

/* A row of upmu/findings: state, topic, text and remedy. */
static int snapshot_row_finding(char **field, int (*found)(const struct upmu_diagnosis *finding, void *arg), void *arg)
{
    struct upmu_diagnosis finding = {
        .topic = field[1],
        .state = (int32_t)strtol(field[0], NULL, 10),
        .text = field[2],
        .remedy = field[3],
    };
    return found(&finding, arg);
}

int machine_snapshot_findings_if_any(const char *topic, int (*found)(const struct upmu_diagnosis *finding, void *arg),
                                     void *arg, bool *recorded)
{
    char *text = NULL, *rest, *row, *field[4];
    int rc = 0;
    *recorded = false;
    if (snapshot_text("/upmu/findings", &text) < 0)
        return 0;
    rest = text;
    while (rc == 0 && (row = strsep(&rest, "\n")) != NULL) {
        if (!snapshot_split_row(row, field, 4) || strcmp(field[1], topic) != 0)
            continue;
        rc = snapshot_row_finding(field, found, arg);
        *recorded = true;
    }
    free(text);
    return rc;
}

int machine_snapshot_findings(const char *topic, int (*found)(const struct upmu_diagnosis *finding, void *arg),
                              void *arg)
{
    bool recorded;
    int rc = machine_snapshot_findings_if_any(topic, found, arg, &recorded);
    if (recorded)
        return rc;
    struct upmu_diagnosis unknown = {
        .topic = topic,
        .state = UPMU_DIAGNOSIS_INFO,
        .text = "unknown: it needs a trial, and this machine snapshot has none",
        .remedy = "",
    };
    return found(&unknown, arg);
}
