/* SPDX-License-Identifier: MIT */
/* Finding NO_CPU: more threads are ready to run than have a CPU. */
#include <stdbool.h>
#include <stdlib.h>

#include "findings/findings_list.h"

/* Below these, other programs or work of the kernel may be the cause. */
#define LEAST_READY 3.0
#define LEAST_READY_PER_CPU 2.0
#define LEAST_PERCENT_OF_PATH 25
/* Other programs have the rest of its CPUs: fewer threads would get less of them. */
#define LEAST_OF_CPUS 0.75

struct load {
    double ready, running; /* mean numbers of threads */
    uint64_t path_ns;      /* time on the critical path without a CPU */
};

/* By thread of the process: share of its ready time, running and preempted, in which it was preempted. @param load adds the mean numbers of
 * threads. @param recorded out, whether the kernel's switch records exist, or its sums of a thread that was preempted.
 * @return to be freed; NULL without memory. */
static double *scheduling_shares(const struct upmu_findings *f, uint32_t process, uint64_t run_ns, struct load *load,
                                 bool *recorded)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview_sched s = {.size = sizeof s};
    uint32_t first = findings_first_thread(f, process), end = findings_end_thread(f, process);
    double *shares = calloc(end - first + 1, sizeof *shares);
    *recorded = false;
    for (uint32_t i = first; shares && i < end && upmu_overview_thread_at(f->overview, i, &t) == 0; i++) {
        if (upmu_overview_sched_at(f->overview, i, &s) != 0)
            continue;
        bool waited = t.ready_ns != UPMU_NO_VALUE;
        if (!s.recorded && t.cpu_ns == UPMU_NO_VALUE)
            continue;
        double running = (double)(s.recorded ? s.running_ns : t.cpu_ns);
        double ready = running + (double)(s.recorded ? s.preempted_ns : waited ? t.ready_ns : 0);
        *recorded |= s.recorded || waited;
        shares[i - first] = ready > 0 ? (ready - running) / ready : 0;
        load->ready += ready / (double)run_ns;
        load->running += running / (double)run_ns;
    }
    return shares;
}

/* Estimated time on the critical path without a CPU: each thread's running segments times its share. */
static uint64_t scheduling_path(const struct upmu_findings *f, uint32_t process, const double *shares)
{
    struct upmu_overview_path_segment s = {.size = sizeof s};
    double sum = 0;
    uint32_t first = findings_first_thread(f, process), end = findings_end_thread(f, process);
    for (size_t i = 0; upmu_overview_path_segment_at(f->overview, process, i, &s) == 0; i++)
        if (s.kind == UPMU_PATH_RUNNING && s.thread >= first && s.thread < end)
            sum += (double)(s.end_ns - s.begin_ns) * shares[s.thread - first];
    return (uint64_t)sum;
}

int findings_in_scheduling(struct upmu_findings *f, uint32_t process, const struct upmu_overview_path *path)
{
    uint64_t run_ns = findings_run_ns(path);
    struct load load = {0};
    struct textbuf b = {0};
    bool recorded;
    double *shares = run_ns > 0 ? scheduling_shares(f, process, run_ns, &load, &recorded) : NULL;
    if (run_ns == 0)
        return 0;
    if (!shares)
        return findings_no_memory();
    load.path_ns = scheduling_path(f, process, shares);
    free(shares);
    if (!recorded || load.ready < LEAST_READY || load.ready < LEAST_READY_PER_CPU * load.running ||
        load.running < LEAST_OF_CPUS * (double)upmu_overview_cpu_count(f->overview, process) ||
        load.path_ns / LEAST_PERCENT_OF_PATH < run_ns / 100)
        return 0;
    textbuf_printf(
        &b,
        "On average %.1f threads are ready to run and %.1f of them have a CPU, so threads on the critical path "
        "wait ",
        load.ready, load.running);
    sentence_percent(&b, load.path_ns, run_ns);
    textbuf_printf(&b, " of the run for one; fewer threads would do the same work with fewer switches");
    return findings_add(f, finding_of(path, process, UPMU_FINDING_NO_CPU), &b);
}
