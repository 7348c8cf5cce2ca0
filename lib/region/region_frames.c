/* SPDX-License-Identifier: MIT */
/*
 * Begin and end of a region in a thread: the traced path.
 *
 * No allocation, no stdio, no lock, errno kept. `busy` is set around every change of the thread's stack, so that a signal
 * handler that interrupts the recorder is refused and counted.
 */
#include "region/region_frames.h"

#include "base/tick.h"
#include "core/formula/derived.h"

/* ------------------------------------------------------------------------------------------ small pieces */

/* Publish one field to readers of the aggregates; see region.h. */
static inline void field_store(uint64_t *field, uint64_t value)
{
    __atomic_store_n(field, value, __ATOMIC_RELEASE);
}

static inline void field_add(uint64_t *field, uint64_t more)
{
    field_store(field, *field + more);
}

/* A number that changes with each switch of the thread; `words` is the current reading. */
static inline uint32_t frame_switches_now(struct counters *c, const uint64_t *words)
{
    uint64_t switches = 0;
    if (c->wants_switches)
        return (uint32_t)words[c->switch_word];
    if (c->sequence)
        (void)switches_read(c, &switches);
    return (uint32_t)switches;
}

/* ---------------------------------------------------------------------------------------------- aggregates */

static inline void sum_take(struct region_sum *s, uint64_t value)
{
    double squares = s->squares + (double)value * (double)value;
    if (s->count == 0 || value < s->min)
        field_store(&s->min, value);
    if (value > s->max)
        field_store(&s->max, value);
    field_add(&s->count, 1);
    field_add(&s->sum, value);
    field_store(&s->last, value);
    __atomic_store(&s->squares, &squares, __ATOMIC_RELEASE);
}

static COLD void event_without_value(struct region_event_sum *e, int status, int cause)
{
    field_add(&e->without_value, 1);
    int32_t weakest = upmu_status_weakest(e->status, status);
    __atomic_store_n(&e->status, e->without_value == 1 && e->sum.count == 0 ? status : weakest, __ATOMIC_RELEASE);
    if (cause)
        __atomic_store_n(&e->cause, cause, __ATOMIC_RELEASE);
}

static COLD void event_status_lower(struct region_event_sum *e, int status)
{
    bool first = e->sum.count == 0 && e->without_value == 0;
    int32_t weakest = first ? status : upmu_status_weakest(e->status, status);
    if (e->status != weakest)
        __atomic_store_n(&e->status, weakest, __ATOMIC_RELEASE);
}

/* Add an event with any status and cause. */
static COLD void event_take(struct region_event_sum *e, const struct upmu_value *v)
{
    if (v->status != UPMU_EXACT && v->status != UPMU_SCALED) {
        event_without_value(e, v->status, v->cause);
        return;
    }
    event_status_lower(e, v->status);
    sum_take(&e->sum, v->value);
    field_add(&e->enabled, v->enabled);
    field_add(&e->running, v->running);
}

/* Add an event with an exact count. */
static inline void event_take_exact(struct region_event_sum *e, uint64_t count, uint64_t enabled, uint64_t running)
{
    if (UNLIKELY(e->status != UPMU_EXACT))
        event_status_lower(e, UPMU_EXACT);
    sum_take(&e->sum, count);
    field_add(&e->enabled, enabled);
    field_add(&e->running, running);
}

/* Context switches have no times of their own: their interval is the region's. */
static struct upmu_value counter_switches_between(const uint64_t *before, const uint64_t *after, uint64_t wall)
{
    if (!before[1] || !after[1] || after[0] < before[0])
        return value_without(UPMU_REFUSED, UPMU_E_SYSTEM);
    uint64_t n = after[0] - before[0];
    return (struct upmu_value){.value = n, .raw = n, .enabled = wall, .running = wall, .status = UPMU_EXACT};
}

/* Time has passed, but the event was not enabled: another process or prctl() has disabled it. Not for an interval below the
 * resolution of the kernel's clock, nor for times from a page that is not rewritten while the thread runs. */
static inline bool counter_is_frozen(const struct counters *c, const struct counter *k, uint64_t enabled, uint64_t wall)
{
    return enabled == 0 && UNLIKELY(wall > upmu_regions.step_ticks) && !c->group[k->group].pages;
}

/* User or system time: two readings of getrusage, whose interval is the region's. */
static struct upmu_value counter_usage_between(const struct counters *c, size_t i, const uint64_t *before,
                                               const uint64_t *after, uint64_t wall)
{
    struct reading a, b;
    int cause = counters_reading(c, before, i, &a);
    cause = cause < 0 ? cause : counters_reading(c, after, i, &b);
    if (cause < 0 || b.count < a.count)
        return value_without(UPMU_REFUSED, UPMU_E_SYSTEM);
    uint64_t ns = b.count - a.count;
    return (struct upmu_value){.value = ns, .raw = ns, .enabled = wall, .running = wall, .status = UPMU_EXACT};
}

static struct upmu_value counter_part_between(const struct counters *c, size_t i, const uint64_t *before,
                                              const uint64_t *after, uint64_t wall)
{
    if (c->counter[i].switches)
        return counter_switches_between(before + c->switch_word, after + c->switch_word, wall);
    if (c->counter[i].usage)
        return counter_usage_between(c, i, before, after, wall);
    struct reading a[VALUE_CORE_TYPES_MAX], b[VALUE_CORE_TYPES_MAX];
    int n = counters_readings(c, before, i, a);
    if (n >= 1) /* always one, or a cause */
        n = counters_readings(c, after, i, b);
    if (n < 1)
        return value_without(value_status_of(n), n);
    bool frozen = counter_is_frozen(c, &c->counter[i], b[0].enabled - a[0].enabled, wall);
    return frozen ? value_without(UPMU_NOT_COUNTED, 0) : value_of_core_types(a, b, (size_t)n, NULL);
}

/* Two readings of a thread, for derived events. */
struct region_interval {
    const struct counters *c;
    const uint64_t *before, *after; /* `before` NULL: since the counters were opened */
};

static int region_read_part(void *arg, size_t part, struct reading *before, struct reading *after)
{
    const struct region_interval *interval = arg;
    *before = (struct reading){0};
    int cause = interval->before ? counters_reading(interval->c, interval->before, part, before) : 0;
    return cause < 0 ? cause : counters_reading(interval->c, interval->after, part, after);
}

static struct upmu_value counter_between(const struct counters *c, size_t i, const uint64_t *before,
                                         const uint64_t *after, uint64_t wall)
{
    struct upmu_value v = counter_part_between(c, i, before, after, wall);
    bool number = v.status == UPMU_EXACT || v.status == UPMU_SCALED;
    if (!c->counter[i].weight || (!number && !c->counter[i].next))
        return v; /* without its first term a derived event has no number */
    struct region_interval interval = {c, before, after};
    return derived_value(c, i, region_read_part, &interval, NULL);
}

/* A group's section of two readings, which its members share. */
struct group_interval {
    uint32_t word; /* where the section is; UINT32_MAX before the first */
    bool exact;
    uint64_t enabled, running;
};

static void group_interval_set(struct group_interval *g, uint32_t word, const uint64_t *before, const uint64_t *after)
{
    const struct reading a = {
        .enabled = before[word + 1], .running = before[word + 2], .stale = (before[word] & COUNTERS_STALE) != 0};
    const struct reading b = {.enabled = after[word + 1], .running = after[word + 2]};
    g->word = word;
    g->exact = before[word] != 0 && after[word] != 0 && value_times_exact(&a, &b);
    g->enabled = b.enabled - a.enabled;
    g->running = b.running - a.running;
}

static inline bool event_take_switches(struct region_event_sum *e, const uint64_t *before, const uint64_t *after,
                                       uint64_t wall)
{
    if (UNLIKELY(!before[1] || !after[1] || after[0] < before[0]))
        return false;
    event_take_exact(e, after[0] - before[0], wall, wall);
    return true;
}

/* The common case of counter_between() and event_take(): a member of a group that ran all the time. */
static inline bool event_take_member(struct region_event_sum *e, const struct counters *c, const struct counter *k,
                                     struct group_interval *g, const uint64_t *before, const uint64_t *after,
                                     uint64_t wall)
{
    if (k->next || k->weight)
        return false;
    if (k->switches)
        return event_take_switches(e, before + c->switch_word, after + c->switch_word, wall);
    if (!k->counted)
        return false;
    if (k->group_word != g->word)
        group_interval_set(g, k->group_word, before, after);
    if (UNLIKELY(!g->exact || after[k->word] < before[k->word] || counter_is_frozen(c, k, g->enabled, wall) ||
                 value_is_jump(after[k->word] - before[k->word], g->running)))
        return false;
    event_take_exact(e, after[k->word] - before[k->word], g->enabled, g->running);
    return true;
}

static void record_take_events(struct region_record *r, const struct counters *c, const uint64_t *before,
                               const uint64_t *after, uint64_t wall)
{
    struct group_interval group = {.word = UINT32_MAX};
    for (size_t i = 0; i < upmu_regions.list.n; i++) {
        if (event_take_member(&r->events[i], c, &c->counter[i], &group, before, after, wall))
            continue;
        struct upmu_value v = counter_between(c, i, before, after, wall);
        if (v.status == UPMU_EXACT)
            event_take_exact(&r->events[i], v.value, v.enabled, v.running);
        else
            event_take(&r->events[i], &v);
    }
}

static void record_take_descheduled(struct region_record *r, const struct counters *c, uint32_t before, uint32_t after)
{
    if (!c->sequence)
        field_add(&r->deschedule_unknown, 1);
    else if (before != after)
        field_add(&r->descheduled, 1);
}

/* Add a finished instance to its record. `version` is odd meanwhile. */
static void frame_finish(struct region_thread *t, struct region_frame *f, uint64_t tick, uint32_t switches,
                         const uint64_t *words)
{
    const struct counters *c = &t->kept->counters;
    struct region_record *r = f->record;
    uint64_t wall = tick > f->tick ? tick - f->tick : 0;
    uint64_t self = wall > f->inside ? wall - f->inside : 0;
    uint32_t version = t->version;

    __atomic_store_n(&t->version, version + 1, __ATOMIC_RELAXED);
    field_add(&r->count, 1);
    field_add(&r->self, self);
    field_store(&r->open, r->open - 1);
    sum_take(&r->wall, wall);
    record_take_descheduled(r, c, f->switches, switches);
    if (upmu_regions.list.n > 0)
        record_take_events(r, c, f->words, words, wall);
    __atomic_store_n(&t->version, version + 2, __ATOMIC_RELEASE);
    if (t->depth > 0)
        frame_at(t, t->depth - 1)->inside += wall;
}

/* --------------------------------------------------------------------------------------------------- trace */

/* Total of context switches, with the times of a counter that is always enabled, which also lets the writer use the form of
 * one time for all. */
static struct upmu_value counter_total(const struct counters *c, const uint64_t *words, size_t i)
{
    const struct reading nothing[VALUE_CORE_TYPES_MAX] = {{0}};
    struct reading now[VALUE_CORE_TYPES_MAX];
    int n = counters_readings(c, words, i, now);
    if (n < 0)
        return value_without(value_status_of(n), n);
    return n == 1 ? value_total(now) : value_of_core_types(nothing, now, (size_t)n, NULL);
}

static struct upmu_value counter_formula_total(const struct counters *c, const uint64_t *words, size_t i)
{
    struct region_interval interval = {c, NULL, words};
    return derived_value(c, i, region_read_part, &interval, NULL);
}

/* Total of a counter without an event, enabled for the time `always`. */
static struct upmu_value counter_eventless_total(const struct counters *c, size_t i, const uint64_t *words,
                                                 uint64_t always)
{
    const uint64_t zero[2] = {0, 1};
    if (c->counter[i].switches)
        return counter_switches_between(zero, words + c->switch_word, always);
    struct reading now;
    int cause = counters_reading(c, words, i, &now);
    if (cause < 0)
        return value_without(UPMU_REFUSED, cause);
    return (struct upmu_value){
        .value = now.count, .raw = now.count, .enabled = always, .running = always, .status = UPMU_EXACT};
}

static void counters_totals(const struct counters *c, const uint64_t *words, struct upmu_value *values)
{
    uint64_t always = 0;
    for (size_t i = 0; i < upmu_regions.list.n; i++) {
        if (c->counter[i].switches || c->counter[i].usage)
            continue;
        values[i] = c->counter[i].weight ? counter_formula_total(c, words, i) : counter_total(c, words, i);
        if (values[i].status == UPMU_EXACT)
            always = values[i].enabled;
    }
    for (size_t i = 0; i < upmu_regions.list.n; i++)
        if (c->counter[i].switches || c->counter[i].usage)
            values[i] = counter_eventless_total(c, i, words, always);
}

static __attribute__((noinline)) void trace_frame(struct region_thread *t, bool end, uint64_t tick, uint32_t id,
                                                  const uint64_t *words)
{
    struct upmu_value values[UPMU_REGION_EVENTS_MAX];
    if (!t->stream) {
        region_bump(&t->misuse.trace_lost);
        trace_lost(upmu_regions.trace, LOSS_THREAD, 1);
        return;
    }
    counters_totals(&t->kept->counters, words, values);
    if (region_sched_on())
        region_sched_drain(t, tick);
    if (!trace_region(t->stream, end, tick, region_name_text(id), region_name_length(id), values))
        region_bump(&t->misuse.trace_lost);
}

bool region_counters(struct region_thread *t, uint64_t *tick, uint64_t object)
{
    struct upmu_value values[UPMU_REGION_EVENTS_MAX];
    struct counters *c = &t->kept->counters;
    if (!t->stream || upmu_regions.list.n == 0)
        return false;
    recorder_enter(t);
    counters_read(c, t->scratch);
    if (*tick == 0)
        *tick = tick_now();
    counters_totals(c, t->scratch, values);
    return recorder_leave(t, trace_counters(t->stream, *tick, object, values));
}

/* ------------------------------------------------------------------------------------------- begin and end */

/* Drop regions that were open when the process was paused, since their ends were not recorded. */
static COLD void frames_drop_open(struct region_thread *t)
{
    uint32_t life = region_life_is_open(t);
    while (t->depth > life) {
        struct region_record *r = frame_at(t, --t->depth)->record;
        field_store(&r->open, r->open - 1);
    }
    t->too_deep = 0;
    t->epoch = __atomic_load_n(&upmu_regions.epoch, __ATOMIC_ACQUIRE);
}

static inline void frames_watch_epoch(struct region_thread *t)
{
    if (UNLIKELY(t->epoch != __atomic_load_n(&upmu_regions.epoch, __ATOMIC_RELAXED)))
        frames_drop_open(t);
}

/* The first begin of a region in a thread, or one too deep to be measured. @return the record, or NULL: counted. */
static COLD struct region_record *frame_push_slow(struct region_thread *t, uint32_t id)
{
    if (t->depth >= UPMU_REGION_DEPTH_MAX) {
        region_bump(&t->misuse.too_deep);
        t->too_deep++;
        return NULL;
    }
    if (id != upmu_regions.life_id)
        region_block_page(t);
    struct region_record *r = region_thread_record(t, id);
    if (!r && !(r = region_record_new(t, id)))
        region_bump(&t->misuse.names_refused);
    return r;
}

int region_push(struct region_thread *t, uint32_t id)
{
    frames_watch_epoch(t);
    struct region_record *r = region_thread_record(t, id);
    if (UNLIKELY(t->depth >= UPMU_REGION_DEPTH_MAX || !r) && !(r = frame_push_slow(t, id)))
        return UPMU_E_LIMIT;
    struct counters *c = &t->kept->counters;
    struct region_frame *f = frame_at(t, t->depth);
    f->record = r;
    f->inside = 0;
    field_store(&r->open, r->open + 1);
    t->depth++;
    if (c->n_groups > 0)
        counters_read_groups(c, f->words);
    counters_read_switches(c, f->words);
    f->switches = frame_switches_now(c, f->words);
    f->tick = tick_now();
    if (UNLIKELY(upmu_regions.trace && id))
        trace_frame(t, false, f->tick, id, f->words);
    return 0;
}

/* End the frames from the innermost down to `depth`; those above it were left open by the program. */
static void region_pop_to(struct region_thread *t, uint32_t depth)
{
    uint64_t tick = tick_now();
    struct counters *c = &t->kept->counters;
    counters_read_switches(c, t->scratch);
    uint32_t switches = frame_switches_now(c, t->scratch);
    if (c->n_groups > 0)
        counters_read_groups(c, t->scratch);
    for (;;) {
        struct region_frame *f = frame_at(t, --t->depth);
        uint32_t id = (uint32_t)f->record->id;
        frame_finish(t, f, tick, switches, t->scratch);
        if (UNLIKELY(upmu_regions.trace && id))
            trace_frame(t, true, tick, id, t->scratch);
        if (UNLIKELY(upmu_regions.limits))
            region_limit_check(t, id, tick, tick > f->tick ? tick - f->tick : 0);
        if (t->depth == depth)
            return;
        region_bump(&t->misuse.closed_by_outer);
    }
}

/* The innermost open frame of region `id`: its depth, or UINT32_MAX. */
static uint32_t frame_find_open(const struct region_thread *t, uint32_t id)
{
    for (uint32_t d = t->depth; d-- > 0;)
        if (frame_at(t, d)->record->id == id)
            return d;
    return UINT32_MAX;
}

/* End a region that is not the innermost one. */
static COLD int frame_pop_slow(struct region_thread *t, uint32_t id)
{
    if (t->too_deep > 0) {
        t->too_deep--;
        return 0;
    }
    uint32_t depth = frame_find_open(t, id);
    if (depth == UINT32_MAX) {
        region_bump(&t->misuse.end_without_begin);
        return UPMU_E_STATE;
    }
    region_pop_to(t, depth);
    return 0;
}

int region_pop(struct region_thread *t, uint32_t id)
{
    frames_watch_epoch(t);
    if (UNLIKELY(t->depth == 0 || t->too_deep > 0 || frame_at(t, t->depth - 1)->record->id != id))
        return frame_pop_slow(t, id);
    region_pop_to(t, t->depth - 1);
    return 0;
}

/* Whether the program has closed counters: a reading leaves them out. */
static bool counters_are_lost(const struct counters *c)
{
    for (size_t i = 0; i < c->n_groups; i++)
        if (c->group[i].lost)
            return true;
    return false;
}

bool region_pair_cost(struct region_thread *t, uint64_t *begin, uint64_t *end)
{
    enum { ROUNDS = 64 };
    *begin = *end = UINT64_MAX;
    recorder_enter(t);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t a = tick_now();
        if (region_push(t, 0) < 0)
            return recorder_leave(t, false);
        uint64_t b = tick_now();
        region_pop(t, 0);
        uint64_t c = tick_now();
        *begin = b - a < *begin ? b - a : *begin;
        *end = c - b < *end ? c - b : *end;
    }
    return recorder_leave(t, !counters_are_lost(&t->kept->counters));
}

/* ------------------------------------------------------------------------------------------- a thread's life */

bool region_life_is_open(const struct region_thread *t)
{
    return upmu_regions.life_id && t->depth > 0 && frame_at(t, 0)->record->id == upmu_regions.life_id;
}

void region_life_begin(struct region_thread *t)
{
    if (!upmu_regions.life_id || t->lived)
        return;
    t->lived = 1;
    recorder_enter(t);
    recorder_leave(t, region_push(t, upmu_regions.life_id));
}

void region_leave_open(struct region_thread *t)
{
    uint32_t life = region_life_is_open(t);
    if (t->depth == life)
        return;
    recorder_enter(t);
    t->left += t->depth - life;
    t->depth = life;
    recorder_leave(t, t->stream && trace_regions_discarded(t->stream, tick_now(), t->tid));
}

void region_life_end(struct region_thread *t)
{
    if (!region_life_is_open(t))
        return;
    recorder_enter(t);
    t->left += t->depth - 1;
    t->depth = 1;
    region_pop_to(t, 0);
    recorder_leave(t, 0);
}
