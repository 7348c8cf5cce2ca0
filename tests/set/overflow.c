/* SPDX-License-Identifier: MIT */
/* Sampling of the calling thread by a function of the program: calls, their sums, threads, forked children and misuse. */
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

#include "support/behavior.h"
#include "upmu/overflow.h"

enum { PERIOD_NS = 1000000, CALLS = 24, PAGES = 64, LIMIT_S = 60 };

struct seen {
    pthread_t thread;
    uint64_t calls, events, inside, elsewhere, stop_at;
};

extern char __start_burning[], __stop_burning[]; /* names of the linker */

/* Code of its own section, whose begin and end the linker defines. */
static UNINSTRUMENTED __attribute__((section("burning"))) uint64_t spend(uint64_t n)
{
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum = sum + i;
    return sum;
}

static void on_overflow(const struct upmu_overflow_sample *s, void *arg)
{
    struct seen *seen = arg;
    seen->calls++;
    seen->events += s->events;
    seen->inside += s->pc >= (uintptr_t)__start_burning && s->pc < (uintptr_t)__stop_burning;
    seen->elsewhere += !pthread_equal(seen->thread, pthread_self());
    errno = ENOTBLK;
    if (seen->calls == seen->stop_at)
        (void)upmu_overflow_stop(s->overflow);
}

static struct upmu_overflow *open_clock(struct seen *seen)
{
    struct upmu_overflow *o;
    struct upmu_overflow_opts opts = UPMU_INIT(struct upmu_overflow_opts, .period = PERIOD_NS, .callback = on_overflow);
    opts.arg = seen;
    seen->thread = pthread_self();
    int rc = upmu_overflow_open(&o, &opts);
    CHECK(rc == 0, "open: %s", upmu_error());
    return o;
}

static struct upmu_overflow_info info_of(const struct upmu_overflow *o)
{
    struct upmu_overflow_info info = UPMU_INIT(struct upmu_overflow_info);
    CHECK(upmu_overflow_info_read(o, &info) == 0, "info: %s", upmu_error());
    return info;
}

/* Use CPU time until there were `calls`; none for a minute of CPU time is a failure. */
static void spend_until(const struct seen *seen, uint64_t calls)
{
    uint64_t end = nanoseconds(CLOCK_THREAD_CPUTIME_ID) + LIMIT_S * UINT64_C(1000000000);
    while (__atomic_load_n(&seen->calls, __ATOMIC_RELAXED) < calls) {
        errno = EXFULL;
        spend(10 * 10000);
        CHECK(errno == EXFULL, "errno was changed to %d", errno);
        CHECK(nanoseconds(CLOCK_THREAD_CPUTIME_ID) < end, "%" PRIu64 " calls only", seen->calls);
    }
}

static void sums(void)
{
    struct seen seen = {0};
    struct upmu_overflow *o = open_clock(&seen);
    spend(100000);
    CHECK(seen.calls == 0, "calls before the start");
    CHECK(upmu_overflow_start(o) == 0 && upmu_overflow_start(o) == 0, "start: %s", upmu_error());
    spend_until(&seen, CALLS);
    CHECK(upmu_overflow_stop(o) == 0 && upmu_overflow_stop(o) == 0, "stop");
    uint64_t calls = seen.calls;
    struct upmu_overflow_info info = info_of(o), later;
    spend(1000000);
    later = info_of(o);
    CHECK(seen.calls == calls && later.count == info.count, "calls or counts after the stop");
    CHECK(info.calls == seen.calls && info.events == seen.events, "the sums differ from what the function saw");
    CHECK(seen.events % PERIOD_NS == 0 && seen.events <= info.count + PERIOD_NS,
          "%" PRIu64 " ns in calls, %" PRIu64 " counted", seen.events, info.count);
    CHECK(seen.inside * 2 > seen.calls, "%" PRIu64 " of %" PRIu64 " calls in spend()", seen.inside, seen.calls);
    CHECK(seen.elsewhere == 0 && strcmp(info.event, "task-clock") == 0 && info.period == PERIOD_NS, "info");
    CHECK((info.source == UPMU_OVERFLOW_TIMER) == (info.reason[0] != '\0'), "reason: '%s'", info.reason);
    printf("%" PRIu64 " calls, source %d %s\n", info.calls, info.source, info.reason);

    /* From the function, and once more. */
    seen.stop_at = seen.calls + 2;
    CHECK(upmu_overflow_start(o) == 0, "start again: %s", upmu_error());
    spend_until(&seen, seen.stop_at);
    calls = seen.calls;
    spend(3000000);
    CHECK(seen.calls == calls, "calls after the function has stopped it");
    seen.stop_at = 0;
    CHECK(upmu_overflow_start(o) == 0, "start again: %s", upmu_error());
    spend_until(&seen, calls + 2);
    CHECK(upmu_overflow_close(o) == 0, "close");
    calls = seen.calls;
    spend(1000000);
    CHECK(seen.calls == calls, "calls after close");
}

/* Each first access to a page is one event: one call, at that instruction, or the cause why the event is refused. */
static void page_faults(void)
{
    struct seen seen = {.thread = pthread_self()};
    struct upmu_overflow_opts opts = UPMU_INIT(struct upmu_overflow_opts, .event = "page-faults", .period = 1);
    struct upmu_overflow *o;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    opts.callback = on_overflow;
    opts.arg = &seen;
    int rc = upmu_overflow_open(&o, &opts);
    if (rc != 0) {
        CHECK(rc == UPMU_E_PERM || rc == UPMU_E_SECCOMP || rc == UPMU_E_NO_SYSCALL, "%d: %s", rc, upmu_error());
        CHECK(strstr(upmu_error(), "page-faults"), "'%s' does not name the event", upmu_error());
        return;
    }
    char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && madvise(memory, PAGES * page, MADV_NOHUGEPAGE) == 0, "memory");
    CHECK(upmu_overflow_start(o) == 0, "start: %s", upmu_error());
    for (size_t i = 0; i < PAGES; i++)
        *(volatile char *)(memory + i * page) = 1;
    CHECK(upmu_overflow_stop(o) == 0, "stop");
    struct upmu_overflow_info info = info_of(o);
    /* ThreadSanitizer delivers signals late, and the event is stopped until then. */
    CHECK(info.calls >= (SANITIZED_THREAD ? 1 : PAGES) && info.count >= info.calls,
          "%" PRIu64 " calls, %" PRIu64 " faults of %d pages", info.calls, info.count, (int)PAGES);
    CHECK(upmu_overflow_close(o) == 0 && munmap(memory, PAGES * page) == 0, "close");
}

static void *run_thread(void *theirs)
{
    struct seen seen = {0};
    struct upmu_overflow *o = open_clock(&seen), *other = theirs;
    CHECK(upmu_overflow_start(o) == 0, "start: %s", upmu_error());
    spend_until(&seen, 2);
    CHECK(seen.elsewhere == 0, "called in another thread");
    CHECK(upmu_overflow_start(other) == UPMU_E_STATE && upmu_overflow_stop(other) == UPMU_E_STATE &&
              upmu_overflow_close(other) == UPMU_E_STATE,
          "the object of another thread");
    CHECK(upmu_overflow_stop(o) == 0, "stop");
    return o;
}

static void threads(void)
{
    struct seen seen = {0};
    struct upmu_overflow *o = open_clock(&seen);
    pthread_t thread;
    void *left;
    CHECK(upmu_overflow_start(o) == 0, "start: %s", upmu_error());
    CHECK(pthread_create(&thread, NULL, run_thread, o) == 0, "thread");
    spend_until(&seen, 2);
    CHECK(pthread_join(thread, &left) == 0, "join");
    uint64_t end = nanoseconds(CLOCK_MONOTONIC) + LIMIT_S * UINT64_C(1000000000);
    while (upmu_overflow_close(left) != 0) /* a joined thread may still be in the kernel */
        CHECK(nanoseconds(CLOCK_MONOTONIC) < end, "the object of a thread that has ended: %s", upmu_error());
    CHECK(seen.elsewhere == 0 && upmu_overflow_close(o) == 0, "close");
}

/* The child frees its copy; the parent's object works on. */
static void forked(void)
{
    struct seen seen = {0};
    int status;
    struct upmu_overflow *o = open_clock(&seen);
    CHECK(upmu_overflow_start(o) == 0, "start: %s", upmu_error());
    pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
        struct seen own = {0};
        CHECK(upmu_overflow_start(o) == UPMU_E_STATE && upmu_overflow_stop(o) == UPMU_E_STATE, "in the child");
        CHECK(upmu_overflow_close(o) == 0, "close in the child");
        o = open_clock(&own);
        CHECK(upmu_overflow_start(o) == 0, "start in the child: %s", upmu_error());
        spend_until(&own, 1);
        CHECK(upmu_overflow_close(o) == 0, "close in the child");
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
    spend_until(&seen, seen.calls + 2);
    CHECK(upmu_overflow_close(o) == 0, "close");
}

static void expect_refused(const char *event, uint64_t period,
                           void (*callback)(const struct upmu_overflow_sample *, void *), int code)
{
    struct upmu_overflow *o;
    struct upmu_overflow_opts opts = UPMU_INIT(struct upmu_overflow_opts);
    opts.event = event;
    opts.period = period;
    opts.callback = callback;
    int rc = upmu_overflow_open(&o, &opts);
    CHECK(rc == code && !o, "%s, %" PRIu64 ": %d instead of %d: %s", event, period, rc, code, upmu_error());
}

static void misuse(void)
{
    struct seen seen = {0};
    struct sigaction act = {.sa_handler = SIG_IGN}, ours;
    sigset_t one;
    expect_refused(NULL, PERIOD_NS, NULL, UPMU_E_INVAL);
    expect_refused(NULL, 0, on_overflow, UPMU_E_INVAL);
    expect_refused("task-clock", 9999, on_overflow, UPMU_E_INVAL);
    expect_refused("task-clokc", PERIOD_NS, on_overflow, UPMU_E_NAME);
    expect_refused("user-time", PERIOD_NS, on_overflow, UPMU_E_UNSUPPORTED);
    CHECK(upmu_overflow_stop(NULL) == UPMU_E_INVAL && upmu_overflow_close(NULL) == 0, "NULL");
    struct upmu_overflow *o = open_clock(&seen);
    int number = info_of(o).signal;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    CHECK(upmu_overflow_start(o) == UPMU_E_STATE && strstr(upmu_error(), "blocks"), "blocked: %s", upmu_error());
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    CHECK(sigaction(number, &act, &ours) == 0, "sigaction");
    CHECK(upmu_overflow_start(o) == UPMU_E_STATE && strstr(upmu_error(), "handler"), "replaced: %s", upmu_error());
    CHECK(sigaction(number, &ours, NULL) == 0 && upmu_overflow_start(o) == 0, "restored: %s", upmu_error());
    CHECK(raise(number) == 0 && seen.calls == 0, "a signal that another thread sent");
    CHECK(upmu_overflow_close(o) == 0, "close");
}

int main(void)
{
    sums();
    page_faults();
    threads();
    forked();
    misuse();
    return 0;
}
