/* SPDX-License-Identifier: MIT */
/*
 * Simulated event scheduling: which event is on a counter at each time, and what it counts.
 *
 * As in the kernel: groups are scheduled whole or not at all, in the order of a list; the first that does not fit ends the
 * round; at each tick the list is rotated by one if a group had to wait. Groups of software events alone are always on.
 * An event of another core type than the thread's current one waits without blocking others.
 */
#include <stdlib.h>
#include <string.h>

#include "models/model.h"

enum { TICK_US = 4000 };

static const struct model_driver *driver_of(const struct model_machine *machine, unsigned kind)
{
    return machine->pmus[kind].driver;
}

static uint64_t bits(unsigned width)
{
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* What drivers let a counter count before it interrupts: half of its range. */
static uint64_t period(unsigned width)
{
    return bits(width) >> 1;
}

/* ------------------------------------------------------------------------------------------------- counting */

/* What reached the event's count: a counter without overflow handling wraps to 0. */
static uint64_t noticed(const struct model_event *e, const struct model_machine *machine)
{
    bool unwatched = !e->code.software && driver_of(machine, e->kind)->no_interrupt;
    return unwatched ? e->since & bits(e->code.width) : e->since;
}

/* The page's clock ticks once a microsecond. */
static void page_write(struct model_event *e, const struct model_machine *machine, uint64_t now_us)
{
    struct kernel_page *page = e->page;
    if (!page)
        return;
    page->lock++;
    page->caps.bit.user_rdpmc = e->code.user_read;
    page->index = e->active && e->code.user_read && !e->seat.mute ? e->seat.counter + 1 : 0;
    page->pmc_width = (uint16_t)e->code.width;
    /* The counter was programmed to period() below its end, which sign extension makes a negative number. */
    page->offset = (int64_t)(e->count + (e->active ? period(e->code.width) : 0));
    page->caps.bit.user_time = !machine->no_page_clock;
    page->time_mult = 1000;
    page->time_shift = 0;
    page->time_offset = 0 - now_us * 1000;
    page->time_enabled = e->enabled_ns;
    page->time_running = e->running_ns;
    page->lock++;
}

uint64_t schedule_count(const struct model_task *task, const struct model_machine *machine, int event)
{
    const struct model_event *e = &task->events[event];
    return e->count + noticed(e, machine);
}

uint64_t schedule_counter(const struct model_task *task, uint32_t index)
{
    for (size_t i = 0; i < task->n_events; i++) {
        const struct model_event *e = &task->events[i];
        if (!e->open || !e->active || e->code.software || e->seat.counter + 1 != index)
            continue;
        return (e->since - period(e->code.width)) & bits(e->code.width);
    }
    abort(); /* a page gave out a counter without an event */
}

static uint64_t happened(const struct model_event *e, enum model_load load, uint64_t from, uint64_t to)
{
    if (e->code.software)
        return load_software(load, e->code.code, e->code.modes, to) -
               load_software(load, e->code.code, e->code.modes, from);
    if (e->code.nothing || e->seat.mute)
        return 0;
    uint64_t n = load_count(load, e->code.code, e->modes_now, to) - load_count(load, e->code.code, e->modes_now, from);
    return e->seat.damaged ? n / 2 : n;
}

static bool group_on(const struct model_task *task, const struct model_event *e)
{
    return e->open && e->enabled && task->events[e->leader].enabled;
}

static void pass_time(struct model_task *task, const struct model_machine *machine, enum model_load load, uint64_t us)
{
    uint64_t from = task->now_us, to = from + us;
    for (size_t i = 0; i < task->n_events; i++) {
        struct model_event *e = &task->events[i];
        if (!group_on(task, e))
            continue;
        e->enabled_ns += us * 1000;
        if (!e->active)
            continue;
        e->running_ns += us * 1000;
        e->since += happened(e, load, from, to);
        if (e->code.software || driver_of(machine, e->kind)->no_interrupt || e->since < period(e->code.width))
            continue;
        e->count += e->since; /* the overflow interrupt */
        e->since = 0;
        page_write(e, machine, to);
    }
    task->now_us = to;
}

/* ------------------------------------------------------------------------------------------------- seating */

/* Events that are being seated together. */
struct party {
    const struct model_code *codes[MODEL_EVENTS_MAX];
    int events[MODEL_EVENTS_MAX];
    struct model_seat seats[MODEL_EVENTS_MAX];
    size_t n;
};

static bool seat_all(const struct model_driver *driver, struct party *party)
{
    if (party->n == 0)
        return true;
    return (driver->seat ? driver->seat : model_seat_low)(driver, party->codes, party->n, party->seats);
}

static void party_add_group(struct party *party, const struct model_task *task, int leader)
{
    for (size_t i = (size_t)leader; i < task->n_events; i++) {
        const struct model_event *e = &task->events[i];
        if (e->open && e->leader == leader && e->enabled && !e->code.software) {
            party->codes[party->n] = &e->code;
            party->events[party->n++] = (int)i;
        }
    }
}

static unsigned group_kind(const struct model_task *task, int leader)
{
    for (size_t i = (size_t)leader; i < task->n_events; i++)
        if (task->events[i].open && task->events[i].leader == leader && !task->events[i].code.software)
            return task->events[i].kind;
    return 0;
}

bool schedule_group_fits(const struct model_task *task, const struct model_machine *machine, int leader,
                         const struct model_code *more, unsigned kind)
{
    static const struct model_code nowhere = {.counters = 0};
    const struct model_driver *driver = driver_of(machine, kind);
    const struct model_code anywhere = {.counters = driver->counters};
    struct party party = {.n = 0};
    for (size_t i = (size_t)leader; i < task->n_events; i++) {
        const struct model_event *e = &task->events[i];
        if (!e->open || e->leader != leader)
            continue;
        if (e->code.software && driver->siblings == MODEL_SIBLINGS_FREE)
            continue;
        party.codes[party.n++] = !e->code.software                            ? &e->code
                                 : driver->siblings == MODEL_SIBLINGS_COUNTED ? &anywhere
                                                                              : &nowhere;
    }
    party.codes[party.n++] = more;
    return seat_all(driver, &party);
}

/* Off all counters: what they counted goes into the events. */
static void schedule_out(struct model_task *task, const struct model_machine *machine)
{
    for (size_t i = 0; i < task->n_events; i++) {
        struct model_event *e = &task->events[i];
        if (!e->open)
            continue;
        e->count += noticed(e, machine);
        e->since = 0;
        e->active = false;
    }
}

/* The members of a group that was seated, software ones with it. */
static void activate(struct model_task *task, int leader)
{
    for (size_t i = (size_t)leader; i < task->n_events; i++) {
        struct model_event *e = &task->events[i];
        if (e->open && e->leader == leader && e->enabled)
            e->active = true;
    }
}

static bool in_rotation(const struct model_task *task, int leader)
{
    for (size_t t = 0; t < task->n_rotation; t++)
        if (task->rotation[t] == leader)
            return true;
    return false;
}

/* One round of the list. */
static size_t seat_round(struct model_task *task, const struct model_driver *driver, struct party *party)
{
    size_t on = 0;
    for (size_t t = 0; t < task->n_rotation; t++) {
        int leader = task->rotation[t];
        if (!task->events[leader].enabled || group_kind(task, leader) != task->kind)
            continue;
        size_t before = party->n;
        party_add_group(party, task, leader);
        struct party all = *party;
        if (!seat_all(driver, &all)) {
            party->n = before;
            task->crowded = true;
            break;
        }
        *party = all;
        activate(task, leader);
        on++;
    }
    return on;
}

/* Who was started last decides for all, where there is one filter for a core. */
static void set_modes(struct model_task *task, const struct model_driver *driver, const struct party *party)
{
    for (size_t i = 0; i < party->n; i++) {
        if (party->events[i] < 0)
            continue; /* the watchdog's */
        struct model_event *e = &task->events[party->events[i]];
        e->seat = party->seats[i];
        e->modes_now = driver->shared_filter ? party->codes[party->n - 1]->modes : e->code.modes;
    }
}

/* The kernel's own event for finding processors that hang: pinned, so it has its counter before anyone else. */
static bool seat_watchdog(const struct model_machine *machine, unsigned kind, struct model_code *code)
{
    const struct kernel_open cycles = {.type = KERNEL_TYPE_HARDWARE, .config = 0, .exclude = 0};
    return model_decode(&machine->pmus[kind], &cycles, code) == 0;
}

static void schedule_in(struct model_task *task, const struct model_machine *machine)
{
    struct party party = {.n = 0};
    struct model_code watchdog;
    const struct model_driver *driver = driver_of(machine, task->kind);
    task->crowded = false;
    if (machine->watchdog && seat_watchdog(machine, task->kind, &watchdog))
        party = (struct party){.codes = {&watchdog}, .events = {-1}, .n = 1};
    if (driver)
        seat_round(task, driver, &party);
    set_modes(task, driver, &party);
    for (size_t i = 0; i < task->n_events; i++) {
        struct model_event *e = &task->events[i];
        if (e->open && e->leader == (int)i && e->enabled && !in_rotation(task, (int)i))
            activate(task, (int)i);
    }
    for (size_t i = 0; i < task->n_events; i++)
        if (task->events[i].open)
            page_write(&task->events[i], machine, task->now_us);
}

void schedule_anew(struct model_task *task, const struct model_machine *machine)
{
    schedule_out(task, machine);
    schedule_in(task, machine);
}

/* ---------------------------------------------------------------------------------------------- rotation */

void schedule_add(struct model_task *task, int leader)
{
    if (!in_rotation(task, leader))
        task->rotation[task->n_rotation++] = leader;
}

void schedule_remove(struct model_task *task, int leader)
{
    size_t kept = 0;
    for (size_t t = 0; t < task->n_rotation; t++)
        if (task->rotation[t] != leader)
            task->rotation[kept++] = task->rotation[t];
    task->n_rotation = kept;
}

/* The first group that is on goes to the end; if none is, the first that wants to be. */
static void turn(struct model_task *task)
{
    size_t first = 0;
    while (first < task->n_rotation && !task->events[task->rotation[first]].active)
        first++;
    if (first == task->n_rotation)
        for (first = 0; first < task->n_rotation && !task->events[task->rotation[first]].enabled;)
            first++;
    if (first == task->n_rotation)
        return;
    int leader = task->rotation[first];
    memmove(&task->rotation[first], &task->rotation[first + 1],
            (task->n_rotation - first - 1) * sizeof *task->rotation);
    task->rotation[task->n_rotation - 1] = leader;
}

void schedule_run(struct model_task *task, const struct model_machine *machine, enum model_load load, uint64_t us,
                  unsigned kind)
{
    uint64_t end = task->now_us + us;
    if (kind != task->kind) {
        task->kind = kind;
        schedule_anew(task, machine);
    }
    while (task->now_us < end) {
        if (task->now_us >= task->next_tick_us) {
            task->next_tick_us = task->now_us + TICK_US;
            if (task->crowded) {
                turn(task);
                schedule_anew(task, machine);
            }
        }
        uint64_t until = task->next_tick_us < end ? task->next_tick_us : end;
        pass_time(task, machine, load, until - task->now_us);
    }
}
