/* SPDX-License-Identifier: MIT */
/* Begin and end of function recording, from the environment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/textbuf.h"
#include "base/tick.h"
#include "func/csv.h"
#include "func/modules.h"
#include "func/overhead.h"
#include "func/select.h"
#include "func/threads.h"
#include "region/recorder.h"

static const char *process_environment(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

/* There is no caller to return an error to. */
static void process_print(const char *what, const char *why)
{
    struct textbuf b = {0};
    textbuf_printf(&b, "libupmu: %s: %s\n", what, why);
    (void)textbuf_write(&b, STDERR_FILENO);
    textbuf_free(&b);
}

static int process_options(void)
{
    const char *mode = process_environment("UPMU_FUNC_MODE"), *nodes = process_environment("UPMU_FUNC_NODES");
    const char *csv = process_environment("UPMU_FUNC_CSV");
    struct func_process *p = &func_process;
    char *end = NULL;
    if (mode && strcmp(mode, "tree") != 0)
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_MODE=%s is not known. Use tree", mode);
    long n = nodes ? strtol(nodes, &end, 10) : FUNC_NODES_DEFAULT;
    if ((nodes && *end) || n < FUNC_NODES_MIN || n > FUNC_NODES_MAX)
        return upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_NODES=%s is not a number from %d to %d", nodes, FUNC_NODES_MIN,
                         FUNC_NODES_MAX);
    int rc = func_select_start(process_environment("UPMU_FUNC_INCLUDE"), process_environment("UPMU_FUNC_EXCLUDE"),
                               process_environment("UPMU_FUNC_BELOW"));
    if (rc < 0)
        return rc;
    p->nodes_max = (uint32_t)n;
    p->pid = getpid();
    p->to_trace = mode || process_environment("UPMU_TRACE");
    p->csv = csv ? strdup(csv) : NULL;
    return csv && !p->csv ? upmu_fail(UPMU_E_NOMEM, "out of memory for the settings of function recording") : 0;
}

static int process_begin(void)
{
    struct recorder_clock clock;
    int rc = process_options();
    if (rc == 0 && func_process.to_trace)
        rc = upmu_recorder_begin_(NULL);
    if (rc < 0)
        return rc;
    upmu_recorder_clock_(&clock);
#ifdef TICK_ISA_NAME
    tick_use_isa = clock.use_isa;
#endif
    tick_clock_gettime = clock.gettime;
    func_modules_start();
    rc = func_threads_start();
    if (rc == 0)
        rc = func_process_open();
    if (rc < 0)
        return rc;
    __atomic_store_n(&func_process.shared->alive, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&func_gate, clock.use_isa ? FUNC_ON_ISA : FUNC_ON_PORTABLE, __ATOMIC_RELEASE);
    func_overhead_measure();
    return 0;
}

__attribute__((constructor)) FUNC_PLAIN static void func_load(void)
{
    if ((process_environment("UPMU_FUNC_MODE") || process_environment("UPMU_FUNC_CSV")) && process_begin() < 0)
        process_print("functions are not recorded", upmu_error());
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
__attribute__((destructor)) FUNC_PLAIN static void func_unload(void)
{
    struct func_process *p = &func_process;
    struct func_shared *s = p->shared;
    if (!__atomic_exchange_n(&func_gate, FUNC_OFF, __ATOMIC_ACQ_REL) || !__atomic_load_n(&s->alive, __ATOMIC_ACQUIRE) ||
        !s->header)
        return;
    struct recorder_clock clock;
    upmu_recorder_clock_(&clock); /* the longer it has run, the more precise */
    s->header->hz = clock.hz;
    s->header->end_tick = tick_now();
    func_modules_check();
    char *prefix = p->csv ? process_csv_prefix(p->csv) : NULL;
    if (prefix && func_csv_write(prefix) < 0)
        process_print("functions", upmu_error());
    free(prefix);
}
