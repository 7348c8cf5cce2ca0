/* SPDX-License-Identifier: MIT */
/* Begin and end of function recording, from the environment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own_memory.h"
#include "base/text/duration.h"
#include "base/text/textbuf.h"
#include "base/process/variables.h"
#include "func/counts.h"
#include "func/csv.h"
#include "func/files.h"
#include "func/gate.h"
#include "func/hooks.h"
#include "func/modules.h"
#include "func/process.h"
#include "func/select.h"
#include "func/sleds/sleds.h"
#include "func/sleds/wraps.h"
#include "func/threads.h"
#include "region/recorder.h"

/* Whole blocks; the measuring of the overhead must fit into the smallest ring. */
static int process_ring(const char *mode)
{
    enum { RING_MIB_MAX = 65536 };
    const char *ring = variable_value("UPMU_FUNC_RING");
    char *end = NULL;
    long mib = ring ? strtol(ring, &end, 10) : 0;
    if (!ring)
        return 0;
    if (!mode || strcmp(mode, "trace") != 0)
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_RING needs UPMU_FUNC_MODE=trace");
    if (*end || mib < 1 || mib > RING_MIB_MAX || (size_t)mib > SIZE_MAX >> 21)
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_RING=%s is not a number of MiB from 1 to %d", ring, RING_MIB_MAX);
    func_process.ring_bytes = (uint64_t)mib << 20;
    return 0;
}

/* Which calls are too deep, and which are too short for events. */
static int process_limits(struct func_selection *first, const char *mode)
{
    const char *depth = variable_value("UPMU_FUNC_DEPTH"), *min = variable_value("UPMU_FUNC_MIN");
    char *end = NULL;
    long n = depth ? strtol(depth, &end, 10) : 0;
    if (depth && (*end || n < 1 || n > INT32_MAX))
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_DEPTH=%s is not a number from 1 on", depth);
    first->depth_max = (uint32_t)n;
    if (min && (!mode || strcmp(mode, "trace") != 0))
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_MIN needs UPMU_FUNC_MODE=trace");
    if (min && !duration_ns(min, strlen(min), "ns", &first->min_ns))
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_MIN=%s is not a duration. Use nanoseconds, or a unit: 1us, 0.5ms",
                         min);
    return 0;
}

static int process_patterns(char to[FUNC_PATTERNS_BYTES], const char *variable)
{
    const char *text = variable_value(variable);
    return text ? func_patterns_set(to, variable, text) : 0;
}

static int process_selection(const char *mode)
{
    struct func_selection *first = func_switch_selection(func_process.control, 0);
    int rc = process_patterns(first->include, "UPMU_FUNC_INCLUDE");
    if (rc == 0)
        rc = process_patterns(first->exclude, "UPMU_FUNC_EXCLUDE");
    if (rc == 0)
        rc = process_patterns(first->below, "UPMU_FUNC_BELOW");
    if (rc == 0)
        rc = process_limits(first, mode);
    return rc == 0 ? func_select_start() : rc;
}

static int process_options(void)
{
    const char *mode = variable_value("UPMU_FUNC_MODE"), *nodes = variable_value("UPMU_FUNC_NODES");
    const char *csv = variable_value("UPMU_FUNC_CSV");
    struct func_process *p = &func_process;
    char *end = NULL;
    if (mode && strcmp(mode, "tree") != 0 && strcmp(mode, "trace") != 0)
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_MODE=%s is not known. Use tree or trace", mode);
    long n = nodes ? strtol(nodes, &end, 10) : FUNC_NODES_DEFAULT;
    if ((nodes && *end) || n < FUNC_NODES_MIN || n > FUNC_NODES_MAX)
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_NODES=%s is not a number from %d to %d", nodes, FUNC_NODES_MIN,
                         FUNC_NODES_MAX);
    int rc = process_selection(mode);
    if (rc == 0)
        rc = process_ring(mode);
    if (rc < 0)
        return rc;
    p->to_events = mode && strcmp(mode, "trace") == 0;
    p->nodes_max = (uint32_t)n;
    p->pid = getpid();
    p->control->events = p->to_events;
    p->to_trace = mode || !csv || variable_value("UPMU_TRACE");
    p->csv = csv ? strdup(csv) : NULL;
    return csv && !p->csv ? upmu_fail(UPMU_E_NOMEM, "out of memory for the settings of function recording") : 0;
}

/* "%p" is the process id, which a forked child appends if the prefix has none. */
static char *process_csv_prefix(const char *pattern)
{
    struct textbuf b = {0};
    bool has_pid = false;
    for (const char *p = pattern; *p; p++) {
        bool pid = p[0] == '%' && p[1] == 'p';
        if (pid)
            textbuf_printf(&b, "%d", (int)getpid());
        else
            textbuf_add(&b, p, 1);
        p += pid;
        has_pid |= pid;
    }
    if (!has_pid && getpid() != func_process.pid)
        textbuf_printf(&b, ".%d", (int)getpid());
    if (b.failed)
        textbuf_free(&b);
    return b.data;
}

/* Other threads may still run: their calls end here for the readers. */
FUNC_PLAIN static void process_end(void)
{
    struct func_process *p = &func_process;
    struct func_shared *s = p->shared;
    if (!p->begun || __atomic_load_n(&p->ended, __ATOMIC_ACQUIRE))
        return;
    p->last_gate = func_gate_read();
    if (__atomic_exchange_n(&p->ended, 1, __ATOMIC_ACQ_REL))
        return;
    if (getpid() == p->pid) /* a forked child may find the loader's lock held by a thread that it does not have */
        func_sleds_patch_late();
    func_wraps_report();
    func_gate_close();
    if (!__atomic_load_n(&s->alive, __ATOMIC_ACQUIRE) || !s->header)
        return;
    struct recorder_clock clock;
    upmu_recorder_clock_(&clock); /* the longer it has run, the more precise */
    s->header->hz = clock.hz;
    uint64_t end_tick;
    func_moment(&end_tick, &s->header->end_raw_ns);
    s->header->end_tick = end_tick;
    func_modules_check();
    char *prefix = p->csv ? process_csv_prefix(p->csv) : NULL;
    if (prefix && func_csv_write(prefix) < 0)
        variable_report("functions", upmu_error());
    free(prefix);
    struct control_header *control = p->to_trace ? upmu_recorder_control_() : NULL;
    if (control)
        control_add_memory(control, own_memory_count());
}

/* The program restricts its system calls: what is recorded ends before. */
FUNC_PLAIN static void process_restrict(void)
{
    process_end();
    if (func_sleds_are_on() && func_sleds_unpatch() < 0)
        variable_report("functions", upmu_error());
    func_wraps_stop();
    func_calls_finish();
}

__attribute__((destructor)) FUNC_PLAIN static void func_unload(void)
{
    process_end();
}

static int process_start(void)
{
    int rc = process_options();
    if (rc == 0 && func_process.to_trace)
        rc = upmu_recorder_begin_(NULL);
    if (rc < 0)
        return rc;
    const struct recorder_clock clock = recorder_use_clock();
    func_process.control->kind = clock.use_isa ? FUNC_ON_ISA : FUNC_ON_PORTABLE;
    func_modules_start();
    rc = func_threads_start();
    if (rc == 0 && func_process.to_trace)
        rc = func_counts_start();
    if (rc == 0)
        rc = func_process_open();
    if (rc == 0 && func_process.to_trace)
        rc = upmu_recorder_at_finish_(process_restrict);
    return rc;
}

/* The hooks' own cost is measured by calls that are removed from the tree afterwards. */
int func_process_begin(bool paused)
{
    int rc = func_gate_start();
    if (rc == 0)
        rc = process_start();
    if (rc < 0)
        return rc;
    __atomic_store_n(&func_process.shared->alive, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&func_process.begun, 1, __ATOMIC_RELEASE);
    (void)func_switch_on(func_process.control, func_gate());
    func_overhead_measure();
    if (func_sleds_patch() < 0)
        variable_report("functions", upmu_error());
    if (func_wraps_start(variable_value("UPMU_FUNC_WRAP")) < 0)
        variable_report("functions", upmu_error());
    if (paused) {
        (void)func_switch_off(func_process.control, func_gate(), tick_now());
        func_process.control->paused = __atomic_load_n(func_gate(), __ATOMIC_ACQUIRE);
    }
    return 0;
}

/* @return whether UPMU_FUNC_PAUSED is 1. */
static int process_is_paused(void)
{
    const char *paused = variable_value("UPMU_FUNC_PAUSED");
    if (!paused || strcmp(paused, "0") == 0)
        return 0;
    if (strcmp(paused, "1") == 0)
        return 1;
    return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_PAUSED=%s is not 0 or 1", paused);
}

static int process_load(void)
{
    int paused = process_is_paused();
    return paused < 0 ? paused : func_process_begin(paused);
}

__attribute__((constructor)) FUNC_PLAIN static void func_load(void)
{
    if ((variable_value("UPMU_FUNC_MODE") || variable_value("UPMU_FUNC_CSV")) && process_load() < 0)
        variable_report("functions are not recorded", upmu_error());
}
