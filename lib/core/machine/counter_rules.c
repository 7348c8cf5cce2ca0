/* SPDX-License-Identifier: MIT */
/* Counters of this machine's cores, for the planner. */
#include <stdio.h>
#include <string.h>

#include "core/kernel_ops.h"
#include "core/machine/machine.h"
#include "core/check/self_check_counters.h"

/* The family's counters, less those that this CPU lacks (in guests). */
static struct arch_counters rules_counters(const struct machine *m)
{
    struct arch_counters c = m->family->counters;
    char flag[64] = "";
    if (c.flag)
        snprintf(flag, sizeof flag, " %s ", c.flag);
    if (c.flag && m->cpu.flags[0] && !strstr(m->cpu.flags, flag))
        c.general = c.general_without;
    if (m->cpu.hypervisor && !m->named && !core_kernel()->recorded())
        c.general = (uint8_t)self_check_counters(c.general);
    return c;
}

/* The watchdog's event is pinned: a group that needs its counter opens and is never counted. */
static bool rules_watchdog_on(void)
{
    char text[16];
    return machine_line("/proc/sys/kernel/nmi_watchdog", text, sizeof text) > 0 && strcmp(text, "0") != 0;
}

static uint32_t rules_held_counters(const struct arch_family *family, const struct arch_counters *c)
{
    const struct arch_event *cycles = arch_family_event(family, "cycles");
    if (!c->watchdog || !cycles || cycles->kind == ARCH_CODE_NONE || !rules_watchdog_on())
        return 0;
    const struct event e = {.class = EVENT_CORE,
                            .type = KERNEL_TYPE_HARDWARE,
                            .raw_encoding = cycles->raw_encoding,
                            .counters = cycles->counters};
    return plan_mask(&e, c);
}

void machine_rules(const struct machine *m, struct plan_rules rules[PLAN_CORE_TYPES_MAX])
{
    for (unsigned k = 0; k < PLAN_CORE_TYPES_MAX; k++) {
        const struct machine *core = m->named ? m : machine_core_type(k);
        rules[k].counters = rules_counters(core);
        rules[k].held = m->named ? 0 : rules_held_counters(core->family, &rules[k].counters);
    }
}
