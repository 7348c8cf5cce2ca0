/* SPDX-License-Identifier: MIT */
/*
 * Prints a recording through the public reader, one line per process and per event, for scripts to compare:
 *     P <index> <pid> <complete> <events> <lost> <clock_hz>
 *     E <tick> <time_ns> <pid> <tid> <kind> <name in hex or -> [<value>,<raw>,<enabled>,<running>,<status>,<cause> ...]
 *
 *     dump DIR           events to the end; exit 1 on damage, with the message
 *     dump repair DIR    R <processes> <running> <trimmed> <bytes>; exit 1 on failure, with the message
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "upmu/trace.h"

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, upmu_error());
    return 1;
}

static int print_processes(const struct upmu_trace *t)
{
    for (size_t i = 0; i < upmu_trace_process_count(t); i++) {
        struct upmu_trace_process p = {.size = sizeof p};
        if (upmu_trace_process_at(t, i, &p) != 0)
            return failed("process");
        printf("P %zu %d %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, (int)p.pid, p.complete, p.events,
               p.lost, p.clock_hz);
    }
    return 0;
}

static void print_event(const struct upmu_trace_event *e)
{
    printf("E %" PRIu64 " %" PRIu64 " %d %d %" PRId32 " ", e->tick, e->time_ns, (int)e->pid, (int)e->tid, e->kind);
    for (const unsigned char *p = (const unsigned char *)e->name; *p; p++)
        printf("%02x", *p);
    if (!e->name[0])
        printf("-");
    for (size_t i = 0; i < e->n_values; i++) {
        const struct upmu_value *v = &e->values[i];
        printf(" %" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId32 ",%" PRId32, v->value, v->raw, v->enabled,
               v->running, v->status, v->cause);
    }
    printf("\n");
}

static int dump(const char *dir)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    if (upmu_trace_open(&t, dir) != 0)
        return failed("open");
    int rc = print_processes(t), result = rc;
    while ((rc = upmu_trace_next(t, &e)) != 0) {
        if (rc > 0)
            print_event(e);
        else
            result = failed("next");
    }
    upmu_trace_close(t);
    return result;
}

static int repair(const char *dir)
{
    struct upmu_trace_repair_result r = {.size = sizeof r};
    int rc = upmu_trace_repair(dir, &r);
    printf("R %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 "\n", r.processes, r.running, r.trimmed, r.bytes);
    return rc == 0 ? 0 : failed("repair");
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "repair") == 0)
        return repair(argv[2]);
    if (argc == 2)
        return dump(argv[1]);
    fprintf(stderr, "usage: dump [repair] DIR\n");
    return 2;
}
