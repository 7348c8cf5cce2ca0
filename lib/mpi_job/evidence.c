/* SPDX-License-Identifier: MIT */
/* What is known of the processes of ranks beside their events: whether they live, and what their threads wait for. */
#include <time.h>

#include "mpi_job/job.h"
#include "upmu/control.h"

static uint64_t evidence_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The one rank with that process id: of several hosts, two may have it. */
static struct job_rank *evidence_rank(const struct upmu_mpi *m, pid_t pid)
{
    struct job_rank *found = NULL;
    for (size_t i = 0; i < m->n_ranks; i++) {
        if (m->ranks[i]->pid != pid)
            continue;
        if (found)
            return NULL;
        found = m->ranks[i];
    }
    return found;
}

void job_read_evidence(struct upmu_mpi *m, const char *dir, job_ran_fn *ran, void *arg)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    if (upmu_control_open(&control, dir) != 0)
        return;
    for (size_t i = 0; i < upmu_control_process_count(control); i++) {
        struct job_rank *r = upmu_control_status_read(control, i, &s) == 0 ? evidence_rank(m, s.pid) : NULL;
        if (!r)
            continue;
        struct job_evidence *e = &r->evidence;
        e->running = s.running != 0;
        e->has_slots = wait_state_file_read(&e->file, s.dir) == 1;
        e->alive_ns = e->running ? evidence_now() : e->has_slots ? e->file.header.alive_ns : 0;
        e->ran = e->running && ran && ran(arg, s.pid);
    }
    upmu_control_close(control);
}
