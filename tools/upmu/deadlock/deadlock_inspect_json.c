/* SPDX-License-Identifier: MIT */
/* upmu deadlock --json for a process that is not recorded: members that only a recording has are null or left out. */
#include <stdlib.h>

#include "deadlock.h"
#include "ui/json.h"

static void inspect_json_stack(struct textbuf *j, struct upmu_deadlock_inspect *inspect, size_t i, size_t n)
{
    struct upmu_symbol s = {.size = sizeof s};
    json_array(j, "stack");
    for (size_t k = 0; k < n; k++)
        for (size_t depth = 0; upmu_deadlock_inspect_frame_at(inspect, i, k, depth, &s) == 0; depth++)
            deadlock_json_frame(j, &s);
    json_array_end(j);
}

static void inspect_json_thread(struct textbuf *j, struct upmu_deadlock_inspect *inspect, size_t i,
                                const struct upmu_deadlock_inspect_thread *t)
{
    char *wait = deadlock_inspect_wait(t);
    json_object(j, NULL);
    json_int(j, "tid", t->tid);
    json_string(j, "name", t->name);
    json_string(j, "description", wait);
    json_uint_if(j, "object", t->futex != 0, t->futex);
    json_string(j, "object_name", t->object_name[0] ? t->object_name : NULL);
    json_int_if(j, "holder", t->owner != 0, t->owner);
    json_bool(j, "timed", t->timed != 0);
    json_bool(j, "inspected", true);
    inspect_json_stack(j, inspect, i, t->n_frames);
    json_object_end(j);
    free(wait);
}

/* The threads of a deadlock, 0: those in none. */
static void inspect_json_threads(struct textbuf *j, struct upmu_deadlock_inspect *inspect, uint32_t cycle)
{
    struct upmu_deadlock_inspect_thread t = {.size = sizeof t};
    json_array(j, "threads");
    for (size_t i = 0; upmu_deadlock_inspect_thread_at(inspect, i, &t) == 0; i++)
        if (t.cycle == cycle)
            inspect_json_thread(j, inspect, i, &t);
    json_array_end(j);
}

void deadlock_inspect_json(struct output *out, struct upmu_deadlock_inspect *inspect, pid_t pid, uint32_t cycles)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-deadlock");
    json_array(j, "deadlocks");
    for (uint32_t c = 1; c <= cycles; c++) {
        json_object(j, NULL);
        json_int(j, "pid", pid);
        json_string(j, "certainty", "certain");
        json_bool(j, "alive", true);
        json_bool(j, "suppressed", false);
        const struct upmu_deadlock d = deadlock_inspect_summary(inspect, c);
        char *headline = deadlock_headline(&d);
        inspect_json_threads(j, inspect, c);
        json_string(j, "kind", upmu_deadlock_kind_name(d.kind));
        json_string(j, "headline", headline);
        free(headline);
        json_object_end(j);
    }
    json_array_end(j);
    json_bool(j, "stalled", upmu_deadlock_inspect_stalled(inspect) != 0);
    inspect_json_threads(j, inspect, 0);
    json_end(&doc);
}
