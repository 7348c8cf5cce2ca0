/* SPDX-License-Identifier: MIT */
/*
 * Recorded machines. Room: core; before it the kernel door, after it machine.c, trials and the doctor.
 *
 * A recording has the files of /proc and /sys that describe a machine, and in upmu/ the answers that only a trial gives.
 * What it does not tell is said to be unknown; nothing is asked of the running machine instead.
 */
#include "core/machine/machine_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/kernel_ops.h"

#define PMU_DIR "/sys/bus/event_source/devices"

enum { RECORDED_MAX = 8 << 20, PMUS_MAX = 512 };

bool recording_in_use(void)
{
    return core_kernel()->recorded();
}

/* A file of the recording, to be freed. @return its bytes, or -errno with *text NULL. */
static ssize_t recorded_text(const char *path, char **text)
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

static uint64_t checksum(const char *text, size_t len)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a: against damage, not against malice */
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* One line of the manifest: checksum, size and path. */
static void check_file(const char *line, char *fault, size_t cap)
{
    char path[1024], *text;
    uint64_t sum;
    size_t size;
    path[0] = '/';
    if (sscanf(line, "%16" SCNx64 " %zu %1000s", &sum, &size, path + 1) != 3) {
        snprintf(fault, cap, "upmu/manifest has a line that makes no sense: '%.60s'", line);
        return;
    }
    ssize_t n = recorded_text(path, &text);
    if (n < 0)
        snprintf(fault, cap, "%.300s of its manifest cannot be read (%s)", path + 1, upmu_errno_name((int)-n));
    else if ((size_t)n != size || checksum(text, size) != sum)
        snprintf(fault, cap, "%.300s is not what was recorded (its size or checksum is another)", path + 1);
    free(text);
}

/* A recording made by hand has no manifest. */
static void check_manifest(char *fault, size_t cap)
{
    char *manifest, *rest, *line;
    ssize_t n = recorded_text("/upmu/manifest", &manifest);
    if (n == -ENOENT)
        return;
    if (n <= 0 || manifest[n - 1] != '\n')
        snprintf(fault, cap, "upmu/manifest is cut off or cannot be read");
    rest = manifest;
    while (!fault[0] && (line = strsep(&rest, "\n")) != NULL && *line)
        check_file(line, fault, cap);
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

/* PMUs that only one kind of machine has. */
static bool belongs_elsewhere(const char *pmu, const char *machine)
{
    static const struct {
        const char *pmu, *machine; /* how both begin */
    } kinds[] = {
        {"armv", "arm"}, {"cpu_core", "x86"}, {"cpu_atom", "x86"}, {"intel_", "x86"},
        {"amd_", "x86"}, {"uncore_", "x86"},  {"msr", "x86"},      {"riscv", "riscv"},
    };
    for (size_t i = 0; machine[0] && i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(pmu, kinds[i].pmu, strlen(kinds[i].pmu)) == 0)
            return strncmp(machine, kinds[i].machine, strlen(kinds[i].machine)) != 0;
    return false;
}

static int check_pmu(const char *name, void *arg)
{
    struct pmu_walk *w = arg;
    uint32_t type;
    if (machine_pmu_type(name, &type) < 0)
        snprintf(w->fault, w->cap, "sys/bus/event_source/devices/%.60s/type is missing or no number", name);
    else if (belongs_elsewhere(name, w->m->cpu.machine))
        snprintf(w->fault, w->cap, "its proc/cpuinfo is of a machine of the kind %s, which has no PMU '%.60s'",
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

static void check_pmus(const struct machine *m, char *fault, size_t cap)
{
    struct pmu_walk *w = calloc(1, sizeof *w);
    if (!w) {
        snprintf(fault, cap, "there is no memory to examine it");
        return;
    }
    w->m = m;
    w->fault = fault;
    w->cap = cap;
    (void)core_kernel()->list_dir(PMU_DIR, check_pmu, w); /* a recording without PMUs is one of a machine without */
    free(w);
}

/* Number of CPUs in a list like "0-3,8"; 0 if it makes no sense. */
static size_t count_cpus(const char *list)
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

static size_t count_processors(const char *cpuinfo)
{
    size_t n = 0;
    for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "processor", 9) == 0 && line[9 + strspn(line + 9, " \t")] == ':')
            n++;
    }
    return n;
}

/* A container's /proc/cpuinfo may show fewer processors than are online, never more. */
static void check_processors(const char *cpuinfo, char *fault, size_t cap)
{
    char online[1024];
    if (machine_line("/sys/devices/system/cpu/online", online, sizeof online) <= 0)
        return;
    size_t listed = count_processors(cpuinfo), running = count_cpus(online);
    if (listed > running)
        snprintf(fault, cap, "its proc/cpuinfo has %zu processors, but online are %.100s", listed, online);
}

void recording_check(const struct machine *m, const char *cpuinfo, char *fault, size_t cap)
{
    fault[0] = '\0';
    check_manifest(fault, cap);
    if (!fault[0])
        check_processors(cpuinfo, fault, cap);
    if (!fault[0])
        check_pmus(m, fault, cap);
}

/* ------------------------------------------------------------------------------------------------- answers */

/* Cut a row into its `n` fields. @return whether it has as many. */
static bool cut_row(char *row, char **field, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(field[i] = strsep(&row, "\t")))
            return false;
    return !row;
}

static int not_recorded(const char *name)
{
    return upmu_fail(
        UPMU_E_STATE,
        "%s: UPMU_FSROOT is set, and this recording does not tell whether the event counts there. Unset it "
        "to try the event on this machine",
        name);
}

/* A row of upmu/trials: code, seen, name and message. */
static int trial_of_row(char **field, uint64_t *seen)
{
    char *end;
    errno = 0;
    long code = strtol(field[0], &end, 10);
    uint64_t count = strtoull(field[1], &end, 10);
    if (errno || *end != '\0' || code > 0 || code < UPMU_E_RANGE)
        return upmu_fail(UPMU_E_FORMAT, "%s: its row of upmu/trials in the recording makes no sense", field[2]);
    if (code < 0)
        return upmu_fail((int)code, "%s", field[3]);
    if (seen)
        *seen = count;
    return 0;
}

int recording_trial(const char *name, uint64_t *seen)
{
    char *text, *rest, *row, *field[4];
    int rc = 0;
    bool found = false;
    ssize_t n = recorded_text("/upmu/trials", &text);
    if (n < 0)
        return not_recorded(name);
    rest = text;
    while (!found && (row = strsep(&rest, "\n")) != NULL) {
        found = cut_row(row, field, 4) && strcmp(field[2], name) == 0;
        if (found)
            rc = trial_of_row(field, seen);
    }
    free(text);
    return found ? rc : not_recorded(name);
}

/* A row of upmu/findings: state, topic, text and remedy. */
static int tell_row(char **field, int (*found)(const struct upmu_finding *finding, void *arg), void *arg)
{
    struct upmu_finding finding = {
        .topic = field[1],
        .state = (int32_t)strtol(field[0], NULL, 10),
        .text = field[2],
        .remedy = field[3],
    };
    return found(&finding, arg);
}

int recording_told(const char *topic, int (*found)(const struct upmu_finding *finding, void *arg), void *arg,
                   bool *told)
{
    char *text = NULL, *rest, *row, *field[4];
    int rc = 0;
    *told = false;
    if (recorded_text("/upmu/findings", &text) < 0)
        return 0;
    rest = text;
    while (rc == 0 && (row = strsep(&rest, "\n")) != NULL) {
        if (!cut_row(row, field, 4) || strcmp(field[1], topic) != 0)
            continue;
        rc = tell_row(field, found, arg);
        *told = true;
    }
    free(text);
    return rc;
}

int recording_findings(const char *topic, int (*found)(const struct upmu_finding *finding, void *arg), void *arg)
{
    bool told;
    int rc = recording_told(topic, found, arg, &told);
    if (told)
        return rc;
    struct upmu_finding unknown = {
        .topic = topic,
        .state = UPMU_FINDING_INFO,
        .text = "not known: this recording does not tell, and only a trial could",
        .remedy = "",
    };
    return found(&unknown, arg);
}
