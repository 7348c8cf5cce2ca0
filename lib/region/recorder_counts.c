/* SPDX-License-Identifier: MIT */
/* Counts of the calling thread for libupmu_func: cumulative readings of the events of regions, without a system call if need be. */
#include "region/recorder.h"

#include <assert.h>
#include <errno.h>

#include "base/error.h"
#include "region/region.h"

enum { WORDS_MAX = 160 }; /* of a reading, on the stack: a signal handler may interrupt another one */

static_assert((int)RECORDER_EVENTS_MAX == (int)UPMU_REGION_EVENTS_MAX, "the events of regions");

/* The thread's counters; NULL: it has none. */
static struct counters *counts_of_thread(void)
{
    struct region_thread *t = region_tls.thread;
    if (!t || !t->live || t->ended || upmu_regions.words > WORDS_MAX)
        return NULL;
    return &t->kept->counters;
}

const char *upmu_recorder_event_(uint32_t i, int *cause, const char **reason)
{
    const struct region_process *p = &upmu_regions;
    const struct counters *c = upmu_recorder_stream_() ? counts_of_thread() : NULL;
    *cause = 0;
    *reason = NULL;
    if (i >= p->list.n)
        return NULL;
    *reason = p->event_reasons[i];
    if (p->list.absent[i])
        *cause = p->list.cause[i];
    else if (!c)
        *cause = UPMU_E_STATE;
    else if (!c->counter[i].switches && !c->counter[i].usage)
        *cause = counters_cause(c, i);
    if (*cause == 0 && c && c->counter[i].weight) {
        *cause = UPMU_E_UNSUPPORTED;
        *reason = "a derived event: functions count its parts only, by their names";
    }
    return p->event_names[i];
}

bool upmu_recorder_events_asked_(void)
{
    return upmu_regions.asked;
}

/* The core types of an event as one: a thread runs on one at a time. */
static void counts_add(struct recorder_count *out, const struct reading *r, int n)
{
    for (int k = 0; k < n; k++) {
        out->count += r[k].count;
        out->running += r[k].running;
        out->enabled = r[k].enabled > out->enabled ? r[k].enabled : out->enabled;
        out->stale |= r[k].stale;
    }
    out->known = n > 0;
}

uint32_t upmu_recorder_read_(struct recorder_count out[RECORDER_EVENTS_MAX], bool slow)
{
    uint64_t words[WORDS_MAX];
    struct reading r[VALUE_CORE_TYPES_MAX];
    struct counters *c = counts_of_thread();
    int saved = errno;
    if (!c)
        return 0;
    if (slow)
        counters_read(c, words);
    else
        counters_read_user(c, words);
    uint32_t n = (uint32_t)upmu_regions.list.n;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = (struct recorder_count){0};
        counts_add(&out[i], r, c->counter[i].weight ? 0 : counters_readings(c, words, i, r));
        if (c->counter[i].switches || c->counter[i].usage) /* of no event: always counted */
            out[i].enabled = out[i].running = 0;
    }
    errno = saved;
    return n;
}
