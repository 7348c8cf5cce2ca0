/* SPDX-License-Identifier: MIT */
/* Finding about thundering herds: broadcasts that wake threads in vain. */
#include <inttypes.h>
#include <stdbool.h>

#include "findings/findings_list.h"

enum {
    LEAST_IN_VAIN = 50,      /* fewer may be chance */
    LEAST_PER_BROADCAST = 2, /* pthread_cond_signal() wakes one at most */
    LEAST_PER_SECOND = 5,    /* each costs two context switches */
    NOTICED = 1000,          /* a gain of one in so many parts of the run */
};

/* More than half of the wakes of a herd are in vain. */
static bool wakes_are_herd(const struct upmu_overview_object *o, uint64_t run_ns)
{
    uint64_t woken = o->waits.count - (o->failed < o->waits.count ? o->failed : o->waits.count);
    return o->broadcasts > 0 && o->in_vain >= LEAST_IN_VAIN && o->in_vain >= LEAST_PER_BROADCAST * o->broadcasts &&
           o->in_vain * 2 > woken && (double)o->in_vain * 1e9 >= (double)run_ns * LEAST_PER_SECOND;
}

/* From the replay without the wakes in vain; UPMU_NO_VALUE if the condition variable is not on the critical path. */
static uint64_t wakes_gain(const struct upmu_findings *f, uint32_t process, uint32_t object)
{
    struct upmu_overview_path_object part = {.size = sizeof part};
    for (size_t k = 0; upmu_overview_path_object_at(f->overview, process, k, &part) == 0; k++)
        if (part.object == object)
            return part.gain_ns;
    return UPMU_NO_VALUE;
}

static int wakes_add(struct upmu_findings *f, const struct upmu_overview_path *path, uint32_t index,
                     const struct upmu_overview_object *o)
{
    struct upmu_overview_call_site site = {.size = sizeof site};
    struct upmu_finding found = finding_of(path, o->process, UPMU_FINDING_HERD);
    struct textbuf b = {0};
    found.gain_ns = wakes_gain(f, o->process, index);
    found.object = index;
    found.begin_ns = o->longest.begin_ns;
    found.end_ns = o->longest.begin_ns + o->longest.ns;
    if (upmu_overview_call_site_at(f->overview, index, 0, &site) == 0) {
        found.site = site.address;
        found.stack = site.stack;
    }
    textbuf_printf(&b, "Of %" PRIu64 " times that a thread is woken from its wait for ", o->waits.count - o->failed);
    sentence_object(&b, o);
    sentence_site(&b, f->overview, o->process, found.site, found.stack);
    textbuf_printf(&b, ", %" PRIu64 " (", o->in_vain);
    sentence_percent(&b, o->in_vain, o->waits.count - o->failed);
    textbuf_printf(&b,
                   ") are in vain: it finds nothing to do and waits again; %" PRIu64
                   " broadcasts wake all waiting threads, and a signal, or a condition variable for each condition, "
                   "would wake those that can continue",
                   o->broadcasts);
    if (found.gain_ns != UPMU_NO_VALUE && found.gain_ns >= found.run_ns / NOTICED) {
        textbuf_printf(&b, "; the run would be ");
        sentence_gain(&b, &found);
        textbuf_printf(&b, " shorter");
    } else {
        textbuf_printf(&b, "; the run would be as long, with fewer context switches");
    }
    return findings_add(f, found, &b);
}

int findings_in_wakes(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path)
{
    struct upmu_overview_object o = {.size = sizeof o};
    size_t n;
    const uint32_t *objects = findings_objects(f, process, &n);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n && upmu_overview_object_at(f->overview, objects[i], &o) == 0; i++)
        if (o.type == UPMU_OBJECT_COND && wakes_are_herd(&o, findings_run_ns(path)))
            rc = wakes_add(f, path, objects[i], &o);
    return rc;
}
