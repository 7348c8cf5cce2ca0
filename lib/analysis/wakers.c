/* SPDX-License-Identifier: MIT */
/*
 * What beside its threads could end a wait in a process: signal handlers, timers, threads that do not record. Room:
 * analysis. Before it: /proc/PID; after it: standing.c's picture.
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

#include "analysis/standing.h"
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

uint64_t standing_signals(uint64_t caught)
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
    *caught = standing_signals(*caught);
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

static bool has_slot(const struct standing *s, int tid)
{
    for (size_t i = 0; i < s->n_threads; i++)
        if (s->threads[i].head.tid == tid && s->threads[i].head.state != LIVE_ENDED)
            return true;
    return false;
}

/* What the kernel says of a thread: the letter of its state ('R', 'S', ...), 0 if it is no more; and whether it is on the way
 * out. */
static char state_of(pid_t pid, int tid, bool *exiting)
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
    *exiting = flags & EXITING;
    return state;
}

/* The first thread of a process stays in the list after its end, as long as others go on. Who is on the way out, by a
 * signal that kills the process, say, does not come back. */
static bool has_ended(pid_t pid, int tid)
{
    bool exiting = false;
    char state = state_of(pid, tid, &exiting);
    return state == 0 || state == 'Z' || state == 'X' || exiting;
}

/* Whether it was woken by a signal that kills it. */
static bool is_killed(pid_t pid, int tid)
{
    char name[40], line[256];
    uint64_t waiting = 0, more;
    snprintf(name, sizeof name, "task/%d/status", tid);
    FILE *f = open_proc(pid, name);
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "SigPnd: %" SCNx64, &more) == 1 || sscanf(line, "ShdPnd: %" SCNx64, &more) == 1)
            waiting |= more;
    if (f)
        (void)fclose(f);
    return waiting & bit_of(SIGKILL);
}

/* Whether somebody ends the wait by a call that leaves no trace in the books of locks. */
static bool is_woken_by_call(const struct live_slot *h)
{
    bool sem = h->kind == UPMU_TRACE_LOCK_BLOCK && h->type == UPMU_OBJECT_SEM;
    return h->state == LIVE_WAITS && (sem || h->kind == UPMU_TRACE_COND_WAIT || h->kind == UPMU_TRACE_BARRIER_ARRIVE ||
                                      h->kind == UPMU_TRACE_FUTEX_WAIT);
}

/* A thread that was woken and has no CPU yet still has the wait in its slot. Who woke it may stand by now, and nobody else
 * needs to do anything. Seen asleep between two looks that find the same wait, it was not woken in between. */
static void find_woken(struct standing *s, pid_t pid)
{
    for (size_t i = 0; i < s->n_threads; i++) {
        struct live_slot *h = &s->threads[i].head;
        bool exiting = false;
        if (is_woken_by_call(h) && state_of(pid, h->tid, &exiting) == 'R' && !exiting && !is_killed(pid, h->tid))
            h->state = LIVE_RUNS;
    }
}

/* @return false if it cannot be known, or no thread is left: the last one takes the process's timers and memory with it. */
static bool ask_threads(const struct standing *s, pid_t pid, uint32_t *unknown)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    const struct dirent *entry;
    size_t alive = 0;
    *unknown = 0;
    if (!dir)
        return false;
    while ((entry = readdir(dir))) {
        int tid = (int)strtol(entry->d_name, NULL, 10);
        bool lives = tid > 0 && !has_ended(pid, tid);
        alive += lives;
        *unknown += lives && !has_slot(s, tid);
    }
    closedir(dir);
    return alive > 0;
}

static bool may_be_shared(const struct stand_thread *t)
{
    return t->head.state == LIVE_WAITS && (t->head.flags & UPMU_FLAG_PSHARED) != 0;
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
static bool ask_memory(const struct standing *s, pid_t pid, bool *all_inside)
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

void standing_ask(struct standing *s)
{
    pid_t pid = (pid_t)s->header.pid;
    struct stand_wakers w = {0};
    find_woken(s, pid);
    bool signals = ask_signals(pid, &w.caught), timers = ask_timers(pid, &w.timers);
    bool memory = ask_memory(s, pid, &w.inside);
    /* The threads last: if one of them is there now, all was there before. */
    w.known = signals && timers && memory && ask_threads(s, pid, &w.unknown);
    /* Of a process that is just ending, what somebody saw of it before is all there is, and still true. */
    if (w.known)
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

void standing_wakers_text(const struct standing *s, const struct wg_trouble_found *f, struct textbuf *out)
{
    if (f->standing == WG_BREAKABLE) {
        textbuf_printf(out, "the end of a timed wait");
        return;
    }
    for (uint32_t i = 0; i < f->n; i++)
        if (s->picture.threads[s->picture.members[f->first + i]].outside && out->len == 0)
            textbuf_printf(out, "another process, with which it is shared");
    if (!s->wakers.known) {
        separate(out);
        textbuf_printf(out, "a signal handler or a timer, if there are any: nobody looked while it stood");
        return;
    }
    if (s->wakers.caught) {
        separate(out);
        add_signals(s->wakers.caught, out);
    }
    if (s->wakers.timers) {
        separate(out);
        textbuf_printf(out, "a timer of %u", s->wakers.timers);
    }
}
