/* SPDX-License-Identifier: MIT */
/*
 * Counter sets of all targets of one run, and the sums over them.
 *
 * A number comes from perf_event_open where it grants one, else from the kernel's accounting where that has it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "stat.h"

double stat_seconds_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail: the clock exists and the pointer is ours */
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------------------------------ opening */

static char *part_label(enum stat_target target, int id)
{
    char path[64], name[64] = "";
    if (target == STAT_CPUS)
        return memory_format("CPU%d", id);
    snprintf(path, sizeof path, "/proc/%d/comm", id);
    FILE *file = fopen(path, "re");
    if (file && !fgets(name, sizeof name, file))
        name[0] = '\0';
    if (file)
        (void)fclose(file); /* read only: no error is lost */
    name[strcspn(name, "\n")] = '\0';
    return memory_format("%s-%d", name, id);
}

static int part_open(struct stat_parts *parts, enum stat_target target, int id)
{
    static const uint32_t targets[] = {[STAT_COMMAND] = UPMU_TARGET_COMMAND,
                                       [STAT_PROCESSES] = UPMU_TARGET_PROCESS,
                                       [STAT_THREADS] = UPMU_TARGET_TASK,
                                       [STAT_CPUS] = UPMU_TARGET_CPU};
    const struct stat_request *q = parts->request;
    struct upmu_set_opts opts = {.size = sizeof opts, .target = targets[target], .pid = id, .cpu = id, .argv = q->argv};
    opts.flags = (q->together ? UPMU_SET_TOGETHER : 0) | (q->no_inherit ? UPMU_SET_NO_INHERIT : 0);
    struct stat_part part = {.target = target, .id = id};
    int rc = upmu_set_open(&part.set, q->events, &opts);
    if (rc < 0)
        return rc;
    parts->n_events = upmu_set_event_count(part.set);
    part.label = part_label(target, id);
    part.values = memory_array(parts->n_events, sizeof *part.values);
    part.now = memory_array(parts->n_events, sizeof *part.now);
    part.before = memory_array(parts->n_events, sizeof *part.before);
    parts->part = memory_resize(parts->part, parts->n + 1, sizeof *parts->part);
    parts->part[parts->n++] = part;
    return 0;
}

static void parts_drop(struct stat_parts *parts)
{
    while (parts->n > 0) {
        struct stat_part *part = &parts->part[--parts->n];
        upmu_set_close(part->set);
        free(part->label);
        free(part->values);
        free(part->now);
        free(part->before);
    }
}

/* The threads of all processes asked for. @return false if one of them is gone. */
static bool parts_threads(const struct stat_ids *pids, struct stat_ids *tids)
{
    for (size_t i = 0; i < pids->n; i++) {
        if (stat_ids_threads(tids, pids->id[i]))
            continue;
        complain("there is no process %d", pids->id[i]);
        return false;
    }
    return true;
}

/* A part for each thread. One that ended meanwhile is left out; @return UPMU_E_GONE if no thread is left. */
static int parts_open_threads(struct stat_parts *parts, const struct stat_ids *tids)
{
    for (size_t i = 0; i < tids->n; i++) {
        int rc = part_open(parts, STAT_THREADS, tids->id[i]);
        if (rc < 0 && rc != UPMU_E_GONE)
            return rc;
    }
    return parts->n > 0 ? 0 : UPMU_E_GONE;
}

/* A thread that appears while others are opened is counted by inheritance or not at all: as in the library, all is opened
 * anew until no thread appeared. */
static int parts_open_each_thread(struct stat_parts *parts)
{
    enum { PASSES = 100 };
    const struct stat_ids *pids = &parts->request->ids;
    for (int pass = 0; pass < PASSES; pass++) {
        struct stat_ids tids = {0}, later = {0};
        parts_drop(parts);
        int rc = parts_threads(pids, &tids) ? parts_open_threads(parts, &tids) : UPMU_E_STATE;
        bool listed = rc == 0 && parts_threads(pids, &later);
        bool complete = listed;
        for (size_t i = 0; i < later.n; i++)
            complete &= stat_ids_has(&tids, later.id[i]);
        stat_ids_free(&tids);
        stat_ids_free(&later);
        if (rc < 0 && rc != UPMU_E_STATE)
            complain("%s", upmu_error());
        if (rc < 0 || complete || !listed)
            return complete ? EXIT_OK : EXIT_FAILED;
    }
    complain("cannot open counters: threads are created faster than they are opened");
    return EXIT_FAILED;
}

/* All ids or none: a thread id given to -p is an error before any set is opened. */
static int parts_open_ids(struct stat_parts *parts)
{
    const struct stat_request *q = parts->request;
    for (size_t i = 0; i < q->ids.n; i++) {
        if (part_open(parts, q->target, q->ids.id[i]) == 0)
            continue;
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

/* The command inherits the limit and must not have another one for being counted; with the other targets it is ours. */
static void parts_raise_descriptor_limit(const struct stat_request *q)
{
    struct rlimit limit;
    if (q->argv || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* on failure, events without a descriptor report it */
}

int stat_parts_open(struct stat_parts *parts, const struct stat_request *request)
{
    *parts = (struct stat_parts){.request = request};
    parts_raise_descriptor_limit(request);
    if (request->target == STAT_PROCESSES && request->each)
        return parts_open_each_thread(parts);
    if (request->target != STAT_COMMAND)
        return parts_open_ids(parts);
    if (part_open(parts, STAT_COMMAND, 0) == 0)
        return EXIT_OK;
    complain("%s", upmu_error());
    return EXIT_FAILED;
}

void stat_parts_close(struct stat_parts *parts)
{
    parts_drop(parts);
    free(parts->part);
    parts->part = NULL;
}

/* ------------------------------------------------------------------------------------------------ counting */

int stat_parts_start(struct stat_parts *parts)
{
    parts->began = stat_seconds_now();
    for (size_t i = 0; i < parts->n; i++) {
        struct stat_part *part = &parts->part[i];
        if (upmu_set_start(part->set) < 0) {
            complain("%s", upmu_error());
            return EXIT_FAILED;
        }
        part->used_at_start = stat_usage_of(part->target, part->id);
    }
    return EXIT_OK;
}

/* The accounting of a command begins with its exec, and is known at its end. */
static void part_account(struct stat_part *part)
{
    if (part->target != STAT_COMMAND) {
        part->used = stat_usage_of(part->target, part->id);
        return;
    }
    part->used = stat_usage_of_command(part->set);
    part->used_at_start = (struct stat_usage){.known = part->used.known};
}

static bool value_is_absent(const struct upmu_value *v)
{
    return v->status == UPMU_REFUSED || v->status == UPMU_UNSUPPORTED;
}

static void parts_account_for(const struct stat_parts *parts, const struct stat_part *part, const char *name,
                              struct stat_reading *r)
{
    uint64_t value, elapsed = (uint64_t)((parts->ended - parts->began) * 1e9);
    if (!stat_usage_value(name, &part->used_at_start, &part->used, &value))
        return;
    r->v =
        (struct upmu_value){.value = value, .raw = value, .enabled = elapsed, .running = elapsed, .status = UPMU_EXACT};
    r->source = part->target == STAT_COMMAND ? STAT_RUSAGE : STAT_PROC;
}

static void part_readings(const struct stat_parts *parts, struct stat_part *part)
{
    for (size_t i = 0; i < parts->n_events; i++) {
        struct stat_reading r = {.v = part->values[i], .source = STAT_PERF_EVENT, .seen = true};
        const char *name = upmu_set_name(part->set, i);
        if (value_is_absent(&r.v) &&
            r.v.cause != UPMU_E_STATE) { /* a recorded machine is not the one that runs the command */
            r.at_end = part->target == STAT_COMMAND && part->used.known == 0 && stat_usage_has(name);
            parts_account_for(parts, part, name, &r);
        }
        part->now[i] = r;
    }
}

int stat_parts_read(struct stat_parts *parts, bool last)
{
    for (size_t i = 0; last && i < parts->n; i++) {
        if (upmu_set_stop(parts->part[i].set) == 0)
            continue;
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    parts->ended = stat_seconds_now();
    for (size_t i = 0; i < parts->n; i++) {
        struct stat_part *part = &parts->part[i];
        if (upmu_set_read(part->set, part->values, parts->n_events) < 0) {
            complain("%s", upmu_error());
            return EXIT_FAILED;
        }
        part_account(part);
        part_readings(parts, part);
    }
    return EXIT_OK;
}

void stat_parts_next_interval(struct stat_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        memcpy(parts->part[i].before, parts->part[i].now, parts->n_events * sizeof *parts->part[i].now);
}

const char *stat_parts_reason(const struct stat_parts *parts, size_t i)
{
    for (size_t k = 0; k < parts->n; k++) {
        const char *reason = upmu_set_reason(parts->part[k].set, i);
        if (reason[0])
            return reason;
    }
    return "";
}

/* ------------------------------------------------------------------------------------------------ readings */

static struct upmu_value value_without_number(const struct upmu_value *like)
{
    struct upmu_value v = *like;
    v.value = UPMU_NO_VALUE;
    v.raw = 0;
    return v;
}

static bool value_has_number(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED;
}

static bool value_went_backwards(const struct upmu_value *before, const struct upmu_value *now)
{
    return now->raw < before->raw || now->enabled < before->enabled || now->running < before->running;
}

struct stat_reading stat_reading_between(const struct stat_reading *before, const struct stat_reading *now)
{
    struct stat_reading d = *now;
    if (now->at_end) {
        d.v = value_without_number(&now->v);
        d.v.status = UPMU_NOT_COUNTED;
        d.v.cause = 0;
        return d;
    }
    if (before->seen && value_has_number(&now->v) && value_is_absent(&before->v)) {
        d.v = value_without_number(&now->v); /* the value is that of the whole run */
        d.v.status = UPMU_NOT_COUNTED;
        return d;
    }
    if (!value_has_number(&now->v) || value_went_backwards(&before->v, &now->v)) {
        d.v = value_without_number(&now->v);
        if (value_has_number(&now->v))
            d.v.status = UPMU_NOT_COUNTED;
        return d;
    }
    d.v.raw -= before->v.raw;
    d.v.enabled -= before->v.enabled;
    d.v.running -= before->v.running;
    d.v.value = d.v.raw;
    d.v.status = UPMU_EXACT;
    if (d.v.running == 0) {
        d.v.value = UPMU_NO_VALUE;
        d.v.status = UPMU_NOT_COUNTED;
    } else if (d.v.running < d.v.enabled) {
        d.v.value = (uint64_t)((double)d.v.raw * ((double)d.v.enabled / (double)d.v.running) + 0.5);
        d.v.status = UPMU_SCALED;
    }
    return d;
}

static uint64_t value_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UPMU_NO_VALUE : sum;
}

/* It was never enabled: a thread that slept, a PMU that counts on another CPU for this one, too. */
static bool value_is_empty(const struct upmu_value *v)
{
    return v->status == UPMU_NOT_COUNTED && v->enabled == 0 && v->cause == 0;
}

void stat_reading_add(struct stat_reading *sum, const struct stat_reading *r)
{
    if (!sum->seen) {
        *sum = *r;
        return;
    }
    if (value_is_empty(&r->v))
        return;
    if (value_is_empty(&sum->v)) {
        *sum = *r;
        return;
    }
    int weakest = upmu_status_weakest(sum->v.status, r->v.status);
    if (weakest != sum->v.status) {
        sum->v.cause = r->v.cause;
        sum->source = r->source;
    }
    sum->v.status = weakest;
    bool number = value_has_number(&sum->v);
    sum->v.value = number ? value_sum(sum->v.value, r->v.value) : UPMU_NO_VALUE;
    sum->v.raw = value_sum(sum->v.raw, r->v.raw);
    sum->v.enabled = value_sum(sum->v.enabled, r->v.enabled);
    sum->v.running = value_sum(sum->v.running, r->v.running);
}
