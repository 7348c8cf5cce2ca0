/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the library against the truth of a modelled machine. Place: tests. Before it: the sweeps; after it: upmu_set
 * over the model's kernel.
 *
 * A number may be exact, and then is the truth to the last count; or scaled, and then lies where the load allows; or there
 * is no number, and a reason for it. What the name means is looked up in three places, each as far as it knows: the
 * facts kept with the driver model, the machine code that the library says it programs, and what the kernel makes of it.
 */
#include "trial.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/event.h"
#include "core/machine.h"
#include "upmu/upmu.h"

enum { EVENTS = 64 };

static const struct model_machine *machine;

void trial_machine(const struct model_machine *on, const char *recordings)
{
    machine = on;
    model_begin(on, recordings, MODEL_STEADY);
    core_kernel_use(model_kernel());
    machine_forget();
}

/* ------------------------------------------------------------------------------------------- what is true */

/* One event of a set under trial. */
struct subject {
    const struct trial *trial;
    const char *name; /* as counted */
    struct upmu_value value;
    const char *reason;
    struct event event;
    int resolved;
    unsigned modes;
};

static unsigned modes_of(const char *name)
{
    const char *colon = strrchr(name, ':');
    if (!colon || (colon > name && colon[-1] == ':'))
        return MODEL_ALL_MODES;
    return (strchr(colon, 'u') ? MODEL_USER : 0) | (strchr(colon, 'k') ? MODEL_KERNEL : 0);
}

static bool is_software(const struct subject *s)
{
    return s->event.class == EVENT_SOFTWARE;
}

/* Counts of a machine event in the time that was counted. It is the same event on all kinds of cores. */
static uint64_t truth(const struct subject *s, enum model_load load, uint64_t code)
{
    uint64_t (*count)(enum model_load, uint64_t, unsigned, uint64_t) = is_software(s) ? load_software : load_count;
    uint64_t from = s->trial->before_us, to = from + s->trial->run_us;
    uint64_t n = count(load, code, s->modes, to) - count(load, code, s->modes, from);
    if (s->trial->flags & UPMU_SET_INHERIT)
        n += count(load, code, s->modes, s->trial->child_us);
    return n;
}

static unsigned kinds(void)
{
    unsigned n = 1;
    while (n < MODEL_KINDS_MAX && machine->pmus[n].driver)
        n++;
    return n;
}

static const uint64_t *documented(const struct subject *s)
{
    size_t length = strcspn(s->event.name, ":");
    const struct model_driver *driver = machine->pmus[0].driver;
    if (s->event.grade != UPMU_GRADE_EXACT)
        return NULL;
    for (size_t i = 0; i < driver->n_facts; i++)
        if (strlen(driver->facts[i].name) == length && strncmp(driver->facts[i].name, s->event.name, length) == 0)
            return &driver->facts[i].code;
    return NULL;
}

/* The machine event that the library says it counts. @return whether it says. */
static bool claimed(const struct subject *s, uint64_t *code)
{
    bool generic = s->event.type == KERNEL_TYPE_HARDWARE || s->event.type == KERNEL_TYPE_HW_CACHE;
    uint64_t meaning = machine->pmus[0].driver->raw_meaning;
    *code = generic ? s->event.machine_code : s->event.config & (meaning ? meaning : UINT64_MAX);
    return !generic || s->event.machine_code != UINT64_MAX;
}

/* A code that the CPU lacks counts 0 on some kernels, and nothing tells it from a quiet event. A name for such a code
 * must be marked approximate, and say so. */
static bool cannot_be_told(const struct subject *s, const struct model_code *kernel)
{
    size_t digits = s->name[0] == 'r' ? strspn(s->name + 1, "0123456789abcdef") : 0;
    bool own = digits > 0 && (s->name[1 + digits] == ':' || s->name[1 + digits] == '\0');
    bool marked = s->event.grade == UPMU_GRADE_APPROXIMATE && s->event.note[0] != '\0';
    return kernel->code >= machine->pmus[0].driver->told && (own || marked);
}

/* What the kernel counts if it takes the event. @return 0 or -errno. */
static int programmed(const struct subject *s, struct model_code *code)
{
    const struct kernel_open req = {.type = s->event.type, .config = s->event.config, .config1 = s->event.config1};
    int rc = -ENOENT;
    for (unsigned k = 0; k < MODEL_KINDS_MAX && machine->pmus[k].driver && rc == -ENOENT; k++)
        rc = model_decode(&machine->pmus[k], &req, code);
    return rc;
}

/* ------------------------------------------------------------------------------------------------ judging */

static bool near_truth(const struct subject *s, uint64_t code)
{
    if (s->value.standing == UPMU_EXACT)
        return s->value.value == truth(s, s->trial->load, code);
    uint64_t steady = truth(s, MODEL_STEADY, code);
    uint64_t slack = steady / 1000000 + 1;
    uint64_t most = steady * load_factor_max(s->trial->load) + slack;
    return s->value.value + slack >= steady && s->value.value <= most;
}

/* Codes are told apart by their lower part where the upper one is the model's own. */
static bool same_code(uint64_t programmed_code, uint64_t claim)
{
    return (programmed_code & ((UINT64_C(1) << 40) - 1)) == claim;
}

static const char *judge_number(const struct subject *s, struct trial_sums *sums)
{
    struct model_code kernel;
    uint64_t code;
    const uint64_t *fact = documented(s);
    if (is_software(s))
        return near_truth(s, s->event.config) ? NULL : "not what happened";
    if (fact && !near_truth(s, *fact))
        return "not what the name means";
    sums->known += fact != NULL;
    int rc = programmed(s, &kernel);
    if (rc != 0)
        return "a number of an event that the kernel does not take";
    if (kernel.nothing && cannot_be_told(s, &kernel)) {
        sums->untold++;
        return s->value.raw == 0 || kinds() > 1 ? NULL : "counts of what does not exist";
    }
    if (claimed(s, &code) && !near_truth(s, same_code(kernel.code, code) ? kernel.code : code))
        return "not what the library says it counts";
    return near_truth(s, kernel.code) ? NULL : "not what happened";
}

static const char *judge_times(const struct subject *s)
{
    bool exact = s->value.standing == UPMU_EXACT;
    if (exact && s->value.running < s->value.enabled)
        return "exact, yet not counted all the time";
    if (!exact && (s->value.running == 0 || s->value.running >= s->value.enabled))
        return "scaled without a reason";
    return NULL;
}

/* An event may go without a count only if no kernel could have given it one. */
static const char *judge_not_counted(const struct subject *s)
{
    struct model_code kernel;
    if (s->event.zero_unsure && s->value.value == UPMU_NO_VALUE && s->reason[0])
        return s->value.raw == 0 && programmed(s, &kernel) == 0 && kernel.nothing ? NULL : "doubted without a reason";
    if (s->value.value != UPMU_NO_VALUE || s->value.running != 0)
        return "a number for what was not counted";
    if (s->resolved == 0 && !is_software(s) && programmed(s, &kernel) == 0 && kernel.counters != 0)
        return "starved";
    return NULL;
}

static const char *judge(const struct subject *s, struct trial_sums *sums)
{
    const char *complaint;
    switch (s->value.standing) {
    case UPMU_EXACT:
    case UPMU_SCALED:
        sums->exact += s->value.standing == UPMU_EXACT;
        sums->scaled += s->value.standing == UPMU_SCALED;
        complaint = judge_times(s);
        return complaint ? complaint : judge_number(s, sums);
    case UPMU_NOT_COUNTED:
        sums->not_counted++;
        return judge_not_counted(s);
    default:
        sums->refused++;
        if (s->value.value != UPMU_NO_VALUE)
            return "a number for what was refused";
        return s->reason[0] == '\0' || s->value.cause == 0 ? "refused without a reason" : NULL;
    }
}

/* ------------------------------------------------------------------------------------------------ running */

static void report(const struct trial *trial, const struct subject *s, const char *complaint)
{
    struct model_code kernel = {.code = 0};
    bool taken = programmed(s, &kernel) == 0;
    printf("%s: '%s' of '%s' (load %d, flags 0x%x, %" PRIu64 "+%" PRIu64 "+%" PRIu64 " us): %s\n", machine->name,
           s->name, trial->events, trial->load, trial->flags, trial->before_us, trial->run_us, trial->child_us,
           complaint);
    printf("    %s %" PRIu64 " (%" PRIu64 " of %" PRIu64 " ns), type %u config 0x%" PRIx64, //
           upmu_standing_name(s->value.standing), s->value.value, s->value.running, s->value.enabled, s->event.type,
           s->event.config);
    if (taken)
        printf(", the kernel's 0x%" PRIx64 " is %" PRIu64, kernel.code, truth(s, trial->load, kernel.code));
    printf("%s%s\n", s->reason[0] ? ": " : "", s->reason);
}

/* Somebody else's events, each in a group of its own; which do not matter as long as they want counters. */
static void open_rivals(unsigned n, int *fds)
{
    for (unsigned i = 0; i < n; i++) {
        const struct kernel_open req = {.type = KERNEL_TYPE_RAW, .config = 0xc0 + i, .cpu = -1, .group_fd = -1};
        fds[i] = model_kernel()->open(&req);
    }
}

static void close_rivals(unsigned n, const int *fds)
{
    for (unsigned i = 0; i < n; i++)
        if (fds[i] >= 0)
            model_kernel()->close(fds[i]);
}

static bool run_set(struct upmu_set *set, const struct trial *trial, struct upmu_value *values)
{
    int rivals[EVENTS];
    bool ok = upmu_set_start(set) == 0;
    if (trial->before_us) {
        model_run(trial->before_us, 0);
        ok = ok && upmu_set_reset(set) == 0;
    }
    open_rivals(trial->rivals, rivals);
    for (unsigned kind = 0, left = kinds(); left > 0; kind++, left--)
        model_run(left > 1 ? trial->run_us / kinds() : trial->run_us - trial->run_us / kinds() * kind, kind);
    if (trial->child_us)
        model_run_child(trial->child_us, 0);
    ok = ok && upmu_set_read(set, values, EVENTS) >= 0;
    struct upmu_value again[EVENTS];
    ok = ok && upmu_set_stop(set) == 0 && upmu_set_read(set, again, EVENTS) >= 0;
    for (size_t i = 0; ok && i < upmu_set_size(set); i++)
        ok = values[i].value == again[i].value && values[i].standing == again[i].standing;
    close_rivals(trial->rivals, rivals);
    return ok;
}

static void judge_set(const struct upmu_set *set, const struct trial *trial, const struct upmu_value *values,
                      struct trial_sums *sums, unsigned show)
{
    for (size_t i = 0; i < upmu_set_size(set); i++) {
        struct subject s = {.trial = trial, .name = upmu_set_name(set, i), .value = values[i]};
        s.reason = upmu_set_reason(set, i);
        s.resolved = event_resolve(s.name, &s.event);
        s.modes = modes_of(s.name);
        const char *complaint = judge(&s, sums);
        if (complaint && sums->wrong++ < show)
            report(trial, &s, complaint);
    }
}

void trial_run(const struct trial *trial, struct trial_sums *sums, unsigned show)
{
    struct upmu_set *set;
    struct upmu_value values[EVENTS];
    const struct upmu_set_opts opts = {.size = sizeof opts, .flags = trial->flags};
    model_rewind(trial->load);
    sums->sets++;
    int rc = upmu_set_open(&set, trial->events, &opts);
    if (rc < 0) {
        if (sums->wrong++ < show)
            printf("%s: '%s' cannot be opened: %s\n", machine->name, trial->events, upmu_error());
        return;
    }
    if (run_set(set, trial, values)) {
        judge_set(set, trial, values, sums, show);
    } else if (sums->wrong++ < show) {
        printf("%s: '%s' cannot be counted, or changes when stopped: %s\n", machine->name, trial->events, upmu_error());
    }
    upmu_set_close(set);
    if (model_open_now() != 0 || model_oopses() != 0) {
        printf("%s: '%s' leaves %zu events open, crashes the kernel %u times\n", machine->name, trial->events,
               model_open_now(), model_oopses());
        exit(EXIT_FAILURE);
    }
}
