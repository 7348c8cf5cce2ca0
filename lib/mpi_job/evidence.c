/* SPDX-License-Identifier: MIT */
/* What is known of the processes of ranks beside their events: whether they live, and what their threads wait for. */
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

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
        e->ran_ns = e->has_slots ? (uint64_t)e->file.header.ran_s * NS_PER_S : 0;
    }
    upmu_control_close(control);
}

/* Without the permission to write, a reader after the end of the process has less evidence. */
static void evidence_write_ran(const char *dir)
{
    char path[PATH_MAX];
    const uint32_t ran_s = (uint32_t)(evidence_now() / NS_PER_S);
    int fd = -1;
    if (snprintf(path, sizeof path, "%s/" WAIT_FILE_NAME, dir) < (int)sizeof path)
        fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    (void)!pwrite(fd, &ran_s, sizeof ran_s, (off_t)offsetof(struct wait_file_header, ran_s));
    close(fd);
}

void job_save_ran(const struct upmu_mpi *m, const char *dir, const struct job_rank *r)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    if (upmu_control_open(&control, dir) != 0)
        return;
    for (size_t i = 0; i < upmu_control_process_count(control); i++)
        if (upmu_control_status_read(control, i, &s) == 0 && s.running && evidence_rank(m, s.pid) == r)
            evidence_write_ran(s.dir);
    upmu_control_close(control);
}
