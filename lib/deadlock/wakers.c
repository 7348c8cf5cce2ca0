/* SPDX-License-Identifier: MIT */
/* What could end a wait beside the recorded threads: signal handlers, timers, unrecorded threads. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deadlock/wait_state.h"
#include "upmu/trace.h"

static FILE *wakers_open_proc(pid_t pid, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return fopen(path, "re");
}

/* @return false if they cannot be read. */
static bool wakers_read_signals(pid_t pid, uint64_t *caught)
{
    char line[256];
    uint64_t all = 0;
    bool known = false;
    FILE *f = wakers_open_proc(pid, "status");
    while (f && !known && fgets(line, sizeof line, f))
        known = sscanf(line, "SigCgt: %" SCNx64, &all) == 1;
    if (f)
        (void)fclose(f);
    *caught = known ? wait_state_waking_signals(all) : 0;
    return known;
}

static bool wakers_read_timers(pid_t pid, uint32_t *timers)
{
    char line[256];
    FILE *f = wakers_open_proc(pid, "timers");
    if (!f)
        return false;
    *timers = 0;
    while (fgets(line, sizeof line, f))
        *timers += strncmp(line, "ID:", 3) == 0;
    bool known = !ferror(f);
    (void)fclose(f);
    return known;
}

static const struct wait_file_slot *wakers_live_slot(const struct wait_state *s, int tid)
{
    for (size_t i = 0; i < s->file.n_threads; i++)
        if (s->file.threads[i].head.tid == tid && s->file.threads[i].head.state != WAIT_FILE_ENDED)
            return &s->file.threads[i].head;
    return NULL;
}

/* Whether the thread waits for a wake-up, which has no visible effect before it runs. Other waits are for an
 * object with a holder. */
static bool slot_needs_waker(const struct wait_file_slot *h)
{
    return h->state == WAIT_FILE_BLOCKED && (h->kind == UPMU_TRACE_COND_WAIT || h->kind == UPMU_TRACE_BARRIER_ARRIVE ||
                                             h->kind == UPMU_TRACE_FUTEX_WAIT || h->type == UPMU_OBJECT_SEM);
}

/* Whether the thread waits for the mutex of its condition variable: it was woken. */
static bool wakers_has_woken(const struct wait_file_slot *h, const struct kernel_thread *k)
{
    return h->kind == UPMU_TRACE_COND_WAIT && k->in_futex && k->word - h->object2 < sizeof(pthread_mutex_t);
}

static size_t wakers_count_waiters(const struct wait_state *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->file.n_threads; i++)
        n += slot_needs_waker(&s->file.threads[i].head);
    return n;
}

/* @return false if no thread is left: with the last one the timers and the memory are gone. */
static bool wakers_read_threads(const struct wait_state *s, struct wait_state_wakers *w)
{
    size_t asleep = 0;
    w->unknown = 0;
    for (size_t i = 0; i < s->kernel.n_threads; i++) {
        const struct kernel_thread *k = &s->kernel.threads[i];
        const struct wait_file_slot *h = wakers_live_slot(s, k->tid);
        w->unknown += !h;
        asleep += h && slot_needs_waker(h) && k->asleep && !wakers_has_woken(h, k);
    }
    for (size_t i = 0; i < s->file.n_threads; i++)
        w->inspected += s->file.threads[i].inspected;
    w->asleep = asleep == wakers_count_waiters(s); /* a thread that is being killed does not sleep */
    return s->kernel.n_threads > 0;
}

static bool futex_may_be_shared(const struct wait_state_thread *t)
{
    return t->head.state == WAIT_FILE_BLOCKED && (t->head.flags & UPMU_TRACE_FLAG_PSHARED) != 0;
}

/* Whether a line of maps is a private mapping that contains the address. */
static bool maps_line_is_private(const char *line, uint64_t address)
{
    uint64_t low, high;
    char how[5];
    return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &low, &high, how) == 3 && how[3] == 'p' && address >= low &&
           address < high;
}

/* A futex flagged as shared need not be: C++'s atomic waits always are, mostly in private memory. @return false if
 * the maps cannot be read: a process that is ending has none. */
static bool wakers_read_memory(const struct wait_state *s, pid_t pid, bool *all_inside)
{
    size_t n = 0, inside = 0, lines = 0;
    char line[512];
    for (size_t i = 0; i < s->file.n_threads; i++)
        n += futex_may_be_shared(&s->file.threads[i]);
    FILE *f = n > 0 ? wakers_open_proc(pid, "maps") : NULL;
    for (; f && fgets(line, sizeof line, f); lines++)
        for (size_t i = 0; i < s->file.n_threads; i++)
            inside +=
                futex_may_be_shared(&s->file.threads[i]) && maps_line_is_private(line, s->file.threads[i].head.object);
    if (f)
        (void)fclose(f);
    *all_inside = inside == n;
    return n == 0 || lines > 0;
}

int wait_state_read_wakers(struct wait_state *s, pid_t pid)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct wait_state_wakers w = {.asked_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
    bool signals = wakers_read_signals(pid, &w.caught), timers = wakers_read_timers(pid, &w.timers);
    bool memory = wakers_read_memory(s, pid, &w.inside);
    /* The threads last: if one exists now, all earlier readings are of the live process. */
    int rc = wait_state_inspect(s, pid);
    if (rc != 0)
        return rc == UPMU_E_GONE ? 0 : rc;
    w.known = signals && timers && memory && wakers_read_threads(s, &w);
    /* Earlier findings remain valid: a process that is ending has no other, and that of a stopped one cannot be
     * repeated. */
    if (!w.known)
        return 0;
    if (!w.asleep && s->wakers.asleep) {
        w.asleep = true;
        w.asked_ns = s->wakers.asked_ns;
    }
    s->wakers = w;
    return 0;
}

static void wakers_print_signals(uint64_t caught, struct textbuf *out)
{
    const char *comma = "";
    textbuf_printf(out, "a handler of ");
    for (int sig = 1; sig <= 64; sig++) {
        if (!(caught >> (sig - 1) & 1))
            continue;
        const char *name = sigabbrev_np(sig);
        if (name)
            textbuf_printf(out, "%sSIG%s", comma, name);
        else
            textbuf_printf(out, "%ssignal %d", comma, sig);
        comma = ", ";
    }
}

static void wakers_print_separator(struct textbuf *out)
{
    if (out->len > 0)
        textbuf_printf(out, "; ");
}

void wait_state_wakers_text(const struct wait_state *s, const struct wg_deadlock *f, struct textbuf *out)
{
    if (f->certainty == WG_BREAKABLE) {
        textbuf_printf(out, "the end of a timed wait");
        return;
    }
    for (uint32_t i = 0; i < f->n; i++)
        if (s->snapshot.threads[s->snapshot.members[f->first + i]].outside && out->len == 0)
            textbuf_printf(out, "another process, with which it is shared");
    if (s->wakers.same_memory) {
        wakers_print_separator(out);
        textbuf_printf(out, "another process, which has the same memory");
    }
    if (s->wakers.caught) {
        wakers_print_separator(out);
        wakers_print_signals(s->wakers.caught, out);
    }
    if (s->wakers.timers) {
        wakers_print_separator(out);
        textbuf_printf(out, "a timer of %u", s->wakers.timers);
    }
}
