/* SPDX-License-Identifier: MIT */
/*
 * Waits of a killed process extended beyond its last event.
 *
 * A process that observed the recording noted in the wait-state file when the killed process was last alive. A thread whose
 * slot still has the same wait had not resumed by then. The time is on two clocks: one may have been set, the other may
 * differ by the time namespace of a container, so the shorter duration is used.
 */
#include <fcntl.h>
#include <unistd.h>

#include "analysis/public.h"
#include "analysis/wait_state_file.h"
#include "trace/format/control.h"
#include "trace/read/bare.h"

static bool killed_waits_process_ended(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ended = fd >= 0 && control_is_running(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ended;
}

static void extend_waits(struct upmu_overview *o, uint32_t process, const struct wait_state_file *f)
{
    uint64_t until = trace_time_of_raw(o->trace, process, f->header.alive_raw_ns);
    for (size_t i = 0; i < f->n_threads; i++) {
        const struct wait_file_slot *h = &f->threads[i].head;
        if (h->state == WAIT_FILE_BLOCKED && h->since_ns < f->header.alive_ns)
            overview_extend_wait(&o->pass, process, h->tid, h->object, until, f->header.alive_ns - h->since_ns);
    }
}

int killed_waits_extend(struct upmu_overview *o)
{
    int rc = 0;
    for (size_t i = 0; rc != UPMU_E_NOMEM && i < o->pass.n_processes; i++) {
        const char *dir = trace_process_dir(o->trace, i);
        struct wait_state_file f;
        if (!o->pass.processes[i].killed || !killed_waits_process_ended(dir))
            continue;
        /* Without a readable file, the waits end with the last event. */
        rc = wait_state_file_read(&f, dir);
        if (rc > 0 && f.header.alive_raw_ns != 0)
            extend_waits(o, (uint32_t)i, &f);
        wait_state_file_free(&f);
    }
    return rc == UPMU_E_NOMEM ? rc : 0;
}
