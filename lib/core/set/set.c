/* SPDX-License-Identifier: MIT */
/*
 * Counter sets: open, start, stop, read, close.
 *
 * Kernel counters are never reset, because that would keep their times: the set stores a baseline instead.
 */
#include "core/set/set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/backend.h"
#include "core/formula/derived.h"
#include "core/check/refusal.h"
#include "core/formula/formula.h"
#include "core/machine/machine.h"
#include "core/check/self_check.h"

/* ---------------------------------------------------------------------------------------------- open, close */

static int set_check_opts(const struct upmu_set_opts *o)
{
    const uint32_t flags =
        UPMU_SET_STRICT | UPMU_SET_NO_USER_READ | UPMU_SET_INHERIT | UPMU_SET_NO_INHERIT | UPMU_SET_TOGETHER;
    if (o->target > UPMU_TARGET_TASK)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: target %u is unknown", o->target);
    if (o->flags & ~flags)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: flags 0x%x are unknown", o->flags & ~flags);
    if (set_counts_others(o->target) && o->pid <= 0)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: %s id %d is not valid",
                         o->target == UPMU_TARGET_TASK ? "thread" : "process", (int)o->pid);
    if (o->target == UPMU_TARGET_CPU && o->cpu < 0)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: CPU %d is not valid", o->cpu);
    if (o->target == UPMU_TARGET_COMMAND && (!o->argv || !o->argv[0]))
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: `opts->argv` is empty");
    return 0;
}

/* A socket-wide or die-wide event can only be counted on a CPU, and only on one CPU of each socket or die: on two
 * of them it would be counted twice. */
static int set_check_scopes(struct upmu_set *set)
{
    for (size_t i = 0; i < set->list.n; i++) {
        struct event *e = &set->list.events[i];
        bool on_cpu = set->opts.target == UPMU_TARGET_CPU;
        if (set->list.absent[i] || e->cpu < 0 || (on_cpu && machine_cpu_listed(e->cpus, set->opts.cpu)))
            continue;
        if (on_cpu)
            (void)upmu_fail(UPMU_E_UNSUPPORTED,
                            "'%s' counts a whole socket or die. It is counted once for each, on CPU %s only", e->name,
                            e->cpus);
        else
            (void)upmu_fail(
                UPMU_E_UNSUPPORTED,
                "'%s' counts a whole CPU or socket, not a task. Count it with UPMU_TARGET_CPU (upmu stat -C %s)",
                e->name, e->cpus);
        if (counter_list_leave_out(&set->list, i, UPMU_E_UNSUPPORTED) < 0)
            return UPMU_E_NOMEM;
        set->elsewhere |= on_cpu ? UINT64_C(1) << i : 0;
    }
    return 0;
}

/* Why two events are multiplexed, if both can only use one counter: "; both need counter 0". */
static void set_explain_shared_counter(const struct event *a, const struct event *b, char *why, size_t cap)
{
    const struct arch_counters *c = &machine_core_type(a->core)->family->counters;
    uint32_t mask = plan_mask(a, c);
    why[0] = '\0';
    if (mask != plan_mask(b, c) || !mask || (mask & (mask - 1)) != 0)
        return;
    unsigned counter = (unsigned)__builtin_ctz(mask);
    bool fixed = counter >= ARCH_FIXED;
    snprintf(why, cap, "; both need %scounter %u", fixed ? "fixed " : "", fixed ? counter - ARCH_FIXED : counter);
}

static bool set_are_multiplexed(const struct counter_list *list, size_t i, size_t k)
{
    return !list->absent[i] && !list->absent[k] && list->events[k].class == EVENT_CORE &&
           list->events[i].class == EVENT_CORE && list->events[k].core == list->events[i].core &&
           list->plan.entry[k].group != list->plan.entry[i].group;
}

/* Counted at the same time means one group per core type. */
static int set_check_together(const struct upmu_set *set)
{
    const struct counter_list *list = &set->list;
    for (size_t i = 0; i < list->n; i++) {
        if (list->cause[i] == UPMU_E_FIT)
            return upmu_fail(UPMU_E_FIT, "%s", list->reason[i]);
        for (size_t k = 0; k < i; k++) {
            char why[64];
            if (!set_are_multiplexed(list, i, k))
                continue;
            set_explain_shared_counter(&list->events[k], &list->events[i], why, sizeof why);
            return upmu_fail(UPMU_E_FIT,
                             "'%s' and '%s' cannot all be counted at the same time as the others on %s%s. Without "
                             "UPMU_SET_TOGETHER (--together) they are multiplexed",
                             list->events[k].name, list->events[i].name, machine_get()->family->title, why);
        }
    }
    return 0;
}

static int set_open_instances(struct upmu_set *set)
{
    int rc;
    switch (set->opts.target) {
    case UPMU_TARGET_PROCESS:
        return set_attach_process(set);
    case UPMU_TARGET_TASK:
        return set_attach_task(set);
    case UPMU_TARGET_COMMAND:
        return set_prepare_command(set);
    case UPMU_TARGET_CPU:
        rc = set_add_instance(set, -1, set->opts.cpu);
        return rc == UPMU_E_GONE ? upmu_fail(UPMU_E_GONE, "CPU %d is not online", set->opts.cpu) : rc;
    default:
        set->owner = caller_thread();
        set->tid = core_kernel()->gettid();
        return set_add_instance(set, 0, -1);
    }
}

/* Fail with the first absent event, for strict sets. */
static int set_strict_failure(const struct upmu_set *set)
{
    for (size_t i = 0; i < set->list.n; i++)
        if (set->list.absent[i])
            return upmu_fail(set->list.cause[i], "%s", set->list.reason[i]);
    return 0;
}

static bool set_any_open(const struct upmu_set *set)
{
    for (size_t n = 0; n < set->n_instances; n++)
        for (size_t i = 0; i < set->list.n_parts; i++)
            if (set->instances[n]->counters.counter[i].fd >= 0)
                return true;
    return false;
}

/* If the kernel refuses even a dummy event on the process, the call fails, not its events. */
static int set_check_process_access(const struct upmu_set *set)
{
    if (!set_counts_others(set->opts.target) || set_any_open(set))
        return 0;
    const struct kernel_open req = {.type = KERNEL_TYPE_SOFTWARE,
                                    .config = KERNEL_SW_DUMMY,
                                    .exclude = UPMU_EXCLUDE_KERNEL,
                                    .pid = set->opts.pid,
                                    .cpu = -1,
                                    .group_fd = -1};
    int fd = core_kernel()->open(&req);
    if (fd >= 0)
        core_kernel()->close(fd);
    if (fd != -EACCES && fd != -EPERM)
        return 0;
    char name[32];
    snprintf(name, sizeof name, "%s %d", set->opts.target == UPMU_TARGET_TASK ? "thread" : "process",
             (int)set->opts.pid);
    const struct explain_context context = {.event = name, .type = req.type, .pid = req.pid, .cpu = -1};
    int code = explain_open_failure(core_kernel(), -fd, &context);
    return code == UPMU_E_PERM ? code : 0;
}

static int set_fill(struct upmu_set *set, const char *events)
{
    enum kernel_backend backend;
    int rc = backend_choose(set->opts.backend, &backend);
    if (rc == 0)
        rc = counter_list_make(&set->list, events, PLAN_EVENTS_MAX, false, backend);
    if (rc == 0 && set->list.n == 0)
        rc = upmu_fail(UPMU_E_INVAL, "upmu_set_open: the list of events is empty");
    if (rc == 0)
        rc = self_check_list(&set->list);
    if (rc == 0)
        rc = set_check_scopes(set);
    if (rc == 0 && (set->opts.flags & UPMU_SET_STRICT))
        rc = set_strict_failure(set);
    if (rc == 0 && (set->opts.flags & UPMU_SET_TOGETHER))
        rc = set_check_together(set);
    if (rc < 0)
        return rc;
    set->names = calloc(set->list.n, sizeof *set->names);
    set->reasons = calloc(set->list.n, sizeof *set->reasons);
    if (!set->names || !set->reasons)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    rc = set_open_instances(set);
    if (rc == 0)
        rc = set_check_process_access(set);
    set_note_start(set);
    for (size_t i = 0; rc == 0 && i < set->list.n; i++)
        counters_name(&set->instances[0]->counters, i, set->names[i], sizeof set->names[i]);
    return rc;
}

int upmu_set_open(struct upmu_set **out, const char *events, const struct upmu_set_opts *opts)
{
    struct upmu_set_opts ours;
    if (!out)
        return argument_null(__func__, "set");
    *out = NULL;
    if (!events)
        return argument_null(__func__, "events");
    int rc = OPTS_TAKE(ours, opts, UPMU_SET_OPTS_SIZE_V1);
    if (rc == 0)
        rc = set_check_opts(&ours);
    if (rc < 0)
        return rc;
    struct upmu_set *set = calloc(1, sizeof *set);
    if (!set)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    set->opts = ours;
    set->gate = -1;
    set->process = caller_process();
    rc = set_fill(set, events);
    set->opts.argv = NULL; /* owned by the caller, who may free them now */
    set->opts.backend = NULL;
    if (rc < 0) {
        upmu_set_close(set);
        return rc;
    }
    *out = set;
    return 0;
}

void upmu_set_close(struct upmu_set *set)
{
    if (!set)
        return;
    bool forked = set->process != caller_process();
    set_drop_instances(set, 0, forked);
    if (set->gate >= 0 && forked) {
        core_kernel()->close(set->gate); /* the command belongs to the parent */
    } else if (set->gate >= 0) {
        core_kernel()->abandon(set->gate, set->spawned);
        core_kernel()->wait(set->spawned, NULL, NULL);
    }
    free(set->program);
    for (size_t i = 0; set->reasons && i < set->list.n; i++)
        free(set->reasons[i]);
    free(set->reasons);
    free(set->names);
    free(set->instances);
    counter_list_free(&set->list);
    free(set);
}

/* ------------------------------------------------------------------------------------------------- readings */

static int set_reading(struct set_instance *in, size_t i, struct reading *now)
{
    return counters_reading(&in->counters, in->words, i, now);
}

static struct upmu_value set_switches_value(const struct upmu_set *set, struct set_instance *in, size_t i)
{
    struct reading now;
    int cause = set_reading(in, i, &now);
    if (cause < 0)
        return value_without(value_status_of(cause), cause);
    if (!set->running)
        now = in->stopped[i];
    now = reading_since(&in->base[i], now);
    return value_total(&now);
}

/* A counter that went backwards was reset or replaced: the difference is meaningless. The non-zero time keeps a sum
 * from treating it as a thread that slept. */
static struct upmu_value set_backwards_value(const struct reading *now)
{
    struct upmu_value v = value_without(UPMU_NOT_COUNTED, 0);
    v.enabled = now->enabled > 0 ? now->enabled : 1;
    return v;
}

/* The value of one event since the set's baseline, in total and (unless NULL) per core type. */
static struct upmu_value set_part_value(const struct upmu_set *set, struct set_instance *in, size_t i,
                                        struct upmu_value *by_type)
{
    const struct counters *c = &in->counters;
    const struct reading nothing[VALUE_CORE_TYPES_MAX] = {{0}};
    struct reading now[VALUE_CORE_TYPES_MAX];
    if (set_is_eventless(&c->counter[i]))
        return set_switches_value(set, in, i);
    int n = counters_readings(c, in->words, i, now);
    if (n < 0)
        return value_without(value_status_of(n), n);
    size_t part = i;
    for (int k = 0; k < n; k++, part = c->counter[part].next) {
        while (c->counter[part].elsewhere)
            part = c->counter[part].next;
        const struct reading *zero = &in->base[part];
        if (now[k].count < zero->count || now[k].enabled < zero->enabled || now[k].running < zero->running)
            return set_backwards_value(&now[k]);
        now[k] = reading_since(zero, now[k]);
    }
    return value_of_core_types(nothing, now, (size_t)n, by_type);
}

/* The instance whose derived event is read. */
struct derived_source {
    struct set_instance *in;
};

static int set_reading_since_baseline(void *arg, size_t part, struct reading *before, struct reading *after)
{
    const struct derived_source *source = arg;
    int cause = set_reading(source->in, part, after);
    const struct reading zero = source->in->base[part];
    *before = (struct reading){0};
    if (cause < 0)
        return cause;
    if (after->count < zero.count || after->enabled < zero.enabled || after->running < zero.running) {
        *before = zero; /* backwards, which the caller detects */
        return 0;
    }
    *after = reading_since(&zero, *after);
    return 0;
}

/* The value of event i since the baseline; a derived event has no values per core type. */
static struct upmu_value set_value(const struct upmu_set *set, struct set_instance *in, size_t i,
                                   struct upmu_value *by_type)
{
    struct derived_source source = {in};
    if (!set->list.link[i].weight)
        return set_part_value(set, in, i, by_type);
    return derived_value(&in->counters, i, set_reading_since_baseline, &source, NULL);
}

/* The index in the list of event i on its `type`-th core type, or SIZE_MAX. */
static size_t set_core_type_part(const struct upmu_set *set, size_t i, size_t type)
{
    const struct counters *c = &set->instances[0]->counters;
    for (size_t part = i;; part = c->counter[part].next) {
        if (!c->counter[part].elsewhere && type-- == 0)
            return part;
        if (c->counter[part].next == 0)
            return SIZE_MAX;
    }
}

/* What event i counted on one core type at the last reading. */
static struct upmu_value set_core_type_value(const struct upmu_set *set, size_t i, size_t type)
{
    struct upmu_value sum = {0};
    for (size_t k = 0; k < set->n_instances; k++) {
        struct upmu_value by_type[VALUE_CORE_TYPES_MAX];
        struct upmu_value all = set_value(set, set->instances[k], i, by_type);
        bool number = all.status == UPMU_EXACT || all.status == UPMU_SCALED;
        const struct upmu_value *v =
            number && !set->list.link[i].weight && !set_is_eventless(&set->instances[k]->counters.counter[i])
                ? &by_type[type]
                : &all;
        if (k == 0)
            sum = *v;
        else
            value_add(&sum, v);
    }
    return sum;
}

/* A running task has millions of cycles and instructions per millisecond: if a virtual PMU reports almost none, it
 * lost the counter. A CPU may have been idle. */
static bool set_is_stalled(const struct upmu_set *set, size_t i, const struct upmu_value *v)
{
    const uint64_t long_ns = 1000000, ns_each = 100;
    const struct event *e = &set->list.events[i];
    return machine_get()->cpu.hypervisor && set->opts.target != UPMU_TARGET_CPU && e->kernel &&
           event_always_moves(e, false) && v->running > long_ns && v->raw < v->running / ns_each;
}

static bool set_is_zero_doubtful(const struct upmu_set *set, size_t i)
{
    return derived_zero_doubtful(&set->list.events[i], set->opts.target == UPMU_TARGET_THREAD);
}

/* A zero on one core type may mean that the core lacks the event, and the sum is too low. */
static bool set_doubt_zeros(const struct upmu_set *set, size_t i, struct upmu_value *total)
{
    if (!set_is_zero_doubtful(set, i))
        return false;
    bool doubted = value_doubt_zero(total) || set_is_stalled(set, i, total);
    for (size_t type = 1; !doubted && set_core_type_part(set, i, type) != SIZE_MAX; type++) {
        for (size_t k = 0; k <= type && !doubted; k++) {
            struct upmu_value v = set_core_type_value(set, i, k);
            doubted = v.running > 0 && value_doubt_zero(&v);
        }
    }
    if (doubted) {
        total->status = UPMU_NOT_COUNTED;
        total->value = UPMU_NO_VALUE;
    }
    return doubted;
}

/* A counter that has jumped stays ahead, and later its count would look plausible: the event has no value until the
 * set is reset. Core events come at most some hundred times per nanosecond, so the detection window is long. */
static void set_doubt_jumps(struct upmu_set *set, struct upmu_value *values)
{
    const uint64_t most_per_ns = 500;
    for (size_t i = 0; i < set->list.n; i++) {
        const struct upmu_value *v = &values[i];
        bool core = set->list.events[i].class == EVENT_CORE && v->raw >> 40 != 0 && v->raw / most_per_ns > v->running;
        if (core || v->cause == UPMU_E_JUMP)
            set->jumped |= UINT64_C(1) << i;
        if (set->jumped >> i & 1)
            values[i] = value_without(UPMU_NOT_COUNTED, UPMU_E_JUMP);
    }
}

/* One term of a derived event, summed over all instances. */
static struct upmu_value set_term_total(const struct upmu_set *set, size_t term, bool *doubted)
{
    struct upmu_value sum = set_part_value(set, set->instances[0], term, NULL);
    for (size_t k = 1; k < set->n_instances; k++) {
        struct upmu_value v = set_part_value(set, set->instances[k], term, NULL);
        value_add(&sum, &v);
    }
    *doubted |= set_is_zero_doubtful(set, term) && value_doubt_zero(&sum);
    return sum;
}

/* A derived event on several core types, summed over all instances. */
static struct upmu_value set_core_types_total(const struct upmu_set *set, size_t i, bool *doubted)
{
    struct upmu_value sum = {0};
    for (size_t k = 0; k < set->n_instances; k++) {
        struct derived_source source = {set->instances[k]};
        struct upmu_value v = derived_value(&source.in->counters, i, set_reading_since_baseline, &source, doubted);
        if (k == 0)
            sum = v;
        else
            value_add(&sum, &v);
    }
    return sum;
}

/* A derived event of all instances: terms are summed first, because a difference that is negative in one thread may
 * be positive for the process. */
static struct upmu_value set_derived_total(struct upmu_set *set, size_t i)
{
    struct upmu_value terms[FORMULA_TERMS_MAX];
    int32_t weights[FORMULA_TERMS_MAX];
    bool doubted = false;
    size_t n = 0;
    for (size_t term = i; n == 0 || term; term = set->list.link[term].also) {
        weights[n] = set->list.link[term].weight;
        terms[n++] = set_term_total(set, term, &doubted);
    }
    struct upmu_value v =
        set->list.link[i].next ? set_core_types_total(set, i, &doubted) : value_weighted(terms, weights, n);
    set->doubted |= doubted ? UINT64_C(1) << i : 0;
    set->out_of_range |= v.cause == UPMU_E_RANGE ? UINT64_C(1) << i : 0;
    return v;
}

/* Read all instances. The times of members are checked at the first reading after a start and in readings outside
 * the counted thread; frequent readings make no further system calls. */
static void set_read_words(struct upmu_set *set)
{
    bool check = !set->checked || !set->running || set->opts.target != UPMU_TARGET_THREAD;
    for (size_t k = 0; k < set->n_instances; k++) {
        struct set_instance *in = set->instances[k];
        counters_read(&in->counters, in->words);
        if (check)
            counters_leave_late(&in->counters, counters_late(&in->counters, in->words));
    }
    set->checked = true;
}

int upmu_set_read(struct upmu_set *set, struct upmu_value *values, size_t n)
{
    if (!set || !values)
        return ARGUMENT_NULL(set, values);
    if (n < set->list.n)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_read: `n` is %zu, at least %zu needed", n, set->list.n);
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_read");
    if (!set->started)
        return upmu_fail(UPMU_E_STATE, "upmu_set_read: the set was never started");
    memset(values, 0, set->list.n * sizeof *values);
    set_read_words(set);
    for (size_t k = 0; k < set->n_instances; k++) {
        struct set_instance *in = set->instances[k];
        for (size_t i = 0; i < set->list.n; i++) {
            struct upmu_value v = set_value(set, in, i, NULL);
            if (k == 0)
                values[i] = v;
            else
                value_add(&values[i], &v);
        }
    }
    set->doubted = set->out_of_range = 0;
    for (size_t i = 0; i < set->list.n; i++) {
        if (set->list.link[i].weight)
            values[i] = set_derived_total(set, i);
        else if (set->elsewhere >> i & 1)
            values[i] = value_without(UPMU_NOT_COUNTED, 0); /* adds nothing to a sum over CPUs */
        else if (set_doubt_zeros(set, i, &values[i]))
            set->doubted |= UINT64_C(1) << i;
    }
    set_doubt_jumps(set, values);
    return (int)set->list.n;
}

const char *upmu_set_core_type(const struct upmu_set *set, size_t i, size_t type)
{
    if (!set || i >= set->list.n)
        return NULL;
    size_t part = set_core_type_part(set, i, type);
    return part == SIZE_MAX ? NULL : set->list.events[part].pmu;
}

int upmu_set_read_core_type(struct upmu_set *set, size_t i, size_t type, struct upmu_value *value)
{
    if (!set || !value)
        return ARGUMENT_NULL(set, value);
    if (!upmu_set_core_type(set, i, type))
        return UPMU_E_END;
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_read_core_type");
    if (!set->started)
        return upmu_fail(UPMU_E_STATE, "upmu_set_read_core_type: the set was never started");
    *value = set_core_type_value(set, i, type);
    return 0;
}

int upmu_set_reset(struct upmu_set *set)
{
    if (!set)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_reset: `set` is NULL");
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_reset");
    int rc = 0;
    set->jumped = 0;
    for (size_t k = 0; k < set->n_instances; k++) {
        struct set_instance *in = set->instances[k];
        counters_read(&in->counters, in->words);
        for (size_t i = 0; i < set->list.n_parts; i++) {
            const struct counter *counter = &in->counters.counter[i];
            struct reading now;
            if (!counter->counted && !set_is_eventless(counter))
                continue; /* no count to reset */
            if (set_reading(in, i, &now) < 0) {
                rc = upmu_fail(UPMU_E_SYSTEM, "'%s' could not be read and was not reset", set->list.events[i].name);
                continue;
            }
            in->base[i] = now;
            in->stopped[i] = now;
        }
    }
    return rc;
}

/* ------------------------------------------------------------------------------------------------ start, stop */

/* Switches and times continue while the set is stopped: advance the baseline by the pause, or record where the
 * pause begins. */
static void set_pause_unstoppable(struct upmu_set *set, bool stop)
{
    for (size_t k = 0; k < set->n_instances; k++) {
        struct set_instance *in = set->instances[k];
        if (!in->counters.wants_switches && !in->counters.wants_usage)
            continue;
        counters_read_switches(&in->counters, in->words);
        for (size_t i = 0; i < set->list.n; i++) {
            struct reading now;
            if (!set_is_eventless(&in->counters.counter[i]) || set_reading(in, i, &now) < 0)
                continue;
            if (stop) {
                in->stopped[i] = now;
                continue;
            }
            struct reading pause = reading_since(&in->stopped[i], now);
            reading_advance(&in->base[i], &pause);
        }
    }
}

static int set_release_command(struct upmu_set *set)
{
    int rc = core_kernel()->release(set->gate, &set->used_before);
    set->gate = -1;
    if (rc == 0) {
        set->command = set->spawned;
        return 0;
    }
    core_kernel()->wait(set->spawned, NULL, NULL);
    set->waited = true;
    return upmu_fail(UPMU_E_IO, "cannot execute '%s': %s (%s)", set->program, strerror(-rc), upmu_errno_name(-rc));
}

int upmu_set_start(struct upmu_set *set)
{
    if (!set)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_start: `set` is NULL");
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_start");
    int rc = 0;
    if (set->running)
        return 0;
    if (set->waited)
        return upmu_fail(UPMU_E_STATE, "upmu_set_start: the command has ended");
    set->checked = false; /* before the counters run, so that it is not counted */
    if (set->gate >= 0) {
        rc = set_release_command(set);
    } else {
        set_pause_unstoppable(set, false);
        for (size_t k = 0; rc == 0 && k < set->n_instances; k++)
            rc = counters_control(&set->instances[k]->counters, KERNEL_ENABLE);
    }
    if (rc == 0)
        set->started = set->running = true;
    return rc;
}

int upmu_set_stop(struct upmu_set *set)
{
    if (!set)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_stop: `set` is NULL");
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_stop");
    if (!set->running)
        return 0;
    int rc = 0;
    for (size_t k = 0; k < set->n_instances; k++) {
        int one = counters_control(&set->instances[k]->counters, KERNEL_DISABLE);
        rc = rc ? rc : one;
    }
    set_pause_unstoppable(set, true);
    set->running = false;
    return rc;
}

int upmu_set_wait(struct upmu_set *set, int *status)
{
    if (!set || !set->command)
        return upmu_fail(UPMU_E_STATE, "upmu_set_wait: no command was started");
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_wait");
    if (!set->waited) {
        int rc = core_kernel()->wait(set->command, &set->status, &set->used);
        if (rc < 0)
            return upmu_fail(UPMU_E_SYSTEM, "cannot wait for the command: %s", upmu_errno_name(-rc));
        set->waited = true;
    }
    if (status)
        *status = set->status;
    return 0;
}
