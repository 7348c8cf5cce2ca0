/* SPDX-License-Identifier: MIT */
/*
 * States of threads, and where their time goes.
 *
 * A thread has a frame for each region that it is in, and one for each wait and task within; its time goes to the innermost frame.
 * A thread of the pool leaves a region when the region ends, whatever it records later: LLVM's runtime reports the end of its
 * wait there only when the next region begins.
 */
#include "openmp_regions/regions.h"

#include <string.h>

#include "base/error.h"

void *omp_grow(void *array, size_t *n, size_t *cap, size_t bytes)
{
    void *data;
    memcpy(&data, array, sizeof data);
    if (*n == *cap) {
        void *more = *n >= NONE ? NULL : array_reserve(data, *n, cap, bytes);
        if (!more) {
            (void)upmu_fail(UPMU_E_NOMEM, "out of memory while reading OpenMP events");
            return NULL;
        }
        memcpy(array, &more, sizeof more);
        data = more;
    }
    char *element = (char *)data + (*n)++ * bytes;
    memset(element, 0, bytes);
    return element;
}

static struct omp_process *process_of(struct upmu_openmp *o, const struct omp_thread *t)
{
    return &o->processes[t->process];
}

static struct omp_frame *frame_top(struct omp_thread *t)
{
    return t->n_frames ? &t->frames[t->n_frames - 1] : NULL;
}

/* The member of a frame's region; NULL before the thread has come. */
static struct omp_member *frame_member(struct upmu_openmp *o, const struct omp_frame *f)
{
    if (f->running == NONE || f->share == NONE)
        return NULL;
    struct omp_running *r = &o->running[f->running];
    return &o->regions[r->region].members[r->shares[f->share].member];
}

static void times_add(struct omp_times *t, const struct omp_frame *f, uint64_t ns)
{
    if (f->kind == FRAME_WAIT)
        t->wait[f->construct] += ns;
    else
        t->work += ns;
}

void omp_pass_outside(struct omp_thread *t, uint64_t now)
{
    if (now <= t->last)
        return;
    t->outside_ns += now - t->last;
    t->last = now;
}

/* Time passes for a thread: what it did last lasts until `now`. Outside of regions nothing is done: LLVM's runtime reports the end of
 * a thread's last wait after the next region has begun, and from that begin on it is time of that region. */
static void omp_pass(struct upmu_openmp *o, struct omp_thread *t, uint64_t now)
{
    struct omp_frame *top = frame_top(t);
    if (!top || now <= t->last)
        return;
    uint64_t ns = now - t->last;
    t->last = now;
    struct omp_member *m = frame_member(o, top);
    top->ns += ns;
    times_add(&t->times, top, ns);
    if (m)
        times_add(&m->times, top, ns);
    if (m && top->kind != FRAME_WAIT)
        o->running[top->running].shares[top->share].work += ns;
    /* For the regions around it this is time within a nested one. */
    for (uint32_t i = t->n_frames; i > 0; i--) {
        const struct omp_frame *f = &t->frames[i - 1];
        struct omp_member *outer = f->is_member && f->running != top->running ? frame_member(o, f) : NULL;
        if (outer)
            outer->times.nested += ns;
    }
}

static struct omp_frame *frame_push(struct omp_thread *t, enum omp_frame_kind kind, uint32_t running, uint32_t share)
{
    if (t->n_frames == FRAMES_MAX) {
        t->too_deep++;
        return NULL;
    }
    struct omp_frame *f = &t->frames[t->n_frames++];
    *f = (struct omp_frame){.running = running, .share = share, .row = NONE};
    f->kind = kind;
    return f;
}

/* A frame within the region of the one below it. */
static struct omp_frame *frame_push_within(struct omp_thread *t, enum omp_frame_kind kind)
{
    const struct omp_frame *top = frame_top(t);
    return frame_push(t, kind, top ? top->running : NONE, top ? top->share : NONE);
}

/* ---------------------------------------------------------------------------------------------------------- rows */

static uint32_t region_of(const struct upmu_openmp *o, struct omp_thread *t)
{
    const struct omp_frame *top = frame_top(t);
    return top && top->running != NONE ? o->running[top->running].region : NONE;
}

/* The region of the program at a site. NONE without memory. */
static uint32_t region_at(struct upmu_openmp *o, struct omp_thread *t, uint64_t site)
{
    uint32_t found = map_find(&o->by_site, t->process, site);
    if (found != MAP_NONE)
        return found;
    uint32_t parent = region_of(o, t);
    struct omp_region *r = omp_grow(&o->regions, &o->n_regions, &o->cap_regions, sizeof *r);
    if (!r || !map_put(&o->by_site, t->process, site, (uint32_t)(o->n_regions - 1)))
        return NONE;
    *r = (struct omp_region){.process = t->process, .parent = parent, .site = site};
    return (uint32_t)(o->n_regions - 1);
}

/* The row of a construct. NONE without memory. */
static uint32_t construct_at(struct upmu_openmp *o, struct omp_thread *t, uint32_t construct, uint64_t site)
{
    struct map *m = &o->by_construct[construct];
    uint32_t found = map_find(m, t->process, site);
    if (found != MAP_NONE)
        return found;
    struct omp_construct *c = omp_grow(&o->constructs, &o->n_constructs, &o->cap_constructs, sizeof *c);
    if (!c || !map_put(m, t->process, site, (uint32_t)(o->n_constructs - 1)))
        return NONE;
    *c = (struct omp_construct){.process = t->process, .region = region_of(o, t), .construct = construct, .site = site};
    return (uint32_t)(o->n_constructs - 1);
}

static void construct_add(struct upmu_openmp *o, uint32_t row, uint64_t ns)
{
    if (row == NONE)
        return;
    struct omp_construct *c = &o->constructs[row];
    c->ns += ns;
    c->max_ns = ns > c->max_ns ? ns : c->max_ns;
}

/* -------------------------------------------------------------------------------------------------------- regions */

uint32_t omp_running_find(const struct upmu_openmp *o, uint32_t process, uint64_t id)
{
    uint32_t i = 0;
    while (i < o->n_running && !(o->running[i].id == id && o->running[i].process == process))
        i++;
    return id && i < o->n_running ? i : NONE;
}

/* A place among the regions that run. NONE without memory. */
static uint32_t running_new(struct upmu_openmp *o)
{
    for (size_t i = 0; i < o->n_running; i++)
        if (o->running[i].id == 0)
            return (uint32_t)i;
    return omp_grow(&o->running, &o->n_running, &o->cap_running, sizeof *o->running) ? (uint32_t)(o->n_running - 1)
                                                                                     : NONE;
}

/* Index of the thread's share; NONE: it has not come, or without memory. */
static uint32_t share_add(struct upmu_openmp *o, uint32_t running, uint32_t thread, uint32_t number)
{
    struct omp_running *r = &o->running[running];
    struct omp_region *region = &o->regions[r->region];
    uint32_t member = 0;
    while (member < region->n_members && region->members[member].thread != thread)
        member++;
    if (member == region->n_members) {
        struct omp_member *m =
            omp_grow(&region->members, &region->n_members, &region->cap_members, sizeof *region->members);
        if (!m)
            return NONE;
        m->thread = thread;
    }
    struct omp_share *s = omp_grow(&r->shares, &r->n_shares, &r->cap_shares, sizeof *r->shares);
    if (!s)
        return NONE;
    *s = (struct omp_share){.thread = thread, .member = member};
    if (r->counts || region->members[member].count == 0)
        region->members[member].number = number;
    region->members[member].count += r->counts;
    return (uint32_t)(r->n_shares - 1);
}

int omp_region_begin(struct upmu_openmp *o, uint32_t thread, uint64_t id, uint64_t site, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    struct omp_process *p = process_of(o, t);
    omp_pass(o, t, now);
    if (t->n_frames == 0)
        omp_pass_outside(t, now);
    t->barrier_ns = 0;
    uint32_t region = region_at(o, t, site), at = running_new(o);
    if (region == NONE || at == NONE)
        return UPMU_E_NOMEM;
    struct omp_running *r = &o->running[at];
    r->n_shares = 0;
    r->id = id;
    r->process = t->process;
    r->region = region;
    r->master = thread;
    r->begin = now;
    r->began_ns = o->event_ns;
    r->counts = o->counts;
    r->is_outer = t->n_frames == 0;
    o->regions[region].count += o->counts;
    p->regions += o->counts;
    t->begins |= r->is_outer;
    if (r->is_outer && p->outer++ == 0)
        p->outer_begin = now;
    /* The master's share is known now: it comes as a member shortly. */
    uint32_t share = share_add(o, at, thread, 0);
    struct omp_frame *f = frame_push(t, FRAME_WAIT, at, share);
    if (f) {
        f->is_member = true;
        f->construct = UPMU_OMP_START;
    }
    return share == NONE ? UPMU_E_NOMEM : 0;
}

int omp_member_begin(struct upmu_openmp *o, uint32_t thread, uint64_t id, uint32_t number, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    uint32_t at = omp_running_find(o, t->process, id);
    if (at == NONE) {
        omp_pass(o, t, now);
        process_of(o, t)->strays += o->counts;
        return 0;
    }
    struct omp_running *r = &o->running[at];
    struct omp_frame *top = frame_top(t);
    t->barrier_ns = 0;
    if (t->first_ns == o->event_ns) { /* made for the region, by whose begin it was not there */
        t->first_ns = 0;
        t->begin = t->last = r->begin < now ? r->begin : now;
    }
    if (r->master != thread) {
        t->n_frames = 0; /* of the pool: what it did before is over */
        omp_pass_outside(t, r->begin < now ? r->begin : now);
        uint32_t share = share_add(o, at, thread, number);
        if (share == NONE)
            return UPMU_E_NOMEM;
        top = frame_push(t, FRAME_WAIT, at, share);
        top->is_member = true;
        top->construct = UPMU_OMP_START;
    }
    omp_pass(o, t, now);
    if (!top || top->running != at)
        return 0; /* too deep */
    top->kind = FRAME_WORK;
    top->ns = 0;
    return 0;
}

/* What was a wait at an implicit barrier is one for the end of the region. */
static void barrier_is_join(struct upmu_openmp *o, struct omp_thread *t, const struct omp_frame *f, uint64_t ns)
{
    struct omp_member *m = frame_member(o, f);
    t->times.wait[UPMU_OMP_BARRIER_IMPLICIT] -= ns;
    t->times.wait[UPMU_OMP_JOIN] += ns;
    if (m) {
        m->times.wait[UPMU_OMP_BARRIER_IMPLICIT] -= ns;
        m->times.wait[UPMU_OMP_JOIN] += ns;
    }
}

/* Leave the frames above the thread's outermost one in a region. @return that frame; NULL: there is none. */
static struct omp_frame *frame_unwind(struct omp_thread *t, uint32_t running)
{
    uint32_t i = t->n_frames;
    while (i > 0 && !(t->frames[i - 1].is_member && (running == NONE || t->frames[i - 1].running == running)))
        i--;
    if (i == 0)
        return NULL;
    t->n_frames = i;
    return &t->frames[i - 1];
}

void omp_member_end(struct upmu_openmp *o, uint32_t thread, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    uint64_t barrier = t->barrier_ns;
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    struct omp_frame *f = frame_unwind(t, NONE);
    if (!f || f->kind == FRAME_WAIT)
        return; /* of a region that has ended */
    if (barrier)
        barrier_is_join(o, t, f, barrier);
    f->kind = FRAME_WAIT;
    f->construct = UPMU_OMP_JOIN;
}

void omp_master_end(struct upmu_openmp *o, uint32_t running, uint64_t now)
{
    uint32_t master = o->running[running].master;
    const struct omp_thread *t = &o->threads[master];
    uint32_t i = t->n_frames;
    while (i > 0 && !t->frames[i - 1].is_member)
        i--;
    if (i > 0 && t->frames[i - 1].running == running)
        omp_member_end(o, master, now);
}

/* Waits that have not ended, in a region or outside of all (NONE). */
static void waits_cut(struct upmu_openmp *o, const struct omp_thread *t, uint32_t running)
{
    for (uint32_t i = t->n_frames; i > 0; i--) {
        const struct omp_frame *f = &t->frames[i - 1];
        if (f->kind == FRAME_WAIT && !f->is_member && f->running == running)
            construct_add(o, f->row, f->ns);
    }
}

void omp_waits_end(struct upmu_openmp *o, uint32_t thread, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    if (t->has_ended)
        return;
    omp_pass(o, t, now);
    waits_cut(o, t, NONE);
}

/* The thread leaves the region. */
static void share_end(struct upmu_openmp *o, uint32_t running, struct omp_thread *t, uint64_t now)
{
    omp_pass(o, t, now);
    struct omp_frame *top = frame_top(t);
    if (top && top->running == running && top->kind == FRAME_WAIT && top->construct == UPMU_OMP_BARRIER_IMPLICIT)
        barrier_is_join(o, t, top, top->ns);
    waits_cut(o, t, running);
    if (frame_unwind(t, running))
        t->n_frames--;
    t->barrier_ns = 0;
}

void omp_region_end(struct upmu_openmp *o, uint32_t running, uint64_t now)
{
    struct omp_running *r = &o->running[running];
    struct omp_region *region = &o->regions[r->region];
    struct omp_process *p = &o->processes[r->process];
    uint64_t most = 0, sum = 0;
    for (size_t i = 0; i < r->n_shares; i++) {
        share_end(o, running, &o->threads[r->shares[i].thread], now);
        sum += r->shares[i].work;
        most = r->shares[i].work > most ? r->shares[i].work : most;
    }
    if (r->counts && r->n_shares > region->threads)
        region->threads = r->n_shares;
    region->elapsed_ns += now > r->begin ? now - r->begin : 0;
    region->gain_ns += r->n_shares ? most - sum / r->n_shares : 0;
    if (r->is_outer && --p->outer == 0)
        p->parallel_ns += now > p->outer_begin ? now - p->outer_begin : 0;
    r->id = 0;
}

/* ---------------------------------------------------------------------------------------------------------- waits */

/* The barrier at the end of a region is no construct: LLVM's runtime gives it the region's site, or none. */
static bool wait_is_join(const struct upmu_openmp *o, struct omp_thread *t, uint32_t construct, uint64_t site)
{
    uint32_t region = region_of(o, t);
    return construct == UPMU_OMP_BARRIER_IMPLICIT && (site == 0 || (region != NONE && o->regions[region].site == site));
}

int omp_wait_begin(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t site, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    uint32_t row = wait_is_join(o, t, construct, site) ? NONE : construct_at(o, t, construct, site);
    if (row != NONE)
        o->constructs[row].count += o->counts;
    struct omp_frame *f = frame_push_within(t, FRAME_WAIT);
    if (f) {
        f->construct = construct;
        f->row = row;
    }
    return 0;
}

static bool is_held(uint32_t construct)
{
    return construct >= UPMU_OMP_CRITICAL && construct <= UPMU_OMP_ATOMIC;
}

static void held_push(struct omp_thread *t, const struct omp_held *h)
{
    if (t->n_held < HELD_MAX)
        t->held[t->n_held++] = *h;
}

/* A try that has acquired a lock is an end without a begin. */
void omp_wait_end(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t object, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    if (t->too_deep) {
        t->too_deep--;
        return;
    }
    struct omp_frame *f = frame_top(t);
    bool has_begin = f && f->kind == FRAME_WAIT && !f->is_member && f->construct == construct;
    uint32_t row = has_begin ? f->row : NONE;
    if (has_begin) {
        construct_add(o, row, f->ns);
        t->barrier_ns = construct == UPMU_OMP_BARRIER_IMPLICIT ? f->ns : 0;
        t->n_frames--;
    }
    if (is_held(construct))
        held_push(t, &(struct omp_held){.row = row, .construct = construct, .object = object, .since = now});
}

/* The last one of its kind that is held. NULL: there is none. */
static struct omp_held *held_find(struct omp_thread *t, uint32_t construct, uint64_t object, bool works)
{
    for (uint32_t i = t->n_held; i > 0; i--) {
        struct omp_held *h = &t->held[i - 1];
        if (h->works == works && h->construct == construct && h->object == object)
            return h;
    }
    return NULL;
}

static struct omp_held held_remove(struct omp_thread *t, struct omp_held *h)
{
    struct omp_held found = *h;
    memmove(h, h + 1, (size_t)(&t->held[t->n_held] - (h + 1)) * sizeof *h);
    t->n_held--;
    return found;
}

void omp_lock_release(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t object, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    struct omp_held *found = held_find(t, construct, object, false);
    if (!found)
        return;
    struct omp_held h = held_remove(t, found);
    if (h.row == NONE)
        return;
    struct omp_construct *c = &o->constructs[h.row];
    uint64_t ns = now > h.since ? now - h.since : 0;
    c->held_ns += ns;
    c->max_held_ns = ns > c->max_held_ns ? ns : c->max_held_ns;
}

/* ------------------------------------------------------------------------------------------------- tasks and work */

int omp_task_create(struct upmu_openmp *o, uint32_t thread, uint64_t site, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    uint32_t row = construct_at(o, t, UPMU_OMP_EXPLICIT_TASK, site);
    if (row == NONE)
        return UPMU_E_NOMEM;
    o->constructs[row].count += o->counts;
    return 0;
}

int omp_task_begin(struct upmu_openmp *o, uint32_t thread, uint64_t site, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    uint32_t row = construct_at(o, t, UPMU_OMP_EXPLICIT_TASK, site);
    if (row == NONE)
        return UPMU_E_NOMEM;
    struct omp_frame *f = frame_push_within(t, FRAME_TASK);
    struct omp_member *m = f ? frame_member(o, f) : NULL;
    if (f)
        f->row = row;
    if (m)
        m->tasks += o->counts;
    return 0;
}

void omp_task_end(struct upmu_openmp *o, uint32_t thread, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    uint32_t i = t->n_frames;
    while (i > 0 && t->frames[i - 1].kind != FRAME_TASK && !t->frames[i - 1].is_member)
        i--;
    if (i == 0 || t->frames[i - 1].kind != FRAME_TASK)
        return;
    construct_add(o, t->frames[i - 1].row, t->frames[i - 1].ns);
    t->n_frames = i - 1;
}

int omp_work_begin(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t site, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    uint32_t row = construct_at(o, t, construct, site);
    if (row == NONE)
        return UPMU_E_NOMEM;
    o->constructs[row].count += o->counts;
    held_push(t, &(struct omp_held){.row = row, .construct = construct, .since = now, .works = true});
    return 0;
}

void omp_work_end(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t now)
{
    struct omp_thread *t = &o->threads[thread];
    omp_pass(o, t, now);
    t->barrier_ns = 0;
    struct omp_held *h = held_find(t, construct, 0, true);
    if (!h)
        return;
    struct omp_held found = held_remove(t, h);
    construct_add(o, found.row, now > found.since ? now - found.since : 0);
}

/* -------------------------------------------------------------------------------------------------------- stretch */

static void stretch_count_region(struct upmu_openmp *o, struct omp_running *r)
{
    struct omp_region *region = &o->regions[r->region];
    r->counts = true;
    region->count++;
    o->processes[r->process].regions++;
    for (size_t i = 0; i < r->n_shares; i++)
        region->members[r->shares[i].member].count++;
}

static void stretch_count_thread(struct upmu_openmp *o, const struct omp_thread *t)
{
    for (uint32_t i = 0; i < t->n_frames; i++) {
        const struct omp_frame *f = &t->frames[i];
        struct omp_member *m = f->kind == FRAME_TASK ? frame_member(o, f) : NULL;
        if (m)
            m->tasks++;
        if (f->kind == FRAME_WAIT && f->row != NONE)
            o->constructs[f->row].count++;
    }
    for (uint32_t i = 0; i < t->n_held; i++)
        if (t->held[i].row != NONE)
            o->constructs[t->held[i].row].count++;
}

void omp_stretch_begin(struct upmu_openmp *o)
{
    o->begun = o->counts = true;
    for (size_t i = 0; i < o->n_running; i++)
        if (o->running[i].id)
            stretch_count_region(o, &o->running[i]);
    for (size_t i = 0; i < o->n_threads; i++)
        if (!o->threads[i].has_ended)
            stretch_count_thread(o, &o->threads[i]);
}
