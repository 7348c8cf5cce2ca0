/* SPDX-License-Identifier: MIT */
/* upmu deadlock for a process that is not recorded. */
#include <inttypes.h>
#include <stdlib.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "deadlock.h"

static void inspect_frame(struct output *out, struct upmu_deadlock_inspect *inspect, size_t i, size_t k,
                          unsigned *number)
{
    struct upmu_symbol s = {.size = sizeof s};
    for (size_t depth = 0; upmu_deadlock_inspect_frame_at(inspect, i, k, depth, &s) == 0; depth++)
        deadlock_write_frame(out, &s, number);
}

char *deadlock_inspect_wait(const struct upmu_deadlock_inspect_thread *t)
{
    const char *limit = t->in_futex && t->timed ? ", with a timeout" : "";
    bool gone = t->deadlock_kind == UPMU_DEADLOCK_OWNER_ENDED;
    if (t->owner && t->object_type == UPMU_OBJECT_THREAD)
        return memory_format("waits for the end of thread %ld%s", (long)t->owner, limit);
    if (t->owner && t->object_type == UPMU_OBJECT_CALL)
        return memory_format("waits for the end of process %ld", (long)t->owner);
    if (t->owner || gone) {
        char *owner = gone ? memory_copy("a thread that has ended") : memory_format("thread %ld", (long)t->owner);
        char *text = memory_format("waits for the %s %s%s0x%" PRIx64 "%s, held by %s%s",
                                   t->object_type == UPMU_OBJECT_RWLOCK  ? "rwlock"
                                   : t->object_type == UPMU_OBJECT_FUTEX ? "lock of the stream"
                                                                         : "mutex",
                                   t->object_name, t->object_name[0] ? " (" : "", t->futex,
                                   t->object_name[0] ? ")" : "", owner, limit);
        free(owner);
        return text;
    }
    if (t->in_futex && t->object_name[0])
        return memory_format("waits for the futex 0x%" PRIx64 ", in %s%s", t->futex, t->object_name, limit);
    if (t->in_futex)
        return memory_format("waits for the futex 0x%" PRIx64 " of an unknown object%s", t->futex, limit);
    if (t->wait_channel[0])
        return memory_format("is in the kernel's %s", t->wait_channel);
    return memory_copy("is running, or waits for something other than a futex");
}

static void inspect_thread(struct output *out, struct upmu_deadlock_inspect *inspect, size_t i,
                           const struct upmu_deadlock_inspect_thread *t)
{
    unsigned number = 0;
    char *wait = deadlock_inspect_wait(t);
    fprintf(out->file, "  thread %ld (", (long)t->tid);
    output_clean(out->file, t->name);
    fputs(") ", out->file);
    output_clean(out->file, wait);
    fputc('\n', out->file);
    free(wait);
    for (size_t k = 0; k < t->n_frames; k++)
        inspect_frame(out, inspect, i, k, &number);
    if (t->in_futex && t->n_frames == 0)
        fputs("      (the call stack cannot be read)\n", out->file);
}

struct upmu_deadlock deadlock_inspect_summary(const struct upmu_deadlock_inspect *inspect, uint32_t cycle)
{
    struct upmu_deadlock d = {.size = sizeof d, .kind = UPMU_DEADLOCK_CYCLE};
    struct upmu_deadlock_inspect_thread t = {.size = sizeof t};
    for (size_t i = 0; upmu_deadlock_inspect_thread_at(inspect, i, &t) == 0; i++) {
        if (t.cycle != cycle)
            continue;
        d.kind = t.deadlock_kind;
        d.n_threads++;
    }
    return d;
}

/* Its threads, 0: those of no deadlock. */
static void inspect_cycle(struct output *out, struct upmu_deadlock_inspect *inspect, uint32_t cycle)
{
    struct upmu_deadlock_inspect_thread t = {.size = sizeof t};
    for (size_t i = 0; upmu_deadlock_inspect_thread_at(inspect, i, &t) == 0; i++)
        if (t.cycle == cycle)
            inspect_thread(out, inspect, i, &t);
}

static uint32_t inspect_count_cycles(const struct upmu_deadlock_inspect *inspect)
{
    struct upmu_deadlock_inspect_thread t = {.size = sizeof t};
    uint32_t cycles = 0;
    for (size_t i = 0; upmu_deadlock_inspect_thread_at(inspect, i, &t) == 0; i++)
        cycles = t.cycle > cycles ? t.cycle : cycles;
    return cycles;
}

static void inspect_text(struct output *out, struct upmu_deadlock_inspect *inspect, pid_t pid, uint32_t cycles)
{
    for (uint32_t c = 1; c <= cycles; c++) {
        const struct upmu_deadlock d = deadlock_inspect_summary(inspect, c);
        char *headline = deadlock_headline(&d);
        fprintf(out->file, "%sdeadlock%s [%s] in process %ld: %s\n", output_style(out, STYLE_BAD), output_plain(out),
                upmu_deadlock_kind_name(d.kind), (long)pid, headline);
        free(headline);
        inspect_cycle(out, inspect, c);
    }
    if (upmu_deadlock_inspect_stalled(inspect))
        fprintf(out->file,
                "%sstalled%s [all-asleep] in process %ld: nothing is known that could wake one of its threads\n",
                output_style(out, STYLE_WARNING), output_plain(out), (long)pid);
    if (deadlock_inspect_summary(inspect, 0).n_threads > 0) {
        fprintf(out->file, "%s\n", cycles ? "other threads:" : "no deadlock was found; threads:");
        inspect_cycle(out, inspect, 0);
    }
}

static int inspect_write(struct upmu_deadlock_inspect *inspect, pid_t pid, bool as_json, uint32_t cycles)
{
    struct output out;
    complain(
        "process %ld is not being recorded: only locks of the C library are found, from their memory; readers that "
        "hold rwlocks, and the call sites of acquisitions are unknown",
        (long)pid);
    int rc = output_standard(&out, OUTPUT_STDOUT);
    if (rc != 0)
        return rc;
    if (as_json)
        deadlock_inspect_json(&out, inspect, pid, cycles);
    else
        inspect_text(&out, inspect, pid, cycles);
    return output_close(&out);
}

int deadlock_inspect(pid_t pid, bool as_json, bool only_found)
{
    struct upmu_deadlock_inspect *inspect;
    if (upmu_deadlock_inspect_open(&inspect, pid) != 0) {
        if (!only_found)
            complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    uint32_t cycles = inspect_count_cycles(inspect);
    int found = cycles > 0 ? EXIT_FOUND : upmu_deadlock_inspect_stalled(inspect) != 0 ? EXIT_STALLED : EXIT_OK;
    int rc = only_found && found == EXIT_OK ? 0 : inspect_write(inspect, pid, as_json, cycles);
    upmu_deadlock_inspect_close(inspect);
    return rc != 0 ? EXIT_FAILED : found;
}
