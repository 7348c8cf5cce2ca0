/* SPDX-License-Identifier: MIT */
/* Headlines, objects, threads and locations of deadlocks as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "deadlock.h"
#include "ui/memory.h"

size_t deadlock_count(const struct deadlock_report *r, int certainty)
{
    struct upmu_deadlock d = {.size = sizeof d};
    size_t n = 0;
    for (size_t i = 0; upmu_deadlocks_at(r->deadlocks, i, &d) == 0; i++)
        n += d.certainty == certainty && !d.suppressed;
    return n;
}

size_t deadlock_count_cycles(const struct deadlock_report *r, int class_number)
{
    struct upmu_lock_cycle c = {.size = sizeof c};
    size_t n = 0;
    for (size_t i = 0; upmu_deadlocks_cycle_at(r->deadlocks, i, &c) == 0; i++)
        n += c.class_number == class_number && !c.suppressed;
    return n;
}

bool deadlock_cycle_spans(const struct deadlock_report *r, size_t i)
{
    struct upmu_lock_acquisition first = {.size = sizeof first}, t = {.size = sizeof t};
    bool spans = false;
    for (size_t k = 0; upmu_deadlocks_acquisition_at(r->deadlocks, i, k, &t) == 0; k++) {
        first = k == 0 ? t : first;
        spans |= t.process != first.process;
    }
    return spans;
}

char *deadlock_cycle_lock(const struct deadlock_report *r, size_t i, size_t k, bool held)
{
    struct upmu_lock_acquisition t = {.size = sizeof t}, other = {.size = sizeof other};
    struct upmu_overview_object own = {.size = sizeof own, .name = ""}, found = {.size = sizeof found, .name = ""};
    struct upmu_overview *o = upmu_deadlocks_overview(r->deadlocks);
    size_t n = upmu_deadlocks_acquisition_count(r->deadlocks, i);
    if (n == 0 || upmu_deadlocks_acquisition_at(r->deadlocks, i, k, &t) != 0 ||
        upmu_deadlocks_acquisition_at(r->deadlocks, i, (held ? k + n - 1 : k + 1) % n, &other) != 0)
        return memory_copy("?");
    int type = held ? t.held_type : t.lock_type;
    uint64_t address = held ? t.held : t.lock, there = held ? other.lock : other.held;
    bool named = upmu_overview_object_find(o, t.process, type, address, &own) == 0 && own.name[0];
    if (named || other.process == t.process)
        return deadlock_object(r, t.process, type, address);
    const char *kind = type == UPMU_OBJECT_NONE ? "lock" : report_type_name(type);
    if (upmu_overview_object_find(o, other.process, type, there, &found) == 0 && found.name[0])
        return memory_format("%s %s (0x%" PRIx64 ")", kind, found.name, address);
    return there == address ? memory_format("%s 0x%" PRIx64, kind, address)
                            : memory_format("%s 0x%" PRIx64 " (0x%" PRIx64 " in process %ld)", kind, address, there,
                                            (long)other.pid);
}

char *deadlock_cycle_headline(const struct upmu_lock_cycle *c)
{
    static const char *const why[] = {
        [UPMU_LOCK_INVERSION] = "possible deadlock",
        [UPMU_LOCK_GATED] = "no deadlock: a common lock or semaphore admits one at a time",
        [UPMU_LOCK_ONE_THREAD] = "no deadlock: two or more of them by one thread",
        [UPMU_LOCK_ORDERED] = "no deadlock: the threads did not run at the same time",
        [UPMU_LOCK_BROKEN] = "no deadlock: one acquisition cannot block permanently",
    };
    bool known = c->class_number >= 0 && (size_t)c->class_number < sizeof why / sizeof *why;
    char *alike = c->n_similar > 0 ? memory_format(", and %zu similar", c->n_similar) : memory_copy("");
    char *text = memory_format("%zu locks acquired in inconsistent order%s: %s", c->n_acquisitions, alike,
                               known ? why[c->class_number] : "?");
    free(alike);
    return text;
}

char *deadlock_headline(const struct upmu_deadlock *d)
{
    const char *plural = d->n_threads == 1 ? "" : "s", *wait = d->n_threads == 1 ? "waits" : "wait";
    switch (d->kind) {
    case UPMU_DEADLOCK_CYCLE:
        return memory_format("%zu threads wait for each other", d->n_threads);
    case UPMU_DEADLOCK_SELF:
        return memory_copy("a thread waits for a lock that it holds itself");
    case UPMU_DEADLOCK_OWNER_ENDED:
        return memory_format("%zu thread%s %s for a lock whose holder has ended", d->n_threads, plural, wait);
    case UPMU_DEADLOCK_JOIN_CYCLE:
        return memory_format("%zu threads wait for each other's end", d->n_threads);
    case UPMU_DEADLOCK_JOIN_SELF:
        return memory_copy("a thread waits for its own end");
    case UPMU_DEADLOCK_NO_POST:
        return memory_format("%zu thread%s %s for a semaphore that no thread is left to post", d->n_threads, plural,
                             wait);
    case UPMU_DEADLOCK_NO_SIGNAL:
        return memory_format("%zu thread%s %s for a condition variable that no thread is left to signal", d->n_threads,
                             plural, wait);
    case UPMU_DEADLOCK_BARRIER_SHORT:
        return memory_format("%zu thread%s %s at a barrier at which no thread is left to arrive", d->n_threads, plural,
                             wait);
    case UPMU_DEADLOCK_CROSS_PROCESS:
        return memory_format("%zu thread%s and threads of other processes wait for each other", d->n_threads, plural);
    case UPMU_DEADLOCK_ALL_ASLEEP:
        return memory_copy(d->n_threads == 1 ? "its only thread is asleep, and nothing is known that could wake it"
                                             : "all threads are asleep, and nothing is known that could wake one");
    default:
        return memory_format("%zu thread%s %s on a futex that no thread is left to wake", d->n_threads, plural, wait);
    }
}

char *deadlock_object(const struct deadlock_report *r, uint32_t process, int type, uint64_t address)
{
    struct upmu_overview *o = upmu_deadlocks_overview(r->deadlocks);
    struct upmu_overview_object found = {.size = sizeof found, .name = ""};
    if (upmu_overview_object_find(o, process, type, address, &found) != 0)
        found.name = "";
    if (type == UPMU_OBJECT_NONE)
        type = found.type;
    const char *kind = type == UPMU_OBJECT_NONE ? "lock" : report_type_name(type);
    return found.name[0] ? memory_format("%s %s (0x%" PRIx64 ")", kind, found.name, address)
                         : memory_format("%s 0x%" PRIx64, kind, address);
}

char *deadlock_thread_name(pid_t tid, const char *name)
{
    return name[0] ? memory_format("thread %ld (%s)", (long)tid, name) : memory_format("thread %ld", (long)tid);
}

char *deadlock_wait(const struct deadlock_report *r, uint32_t process, const struct upmu_deadlock_thread *t)
{
    char *holder = report_thread_text(&r->report, process, t->holder);
    if (t->wait_kind == UPMU_WAIT_JOIN) {
        char *join = memory_format("waits for the end of %s", t->holder ? holder : "a thread");
        free(holder);
        return join;
    }
    if (t->wait_kind == UPMU_WAIT_CHILD) {
        char *child = memory_format("waits for the end of the process of %s", holder);
        free(holder);
        return child;
    }
    char *object = deadlock_object(r, process, t->object_type, t->object);
    char *mutex = t->wait_kind == UPMU_WAIT_COND ? deadlock_object(r, process, UPMU_OBJECT_MUTEX, t->mutex) : NULL;
    char *held = !t->holder ? memory_copy("")
                 : mutex    ? memory_format(" and its %s, held by %s", mutex, holder)
                            : memory_format(", held by %s", holder);
    char *text = memory_format("waits %s %s%s%s%s", t->wait_kind == UPMU_WAIT_BARRIER ? "at" : "for",
                               t->shared ? "reading " : "", object, held, t->timed ? ", with a timeout" : "");
    free(holder);
    free(held);
    free(mutex);
    free(object);
    return text;
}

bool deadlock_symbol(const struct deadlock_report *r, uint32_t process, uint64_t address, uint32_t stack,
                     struct upmu_symbol *out)
{
    *out = (struct upmu_symbol){.size = sizeof *out};
    return upmu_overview_line_at(upmu_deadlocks_overview(r->deadlocks), process, address, stack, out) == 0;
}

char *deadlock_location(const struct deadlock_report *r, uint32_t process, uint64_t address, uint32_t stack)
{
    return report_line(&r->report, process, address, stack);
}
