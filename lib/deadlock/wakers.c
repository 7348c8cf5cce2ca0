/* SPDX-License-Identifier: MIT */
/*
 * What beside its threads could end a wait in a process: signal handlers, timers, threads that do not record. Room:
 * analysis. Before it: /proc/PID; after it: status.c's picture.
 *
 * Handlers for faults do not count: only a thread that runs has faults, and language runtimes catch them. Nor do the two
 * signals that the C library keeps to itself.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deadlock/wait_state.h"
#include "upmu/trace.h"

enum { SIGNAL_CANCEL = 32, SIGNAL_SETXID = 33 }; /* glibc's own */

static uint64_t bit_of(int sig)
{
    return (uint64_t)1 << (sig - 1);
}

static uint64_t not_counted(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGNAL_CANCEL, SIGNAL_SETXID};
    uint64_t mask = 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        mask |= bit_of(signals[i]);
    return mask;
}

uint64_t wait_state_signals(uint64_t caught)
{
    return caught & ~not_counted();
}

static FILE *open_proc(pid_t pid, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return fopen(path, "re");
}

/* @return false if it cannot be known. */
static bool ask_signals(pid_t pid, uint64_t *caught)
{
    char line[256];
    bool known = false;
    FILE *f = open_proc(pid, "status");
    while (f && !known && fgets(line, sizeof line, f))
        known = sscanf(line, "SigCgt: %" SCNx64, caught) == 1;
    if (f)
        (void)fclose(f);
    *caught = wait_state_signals(*caught);
    return known;
}

static bool ask_timers(pid_t pid, uint32_t *timers)
{
    char line[256];
    FILE *f = open_proc(pid, "timers");
    if (!f)
        return false;
    *timers = 0;
    while (fgets(line, sizeof line, f))
        *timers += strncmp(line, "ID:", 3) == 0;
    bool known = !ferror(f);
    (void)fclose(f);
    return known;
}

static const struct live_slot *slot_of(const struct wait_state *s, int tid)
{
    for (size_t i = 0; i < s->n_threads; i++)
        if (s->threads[i].head.tid == tid && s->threads[i].head.state != LIVE_ENDED)
            return &s->threads[i].head;
    return NULL;
}

/* What the kernel says of a thread: 'S' for one that sleeps; 0: it has ended. The first thread of a process stays in the
 * list after its end, as long as others go on. Who is on the way out, by a signal that kills the process, say, does not
 * come back. */
static char state_of(pid_t pid, int tid)
{
    enum { EXITING = 0x4 }; /* PF_EXITING, among the flags that stand behind the state and six numbers */
    char name[40], line[512];
    snprintf(name, sizeof name, "task/%d/stat", tid);
    FILE *f = open_proc(pid, name);
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        (void)fclose(f);
    line[n] = '\0';
    const char *rest = strrchr(line, ')'); /* the name may hold anything */
    char state;
    unsigned flags;
    if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
        return 0;
    return state == 'Z' || state == 'X' || (flags & EXITING) ? 0 : state;
}

/* Who is woken from such a wait cannot be seen by anything else before it runs. Others wait for what somebody has. */
static bool waits_to_be_woken(const struct live_slot *h)
{
    return h->state == LIVE_WAITS && (h->kind == UPMU_TRACE_COND_WAIT || h->kind == UPMU_TRACE_BARRIER_ARRIVE ||
                                      h->kind == UPMU_TRACE_FUTEX_WAIT || h->type == UPMU_OBJECT_SEM);
}

static size_t count_to_be_woken(const struct wait_state *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_threads; i++)
        n += waits_to_be_woken(&s->threads[i].head);
    return n;
}

/* @return false if it cannot be known, or no thread is left: the last one takes the process's timers and memory with it. */
static bool ask_threads(const struct wait_state *s, pid_t pid, struct stand_wakers *w)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    const struct dirent *entry;
    size_t alive = 0, sleepers = 0;
    w->unknown = 0;
    if (!dir)
        return false;
    while ((entry = readdir(dir))) {
        int tid = (int)strtol(entry->d_name, NULL, 10);
        char state = tid > 0 ? state_of(pid, tid) : 0;
        if (state == 0)
            continue;
        const struct live_slot *h = slot_of(s, tid);
        alive++;
        w->unknown += !h;
        sleepers += h && waits_to_be_woken(h) && state == 'S';
    }
    closedir(dir);
    w->asleep = sleepers == count_to_be_woken(s); /* who is being killed does not sleep any more */
    return alive > 0;
}

static bool may_be_shared(const struct stand_thread *t)
{
    return t->head.state == LIVE_WAITS && (t->head.flags & UPMU_TRACE_FLAG_PSHARED) != 0;
}

/* Whether a line of maps says that this lies in memory of the process's own. */
static bool is_private(const char *line, uint64_t address)
{
    uint64_t low, high;
    char how[5];
    return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &low, &high, how) == 3 && how[3] == 'p' && address >= low &&
           address < high;
}

/* What is called shared need not be: C++'s atomic waits are all made so, most of them in memory no other process has.
 * @return false if it cannot be known: a process that is ending has no map any more. */
static bool ask_memory(const struct wait_state *s, pid_t pid, bool *all_inside)
{
    size_t n = 0, inside = 0, lines = 0;
    char line[512];
    for (size_t i = 0; i < s->n_threads; i++)
        n += may_be_shared(&s->threads[i]);
    FILE *f = n > 0 ? open_proc(pid, "maps") : NULL;
    for (; f && fgets(line, sizeof line, f); lines++)
        for (size_t i = 0; i < s->n_threads; i++)
            inside += may_be_shared(&s->threads[i]) && is_private(line, s->threads[i].head.object);
    if (f)
        (void)fclose(f);
    *all_inside = inside == n;
    return n == 0 || lines > 0;
}

void wait_state_ask(struct wait_state *s)
{
    pid_t pid = (pid_t)s->header.pid;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct stand_wakers w = {.asked_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
    bool signals = ask_signals(pid, &w.caught), timers = ask_timers(pid, &w.timers);
    bool memory = ask_memory(s, pid, &w.inside);
    /* The threads last: if one of them is there now, all was there before. */
    w.known = signals && timers && memory && ask_threads(s, pid, &w);
    /* What somebody saw of it before is still true: of a process that is just ending it is all there is, and of one that is
     * stopped nothing else tells whether its threads slept. */
    if (!w.known)
        return;
    if (!w.asleep && s->wakers.asleep) {
        w.asleep = true;
        w.asked_ns = s->wakers.asked_ns;
    }
    s->wakers = w;
}

static void add_signals(uint64_t caught, struct textbuf *out)
{
    const char *comma = "";
    textbuf_printf(out, "a handler of ");
    for (int sig = 1; sig <= 64; sig++) {
        if (!(caught & bit_of(sig)))
            continue;
        const char *name = sigabbrev_np(sig);
        if (name)
            textbuf_printf(out, "%sSIG%s", comma, name);
        else
            textbuf_printf(out, "%ssignal %d", comma, sig);
        comma = ", ";
    }
}

static void separate(struct textbuf *out)
{
    if (out->len > 0)
        textbuf_printf(out, "; ");
}

void wait_state_wakers_text(const struct wait_state *s, const struct wg_trouble_found *f, struct textbuf *out)
{
    if (f->certainty == WG_BREAKABLE) {
        textbuf_printf(out, "the end of a timed wait");
        return;
    }
    for (uint32_t i = 0; i < f->n; i++)
        if (s->picture.threads[s->picture.members[f->first + i]].outside && out->len == 0)
            textbuf_printf(out, "another process, with which it is shared");
    if (s->wakers.caught) {
        separate(out);
        add_signals(s->wakers.caught, out);
    }
    if (s->wakers.timers) {
        separate(out);
        textbuf_printf(out, "a timer of %u", s->wakers.timers);
    }
}
