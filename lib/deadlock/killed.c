/* SPDX-License-Identifier: MIT */
/*
 * How long threads of a killed process stood. Room: analysis. Before it: the pass, which knows no event after their waits
 * began, and the file .live; after it: the end of the pass.
 *
 * The recording of a killed process ends with its last event, and a thread that stood stood longer. Who saw the process
 * alive has left the moment; a thread whose slot has the same wait had not gone on by then. That moment is on two clocks:
 * one may have been set, the other differ in the namespace of a container, so the shorter time is taken.
 */
#include <fcntl.h>
#include <unistd.h>

#include "analysis/public.h"
#include "deadlock/wait_state.h"
#include "trace/read/bare.h"
#include "trace/format/control.h"

static bool is_over(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool over = fd >= 0 && control_is_running(fd) == 0;
    if (fd >= 0)
        close(fd);
    return over;
}

static void take(struct upmu_overview *o, uint32_t process, const struct wait_state *s)
{
    uint64_t until = trace_time_of_raw(o->trace, process, s->header.alive_raw_ns);
    for (size_t i = 0; i < s->n_threads; i++) {
        const struct live_slot *h = &s->threads[i].head;
        if (h->state == LIVE_WAITS && h->since_ns < s->header.alive_ns)
            wait_stood(&o->pass, process, h->tid, h->object, until, s->header.alive_ns - h->since_ns);
    }
}

int stood_read(struct upmu_overview *o)
{
    int rc = 0;
    for (size_t i = 0; rc != UPMU_E_NOMEM && i < o->pass.n_processes; i++) {
        const char *dir = trace_process_dir(o->trace, i);
        struct wait_state s;
        if (!o->pass.processes[i].killed || !is_over(dir))
            continue;
        /* Without the file, or with one of another version, nothing is known beyond the events. */
        rc = wait_state_read(&s, dir);
        if (rc > 0 && s.header.alive_raw_ns != 0)
            take(o, (uint32_t)i, &s);
        wait_state_free(&s);
    }
    return rc == UPMU_E_NOMEM ? rc : 0;
}
