/* SPDX-License-Identifier: MIT */
/*
 * Children forked while their parent's recording is stopped, or in another mode than it began with: they begin in that state.
 *
 * A child sets marks, which are always recorded, and uses a lock in two threads. Of one whose parent was stopped the recording has its
 * time as stopped, and no lock, until it is started itself.
 */
#include <sys/wait.h>

#include "../read_object.h"

#include "upmu/analysis.h"
#include "upmu/control.h"
#include "upmu/region.h"

static pthread_mutex_t used = PTHREAD_MUTEX_INITIALIZER;

static void *use(void *arg)
{
    lock(&used);
    unlock(&used);
    return arg;
}

static void use_in_child(void)
{
    CHECK(upmu_mark("begins") == 0);
    in_thread(use, NULL);
    use(NULL);
    CHECK(upmu_mark("ends") == 0);
}

/* The id of a child that has run `in_child` and ended. */
static pid_t forked(void (*in_child)(void))
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        in_child();
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return pid;
}

typedef int (*change_fn)(const struct upmu_control *control, size_t index);

static void change(change_fn to, pid_t pid)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    bool found = false;
    CHECK(upmu_control_open(&control, dir) == 0);
    for (size_t i = 0; i < upmu_control_process_count(control); i++) {
        CHECK(upmu_control_status_read(control, i, &s) == 0);
        found |= s.running && s.pid == pid && to(control, i) == 0;
    }
    CHECK(found && "the process is recorded, and can be controlled");
    upmu_control_close(control);
}

static void use_then_start(void)
{
    use_in_child();
    change(upmu_control_start, getpid());
    use_in_child();
}

static void begin_in_child(void)
{
    use_in_child();
    begin(UPMU_SYNC_ALL);
    use_in_child();
    end();
}

/* --------------------------------------------------------------------------------------------------- results */

struct found {
    int acquisitions; /* that have events */
    uint64_t stopped_ns, recorded_ns;
    uint64_t stops;
};

static int acquisitions_of(size_t process)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int n = 0;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while (upmu_trace_next(t, &e) > 0)
        n += e->process == process && e->kind == UPMU_TRACE_LOCK_ACQUIRE && e->object == (uintptr_t)&used;
    upmu_trace_close(t);
    return n;
}

static struct found read_process(pid_t pid)
{
    struct upmu_overview *o;
    struct upmu_trace_process p = {.size = sizeof p};
    struct found f = {.acquisitions = -1};
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (size_t i = 0; upmu_overview_process_at(o, i, &p) == 0; i++) {
        struct upmu_overview_recorded r = {.size = sizeof r};
        if (p.pid != pid)
            continue;
        CHECK(upmu_overview_recorded_at(o, i, &r) == 0);
        f = (struct found){acquisitions_of(i), r.stopped_ns, r.end_ns - r.begin_ns, r.stops};
    }
    upmu_overview_close(o);
    return f;
}

static void expect(const char *what, pid_t pid, int acquisitions, bool stops, bool all_stopped)
{
    const struct found f = read_process(pid);
    bool right = f.acquisitions == acquisitions && (f.stops > 0) == stops && (f.stopped_ns > 0) == stops &&
                 (!stops || (f.stopped_ns == f.recorded_ns) == all_stopped);
    if (right)
        return;
    fprintf(stderr, "%s: %d acquisitions instead of %d, stopped %" PRIu64 " of %" PRIu64 " ns\n", what, f.acquisitions,
            acquisitions, f.stopped_ns, f.recorded_ns);
    exit(1);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    begin(UPMU_SYNC_ALL);
    expect("of a parent that records", forked(use_in_child), 2, false, false);
    change(upmu_control_stop, getpid());
    pid_t in_stop = forked(use_in_child), started = forked(use_then_start);
    change(upmu_control_start, getpid());
    pid_t after = forked(use_in_child);
    CHECK(upmu_sync_set_mode(UPMU_SYNC_COUNTS) >= 0);
    pid_t counting = forked(use_in_child);
    end();
    pid_t ended = forked(use_in_child), begun = forked(begin_in_child);
    expect("of a stopped parent", in_stop, 0, true, true);
    expect("of a stopped parent, started", started, 2, true, false);
    expect("of a parent that was started again", after, 2, false, false);
    expect("of a parent whose mode was changed", counting, 0, false, false);
    expect("of a parent that has ended recording", ended, 0, true, true);
    expect("of a parent that has ended recording, begun", begun, 2, true, false);
    return remove_recording();
}
