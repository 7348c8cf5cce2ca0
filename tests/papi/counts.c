/* SPDX-License-Identifier: MIT */
/* Counting through PAPI against a libpapi with known counts (fake_papi.c): sums, statuses, refusals, threads, regions. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

#include "support/behavior.h"
#include "fake_papi.h"

enum { STEPS = 100 };

static const struct fake_papi *fake;

/* The fake that libupmu has opened; another libpapi would mean that this tests something else. */
static void find_fake(void)
{
    void *library = dlopen("libpapi.so.7.0", RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL, "libupmu has opened no libpapi.so.7.0");
    void *found = dlsym(library, "fake_papi");
    CHECK(found != NULL, "this is not the fake; is LD_LIBRARY_PATH set?");
    const struct fake_papi *(*get)(void);
    memcpy(&get, &found, sizeof found);
    fake = get();
}

static struct upmu_set *opened(const char *events, uint32_t flags)
{
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .flags = flags};
    CHECK(upmu_set_open(&set, events, &opts) == 0, "%s", events);
    if (!fake)
        find_fake();
    return set;
}

static struct upmu_value value_of(struct upmu_set *set, size_t i)
{
    struct upmu_value v[16];
    CHECK(upmu_set_read(set, v, 16) > (int)i, "read");
    return v[i];
}

static void expect(struct upmu_set *set, size_t i, uint64_t wanted)
{
    struct upmu_value v = value_of(set, i);
    CHECK(v.status == UPMU_EXACT && v.value == wanted, "%s: %s, %llu instead of %llu: %s", upmu_set_name(set, i),
          upmu_status_name(v.status), (unsigned long long)v.value, (unsigned long long)wanted, upmu_set_reason(set, i));
}

static void expect_none(struct upmu_set *set, size_t i, int status, int cause, const char *words)
{
    struct upmu_value v = value_of(set, i);
    check_no_number(&v);
    CHECK(v.status == status && v.cause == cause, "%s, %d: %s", upmu_status_name(v.status), v.cause,
          upmu_set_reason(set, i));
    CHECK(strstr(upmu_set_reason(set, i), words) != NULL, "'%s' lacks '%s'", upmu_set_reason(set, i), words);
}

static void nothing_left(void)
{
    CHECK(fake->sets() == 0 && fake->running() == 0, "%d sets, %d running", fake->sets(), fake->running());
    CHECK(fake->misuse() == 0, "PAPI was misused %u times", fake->misuse());
}

/* ---------------------------------------------------------------------------------------------------- cases */

static void sums(void)
{
    struct upmu_set *set = opened("r10,r20:u,r30:k,page-faults", 0);
    fake->advance(7); /* not started yet */
    for (uint64_t round = 1; round <= 3; round++) {
        CHECK(upmu_set_start(set) == 0, "start");
        fake->advance(STEPS);
        expect(set, 0, 0x10 * STEPS * round);
        CHECK(upmu_set_stop(set) == 0, "stop");
        fake->advance(STEPS); /* stopped */
        expect(set, 0, 0x10 * STEPS * round);
        expect(set, 1, 0x20 * STEPS * round * FAKE_USER_PART / 10);
        expect(set, 2, 0x30 * STEPS * round * FAKE_KERNEL_PART / 10);
        expect(set, 3, FAKE_PAGE_FAULTS * STEPS * round);
    }
    CHECK(value_of(set, 0).running > 0, "no time");
    CHECK(upmu_set_user_read(set, 0) == 0, "a page of PAPI's events");
    CHECK(upmu_set_reset(set) == 0, "reset");
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(1);
    expect(set, 0, 0x10);
    upmu_set_close(set);
}

/* PAPI runs one set of a thread; ours share it, and each sees what passed while it was started. */
static void shared(void)
{
    struct upmu_set *a = opened("r10,page-faults", 0);
    CHECK(upmu_set_start(a) == 0, "start a");
    fake->advance(10);
    struct upmu_set *b = opened("r20,r30", 0);
    CHECK(upmu_set_start(b) == 0, "start b");
    CHECK(fake->running() == 1, "%d sets run", fake->running());
    fake->advance(5);
    expect(a, 0, 0x10 * 15);
    expect(b, 0, 0x20 * 5);
    CHECK(upmu_set_stop(a) == 0, "stop a");
    fake->advance(3);
    expect(a, 0, 0x10 * 15);
    expect(a, 1, FAKE_PAGE_FAULTS * 15);
    expect(b, 1, 0x30 * 8);
    upmu_set_close(a);
    fake->advance(2);
    expect(b, 0, 0x20 * 10);
    a = opened("r40", 0); /* in the place of the closed ones: four counters hold no more */
    struct upmu_set *c = opened("r50", 0);
    CHECK(upmu_set_start(a) == 0 && upmu_set_start(c) == 0, "start again");
    fake->advance(1);
    expect(a, 0, 0x40);
    expect(b, 1, 0x30 * 11);
    expect(c, 0, 0x50);
    upmu_set_close(b);
    upmu_set_close(a);
    upmu_set_close(c);
}

/* What does not fit on the counters at once is refused: there are no turns through PAPI. */
static void limited(void)
{
    struct upmu_set *set = opened("r1,r2,r3,r4,r5,r6,page-faults", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(STEPS);
    for (size_t i = 0; i < FAKE_COUNTERS; i++)
        expect(set, i, (i + 1) * STEPS);
    expect_none(set, FAKE_COUNTERS, UPMU_REFUSED, UPMU_E_BUSY, "ENOSPC");
    expect(set, 6, FAKE_PAGE_FAULTS * STEPS);
    upmu_set_close(set);
}

static void modes(void)
{
    struct upmu_set *set = opened("r10", 0); /* the fake is there from now on */
    fake->deny_kernel(1);
    upmu_set_close(set);
    set = opened("r10,r20:k,PAPI_CA_SNP", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(STEPS);
    expect(set, 0, 0x10 * STEPS * FAKE_USER_PART / 10);
    CHECK(strcmp(upmu_set_name(set, 0), "r10:u") == 0, "%s", upmu_set_name(set, 0));
    struct upmu_value denied = value_of(set, 1);
    check_no_number(&denied);
    CHECK(denied.status == UPMU_REFUSED, "%s", upmu_status_name(denied.status));
    expect(set, 2, FAKE_PRESET * STEPS * FAKE_USER_PART / 10);
    upmu_set_close(set);
}

/* Names that only PAPI has, in the modes of its set, which are one choice. */
static void presets(void)
{
    struct upmu_set *set = opened("PAPI_CA_SNP,native::fake:::POWER,r10:u", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(STEPS);
    expect(set, 0, FAKE_PRESET * STEPS);
    expect(set, 1, FAKE_POWER * STEPS);
    expect(set, 2, 0x10 * STEPS * FAKE_USER_PART / 10);
    upmu_set_close(set);
    set = opened("PAPI_CA_SNP:u,native::fake:::POWER", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(STEPS);
    expect(set, 0, FAKE_PRESET * STEPS * FAKE_USER_PART / 10);
    expect_none(set, 1, UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED, "EOPNOTSUPP");
    upmu_set_close(set);
    CHECK(upmu_set_open(&set, "PAPI_NO_SUCH", NULL) == UPMU_E_NAME, "an unknown preset");
    CHECK(upmu_set_open(&set, "native::no:::such", NULL) == UPMU_E_NAME, "an unknown component");
    /* Ours where this CPU's table has no row, and PAPI a preset. */
    struct upmu_event_info info = {.size = sizeof info};
    CHECK(upmu_event_find("l1d-store-miss", &info) == 0, "PAPI_L1_STM stands in");
    set = opened("l1d-store-miss", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(STEPS);
    if (strcmp(info.source, "libpapi") == 0)
        expect(set, 0, FAKE_PRESET * STEPS);
    upmu_set_close(set);
}

/* Failures of each call: no number, and never again one from the same counters. */
static void failures(void)
{
    struct upmu_set *set = opened("r10", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(STEPS);
    fake->fail("PAPI_read", -3, 1);
    expect_none(set, 0, UPMU_REFUSED, UPMU_E_IO, "");
    expect_none(set, 0, UPMU_REFUSED, UPMU_E_IO, "");
    upmu_set_close(set);

    set = opened("r10", 0);
    fake->fail("PAPI_start", -3, 1);
    CHECK(upmu_set_start(set) == UPMU_E_SYSTEM, "a failed start");
    upmu_set_close(set);

    set = opened("r10", 0);
    fake->occupy(1);
    CHECK(upmu_set_start(set) == UPMU_E_BUSY && strstr(upmu_error(), "one event set"), "%s", upmu_error());
    fake->occupy(0);
    CHECK(upmu_set_start(set) == 0, "start later");
    upmu_set_close(set);

    static const char *const calls[] = {"PAPI_create_eventset", "PAPI_assign_eventset_component",
                                        "PAPI_add_named_event"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fake->fail(calls[i], -2, 100);
        set = opened("r10", 0);
        fake->fail("", 0, 0);
        CHECK(upmu_set_start(set) == 0, "start");
        expect_none(set, 0, UPMU_REFUSED, UPMU_E_NOMEM, "ENOMEM");
        upmu_set_close(set);
        nothing_left();
    }

    set = opened("r10", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(STEPS);
    expect(set, 0, 0x10 * STEPS);
    CHECK(upmu_set_stop(set) == 0, "stop");
    fake->fail("PAPI_stop", -3, 1);
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_stop(set) == UPMU_E_SYSTEM, "a failed stop");
    fake->fail("", 0, 0);
    struct upmu_value v = value_of(set, 0);
    check_no_number(&v);
    upmu_set_close(set);
}

static void backwards(void)
{
    struct upmu_set *set = opened("r10", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(STEPS);
    fake->turn_back();
    fake->advance(1000000);
    struct upmu_value v = value_of(set, 0);
    check_no_number(&v);
    upmu_set_close(set);
}

struct worker {
    pthread_barrier_t *begun, *passed;
    uint64_t counted;
};

static void *count_alone(void *arg)
{
    struct worker *w = arg;
    struct upmu_set *set = opened("r10,page-faults", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    pthread_barrier_wait(w->begun);
    pthread_barrier_wait(w->passed);
    w->counted = value_of(set, 0).value;
    upmu_set_close(set);
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 8 };
    struct worker workers[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_t begun, passed;
    CHECK(pthread_barrier_init(&begun, NULL, THREADS + 1) == 0 && pthread_barrier_init(&passed, NULL, THREADS + 1) == 0,
          "barriers");
    upmu_set_close(opened("r10", 0)); /* finds the fake, before threads look for it */
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.begun = &begun, .passed = &passed};
        thread[i] = start_thread(count_alone, &workers[i]);
    }
    pthread_barrier_wait(&begun);
    CHECK(fake->running() == THREADS, "%d sets run", fake->running());
    fake->advance(STEPS);
    pthread_barrier_wait(&passed);
    for (size_t i = 0; i < THREADS; i++) {
        join_thread(thread[i]);
        CHECK(workers[i].counted == 0x10 * STEPS, "thread %zu: %llu", i, (unsigned long long)workers[i].counted);
    }
    CHECK(fake->calls("PAPI_unregister_thread") >= THREADS, "threads stay known to PAPI");
    pthread_barrier_destroy(&begun);
    pthread_barrier_destroy(&passed);
}

static void child_of(struct upmu_set *set)
{
    unsigned stops = fake->calls("PAPI_stop"), cleanups = fake->calls("PAPI_cleanup_eventset");
    struct upmu_value v;
    CHECK(upmu_set_read(set, &v, 1) == UPMU_E_STATE, "a child reads its parent's set");
    upmu_set_close(set);
    CHECK(fake->calls("PAPI_stop") == stops && fake->calls("PAPI_cleanup_eventset") == cleanups,
          "the child stopped what runs in its parent");
    _exit(0);
}

static void forked(void)
{
    int status = -1;
    struct upmu_set *set = opened("r10", 0);
    CHECK(upmu_set_start(set) == 0, "start");
    fake->advance(1);
    pid_t child = fork();
    if (child == 0)
        child_of(set);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the child: 0x%x", (unsigned)status);
    fake->advance(1);
    expect(set, 0, 0x10 * 2);
    upmu_set_close(set);
}

/* Another thread is counted where it is attached; nothing is added to what counts it already. */
static void attached(void)
{
    struct upmu_set *set, *more;
    pid_t child = fork();
    if (child == 0)
        for (;;)
            burn(1000000);
    CHECK(child > 0, "fork");
    struct upmu_set_opts opts = {
        .size = sizeof opts, .target = UPMU_TARGET_PROCESS, .pid = child, .flags = UPMU_SET_NO_INHERIT};
    CHECK(upmu_set_open(&set, "r10,page-faults", &opts) == 0, "open");
    find_fake();
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(fake->calls("PAPI_attach") >= 1, "nothing was attached");
    fake->advance(STEPS);
    /* The child has run for some time, or nothing could have been counted. */
    for (int i = 0; i < 1000 && value_of(set, 0).running == 0; i++)
        sleep_briefly();
    expect(set, 0, 0x10 * STEPS);
    CHECK(upmu_set_open(&more, "r20", &opts) == 0, "open more");
    CHECK(upmu_set_start(more) == 0, "start more");
    expect_none(more, 0, UPMU_REFUSED, UPMU_E_BUSY, "one event set");
    upmu_set_close(more);
    upmu_set_close(set);
    opts.flags = 0;
    CHECK(upmu_set_open(&set, "r10", &opts) == 0, "open");
    CHECK(upmu_set_start(set) == 0, "start");
    expect_none(set, 0, UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED, "UPMU_SET_NO_INHERIT");
    upmu_set_close(set);
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child, "wait");
}

static void unsupported(void)
{
    char *const argv[] = {"true", NULL};
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_COMMAND, .argv = argv};
    CHECK(upmu_set_open(&set, "r10", &opts) == 0, "open");
    find_fake();
    CHECK(upmu_set_start(set) == 0 && upmu_set_wait(set, NULL) == 0, "run");
    expect_none(set, 0, UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED, "at exec");
    upmu_set_close(set);
    set = opened("r10", UPMU_SET_INHERIT);
    CHECK(upmu_set_start(set) == 0, "start");
    expect_none(set, 0, UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED, "created later");
    upmu_set_close(set);
    set = opened("alignment-faults", 0); /* libpfm4 has no name for it */
    CHECK(upmu_set_start(set) == 0, "start");
    expect_none(set, 0, UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED, "no name");
    upmu_set_close(set);
}

/* The variable wins over the option, and both are checked. */
static void options(void)
{
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .backend = "papi"};
    CHECK(unsetenv("UPMU_BACKEND") == 0, "unsetenv");
    CHECK(upmu_set_open(&set, "page-faults", &opts) == 0, "by option");
    find_fake();
    CHECK(fake->sets() == 1, "the option was ignored");
    upmu_set_close(set);
    opts.backend = "perf";
    CHECK(upmu_set_open(&set, "page-faults", &opts) == 0 && fake->sets() == 0, "perf by option");
    upmu_set_close(set);
    opts.backend = "likwid";
    CHECK(upmu_set_open(&set, "page-faults", &opts) == UPMU_E_INVAL && strstr(upmu_error(), "'papi'"), "%s",
          upmu_error());
    CHECK(setenv("UPMU_BACKEND", "papi", 1) == 0, "setenv");
    CHECK(upmu_set_open(&set, "page-faults", &opts) == 0 && fake->sets() == 1, "the variable wins");
    upmu_set_close(set);
    CHECK(setenv("UPMU_BACKEND", "none", 1) == 0, "setenv");
    CHECK(upmu_set_open(&set, "page-faults", &opts) == UPMU_E_INVAL && strstr(upmu_error(), "UPMU_BACKEND"), "%s",
          upmu_error());
    /* The first release's struct has the option; no release had a smaller one. */
    opts = (struct upmu_set_opts){.size = UPMU_SET_OPTS_SIZE_V1, .backend = "papi"};
    CHECK(unsetenv("UPMU_BACKEND") == 0, "unsetenv");
    CHECK(upmu_set_open(&set, "page-faults", &opts) == 0 && fake->sets() == 1, "the first release's struct");
    upmu_set_close(set);
    opts.size = offsetof(struct upmu_set_opts, backend);
    CHECK(upmu_set_open(&set, "page-faults", &opts) == UPMU_E_INVAL && strstr(upmu_error(), "size"), "%s",
          upmu_error());
}

/* Regions count from a thread's first begin on, in every thread. */
static void *region_in_thread(void *arg)
{
    (void)arg;
    CHECK(upmu_region_begin("work") == 0, "begin");
    fake->advance(STEPS);
    CHECK(upmu_region_end("work") == 0, "end");
    return NULL;
}

static void regions(void)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "r10,page-faults", .backend = "papi"};
    CHECK(unsetenv("UPMU_BACKEND") == 0, "unsetenv");
    CHECK(upmu_region_setup(&opts) == 0, "set up");
    find_fake();
    for (int i = 0; i < 3; i++)
        region_in_thread(NULL);
    join_thread(start_thread(region_in_thread, NULL));
    struct upmu_region_event_stats *e = region_of("work", UPMU_ALL_THREADS).events;
    CHECK(e[0].status == UPMU_EXACT && e[0].stat.sum == 0x10 * STEPS * 4 && e[0].stat.min == 0x10 * STEPS, "%s %llu",
          upmu_status_name(e[0].status), (unsigned long long)e[0].stat.sum);
    CHECK(e[1].stat.sum == FAKE_PAGE_FAULTS * STEPS * 4, "%llu", (unsigned long long)e[1].stat.sum);
    CHECK(fake->misuse() == 0, "misuse");
}

static const struct {
    const char *name;
    void (*run)(void);
    bool leaves_sets; /* regions keep theirs until the program ends; a spoilt set cannot be freed */
} cases[] = {
    {"sums", sums, false},           {"shared", shared, false},           {"limited", limited, false},
    {"modes", modes, false},         {"presets", presets, false},         {"failures", failures, true},
    {"backwards", backwards, false}, {"threads", threads, false},         {"forked", forked, false},
    {"attached", attached, false},   {"unsupported", unsupported, false}, {"options", options, false},
    {"regions", regions, true},
};

int main(int argc, char **argv)
{
    if (rights_here() == RIGHTS_NONE)
        skip("perf events are denied: no times would be measured beside PAPI");
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) != 0)
            continue;
        cases[i].run();
        if (!cases[i].leaves_sets)
            nothing_left();
        return 0;
    }
    fprintf(stderr, "no such case\n");
    return 2;
}
