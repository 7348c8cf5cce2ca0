/* SPDX-License-Identifier: MIT */
/* OpenMP of a recording as the structs of upmu/openmp.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/name.h"
#include "base/opts.h"
#include "openmp_regions/regions.h"

static uint64_t times_wait(const struct omp_times *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REASONS; i++)
        sum += t->wait[i];
    return sum;
}

static void times_sum(struct omp_times *to, const struct omp_times *t)
{
    to->work += t->work;
    to->nested += t->nested;
    for (uint32_t i = 0; i < REASONS; i++)
        to->wait[i] += t->wait[i];
}

/* -------------------------------------------------------------------------------------------------------- stretch */

/* Members and constructs without a part in the stretch are left out. */
static void openmp_drop(struct upmu_openmp *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->n_constructs; i++)
        if (o->constructs[i].count != 0 || o->constructs[i].ns != 0 || o->constructs[i].held_ns != 0)
            o->constructs[kept++] = o->constructs[i];
    o->n_constructs = kept;
    for (size_t i = 0; i < o->n_regions; i++) {
        struct omp_region *r = &o->regions[i];
        kept = 0;
        for (size_t j = 0; j < r->n_members; j++)
            if (r->members[j].count != 0)
                r->members[kept++] = r->members[j];
        r->n_members = kept;
    }
}

/* ---------------------------------------------------------------------------------------------------------- order */

static int compare_elapsed(const void *x, const void *y, void *openmp)
{
    const struct upmu_openmp *o = openmp;
    const struct omp_region *a = &o->regions[*(const uint32_t *)x], *b = &o->regions[*(const uint32_t *)y];
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->elapsed_ns != b->elapsed_ns)
        return a->elapsed_ns > b->elapsed_ns ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

static int compare_construct(const void *x, const void *y)
{
    const struct omp_construct *a = x, *b = y;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->construct < b->construct ? -1 : a->construct > b->construct;
}

static int compare_number(const void *x, const void *y)
{
    const struct omp_member *a = x, *b = y;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int openmp_sort(struct upmu_openmp *o)
{
    o->order = calloc(o->n_regions + 1, sizeof *o->order);
    if (!o->order)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading OpenMP events");
    for (size_t i = 0; i < o->n_regions; i++) {
        o->regions[i].place = NONE;
        if (o->regions[i].count != 0)
            o->order[o->n_order++] = (uint32_t)i;
        if (o->regions[i].n_members)
            qsort(o->regions[i].members, o->regions[i].n_members, sizeof *o->regions[i].members, compare_number);
    }
    qsort_r(o->order, o->n_order, sizeof *o->order, compare_elapsed, o);
    for (size_t i = 0; i < o->n_order; i++)
        o->regions[o->order[i]].place = (uint32_t)i;
    if (o->n_constructs)
        qsort(o->constructs, o->n_constructs, sizeof *o->constructs, compare_construct);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- open, close */

int upmu_openmp_open(struct upmu_openmp **openmp, const char *dir)
{
    if (openmp && dir)
        return upmu_openmp_open_between(openmp, dir, 0, 0);
    if (openmp)
        *openmp = NULL;
    return ARGUMENT_NULL(openmp, dir);
}

int upmu_openmp_open_between(struct upmu_openmp **openmp, const char *dir, uint64_t from_ns, uint64_t to_ns)
{
    if (openmp)
        *openmp = NULL;
    if (!openmp || !dir)
        return ARGUMENT_NULL(openmp, dir);
    if (to_ns != 0 && to_ns < from_ns)
        return upmu_fail(UPMU_E_INVAL, "%s: to_ns is before from_ns", __func__);
    struct upmu_openmp *o = calloc(1, sizeof *o);
    if (!o)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading OpenMP events");
    o->from_ns = from_ns;
    o->to_ns = to_ns ? to_ns : UINT64_MAX;
    int rc = omp_read(o, dir);
    if (rc == 0 && o->n_regions == 0)
        rc = upmu_fail(UPMU_E_STATE,
                       "%s has no parallel region of OpenMP: record it with 'upmu record --openmp'; if that was done, "
                       "the program has none",
                       dir);
    openmp_drop(o);
    if (rc == 0)
        rc = openmp_sort(o);
    if (rc == 0)
        *openmp = o;
    else
        upmu_openmp_close(o);
    return rc;
}

void upmu_openmp_close(struct upmu_openmp *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->n_processes; i++)
        free(o->processes[i].runtime);
    for (size_t i = 0; i < o->n_regions; i++)
        free(o->regions[i].members);
    for (size_t i = 0; i < o->n_running; i++)
        free(o->running[i].shares);
    for (size_t i = 0; i < REASONS; i++)
        map_free(&o->by_construct[i]);
    map_free(&o->by_process);
    map_free(&o->by_thread);
    map_free(&o->by_site);
    free(o->processes);
    free(o->threads);
    free(o->regions);
    free(o->running);
    free(o->constructs);
    free(o->order);
    free(o);
}

/* ----------------------------------------------------------------------------------------------------------- rows */

int upmu_openmp_process_at(const struct upmu_openmp *openmp, size_t index, struct upmu_openmp_process *out)
{
    if (!openmp)
        return argument_null(__func__, "openmp");
    if (index >= openmp->n_processes)
        return UPMU_E_END;
    const struct omp_process *p = &openmp->processes[index];
    const struct upmu_openmp_process row = {
        .process = p->process,
        .pid = p->pid,
        .method = p->method,
        .runtime = p->runtime ? p->runtime : "",
        .time_ns = p->last - p->begin,
        .parallel_ns = p->parallel_ns,
        .regions = p->regions,
        .unfinished = p->unfinished,
        .threads = p->threads,
        .strays = p->strays,
    };
    return OPTS_GIVE(out, row, UPMU_OPENMP_PROCESS_SIZE_V1);
}

static const struct omp_region *region_by_place(const struct upmu_openmp *o, size_t index)
{
    return o && index < o->n_order ? &o->regions[o->order[index]] : NULL;
}

static size_t region_place(const struct upmu_openmp *o, uint32_t region)
{
    return region == NONE || o->regions[region].place == NONE ? SIZE_MAX : o->regions[region].place;
}

int upmu_openmp_region_at(const struct upmu_openmp *openmp, size_t index, struct upmu_openmp_region *out)
{
    const struct omp_region *r = region_by_place(openmp, index);
    struct omp_times sum = {0};
    uint64_t tasks = 0;
    if (!openmp)
        return argument_null(__func__, "openmp");
    if (!r)
        return UPMU_E_END;
    for (size_t i = 0; i < r->n_members; i++) {
        times_sum(&sum, &r->members[i].times);
        tasks += r->members[i].tasks;
    }
    const struct upmu_openmp_region row = {
        .process = r->process,
        .site = r->site,
        .parent = region_place(openmp, r->parent),
        .count = r->count,
        .unfinished = r->unfinished,
        .threads = r->threads,
        .elapsed_ns = r->elapsed_ns,
        .time_ns = sum.work + sum.nested + times_wait(&sum),
        .work_ns = sum.work,
        .wait_ns = times_wait(&sum),
        .nested_ns = sum.nested,
        .gain_ns = r->gain_ns,
        .tasks = tasks,
    };
    return OPTS_GIVE(out, row, UPMU_OPENMP_REGION_SIZE_V1);
}

int upmu_openmp_member_at(const struct upmu_openmp *openmp, size_t region, size_t index, struct upmu_openmp_member *out)
{
    const struct omp_region *r = region_by_place(openmp, region);
    if (!openmp)
        return argument_null(__func__, "openmp");
    if (!r || index >= r->n_members)
        return UPMU_E_END;
    const struct omp_member *m = &r->members[index];
    const struct upmu_openmp_member row = {
        .thread = m->thread,
        .tid = openmp->threads[m->thread].tid,
        .number = m->number,
        .count = m->count,
        .time_ns = m->times.work + m->times.nested + times_wait(&m->times),
        .work_ns = m->times.work,
        .wait_ns = times_wait(&m->times),
        .nested_ns = m->times.nested,
        .tasks = m->tasks,
    };
    return OPTS_GIVE(out, row, UPMU_OPENMP_MEMBER_SIZE_V1);
}

int upmu_openmp_thread_at(const struct upmu_openmp *openmp, size_t index, struct upmu_openmp_thread *out)
{
    if (!openmp)
        return argument_null(__func__, "openmp");
    if (index >= openmp->n_threads)
        return UPMU_E_END;
    const struct omp_thread *t = &openmp->threads[index];
    const struct upmu_openmp_thread row = {
        .process = t->process,
        .tid = t->tid,
        .begins = t->begins,
        .time_ns = t->end - t->begin,
        .work_ns = t->times.work,
        .wait_ns = times_wait(&t->times),
        .outside_ns = t->outside_ns,
    };
    return OPTS_GIVE(out, row, UPMU_OPENMP_THREAD_SIZE_V1);
}

int upmu_openmp_construct_at(const struct upmu_openmp *openmp, size_t index, struct upmu_openmp_construct *out)
{
    if (!openmp)
        return argument_null(__func__, "openmp");
    if (index >= openmp->n_constructs)
        return UPMU_E_END;
    const struct omp_construct *c = &openmp->constructs[index];
    const struct upmu_openmp_construct row = {
        .process = c->process,
        .region = region_place(openmp, c->region),
        .site = c->site,
        .construct = c->construct,
        .count = c->count,
        .ns = c->ns,
        .max_ns = c->max_ns,
        .held_ns = c->held_ns,
        .max_held_ns = c->max_held_ns,
    };
    return OPTS_GIVE(out, row, UPMU_OPENMP_CONSTRUCT_SIZE_V1);
}

uint64_t upmu_openmp_region_wait_ns(const struct upmu_openmp *openmp, size_t region, size_t member, uint32_t construct)
{
    const struct omp_region *r = region_by_place(openmp, region);
    uint64_t sum = 0;
    for (size_t i = 0; r && construct < REASONS && i < r->n_members; i++)
        if (member == SIZE_MAX || member == i)
            sum += r->members[i].times.wait[construct];
    return sum;
}

uint64_t upmu_openmp_thread_wait_ns(const struct upmu_openmp *openmp, size_t thread, uint32_t construct)
{
    return openmp && thread < openmp->n_threads && construct < REASONS ? openmp->threads[thread].times.wait[construct]
                                                                       : 0;
}
