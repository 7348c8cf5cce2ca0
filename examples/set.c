/* SPDX-License-Identifier: MIT */
/*
 * Counters around one function, each number with its status.
 *
 *     ./set [EVENTS]        for example: ./set instructions,cycles,page-faults:u
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "upmu/upmu.h"

enum { EVENTS_MAX = 32, BYTES = 8 << 20, STEP = 4096 };

/* The work: touches BYTES of fresh memory, a fault per page. Volatile, or the compiler would remove the accesses. */
static int work(void)
{
    volatile char *memory = malloc(BYTES);
    if (!memory)
        return -1;
    for (size_t i = 0; i < BYTES; i += STEP)
        memory[i] = 1;
    free((void *)memory);
    return 0;
}

/* A number is printed only where there is one; otherwise the reason is printed. */
static void print_value(const struct upmu_set *set, size_t i, const struct upmu_value *v)
{
    const char *name = upmu_set_name(set, i);
    if (v->status == UPMU_EXACT)
        printf("%20" PRIu64 "  %s\n", v->value, name);
    else if (v->status == UPMU_SCALED)
        printf("%20" PRIu64 "  %s  (scaled: on a counter %" PRIu64 " of %" PRIu64 " ns)\n", v->value, name, v->running,
               v->enabled);
    else
        printf("%20s  %s\n%20s  (%s)\n", upmu_status_name(v->status), name, "", upmu_set_reason(set, i));
}

static int count(struct upmu_set *set)
{
    struct upmu_value values[EVENTS_MAX];
    size_t n = upmu_set_event_count(set);
    if (n > EVENTS_MAX) {
        fprintf(stderr, "set: at most %d events\n", EVENTS_MAX);
        return 1;
    }
    int started = upmu_set_start(set);
    int worked = started == 0 ? work() : -1;
    if (started < 0 || upmu_set_stop(set) < 0 || upmu_set_read(set, values, n) < 0) {
        fprintf(stderr, "set: %s\n", upmu_error());
        return 1;
    }
    if (worked < 0) {
        fprintf(stderr, "set: out of memory\n");
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        print_value(set, i, &values[i]);
    return 0;
}

int main(int argc, char **argv)
{
    const char *events = argc > 1 ? argv[1] : "task-clock,page-faults,context-switches,instructions,cycles";
    struct upmu_set *set;
    if (upmu_set_open(&set, events, NULL) < 0) {
        fprintf(stderr, "set: %s\n", upmu_error());
        return 1;
    }
    int status = count(set);
    upmu_set_close(set);
    return status;
}
