/* SPDX-License-Identifier: MIT */
/*
 * Diagnosis of this machine for upmu_diagnose(): what works, and remedies for what does not.
 *
 * Settings are not trusted where a trial is possible: events are opened, counted, mapped and closed. A remedy is
 * reported only if a test has applied it (tests/cli/remedies.sh, tests/guests/programs/remedies.c).
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/process/environment.h"
#include "base/error.h"
#include "doctor/skew.h"
#include "base/spare.h"
#include "base/text/textbuf.h"
#include "core/backend.h"
#include "core/set/counters.h"
#include "core/check/refusal.h"
#include "core/machine/machine.h"
#include "core/machine/machine_snapshot.h"
#include "core/check/self_check.h"
#include "core/check/self_check_counters.h"

enum { CLOCK_FIT_NS = 10 * 1000 * 1000, SKEW_NS = 200 * 1000 * 1000 };

/** State of one diagnosis. */
struct doctor {
    const struct kernel_ops *k;
    int (*found)(const struct upmu_diagnosis *finding, void *arg);
    void *arg;
};

/* Passes a finding to the callback of upmu_diagnose(). @return what that returned. */
static int doctor_report(const struct doctor *d, const char *topic, int state, const char *remedy, const char *fmt, ...)
    UPMU_PRINTF(5, 6);

static int doctor_report(const struct doctor *d, const char *topic, int state, const char *remedy, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct upmu_diagnosis finding = {.topic = topic, .state = state, .text = text, .remedy = remedy};
    return d->found(&finding, d->arg);
}

static int doctor_report_failure(const struct doctor *d, const char *topic, int state, int err,
                                 const struct explain_context *c)
{
    struct explanation e;
    explain_open(d->k, err, c, &e);
    return doctor_report(d, topic, state, e.remedy, "%s: %s", c->event, e.cause);
}

/* Open a trial event of the calling thread. @return the descriptor, or -errno. */
static int doctor_open(const struct doctor *d, uint32_t type, uint64_t config, bool with_kernel)
{
    struct kernel_open req = {
        .type = type,
        .exclude = (with_kernel ? 0 : UPMU_EXCLUDE_KERNEL) |
                   (machine_get()->family->counters.host_only ? UPMU_EXCLUDE_GUEST : 0),
        .config = config,
        .config1 = type == KERNEL_TYPE_HARDWARE ? machine_get()->user_read_config1 : 0,
        .cpu = -1,
        .group_fd = -1,
    };
    return d->k->open(&req);
}

/* ---------------------------------------------------------------------------------------------- cpu and pmu */

/* The CPU's name from the kernel; Arm kernels print only numbers, so the table's title is used. */
static const char *doctor_cpu_name(const struct machine *m, bool known)
{
    if (m->cpu.model_name[0])
        return m->cpu.model_name;
    if (m->cpu.cpu_model[0])
        return m->cpu.cpu_model;
    return known ? m->family->title : "unrecognized CPU";
}

/* Core types other than the first processor's. */
static void doctor_other_core_types(const struct machine *m, char *text, size_t cap)
{
    text[0] = '\0';
    for (unsigned k = 0; k < m->cpu.n_core_ids && cap > 0; k++) {
        const struct arch_family *f = arch_family_of_core_id(&m->cpu, k);
        int n = f == m->family || f->behind_others == m->family
                    ? 0
                    : snprintf(text, cap, "; further core type: table '%s' (%s)", f->name, f->title);
        size_t used = n > 0 && (size_t)n < cap ? (size_t)n : 0;
        text += used;
        cap -= used;
    }
    /* Core types that /proc/cpuinfo does not show, but the PMUs do. */
    for (unsigned k = 1; k < m->n_core_types && m->cpu.n_core_ids == 0 && cap > 0; k++) {
        const struct machine *other = machine_core_type(k);
        int n = snprintf(text, cap, "; cores of %s: table '%s' (%s)", other->core_pmu, other->family->name,
                         other->family->title);
        size_t used = n > 0 && (size_t)n < cap ? (size_t)n : 0;
        text += used;
        cap -= used;
    }
}

static int topic_cpu(const struct doctor *d)
{
    const struct machine *m = machine_get();
    bool known = strcmp(m->family->name, "generic") != 0;
    const char *name = doctor_cpu_name(m, known);
    char remark[512] = "", others[256], title[128] = "";
    if (name != m->family->title)
        snprintf(title, sizeof title, " (%s)", m->family->title);
    if (m->family->remark[0])
        snprintf(remark, sizeof remark, "; %s", m->family->remark);
    doctor_other_core_types(m, others, sizeof others);
    return doctor_report(
        d, "cpu", known ? UPMU_DIAGNOSIS_OK : UPMU_DIAGNOSIS_LIMITED, "", "%s%s, table '%s'%s%s%s%s", name,
        m->cpu.hypervisor ? " in a virtual machine" : "", m->family->name, title, others, remark,
        known ? "" : "; events other than perf generic ones have native:: names, raw encodings or the PMU's own names");
}

/* As found on the recorded machine itself, which could query its CPU; otherwise from the files. */
static int topic_identity(const struct doctor *d)
{
    static const char topic[] = "identity";
    const struct machine *m = machine_get();
    bool recorded = false;
    int rc = machine_snapshot_in_use() ? machine_snapshot_findings_if_any(topic, d->found, d->arg, &recorded) : 0;
    if (recorded)
        return rc;
    return doctor_report(d, topic, m->identity_doubted ? UPMU_DIAGNOSIS_LIMITED : UPMU_DIAGNOSIS_OK, "", "%s",
                         m->identity);
}

/* An events folder also contains files with scales and units. */
static int doctor_count_event(const char *name, void *arg)
{
    size_t *n = arg;
    *n += strchr(name, '.') == NULL;
    return 0;
}

struct pmu_walk {
    const struct doctor *d;
    size_t seen;
};

static int doctor_report_pmu(const char *name, void *arg)
{
    struct pmu_walk *walk = arg;
    char path[320];
    uint32_t type;
    size_t events = 0;
    walk->seen++;
    if (machine_pmu_type(name, &type) < 0)
        return doctor_report(walk->d, "pmu", UPMU_DIAGNOSIS_LIMITED, "", "%s: its type cannot be read", name);
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/events", name);
    int rc = walk->d->k->list_dir(path, doctor_count_event, &events);
    if (rc < 0 && rc != -ENOENT)
        return doctor_report(walk->d, "pmu", UPMU_DIAGNOSIS_LIMITED, "",
                             "%s: type %u, its events cannot be listed (%s)", name, type, upmu_errno_name(-rc));
    return doctor_report(walk->d, "pmu", UPMU_DIAGNOSIS_INFO, "", "%s: type %u, %zu named events", name, type, events);
}

static int topic_pmu(const struct doctor *d)
{
    struct pmu_walk walk = {.d = d};
    int rc = d->k->list_dir(MACHINE_PMU_DIR, doctor_report_pmu, &walk);
    /* A callback's non-zero return stops the walk and may look like an errno: `seen` distinguishes them. */
    if (walk.seen > 0)
        return rc;
    return doctor_report(d, "pmu", UPMU_DIAGNOSIS_MISSING, "Mount sysfs with 'mount -t sysfs sysfs /sys'",
                         MACHINE_PMU_DIR " lists no PMU (%s)", rc < 0 ? upmu_errno_name(-rc) : "empty");
}

/* -------------------------------------------------------------------------------------------- counting at all */

/* Some work that the compiler cannot remove: the counter must have moved afterwards. */
static void doctor_work(void)
{
    for (volatile unsigned i = 0; i < 100000; i++)
        ;
}

/* Read one event after some work. @return 0, -errno; -EIO for a short read. */
static int doctor_read_after_work(const struct doctor *d, int fd, uint64_t words[KERNEL_READ_ONE_WORDS])
{
    const ssize_t want = (ssize_t)(KERNEL_READ_ONE_WORDS * sizeof *words);
    doctor_work();
    ssize_t n = d->k->read(fd, words, (size_t)want);
    if (n < 0)
        return (int)n;
    return n == want ? 0 : -EIO;
}

static int topic_hardware(const struct doctor *d)
{
    static const char topic[] = "hardware-counters";
    uint64_t words[KERNEL_READ_ONE_WORDS];
    int fd = doctor_open(d, KERNEL_TYPE_HARDWARE, 0, false);
    if (fd < 0) {
        struct explain_context c = {.event = "cycles", .type = KERNEL_TYPE_HARDWARE, .cpu = -1};
        return doctor_report_failure(d, topic, UPMU_DIAGNOSIS_MISSING, fd, &c);
    }
    int rc = doctor_read_after_work(d, fd, words);
    d->k->close(fd);
    if (rc < 0)
        return doctor_report(d, topic, UPMU_DIAGNOSIS_MISSING, "", "cycles opens but cannot be read (%s)",
                             upmu_errno_name(-rc));
    if (words[2] == 0)
        return doctor_report(
            d, topic, UPMU_DIAGNOSIS_LIMITED, "Stop the other users of the PMU",
            "cycles opens but gets no counter: others hold all of them (perf, oprofile, the NMI watchdog)");
    if (words[0] == 0)
        return doctor_report(d, topic, UPMU_DIAGNOSIS_MISSING, "", "cycles is enabled, but its counter does not count");
    unsigned claimed = machine_get()->family->counters.general;
    unsigned working = machine_get()->cpu.hypervisor ? self_check_counters(claimed) : claimed;
    if (working < claimed)
        return doctor_report(d, topic, UPMU_DIAGNOSIS_LIMITED, "",
                             "cycles opens and counts; %u of %u counters count known work, and only those are used",
                             working, claimed);
    return doctor_report(d, topic, UPMU_DIAGNOSIS_OK, "", "cycles opens and counts");
}

static const char *yes_no_unknown(enum known answer)
{
    return answer == KNOWN_YES ? "yes" : answer == KNOWN_NO ? "no" : "unknown";
}

static int topic_permission(const struct doctor *d)
{
    struct explain_context c = {.event = "page-faults", .type = KERNEL_TYPE_SOFTWARE, .cpu = -1};
    struct permissions p;
    char facts[160], paranoid[24] = "not readable";
    permissions_read(d->k, &p);
    if (p.paranoid_known)
        snprintf(paranoid, sizeof paranoid, "%d", p.paranoid);
    snprintf(facts, sizeof facts, "kernel.perf_event_paranoid %s, CAP_PERFMON %s%s, seccomp filter %s", paranoid,
             yes_no_unknown(p.capable), p.contained_capability ? "(only in this container)" : "",
             yes_no_unknown(p.seccomp));
    int fd = doctor_open(d, c.type, KERNEL_SW_PAGE_FAULTS, false);
    if (fd < 0)
        return doctor_report_failure(d, "permission", UPMU_DIAGNOSIS_MISSING, fd, &c);
    d->k->close(fd);
    fd = doctor_open(d, c.type, KERNEL_SW_PAGE_FAULTS, true);
    if (fd >= 0) {
        d->k->close(fd);
        return doctor_report(d, "permission", UPMU_DIAGNOSIS_OK, "", "user and kernel mode may be counted (%s)", facts);
    }
    struct explanation e;
    c.wants_kernel = true;
    explain_open(d->k, fd, &c, &e);
    return doctor_report(d, "permission", UPMU_DIAGNOSIS_LIMITED, e.remedy, "only user mode may be counted (%s)",
                         facts);
}

/* -------------------------------------------------------------------------------------- without a system call */

static int doctor_report_no_user_read(const struct doctor *d)
{
    char path[160];
    long value;
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/rdpmc", machine_get()->core_pmu);
    if (sysctl_read(d->k, path, &value) && value == 0)
        return doctor_report(d, "user-read", UPMU_DIAGNOSIS_LIMITED, "",
                             "pages can be mapped, but %s is 0, which disables reading hardware counters through them",
                             path);
    const char *remedy = sysctl_read(d->k, "/proc/sys/kernel/perf_user_access", &value) && value == 0
                             ? "Run 'sysctl kernel.perf_user_access=1' as root"
                             : "";
    return doctor_report(d, "user-read", UPMU_DIAGNOSIS_LIMITED, remedy,
                         "pages can be mapped, but the kernel does not permit reading hardware counters through them");
}

static int doctor_report_hardware_page(const struct doctor *d, const void *page)
{
    struct kernel_page_count count;
    if (d->k->page_read(page, upmu_arch_counter_read, &count) < 0)
        return doctor_report_no_user_read(d);
    return doctor_report(d, "user-read", UPMU_DIAGNOSIS_OK, "", "hardware counters are read without a system call%s",
                         count.stale_times ? ", unless they are multiplexed (no user-space clock)" : "");
}

static int doctor_user_read_hardware(const struct doctor *d)
{
    const void *page;
    int fd = doctor_open(d, KERNEL_TYPE_HARDWARE, 0, false);
    if (fd < 0)
        return doctor_report(d, "user-read", UPMU_DIAGNOSIS_LIMITED, "",
                             "pages can be mapped; there is no hardware counter to read through them");
    int rc = d->k->map(fd, &page);
    if (rc < 0) {
        struct explain_context c = {.event = "cycles", .type = KERNEL_TYPE_HARDWARE, .cpu = -1, .mapping = true};
        rc = doctor_report_failure(d, "user-read", UPMU_DIAGNOSIS_LIMITED, rc, &c);
    } else {
        rc = doctor_report_hardware_page(d, page);
        d->k->unmap(page);
    }
    d->k->close(fd);
    return rc;
}

static int topic_user_read(const struct doctor *d)
{
    struct explain_context c = {.event = "page-faults", .type = KERNEL_TYPE_SOFTWARE, .cpu = -1};
    const void *page;
    int fd = doctor_open(d, c.type, KERNEL_SW_PAGE_FAULTS, false);
    if (fd < 0)
        return doctor_report_failure(d, "user-read", UPMU_DIAGNOSIS_MISSING, fd, &c);
    int rc = d->k->map(fd, &page);
    if (rc == 0)
        d->k->unmap(page);
    d->k->close(fd);
    c.mapping = true;
    return rc < 0 ? doctor_report_failure(d, "user-read", UPMU_DIAGNOSIS_MISSING, rc, &c)
                  : doctor_user_read_hardware(d);
}

static int topic_groups(const struct doctor *d)
{
    static const char topic[] = "software-events";
    const struct self_check *checks = self_check_results();
    char good[160] = "", bad[256] = "";
    for (size_t i = 0; i < SELF_CHECKS; i++) {
        const struct self_check *c = &checks[i];
        size_t at = strlen(good), bad_at = strlen(bad);
        if (self_check_failed(c))
            snprintf(bad + bad_at, sizeof bad - bad_at, "%s%s (%llu of %llu)", bad_at ? ", " : "", c->name,
                     (unsigned long long)c->counted, (unsigned long long)c->expected);
        else if (c->tried)
            snprintf(good + at, sizeof good - at, "%s%s", at ? ", " : "", c->name);
    }
    if (bad[0])
        return doctor_report(
            d, topic, UPMU_DIAGNOSIS_LIMITED, "Count these events one at a time",
            "this kernel counts too little of known work in groups, so these events are refused in groups: %s", bad);
    if (!good[0])
        return doctor_report(d, topic, UPMU_DIAGNOSIS_MISSING, "",
                             "no software event may be counted: see 'permission'");
    return doctor_report(d, topic, UPMU_DIAGNOSIS_OK, "", "known work is counted correctly in groups: %s", good);
}

static int topic_switches(const struct doctor *d)
{
    uint64_t switches;
    if (switches_page_works())
        return doctor_report(d, "switches", UPMU_DIAGNOSIS_OK, "",
                             "context switches are read with getrusage, and only after a mapped page has changed");
    int rc = d->k->thread_switches(&switches);
    if (rc < 0)
        return doctor_report(d, "switches", UPMU_DIAGNOSIS_MISSING, "",
                             "context switches are not available: getrusage failed with %s", upmu_errno_name(-rc));
    return doctor_report(
        d, "switches", UPMU_DIAGNOSIS_LIMITED, "",
        "context switches cost a system call (getrusage): no page could be mapped, or it disagreed with getrusage");
}

/* ---------------------------------------------------------------------------------------------- surroundings */

/* Differences between the clocks of CPUs, as the end of a sentence. @return whether there are any. */
static bool doctor_compare_clocks(double hz, char *text, size_t size)
{
    struct skew s;
    int rc = skew_measure(skew_tick, SKEW_NS, &s);
    if (rc < 0) {
        snprintf(text, size, "its CPUs could not be compared (%s)", upmu_errno_name(-rc));
        return false;
    }
    if (s.compared < 2) {
        snprintf(text, size, "%s",
                 s.allowed < 2 ? "only one CPU may be used, so there is nothing to compare"
                               : "the CPUs were too busy to be compared");
        return false;
    }
    double least = (double)s.at_least * 1e9 / hz, most = (double)s.at_most * 1e9 / hz;
    if (s.at_least == 0)
        snprintf(text, size, "%u of %u CPUs compared: at most %.0f ns apart, and no message arrived before it was sent",
                 s.compared, s.allowed, ceil(most));
    else
        snprintf(text, size,
                 "%u of %u CPUs compared: %.0f to %.0f ns apart, so that events of different threads may appear in the "
                 "wrong order",
                 s.compared, s.allowed, floor(least), ceil(most));
    return s.at_least > 0;
}

static int topic_clock(const struct doctor *d)
{
    char compared[256];
    const char *reason = clock_source_reason();
    double hz = clock_hz(CLOCK_FIT_NS);
    bool differ = doctor_compare_clocks(hz, compared, sizeof compared);
    int state = differ || reason[0] ? UPMU_DIAGNOSIS_LIMITED : UPMU_DIAGNOSIS_OK;
    if (reason[0])
        return doctor_report(d, "clock", state, "", "%s, because %s; %s", clock_source(), reason, compared);
    return doctor_report(d, "clock", state, "", "%s at %.3f MHz; %s", clock_source(), hz / 1e6, compared);
}

static int topic_limits(const struct doctor *d)
{
    char locked[32], pages[32] = "unknown";
    struct kernel_descriptors files;
    long kilobytes;
    d->k->descriptors(&files);
    limit_read(d->k, "Max locked memory", locked, sizeof locked);
    if (sysctl_read(d->k, "/proc/sys/kernel/perf_event_mlock_kb", &kilobytes))
        snprintf(pages, sizeof pages, "%ld", kilobytes);
    return doctor_report(d, "limits", UPMU_DIAGNOSIS_INFO, "",
                         "at most %" PRIu64 " open descriptors, of which libupmu may hold %" PRIu64
                         " and leaves %d free; kernel.perf_event_mlock_kb %s; %s bytes of locked memory",
                         files.soft, kernel_descriptors_allowed(files.soft), SPARE_DESCRIPTORS, pages,
                         locked[0] ? locked : "unknown");
}

static int topic_backend(const struct doctor *d)
{
    enum kernel_backend backend;
    const char *reason = "";
    if (backend_choose(NULL, &backend) < 0)
        return doctor_report(d, "backend", UPMU_DIAGNOSIS_MISSING,
                             "Unset UPMU_BACKEND to count through perf_event_open", "%s", upmu_error());
    if (d->k->backend(backend, &reason) < 0)
        return doctor_report(d, "backend", UPMU_DIAGNOSIS_MISSING, "", "%s", reason);
    int reached = backend == KERNEL_BACKEND_PERF ? d->k->reach() : 0;
    if (reached < 0) {
        struct explain_context c = {.event = reason, .type = KERNEL_TYPE_SOFTWARE, .cpu = -1};
        struct explanation e;
        explain_open(d->k, reached, &c, &e);
        return doctor_report(d, "backend", UPMU_DIAGNOSIS_MISSING, e.remedy,
                             "%s; times, faults and context switches of commands and "
                             "processes come from getrusage and /proc",
                             e.cause);
    }
    return doctor_report(d, "backend", UPMU_DIAGNOSIS_OK, "", "counted through %s%s", reason,
                         backend == KERNEL_BACKEND_PERF ? "" : ", as set in UPMU_BACKEND");
}

static int topic_native_names(const struct doctor *d)
{
    struct arch_native_code code;
    int rc = arch_native_encode("perf::PAGE-FAULTS", &code);
    if (rc == 0)
        return doctor_report(d, "native-names", UPMU_DIAGNOSIS_OK, "", "libpfm4 encodes native:: names");
    return doctor_report(d, "native-names", UPMU_DIAGNOSIS_LIMITED,
                         rc == UPMU_E_UNSUPPORTED ? "Install libpfm4 ('apt install libpfm4')" : "",
                         "native:: has only libupmu's own tables: %s", upmu_error());
}

static int topic_unwinder(const struct doctor *d)
{
    void *library = dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return doctor_report(d, "unwinder", UPMU_DIAGNOSIS_LIMITED, "Install libunwind ('apt install libunwind8')",
                             "stacks are unwound by the compiler's runtime, which is slower: %s", dlerror());
    bool usable = dlsym(library, "unw_backtrace") != NULL;
    dlclose(library);
    if (!usable)
        return doctor_report(d, "unwinder", UPMU_DIAGNOSIS_LIMITED, "",
                             "libunwind.so.8 is older than 1.6: it lacks unw_backtrace");
    return doctor_report(d, "unwinder", UPMU_DIAGNOSIS_OK, "", "libunwind.so.8 can be opened");
}

static int topic_tracepoints(const struct doctor *d)
{
    long id;
    char text[32];
    const char *const path = "/sys/kernel/tracing/events/sched/sched_switch/id";
    if (sysctl_read(d->k, path, &id) ||
        sysctl_read(d->k, "/sys/kernel/debug/tracing/events/sched/sched_switch/id", &id))
        return doctor_report(d, "tracepoints", UPMU_DIAGNOSIS_OK, "",
                             "tracepoints can be used by name (sched:sched_switch is %ld)", id);
    ssize_t n = d->k->read_file(path, text, sizeof text);
    if (n == -EACCES || n == -EPERM)
        return doctor_report(d, "tracepoints", UPMU_DIAGNOSIS_MISSING, "Run as root",
                             "/sys/kernel/tracing may not be read (%s)", upmu_errno_name((int)-n));
    return doctor_report(d, "tracepoints", UPMU_DIAGNOSIS_MISSING,
                         "Run 'mount -t tracefs tracefs /sys/kernel/tracing' as root",
                         "tracefs is not mounted, or this kernel has no tracepoints");
}

/* Unknown variables only: nothing is reported if there are none. */
static int topic_environment(const struct doctor *d)
{
    struct textbuf b = {0};
    int rc = 0;
    if (environment_unknown(&b, false) > 0 && !b.failed)
        rc = doctor_report(d, "environment", UPMU_DIAGNOSIS_LIMITED, "", "%s", b.data);
    textbuf_free(&b);
    return rc;
}

int upmu_diagnose(int (*found)(const struct upmu_diagnosis *finding, void *arg), void *arg)
{
    /* Topics that need a trial are reported from the recording on a recorded machine. */
    static const struct {
        int (*examine)(const struct doctor *d);
        const char *tried; /* the recorded topic, if the files are not sufficient */
    } topics[] = {
        {topic_cpu, NULL},
        {topic_identity, NULL},
        {topic_pmu, NULL},
        {topic_hardware, "hardware-counters"},
        {topic_permission, "permission"},
        {topic_user_read, "user-read"},
        {topic_groups, "software-events"},
        {topic_switches, "switches"},
        {topic_clock, "clock"},
        {topic_limits, NULL},
        {topic_backend, "backend"},
        {topic_native_names, "native-names"},
        {topic_unwinder, "unwinder"},
        {topic_tracepoints, "tracepoints"},
        {topic_environment, NULL},
    };
    if (!found)
        return upmu_fail(UPMU_E_INVAL, "upmu_diagnose: `found` is NULL");
    struct doctor d = {.k = core_kernel(), .found = found, .arg = arg};
    int rc = machine_usable();
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        rc = machine_snapshot_in_use() && topics[i].tried ? machine_snapshot_findings(topics[i].tried, found, arg)
                                                          : topics[i].examine(&d);
        if (rc != 0)
            return rc;
    }
    return 0;
}
