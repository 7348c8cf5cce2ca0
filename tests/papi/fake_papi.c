/* SPDX-License-Identifier: MIT */
/*
 * A libpapi with scripted counts; see fake_papi.h.
 *
 * FAKE_PAPI in the environment makes its start fail: "init" (it does not start), "none" (no component perf_event),
 * "off" (the component is disabled).
 */
#include "fake_papi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OK = 0, EINVAL_ = -1, ENOEVNT_ = -7, ECNFLCT_ = -8, ENOTRUN_ = -9, EISRUN_ = -10, ENOEVST_ = -11, EPERM_ = -15 };
enum { VERSION = 0x07000000, SETS = 256, EVENTS = 64, USER = 1, KERNEL = 2, DOMAIN_OPTION = 5, CPU_OPTION = 27 };
enum { CODE_SNP = (int)0x80000010, CODE_STM = (int)0x80000011, CODE_POWER = 0x40000020 };

struct event {
    uint64_t weight; /* per ten steps */
    bool hardware, preset, user, kernel;
};

struct set {
    bool used, running;
    unsigned long thread;
    int modes;
    size_t n;
    struct event event[EVENTS];
    uint64_t started; /* step */
    uint64_t counted[EVENTS];
};

static struct {
    pthread_mutex_t lock;
    struct set set[SETS];
    uint64_t step;
    bool deny_kernel, occupied, backwards;
    char failing[64];
    int failure;
    unsigned failures, misuse;
    struct {
        char name[48];
        unsigned n;
    } calls[32];
} world = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* As in PAPI's own header up to the reason, which is as far as anybody reads. */
static const struct {
    char name[128], short_name[64], description[128], version[64], support_version[64], kernel_version[64];
    char disabled_reason[1024];
    int rest[512];
} component = {.name = "perf_event"}, switched_off = {.name = "perf_event", .disabled_reason = "the fake is off"};

static bool spoiled(const char *how)
{
    const char *wanted = getenv("FAKE_PAPI");
    return wanted && strcmp(wanted, how) == 0;
}

/* Count the call, and keep others out. @return OK, or the failure that the test wants. */
static int enter(const char *function)
{
    size_t i = 0;
    pthread_mutex_lock(&world.lock);
    while (world.calls[i].name[0] && strcmp(world.calls[i].name, function) != 0)
        i++;
    snprintf(world.calls[i].name, sizeof world.calls[i].name, "%s", function);
    world.calls[i].n++;
    if (world.failures == 0 || strcmp(world.failing, function) != 0)
        return OK;
    world.failures--;
    return world.failure;
}

static int leave(int rc)
{
    pthread_mutex_unlock(&world.lock);
    return rc;
}

static struct set *set_at(int set)
{
    if (set >= 0 && set < SETS && world.set[set].used)
        return &world.set[set];
    world.misuse++;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- events */

static bool parse_event(const char *name, struct event *e)
{
    static const struct {
        const char *name;
        uint64_t weight;
        bool hardware;
    } known[] = {
        {"perf::PERF_COUNT_HW_CPU_CYCLES", FAKE_CYCLES, true},
        {"perf::PERF_COUNT_HW_INSTRUCTIONS", FAKE_INSTRUCTIONS, true},
        {"perf::PERF_COUNT_HW_BRANCH_INSTRUCTIONS", FAKE_BRANCHES, true},
        {"perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS", FAKE_L1D_MISS, true},
        {"perf::PERF_COUNT_SW_PAGE_FAULTS", FAKE_PAGE_FAULTS, false},
    };
    const char *modes = strstr(name, ":u=");
    int user, kernel;
    size_t len = modes ? (size_t)(modes - name) : 0;
    if (!modes || sscanf(modes, ":u=%d:k=%d", &user, &kernel) != 2)
        return false;
    *e = (struct event){.hardware = true, .user = user, .kernel = kernel};
    if (strncmp(name, "perf_raw::r", 11) == 0)
        e->weight = strtoull(name + 11, NULL, 16);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != len || strncmp(known[i].name, name, len) != 0)
            continue;
        e->weight = known[i].weight;
        e->hardware = known[i].hardware;
    }
    return e->weight > 0;
}

static int add(struct set *s, struct event e)
{
    size_t hardware = e.hardware;
    if (s->running) {
        world.misuse++;
        return EISRUN_;
    }
    if (world.deny_kernel && (e.preset ? s->modes & KERNEL : e.kernel))
        return EPERM_;
    for (size_t i = 0; i < s->n; i++)
        hardware += s->event[i].hardware;
    if (hardware > FAKE_COUNTERS)
        return ECNFLCT_;
    s->event[s->n++] = e;
    return OK;
}

/* What an event of a set has counted since its start. */
static long long count_of(const struct set *s, const struct event *e)
{
    bool user = e->preset ? s->modes & USER : e->user, kernel = e->preset ? s->modes & KERNEL : e->kernel;
    uint64_t parts = (user ? (uint64_t)FAKE_USER_PART : 0) + (kernel ? (uint64_t)FAKE_KERNEL_PART : 0);
    long long n = (long long)((world.step - s->started) * e->weight * parts / 10);
    return world.backwards ? 1000000 - n : n;
}

static void give(const struct set *s, long long *values)
{
    for (size_t i = 0; values && i < s->n; i++)
        values[i] = s->running ? count_of(s, &s->event[i]) : (long long)s->counted[i];
}

/* --------------------------------------------------------------------------------------------- PAPI's calls */

#define FAKE __attribute__((visibility("default")))

FAKE int PAPI_library_init(int version);
FAKE int PAPI_is_initialized(void);
FAKE int PAPI_thread_init(unsigned long (*id)(void));
FAKE int PAPI_unregister_thread(void);
FAKE int PAPI_get_component_index(const char *name);
FAKE const void *PAPI_get_component_info(int index);
FAKE int PAPI_event_name_to_code(const char *name, int *code);
FAKE int PAPI_query_named_event(const char *name);
FAKE int PAPI_create_eventset(int *set);
FAKE int PAPI_assign_eventset_component(int set, int index);
FAKE int PAPI_attach(int set, unsigned long tid);
FAKE int PAPI_set_opt(int option, void *value);
FAKE int PAPI_add_named_event(int set, const char *name);
FAKE int PAPI_add_event(int set, int code);
FAKE int PAPI_start(int set);
FAKE int PAPI_stop(int set, long long *values);
FAKE int PAPI_read(int set, long long *values);
FAKE int PAPI_cleanup_eventset(int set);
FAKE int PAPI_destroy_eventset(int *set);

int PAPI_library_init(int version)
{
    return spoiled("init") ? -3 : version == VERSION ? VERSION : EINVAL_;
}

int PAPI_is_initialized(void)
{
    return 1;
}

int PAPI_thread_init(unsigned long (*id)(void))
{
    return id ? OK : EINVAL_;
}

int PAPI_unregister_thread(void)
{
    return leave(enter("PAPI_unregister_thread"));
}

int PAPI_get_component_index(const char *name)
{
    return spoiled("none") || strcmp(name, "perf_event") != 0 ? -17 : 3;
}

const void *PAPI_get_component_info(int index)
{
    return index != 3 ? NULL : spoiled("off") ? (const void *)&switched_off : (const void *)&component;
}

int PAPI_event_name_to_code(const char *name, int *code)
{
    *code = strcmp(name, "PAPI_CA_SNP") == 0    ? CODE_SNP
            : strcmp(name, "PAPI_L1_STM") == 0  ? CODE_STM
            : strcmp(name, "fake:::POWER") == 0 ? CODE_POWER
                                                : 0;
    return *code ? OK : ENOEVNT_;
}

int PAPI_query_named_event(const char *name)
{
    int code;
    return PAPI_event_name_to_code(name, &code);
}

static int create(int *set)
{
    for (int i = 0; i < SETS; i++) {
        if (world.set[i].used)
            continue;
        world.set[i] = (struct set){.used = true, .thread = (unsigned long)syscall(SYS_gettid), .modes = USER};
        *set = i;
        return OK;
    }
    return -2;
}

int PAPI_create_eventset(int *set)
{
    int rc = enter("PAPI_create_eventset");
    if (rc == OK)
        rc = create(set);
    return leave(rc);
}

int PAPI_assign_eventset_component(int set, int index)
{
    int rc = enter("PAPI_assign_eventset_component");
    if (rc == OK)
        rc = set_at(set) && index == 3 ? OK : EINVAL_;
    return leave(rc);
}

static int attach(struct set *s, unsigned long tid)
{
    if (!s)
        return ENOEVST_;
    s->thread = tid;
    return OK;
}

int PAPI_attach(int set, unsigned long tid)
{
    int rc = enter("PAPI_attach");
    if (rc == OK)
        rc = attach(set_at(set), tid);
    return leave(rc);
}

static int set_opt(int option, const int *value)
{
    struct set *s = option == DOMAIN_OPTION ? set_at(value[1]) : option == CPU_OPTION ? set_at(value[0]) : NULL;
    if (!s)
        return EINVAL_;
    if (option == DOMAIN_OPTION)
        s->modes = value[2];
    return OK;
}

int PAPI_set_opt(int option, void *value)
{
    int rc = enter("PAPI_set_opt");
    if (rc == OK)
        rc = set_opt(option, value);
    return leave(rc);
}

static int add_named(struct set *s, const char *name)
{
    struct event e;
    return !s ? ENOEVST_ : parse_event(name, &e) ? add(s, e) : ENOEVNT_;
}

int PAPI_add_named_event(int set, const char *name)
{
    int rc = enter("PAPI_add_named_event");
    if (rc == OK)
        rc = add_named(set_at(set), name);
    return leave(rc);
}

static int add_code(struct set *s, int code)
{
    struct event e = {.weight = code == CODE_POWER ? FAKE_POWER : FAKE_PRESET, .preset = true};
    if (code != CODE_POWER && code != CODE_SNP && code != CODE_STM)
        return ENOEVNT_;
    return s ? add(s, e) : ENOEVST_;
}

int PAPI_add_event(int set, int code)
{
    int rc = enter("PAPI_add_event");
    if (rc == OK)
        rc = add_code(set_at(set), code);
    return leave(rc);
}

static int start(struct set *s)
{
    if (!s)
        return ENOEVST_;
    for (int i = 0; i < SETS; i++)
        if (world.set[i].used && world.set[i].running && world.set[i].thread == s->thread)
            return EISRUN_;
    if (world.occupied)
        return EISRUN_;
    s->running = true;
    s->started = world.step;
    return OK;
}

int PAPI_start(int set)
{
    int rc = enter("PAPI_start");
    if (rc == OK)
        rc = start(set_at(set));
    return leave(rc);
}

static int stop(struct set *s, long long *values)
{
    if (!s)
        return ENOEVST_;
    if (!s->running)
        return ENOTRUN_;
    for (size_t i = 0; i < s->n; i++)
        s->counted[i] = (uint64_t)count_of(s, &s->event[i]);
    s->running = false;
    give(s, values);
    return OK;
}

int PAPI_stop(int set, long long *values)
{
    int rc = enter("PAPI_stop");
    if (rc == OK)
        rc = stop(set_at(set), values);
    return leave(rc);
}

static int read_set(const struct set *s, long long *values)
{
    if (!s)
        return ENOEVST_;
    give(s, values);
    return OK;
}

int PAPI_read(int set, long long *values)
{
    int rc = enter("PAPI_read");
    if (rc == OK)
        rc = read_set(set_at(set), values);
    return leave(rc);
}

static int cleanup(struct set *s)
{
    if (!s)
        return ENOEVST_;
    if (s->running)
        return EISRUN_;
    s->n = 0;
    return OK;
}

int PAPI_cleanup_eventset(int set)
{
    int rc = enter("PAPI_cleanup_eventset");
    if (rc == OK)
        rc = cleanup(set_at(set));
    return leave(rc);
}

static int destroy(int *set)
{
    struct set *s = set_at(*set);
    if (!s)
        return ENOEVST_;
    if (s->running || s->n > 0)
        return EISRUN_;
    s->used = false;
    *set = -1;
    return OK;
}

int PAPI_destroy_eventset(int *set)
{
    int rc = enter("PAPI_destroy_eventset");
    if (rc == OK)
        rc = destroy(set);
    return leave(rc);
}

/* ------------------------------------------------------------------------------------------ the test's calls */

static void fake_advance(uint64_t steps)
{
    pthread_mutex_lock(&world.lock);
    world.step += steps;
    pthread_mutex_unlock(&world.lock);
}

static void fake_fail(const char *function, int code, unsigned times)
{
    pthread_mutex_lock(&world.lock);
    snprintf(world.failing, sizeof world.failing, "%s", function);
    world.failure = code;
    world.failures = times;
    pthread_mutex_unlock(&world.lock);
}

static void fake_deny_kernel(int deny)
{
    world.deny_kernel = deny;
}

static void fake_occupy(int occupied)
{
    world.occupied = occupied;
}

static void fake_turn_back(void)
{
    world.backwards = true;
}

static int fake_sets(void)
{
    int n = 0;
    for (int i = 0; i < SETS; i++)
        n += world.set[i].used;
    return n;
}

static int fake_running(void)
{
    int n = 0;
    for (int i = 0; i < SETS; i++)
        n += world.set[i].used && world.set[i].running;
    return n;
}

static unsigned fake_calls(const char *function)
{
    for (size_t i = 0; world.calls[i].name[0]; i++)
        if (strcmp(world.calls[i].name, function) == 0)
            return world.calls[i].n;
    return 0;
}

static unsigned fake_misuse(void)
{
    return world.misuse;
}

FAKE const struct fake_papi *fake_papi(void);

const struct fake_papi *fake_papi(void)
{
    static const struct fake_papi f = {
        .advance = fake_advance,
        .fail = fake_fail,
        .deny_kernel = fake_deny_kernel,
        .occupy = fake_occupy,
        .turn_back = fake_turn_back,
        .sets = fake_sets,
        .running = fake_running,
        .calls = fake_calls,
        .misuse = fake_misuse,
    };
    return &f;
}
