/* SPDX-License-Identifier: MIT */
/*
 * A thread's block for regions.
 *
 * A block has a kept part, and a hot part that is marked wipe-on-fork; several of both are mapped at a time. Its first pages are touched
 * before the counters start, so that its page faults are not counted. At the thread's end its descriptors and stream are released and
 * its sums stay; beyond REGION_THREADS_KEPT ended threads the sums are merged into one block, and the thread's own is left to the
 * next thread, so that memory does not grow with the number of threads.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/own_memory.h"
#include "region/region.h"

enum {
    CACHE_LINE = 64,
    TOUCHED_FRAMES = 8, /**< frames and records whose pages are touched at the start */
    TOUCHED_RECORDS = 24,
    BLOCKS_AT_ONCE = 8, /**< mapped, at most */
};

static size_t block_round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* -------------------------------------------------------------------------------------------------- making */

static size_t block_frames_bytes(void)
{
    return block_round_up(UPMU_REGION_DEPTH_MAX * upmu_regions.frame_bytes, CACHE_LINE);
}

static size_t block_scratch_bytes(void)
{
    return block_round_up(upmu_regions.words * sizeof(uint64_t), CACHE_LINE);
}

/* Lay out the hot part of a block: [thread, scratch, frames, records]. Kept part, thread and records are zero. */
static struct region_thread *block_lay_out(struct region_kept *kept, unsigned char *hot)
{
    struct region_thread *t = (struct region_thread *)(void *)hot;
    size_t at = block_round_up(sizeof *t, CACHE_LINE);
    kept->thread = t;
    t->kept = kept;
    t->scratch = (uint64_t *)(void *)(hot + at);
    at += block_scratch_bytes();
    t->frames = hot + at;
    at += block_frames_bytes();
    t->records = hot + at;
    return t;
}

/* Map the kept parts of `n` blocks, and then their hot parts. @return false if there is no memory. */
static bool blocks_map(struct region_process *p, size_t n)
{
    unsigned char *kept = own_memory_map(n * (p->kept_bytes + p->thread_bytes), MAP_NORESERVE);
    unsigned char *hot = kept ? kept + n * p->kept_bytes : NULL;
    if (kept && madvise(hot, n * p->thread_bytes, MADV_WIPEONFORK) != 0) {
        own_memory_unmap(kept, n * (p->kept_bytes + p->thread_bytes));
        kept = NULL;
    }
    if (!kept)
        return false;
    p->kept_ahead = kept;
    p->hot_ahead = hot;
    p->ahead = n;
    return true;
}

/* A new block; as many at a time as there are already. Under the process's lock. */
static struct region_thread *block_map(void)
{
    struct region_process *p = &upmu_regions;
    size_t n = p->mapped < 1 ? 1 : p->mapped < BLOCKS_AT_ONCE ? p->mapped : BLOCKS_AT_ONCE;
    if (p->ahead == 0 && !blocks_map(p, n) && (n == 1 || !blocks_map(p, 1)))
        return NULL;
    struct region_thread *t = block_lay_out((struct region_kept *)(void *)p->kept_ahead, p->hot_ahead);
    p->kept_ahead += p->kept_bytes;
    p->hot_ahead += p->thread_bytes;
    p->ahead--;
    p->mapped++;
    return t;
}

/* That of an ended thread, or a new one: mapping a block and its page faults cost as much as the creation of a thread. */
static struct region_thread *block_take(void)
{
    struct region_process *p = &upmu_regions;
    struct region_thread *t;
    tiny_lock_take(&p->shared->lock);
    struct region_kept *kept = p->spare;
    if (kept) {
        p->spare = kept->next;
        kept->next = NULL;
        t = block_lay_out(kept, (unsigned char *)kept->thread);
    } else {
        t = block_map();
    }
    tiny_lock_give(&p->shared->lock);
    return t;
}

/* A block that no list has and no thread uses, with everything that was written to it zeroed. Frames are written before they
 * are read. Without a record the table of them was not written, nor its pages made. */
static void block_wipe(struct region_kept *kept)
{
    struct region_thread *t = kept->thread;
    memset(t->records, 0, t->n_records * upmu_regions.record_bytes);
    memset(t, 0, t->n_records == 0 ? offsetof(struct region_thread, record_of) : sizeof *t);
    memset(kept, 0, upmu_regions.kept_bytes);
    kept->thread = t;
}

/* Write to each page without changing it. */
static void block_touch(void *from, size_t bytes)
{
    volatile unsigned char *p = from;
    for (size_t i = 0; i < bytes; i += 1024)
        p[i] = p[i];
}

void region_block_check(struct region_thread *t)
{
    uint64_t late = counters_late(&t->kept->counters, NULL);
    counters_leave_late(&t->kept->counters, late);
    __atomic_fetch_or(&t->kept->late, late, __ATOMIC_RELAXED);
}

/* Each open event costs about as much as a switch at every switch of its thread: a recorded thread without requested events
 * opens none before its first region. */
static void block_open_counters(struct region_thread *t)
{
    const struct counter_target target = {.cpu = -1,
                                          .self = true,
                                          .user_read = true,
                                          .running = true,
                                          .late_page = upmu_regions.late_page,
                                          .backend = upmu_regions.list.backend};
    void *arena = t->kept + 1;
    (void)counters_open(&t->kept->counters, &upmu_regions.list, &target, arena);
    /* Even without requested switches, the sequence word shows at no cost that a region was descheduled. */
    if (!upmu_regions.time_only && !upmu_regions.late_page && !t->kept->counters.sequence)
        (void)switches_open(&t->kept->counters);
    region_block_check(t);
    if (t->kept->counters.wanted_not_open > 0)
        __atomic_fetch_add(&upmu_regions.threads_short, 1, __ATOMIC_RELAXED);
}

void region_block_page(struct region_thread *t)
{
    struct counters *c = &t->kept->counters;
    int saved = errno;
    struct cancel_hold cancel;
    if (!upmu_regions.late_page || c->sequence)
        return;
    cancel_hold(&cancel);
    (void)switches_open(c); /* RUSAGE_THREAD continues to count; the page avoids that system call */
    errno = saved;
    cancel_resume(&cancel);
}

static void list_block(struct region_thread *t)
{
    tiny_lock_take(&upmu_regions.shared->lock);
    struct region_kept *last = upmu_regions.threads_last;
    t->kept->before = last;
    *(last ? &last->next : &upmu_regions.threads) = upmu_regions.threads_last = t->kept;
    tiny_lock_give(&upmu_regions.shared->lock);
}

struct region_thread *region_block_make(void)
{
    struct region_thread *t = block_take();
    if (!t)
        return NULL;
    t->tid = core_kernel()->gettid();
    prctl(PR_GET_NAME, t->name);
    t->epoch = __atomic_load_n(&upmu_regions.epoch, __ATOMIC_ACQUIRE);
    if (!upmu_regions.late_page) { /* else no page faults are counted, and the thread may have no region */
        block_touch(t, sizeof *t);
        block_touch(t->frames, TOUCHED_FRAMES * upmu_regions.frame_bytes);
        block_touch(t->records, TOUCHED_RECORDS * upmu_regions.record_bytes);
    }
    if (upmu_regions.trace && trace_stream_acquire(upmu_regions.trace, t->tid, t->name, &t->stream) < 0)
        t->stream = NULL;
    list_block(t); /* first: a child forked by another thread meanwhile must find the open descriptors */
    block_open_counters(t);
    if (region_sched_on())
        region_sched_open(t);
    return t;
}

/* ------------------------------------------------------------------------------------------------- ending */

void region_blocks_check(void)
{
    uint64_t late = 0;
    region_lock();
    for (struct region_kept *k = upmu_regions.threads; k; k = k->next) {
        tiny_lock_take(&k->open);
        if (__atomic_load_n(&k->thread->live, __ATOMIC_ACQUIRE) && k->counters.n_groups > 0)
            __atomic_fetch_or(&k->late, counters_late(&k->counters, NULL), __ATOMIC_RELAXED);
        tiny_lock_give(&k->open);
        late |= __atomic_load_n(&k->late, __ATOMIC_RELAXED);
    }
    region_unlock();
    for (size_t i = 0; i < upmu_regions.list.n; i++)
        if (late >> i & 1 && !upmu_regions.event_reasons[i])
            upmu_regions.event_reasons[i] = strdup(upmu_strerror(UPMU_E_PARTIAL));
}

static void block_merge(struct region_thread *into, struct region_thread *t)
{
    for (uint32_t i = 0; i < t->n_records; i++) {
        struct region_record *r = (void *)(t->records + i * upmu_regions.record_bytes);
        region_record_leave_late(r, t->kept->late);
        struct region_record *sum = region_thread_record(into, (uint32_t)r->id);
        if (!sum && (sum = region_record_new(into, (uint32_t)r->id)) != NULL)
            sum->threads = 0;
        if (sum)
            region_record_merge(sum, r);
    }
    region_misuse_add(&into->misuse, &t->misuse);
}

static void unlist_block(struct region_kept *kept)
{
    struct region_process *p = &upmu_regions;
    *(kept->before ? &kept->before->next : &p->threads) = kept->next;
    *(kept->next ? &kept->next->before : &p->threads_last) = kept->before;
}

/* Whether the thread had no region and nothing to report, as most threads of programs that are recorded but have no regions. */
static bool block_is_empty(const struct region_thread *t)
{
    static const struct region_misuse none;
    return t->n_records == 0 && t->kept->late == 0 && memcmp(&t->misuse, &none, sizeof none) == 0;
}

/* Keep the ended thread's block, or add its sums to the shared one and release it. */
static void block_retire(struct region_thread *t)
{
    struct region_process *p = &upmu_regions;
    struct region_kept *gone = NULL;
    tiny_lock_take(&p->shared->lock);
    if (block_is_empty(t)) {
        __atomic_fetch_add(&p->threads_empty, 1, __ATOMIC_RELAXED);
        unlist_block(t->kept);
        gone = t->kept;
    } else if (p->threads_ended < REGION_THREADS_KEPT) {
        p->threads_ended++;
    } else if (p->merged || (p->merged = block_map()) != NULL) {
        __atomic_fetch_add(&p->threads_merged, 1, __ATOMIC_RELAXED);
        block_merge(p->merged, t);
        unlist_block(t->kept);
        gone = t->kept;
    }
    tiny_lock_give(&p->shared->lock);
    if (!gone)
        return;
    block_wipe(gone);
    tiny_lock_take(&p->shared->lock);
    gone->next = p->spare;
    p->spare = gone;
    tiny_lock_give(&p->shared->lock);
}

void region_block_end(struct region_thread *t)
{
    tiny_lock_take(&t->kept->open);
    counters_close(&t->kept->counters, false);
    tiny_lock_give(&t->kept->open);
    region_sched_end(t);
    if (t->stream) {
        trace_stream_release(t->stream);
        t->stream = NULL;
    }
    block_retire(t);
}

/* ------------------------------------------------------------------------------------------------ process */

void region_blocks_layout(void)
{
    struct region_process *p = &upmu_regions;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    p->words = counters_words(&p->list);
    p->frame_bytes = sizeof(struct region_frame) + p->words * sizeof(uint64_t);
    p->record_bytes = sizeof(struct region_record) + p->list.n * sizeof(struct region_event_sum);
    p->kept_bytes = block_round_up(sizeof(struct region_kept) + counters_arena(&p->list), page);
    p->thread_bytes = block_round_up(block_round_up(sizeof(struct region_thread), CACHE_LINE) + block_scratch_bytes() +
                                         block_frames_bytes() + REGION_NAMES_MAX * p->record_bytes,
                                     page);
}

void region_blocks_forget(void)
{
    struct region_process *p = &upmu_regions;
    for (struct region_kept *k = p->threads; k; k = k->next)
        counters_close(&k->counters, true);
    /* The blocks themselves stay mapped: the forking thread still has the address of its own, and wiped pages cost no
     * memory. */
    p->threads = p->threads_last = p->spare = NULL;
    p->ahead = p->mapped = 0;
    p->merged = NULL;
    p->threads_ended = p->threads_merged = p->threads_short = p->threads_lost = p->turned_away = 0;
    p->threads_empty = 0;
    region_tls.refused = 0;
    region_thread_set(NULL);
}
