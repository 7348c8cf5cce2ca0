/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the library compared with the truth of a modeled machine.
 *
 * A number may be exact, and then equals the truth; or scaled, and then lies where the load allows; or there is no number,
 * and a reason for it. The meaning of a name comes from three sources, as far as each has it: the facts kept with the
 * driver model, the raw encoding that the library reports, and what the kernel makes of it.
 */
#include "trial.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names/event.h"
#include "core/formula/formula.h"
#include "core/machine/machine.h"
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
    struct event event;                   /* on the first core type */
    struct event others[MODEL_KINDS_MAX]; /* on the core type of that number; the first one is empty */
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

static unsigned kinds(void)
{
    unsigned n = 1;
    while (n < MODEL_KINDS_MAX && machine->pmus[n].driver)
        n++;
    return n;
}

/* The event as a core type has it. One that is of the first PMU alone is estimated for the other types from there. */
static const struct event *event_on(const struct subject *s, unsigned kind)
{
    return kind == 0 || !s->event.each_core_type ? &s->event : &s->others[kind];
}

/* When the thread left a core type: each has its part of the time, one after the other. */
static uint64_t end_of_kind(const struct trial *trial, unsigned kind)
{
    return kind + 1 == kinds() ? trial->run_us : trial->run_us / kinds() * (kind + 1);
}

/* Machine events by core type. */
struct codes {
    uint64_t of[MODEL_KINDS_MAX];
};

static struct codes same_on_all(uint64_t code)
{
    struct codes c;
    for (unsigned k = 0; k < MODEL_KINDS_MAX; k++)
        c.of[k] = code;
    return c;
}

/* Counts of a machine event in the time on one core type. The child ran on the first one. */
static uint64_t truth_on(const struct subject *s, enum model_load load, unsigned kind, uint64_t code)
{
    uint64_t (*count)(enum model_load, uint64_t, unsigned, uint64_t) = is_software(s) ? load_software : load_count;
    uint64_t from = s->trial->before_us + (kind ? end_of_kind(s->trial, kind - 1) : 0);
    uint64_t to = s->trial->before_us + end_of_kind(s->trial, kind);
    uint64_t n = count(load, code, s->modes, to) - count(load, code, s->modes, from);
    bool child = kind == 0 && (s->trial->flags & UPMU_SET_INHERIT);
    return child ? n + count(load, code, s->modes, s->trial->child_us) : n;
}

/* Counts of machine events in the time that was counted. */
static uint64_t truth(const struct subject *s, enum model_load load, const struct codes *codes)
{
    uint64_t n = 0;
    for (unsigned k = 0; k < kinds(); k++)
        n += truth_on(s, load, k, codes->of[k]);
    return n;
}

static const uint64_t *documented(const struct subject *s, unsigned kind)
{
    size_t length = strcspn(s->event.name, ":");
    const struct model_driver *driver = machine->pmus[kind].driver;
    if (event_on(s, kind)->match != UPMU_MATCH_EXACT)
        return NULL;
    for (size_t i = 0; i < driver->n_facts; i++)
        if (strlen(driver->facts[i].name) == length && strncmp(driver->facts[i].name, s->event.name, length) == 0)
            return &driver->facts[i].code;
    return NULL;
}

static bool is_generic(const struct event *e)
{
    return e->type == KERNEL_TYPE_HARDWARE || e->type == KERNEL_TYPE_HW_CACHE;
}

/* The machine event that the library reports to count. @return whether it reports one. */
static bool claimed(const struct event *e, unsigned kind, uint64_t *code)
{
    uint64_t meaning = machine->pmus[kind].driver->raw_meaning;
    *code = is_generic(e) ? e->raw_encoding : e->config & (meaning ? meaning : UINT64_MAX);
    return !is_generic(e) || e->raw_encoding != UINT64_MAX;
}

/* A code that the CPU lacks counts 0 on some kernels, and looks like a quiet event. A name for such a code
 * must be marked approximate, with the reason. */
static bool cannot_be_verified(const struct subject *s, const struct model_code *kernel)
{
    size_t digits = s->name[0] == 'r' ? strspn(s->name + 1, "0123456789abcdef") : 0;
    bool own = digits > 0 && (s->name[1 + digits] == ':' || s->name[1 + digits] == '\0');
    bool marked = s->event.match == UPMU_MATCH_APPROXIMATE && s->event.note[0] != '\0';
    return kernel->code >= machine->pmus[0].driver->listed && (own || marked);
}

/* Guests are left out where the kernel takes no other events. */
static uint32_t guests_left_out(const struct event *e)
{
    return machine_core_type(e->core)->family->counters.host_only ? UPMU_EXCLUDE_GUEST : 0;
}

/* What the kernel counts if it takes the event; a generic one may name its PMU in the upper half. @return 0 or -errno. */
static int programmed(const struct event *e, struct model_code *code)
{
    uint32_t pmu = is_generic(e) ? (uint32_t)(e->config >> 32) : 0;
    const struct kernel_open req = {.type = e->type,
                                    .config = pmu ? e->config & UINT32_MAX : e->config,
                                    .config1 = e->config1,
                                    .exclude = guests_left_out(e)};
    int rc = -ENOENT;
    for (unsigned k = 0; k < kinds() && rc == -ENOENT; k++)
        if (pmu == 0 || machine->pmus[k].type == pmu)
            rc = model_decode(&machine->pmus[k], &req, code);
    return rc;
}

/* ------------------------------------------------------------------------------------------ derived events */

/* What a derived event truly is: the weighted sum of its terms, and bounds of an estimate. */
struct derived_truth {
    int64_t exact, least, most;
    bool nothing; /* a term that the CPU does not have */
    bool starved; /* a term that is never on a counter */
};

/* The machine event that the library reports to program for a term, or the kernel's if that is the same or not reported. */
static uint64_t term_code(const struct event *part, unsigned kind, const struct model_code *kernel)
{
    uint64_t claim;
    return !claimed(part, kind, &claim) || (kernel->code & ((UINT64_C(1) << 40) - 1)) == claim ? kernel->code : claim;
}

/* @return whether the kernel takes the term. */
static bool add_term(const struct subject *s, unsigned kind, const struct event *part, int32_t weight,
                     struct derived_truth *sum)
{
    struct model_code kernel;
    if (programmed(part, &kernel) != 0)
        return false;
    const struct codes alone = same_on_all(term_code(part, kind, &kernel));
    int64_t exact = kernel.nothing ? 0 : (int64_t)truth_on(s, s->trial->load, kind, alone.of[0]);
    int64_t steady = kernel.nothing ? 0 : (int64_t)truth(s, MODEL_STEADY, &alone), slack = steady / 1000000 + 1;
    int64_t least = steady - slack, most = steady * (int64_t)load_factor_max(s->trial->load) + slack;
    sum->exact += weight * exact;
    sum->least += weight * (weight > 0 ? least : most);
    sum->most += weight * (weight > 0 ? most : least);
    sum->nothing |= kernel.nothing;
    sum->starved |= kernel.counters == 0;
    return true;
}

/* The sum on one core type, which may have an event of its own for it. */
static bool add_kind(const struct subject *s, unsigned kind, struct derived_truth *sum)
{
    const struct event *e = event_on(s, kind);
    const struct machine *m = machine_core_type(kind);
    struct formula_term terms[FORMULA_TERMS_MAX];
    int n = e->formula ? formula_terms(m, e->formula, terms) : 0;
    if (n == 0)
        return add_term(s, kind, e, 1, sum);
    for (int i = 0; i < n; i++) {
        struct event part;
        if (formula_resolve_term(m, &terms[i], e, &part) != 0 || !add_term(s, kind, &part, terms[i].weight, sum))
            return false;
    }
    return n > 0;
}

static bool is_derived(const struct subject *s)
{
    for (unsigned k = 0; k < kinds(); k++)
        if (event_on(s, k)->formula)
            return true;
    return false;
}

static bool derived_truth(const struct subject *s, struct derived_truth *sum)
{
    *sum = (struct derived_truth){.least = INT64_MAX, .most = INT64_MIN};
    for (unsigned k = 0; k < kinds(); k++) {
        struct derived_truth of_type = {0};
        if (!add_kind(s, k, &of_type))
            return false;
        sum->exact += of_type.exact;
        sum->least = of_type.least < sum->least ? of_type.least : sum->least;
        sum->most = of_type.most > sum->most ? of_type.most : sum->most;
        sum->nothing |= of_type.nothing;
        sum->starved |= of_type.starved;
    }
    return true;
}

static const char *judge_derived(const struct subject *s, struct trial_sums *sums)
{
    struct derived_truth sum;
    sums->derived++;
    if (!derived_truth(s, &sum))
        return "a number of a formula that the kernel does not take";
    if (s->value.status == UPMU_EXACT)
        return (int64_t)s->value.value == sum.exact ? NULL : "not the sum of its terms";
    bool within = (int64_t)s->value.value >= sum.least && (int64_t)s->value.value <= sum.most;
    return within ? NULL : "not near the sum of its terms";
}

static const char *judge_derived_not_counted(const struct subject *s)
{
    struct derived_truth sum;
    if (s->value.value != UPMU_NO_VALUE || s->reason[0] == '\0')
        return s->value.running ? "no number, and no reason" : NULL;
    if (!derived_truth(s, &sum))
        return "not counted, though the kernel does not take it";
    if (s->value.cause == UPMU_E_RANGE)
        return sum.least < 0 || sum.exact < 0 ? NULL : "out of range without a reason";
    return sum.nothing || sum.starved ? NULL : "doubted without a reason";
}

/* ------------------------------------------------------------------------------------------------ judging */

/* An estimate lies between those for the events of single core types: it is not known how long each type waited. */
static bool near_truth(const struct subject *s, const struct codes *codes)
{
    if (s->value.status == UPMU_EXACT)
        return s->value.value == truth(s, s->trial->load, codes);
    uint64_t least = UINT64_MAX, most = 0;
    for (unsigned k = 0; k < kinds(); k++) {
        const struct codes alone = same_on_all(codes->of[k]);
        uint64_t steady = truth(s, MODEL_STEADY, &alone);
        least = steady < least ? steady : least;
        most = steady > most ? steady : most;
    }
    uint64_t slack = most / 1000000 + 1;
    return s->value.value + slack >= least && s->value.value <= most * load_factor_max(s->trial->load) + slack;
}

/* Codes are distinguished by their lower part where the upper one is the model's own. */
static bool same_code(uint64_t programmed_code, uint64_t claim)
{
    return (programmed_code & ((UINT64_C(1) << 40) - 1)) == claim;
}

/* What is known of an event's machine events, each as far as it is known for all core types. */
struct known {
    struct codes facts, claims, kernel;
    bool documented, claimed;
};

/* @return what is wrong with the event on a core type, or NULL */
static const char *find_known(const struct subject *s, struct known *k, bool *unverified)
{
    *k = (struct known){.documented = true, .claimed = true};
    *unverified = false;
    for (unsigned kind = 0; kind < kinds(); kind++) {
        const struct event *e = event_on(s, kind);
        const uint64_t *fact = documented(s, e == &s->event ? 0 : kind);
        struct model_code code;
        k->documented = k->documented && fact;
        k->facts.of[kind] = fact ? *fact : 0;
        if (programmed(e, &code) != 0)
            return "a number of an event that the kernel does not take";
        *unverified = *unverified || (kind == 0 && code.nothing && cannot_be_verified(s, &code));
        k->kernel.of[kind] = code.code;
        uint64_t claim;
        k->claimed = claimed(e, e == &s->event ? 0 : kind, &claim) && k->claimed;
        k->claims.of[kind] = same_code(code.code, claim) ? code.code : claim;
    }
    return NULL;
}

static const char *judge_number(const struct subject *s, struct trial_sums *sums)
{
    struct known known;
    bool unverified;
    const struct codes software = same_on_all(s->event.config);
    if (is_derived(s))
        return judge_derived(s, sums);
    if (is_software(s))
        return near_truth(s, &software) ? NULL : "not what happened";
    const char *wrong = find_known(s, &known, &unverified);
    if (known.documented && !near_truth(s, &known.facts))
        return "not what the name means";
    sums->known += known.documented;
    if (wrong)
        return wrong;
    if (unverified) {
        sums->unverified++;
        return s->value.raw == 0 || kinds() > 1 ? NULL : "counts of what does not exist";
    }
    if (known.claimed && !near_truth(s, &known.claims))
        return "not what the library reports to count";
    return near_truth(s, &known.kernel) ? NULL : "not what happened";
}

static const char *judge_times(const struct subject *s)
{
    bool exact = s->value.status == UPMU_EXACT;
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
    if (is_derived(s))
        return judge_derived_not_counted(s);
    if (s->event.zero_unsure && s->value.value == UPMU_NO_VALUE && s->reason[0])
        return s->value.raw == 0 && programmed(&s->event, &kernel) == 0 && kernel.nothing ? NULL
                                                                                          : "doubted without a reason";
    if (s->value.value != UPMU_NO_VALUE || s->value.running != 0)
        return "a number for what was not counted";
    if (s->resolved == 0 && !is_software(s) && programmed(&s->event, &kernel) == 0 && kernel.counters != 0)
        return "starved";
    return NULL;
}

static const char *judge(const struct subject *s, struct trial_sums *sums)
{
    const char *complaint;
    switch (s->value.status) {
    case UPMU_EXACT:
    case UPMU_SCALED:
        sums->exact += s->value.status == UPMU_EXACT;
        sums->scaled += s->value.status == UPMU_SCALED;
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
    struct codes codes = {{0}};
    bool taken = true;
    for (unsigned k = 0; k < kinds(); k++) {
        struct model_code kernel = {.code = 0};
        taken = programmed(event_on(s, k), &kernel) == 0 && taken;
        codes.of[k] = kernel.code;
    }
    printf("%s: '%s' of '%s' (load %d, flags 0x%x, %" PRIu64 "+%" PRIu64 "+%" PRIu64 " us): %s\n", machine->name,
           s->name, trial->events, trial->load, trial->flags, trial->before_us, trial->run_us, trial->child_us,
           complaint);
    printf("    %s %" PRIu64 " (%" PRIu64 " of %" PRIu64 " ns), type %u config 0x%" PRIx64, //
           upmu_status_name(s->value.status), s->value.value, s->value.running, s->value.enabled, s->event.type,
           s->event.config);
    if (taken)
        printf(", the kernel's 0x%" PRIx64 " is %" PRIu64, codes.of[0], truth(s, trial->load, &codes));
    printf("%s%s\n", s->reason[0] ? ": " : "", s->reason);
}

/* Events of another process, each in a group of its own; any that need counters will do. */
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
    for (unsigned kind = 0; kind < kinds(); kind++)
        model_run(end_of_kind(trial, kind) - (kind > 0 ? end_of_kind(trial, kind - 1) : 0), kind);
    if (trial->child_us)
        model_run_child(trial->child_us, 0);
    ok = ok && upmu_set_read(set, values, EVENTS) >= 0;
    struct upmu_value again[EVENTS];
    ok = ok && upmu_set_stop(set) == 0 && upmu_set_read(set, again, EVENTS) >= 0;
    for (size_t i = 0; ok && i < upmu_set_event_count(set); i++)
        ok = values[i].value == again[i].value && values[i].status == again[i].status;
    close_rivals(trial->rivals, rivals);
    return ok;
}

static void judge_set(const struct upmu_set *set, const struct trial *trial, const struct upmu_value *values,
                      struct trial_sums *sums, unsigned show)
{
    for (size_t i = 0; i < upmu_set_event_count(set); i++) {
        struct subject s = {.trial = trial, .name = upmu_set_name(set, i), .value = values[i]};
        s.reason = upmu_set_reason(set, i);
        s.resolved = event_resolve(s.name, &s.event);
        for (unsigned k = 1; k < kinds() && s.resolved == 0 && s.event.each_core_type; k++)
            s.resolved = event_resolve_on(machine_core_type(k), s.name, &s.others[k]);
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
