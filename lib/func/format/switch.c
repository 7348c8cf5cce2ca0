/* SPDX-License-Identifier: MIT */
/* Switch of a process: intervals in which calls are recorded, and selections of functions. */
#include "func/format/switch.h"

#include <string.h>

#include "base/error.h"

bool func_switch_is_valid(const struct func_switch *s, size_t bytes)
{
    bool inside = s->gate_at == 0 || (s->gate_at >= FUNC_SWITCH_STEP && s->gate_at < 2 * FUNC_SWITCH_STEP &&
                                      s->gate_at % sizeof(uint32_t) == 0);
    return bytes >= FUNC_SWITCH_BYTES && memcmp(s->magic, FUNC_SWITCH_MAGIC, sizeof s->magic) == 0 &&
           s->version == FUNC_SWITCH_VERSION && (s->kind == FUNC_ON_ISA || s->kind == FUNC_ON_PORTABLE) && inside;
}

uint32_t *func_switch_gate(struct func_switch *s)
{
    return s->gate_at ? (uint32_t *)(void *)((char *)s + s->gate_at) : NULL;
}

/* ---------------------------------------------------------------------------------------------------- intervals */

bool func_switch_on(const struct func_switch *s, uint32_t *gate)
{
    uint32_t was = __atomic_load_n(gate, __ATOMIC_ACQUIRE), on;
    do {
        if (was & FUNC_KIND)
            return true;
        on = (func_gate_interval(was) + 1) << FUNC_INTERVAL_SHIFT | s->kind;
    } while (!__atomic_compare_exchange_n(gate, &was, on, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return false;
}

/* Record that `interval` stopped at `tick`. To be called before the gate changes, so that a thread that sees the new gate finds the
 * stop. */
static void switch_stop(struct func_switch *s, uint32_t interval, uint64_t tick)
{
    struct func_stop *stop = &s->stops[interval % FUNC_STOPS];
    __atomic_store_n(&stop->interval, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&stop->tick, tick, __ATOMIC_RELEASE);
    __atomic_store_n(&stop->interval, (uint64_t)interval + 1, __ATOMIC_RELEASE);
}

bool func_switch_off(struct func_switch *s, uint32_t *gate, uint64_t tick)
{
    uint32_t was = __atomic_load_n(gate, __ATOMIC_ACQUIRE);
    do {
        if (!(was & FUNC_KIND))
            return false;
        switch_stop(s, func_gate_interval(was), tick);
    } while (!__atomic_compare_exchange_n(gate, &was, was & ~(uint32_t)FUNC_KIND, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    return true;
}

bool func_switch_stopped(const struct func_switch *s, uint32_t gate, uint32_t interval, uint64_t *tick)
{
    const struct func_stop *stop = &s->stops[interval % FUNC_STOPS];
    *tick = 0;
    if (func_gate_interval(gate) == interval && (gate & FUNC_KIND))
        return false;
    uint64_t is = __atomic_load_n(&stop->interval, __ATOMIC_ACQUIRE),
             at = __atomic_load_n(&stop->tick, __ATOMIC_ACQUIRE);
    if (is == (uint64_t)interval + 1 && __atomic_load_n(&stop->interval, __ATOMIC_ACQUIRE) == is)
        *tick = at;
    return true;
}

/* --------------------------------------------------------------------------------------------------- selections */

int func_patterns_set(char to[FUNC_PATTERNS_BYTES], const char *what, const char *text)
{
    uint32_t patterns = 0;
    size_t at = 0;
    for (const char *from = text + strspn(text, ","); *from; patterns++) {
        size_t n = strcspn(from, ",");
        if (patterns == FUNC_PATTERNS_MAX || n >= FUNC_PATTERN_MAX)
            return upmu_fail(UPMU_E_INVAL, "%s has more than %d patterns, or one of more than %d characters", what,
                             (int)FUNC_PATTERNS_MAX, FUNC_PATTERN_MAX - 1);
        if (at > 0)
            to[at++] = ',';
        memcpy(to + at, from, n);
        at += n;
        from += n;
        from += strspn(from, ",");
    }
    memset(to + at, 0, FUNC_PATTERNS_BYTES - at);
    return 0;
}

static int selection_change(struct func_selection *to, const struct func_selection_change *c)
{
    int rc = c->include ? func_patterns_set(to->include, "include", c->include) : 0;
    if (rc == 0 && c->exclude)
        rc = func_patterns_set(to->exclude, "exclude", c->exclude);
    if (rc == 0 && c->below)
        rc = func_patterns_set(to->below, "below", c->below);
    if (c->depth_max)
        to->depth_max = c->depth_max == UINT32_MAX ? 0 : c->depth_max;
    if (c->min_ns)
        to->min_ns = c->min_ns == UINT64_MAX ? 0 : c->min_ns;
    return rc;
}

int func_switch_select(struct func_switch *s, uint32_t *gate, const struct func_selection_change *c, uint64_t tick)
{
    uint32_t now = __atomic_load_n(&s->selected, __ATOMIC_ACQUIRE);
    struct func_selection *next = func_switch_selection(s, now + 1);
    if (c->min_ns && c->min_ns != UINT64_MAX && !s->events)
        return upmu_fail(UPMU_E_STATE,
                         "calls have no events that a minimum duration could leave out: mode trace records "
                         "them (upmu record --function-events)");
    memcpy(next, func_switch_selection(s, now), sizeof *next);
    int rc = selection_change(next, c);
    if (rc < 0)
        return rc;
    __atomic_store_n(&s->selected, now + 1, __ATOMIC_RELEASE);
    if (func_switch_off(s, gate, tick))
        (void)func_switch_on(s, gate);
    return 0;
}
