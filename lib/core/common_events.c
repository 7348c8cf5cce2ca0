/* SPDX-License-Identifier: MIT */
/*
 * Which of the architecture's common events an Arm core has. Room: core; before it the kernel's list in sysfs, after it
 * event resolution.
 *
 * An Arm core says in registers which common events it counts. The kernel refuses a generic id of one that is missing,
 * but not a raw code, which then counts 0 with healthy times. Its events folder has a file for each common event that it
 * knows by name and the core has: what is not there is missing, as far as the kernel knows the names.
 */
#include <stdio.h>
#include <string.h>

#include "core/kernel_ops.h"
#include "core/machine.h"

#define PMU_DIR "/sys/bus/event_source/devices"

enum {
    NAMED_BY_ALL = 0x30, /**< the last common event that kernels from 4.14 on have a name for */
    NAMED_LATER = 0x3f,  /**< and those from 6.1 on */
    SECOND_RANGE = 0x4000,
    SECOND_LAST = 0x4006,
};

static uint64_t *word_of(struct common_events *c, uint64_t code)
{
    return code < 64 ? &c->first : code >= SECOND_RANGE && code < SECOND_RANGE + 64 ? &c->second : NULL;
}

struct listing {
    struct common_events *events;
    const char *pmu;
};

static int note_event(const char *name, void *arg)
{
    struct listing *l = arg;
    char path[256], text[64];
    unsigned code;
    int n = snprintf(path, sizeof path, PMU_DIR "/%s/events/%s", l->pmu, name);
    if (n < 0 || (size_t)n >= sizeof path || machine_line(path, text, sizeof text) <= 0 ||
        sscanf(text, "event=0x%x", &code) != 1)
        return 0;
    uint64_t *word = word_of(l->events, code);
    if (word) {
        *word |= UINT64_C(1) << (code & 63);
        l->events->known = true;
    }
    return 0;
}

void common_events_read(const char *pmu, struct common_events *out)
{
    char path[256];
    struct listing l = {.events = out, .pmu = pmu};
    memset(out, 0, sizeof *out);
    int n = snprintf(path, sizeof path, PMU_DIR "/%s/events", pmu);
    if (strncmp(pmu, "armv", 4) == 0 && n > 0 && (size_t)n < sizeof path)
        (void)core_kernel()->list_dir(path, note_event, &l); /* without the folder nothing is known */
}

bool common_events_lack(const struct machine *m, uint64_t code)
{
    struct common_events listed = m->common;
    bool later = m->kernel >= ARCH_KERNEL(6, 1, 0);
    if (!listed.known || code > (later ? SECOND_LAST : NAMED_BY_ALL) || (code > NAMED_LATER && code < SECOND_RANGE))
        return false;
    return !(*word_of(&listed, code) >> (code & 63) & 1);
}
