/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: a list of event names, resolved and planned on one of several CPUs; its first name also alone.
 *
 * The first byte selects the CPU. The first line is the list, the others become files of the machine's sysfs: a format, an event with scale and
 * unit, the CPUs of a PMU and the number of a tracepoint.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "upmu/upmu.h"

#define DEVICES "sys/bus/event_source/devices/"

static const char *const cpus[] = {NULL,          "zen4",   "skylake", "goldencove",
                                   "neoverse_n1", "3a6000", "sw831",   "kunpeng920"};
enum { CPUS = sizeof cpus / sizeof *cpus };

static const char *const varied[] = {
    DEVICES "fuzz/format/field",      DEVICES "fuzz/events/event", DEVICES "fuzz/events/event.scale",
    DEVICES "fuzz/events/event.unit", DEVICES "fuzz/cpumask",      "sys/kernel/tracing/events/fuzz/event/id"};

/* With an unknown CPU nothing of a list would be read. */
static void cpus_are_known(void)
{
    struct upmu_plan *plan;
    for (size_t i = 1; i < CPUS; i++) {
        if (upmu_plan_open(&plan, cpus[i], "cycles") != 0)
            abort();
        upmu_plan_close(plan);
    }
}

static void names_are_listed(void)
{
    const char *name;
    for (size_t i = 0; i < upmu_event_count(); i++)
        if (upmu_event_name_at(i, &name) != 0)
            abort();
}

static void write_beneath(const char *name, const char *text, size_t size)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    for (char *slash = path + (len - (int)strlen(name)); (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    fuzz_write(path, text, size);
}

/* The machine on which names are resolved: a hybrid one, with PMUs of other kinds. */
static void make_machine(void)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "cp -r '%s/.' '%s'", FUZZ_MACHINE, fuzz_folder());
    if (system(copy) != 0 || setenv("UPMU_FSROOT", fuzz_folder(), 1) != 0)
        abort();
    write_beneath(DEVICES "cpu_core/format/event", "config:0-7,32-35\n", 17);
    write_beneath(DEVICES "cpu_core/format/umask", "config:8-15\n", 12);
    write_beneath(DEVICES "cpu_core/events/cpu-cycles", "event=0x3c\n", 11);
    write_beneath(DEVICES "msr/type", "11\n", 3);
    write_beneath(DEVICES "msr/events/tsc", "config=0\n", 9);
    write_beneath(DEVICES "fuzz/type", "9\n", 2);
    cpus_are_known();
    names_are_listed();
}

/* A refusal has a message of bounded length. */
static void check(int rc)
{
    if (rc < 0 && (!upmu_error()[0] || strlen(upmu_error()) > 4096))
        abort();
}

static void resolve(const char *cpu, const char *names)
{
    struct upmu_event_info info = {.size = sizeof info};
    struct upmu_plan *plan;
    char first[512];
    check(upmu_plan_open(&plan, cpu, names));
    upmu_plan_close(plan);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(names, ","), names);
    check(cpu ? upmu_cpu_event_find(cpu, first, &info) : upmu_event_find(first, &info));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    if (size < 1)
        return -1;
    if (!made)
        make_machine();
    made = true;
    char *names = fuzz_text(data + 1, size - 1), *line = names;
    strsep(&line, "\n");
    for (size_t i = 0; line && i < sizeof varied / sizeof *varied; i++) {
        const char *text = strsep(&line, "\n");
        write_beneath(varied[i], text, strlen(text));
    }
    resolve(cpus[data[0] % CPUS], names);
    free(names);
    return 0;
}
