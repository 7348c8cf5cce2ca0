/* SPDX-License-Identifier: MIT */
/*
 * Causes and remedies of perf_event_open errors.
 *
 * A remedy is printed only if a test has applied it: tests/cli/remedies.sh and tests/guests/programs/remedies.c.
 */
#include "core/check/refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "core/machine/machine.h"

/* perf_event_attr.type of tracepoints: the only events with a perf_event_paranoid level of their own. */
enum { TYPE_TRACEPOINT = 2 };

/* The kernel's default: 128 pages of 4 KiB, and one for the buffer's head. */
enum { MLOCK_KB_USUAL = 516 };

/* One failure to explain. */
struct failure {
    const struct kernel_ops *k;
    const struct explain_context *c;
    int err;
    const char *errname;
    struct explanation *out;
};

static void explain_set_cause(struct failure *f, int code, const char *fmt, ...) UPMU_PRINTF(3, 4);
static void explain_set_remedy(struct failure *f, const char *fmt, ...) UPMU_PRINTF(2, 3);

/* Set code and cause. */
static void explain_set_cause(struct failure *f, int code, const char *fmt, ...)
{
    va_list ap;
    f->out->code = code;
    va_start(ap, fmt);
    vsnprintf(f->out->cause, sizeof f->out->cause, fmt, ap);
    va_end(ap);
}

static void explain_set_remedy(struct failure *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->out->remedy, sizeof f->out->remedy, fmt, ap);
    va_end(ap);
}

static bool explain_is_hardware(uint32_t type)
{
    return type == KERNEL_TYPE_HARDWARE || type == KERNEL_TYPE_HW_CACHE || type == KERNEL_TYPE_RAW;
}

/* ------------------------------------------------------------------------------------- EACCES, EPERM, ENOSYS */

/* What was requested, in the terms of perf_event_paranoid, and the highest value that permits it to every user. */
static int explain_paranoid_needed(const struct failure *f, const char **asked)
{
    if (f->c->type == TYPE_TRACEPOINT && f->err == EPERM) {
        *asked = "reading tracepoints";
        return -1;
    }
    if (f->c->pid == -1) {
        *asked = "counting a whole CPU";
        return 0;
    }
    if (f->c->wants_kernel) {
        *asked = "counting in kernel mode";
        return 1;
    }
    *asked = "counting in user mode";
    return 2;
}

static void explain_paranoid(struct failure *f, const struct permissions *p, const char *asked, int needed)
{
    explain_set_cause(f, UPMU_E_PERM,
                      "%s is refused (%s): kernel.perf_event_paranoid is %d and must be at most %d for that%s", asked,
                      f->errname, p->paranoid, needed,
                      p->contained_capability ? ", and the capabilities of this container have no effect on perf" : "");
    bool user_mode_helps = needed == 1 && p->paranoid <= 2 && f->c->user_mode_counts;
    if (p->first_user_namespace == KNOWN_NO)
        explain_set_remedy(f,
                           "Run 'sysctl kernel.perf_event_paranoid=%d' as root of the host, outside this container%s",
                           needed, user_mode_helps ? ", or count user mode only with the modifier :u" : "");
    else
        explain_set_remedy(f,
                           "Run 'sysctl kernel.perf_event_paranoid=%d' as root, or give the program %s with "
                           "'setcap %s+ep PROGRAM'%s",
                           needed, p->perfmon ? "CAP_PERFMON" : "CAP_SYS_ADMIN",
                           p->perfmon ? "cap_perfmon" : "cap_sys_admin",
                           user_mode_helps ? ", or count user mode only with the modifier :u" : "");
}

static void explain_filter_remedy(struct failure *f)
{
    explain_set_remedy(f, "Run it under a seccomp profile that allows perf_event_open");
}

/* The call is denied before it reaches the kernel. */
static void explain_seccomp(struct failure *f, const struct permissions *p)
{
    if (p->seccomp == KNOWN_NO) {
        explain_set_cause(f, UPMU_E_SECCOMP,
                          "perf_event_open is denied (%s) before it reaches the kernel, as in a sandbox or an emulator",
                          f->errname);
        return;
    }
    explain_set_cause(f, UPMU_E_SECCOMP,
                      "perf_event_open is denied (%s) by the seccomp filter of this program, as in a container",
                      f->errname);
    explain_filter_remedy(f);
}

/* User id of another process, or -1. */
static long explain_owner(const struct failure *f)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)f->c->pid);
    if (f->k->read_file(path, text, sizeof text) <= 0)
        return -1;
    const char *line = strstr(text, "\nUid:");
    return line ? strtol(line + strlen("\nUid:"), NULL, 10) : -1;
}

/* Counting another process requires permission to inspect it, whatever perf_event_paranoid is. */
static void explain_foreign(struct failure *f, const struct permissions *p, long owner)
{
    if (owner >= 0 && p->uid >= 0 && owner != p->uid)
        explain_set_cause(f, UPMU_E_PERM, "process %d belongs to user %ld and may not be counted by user %ld (%s)",
                          (int)f->c->pid, owner, p->uid, f->errname);
    else
        explain_set_cause(f, UPMU_E_PERM,
                          "process %d may not be inspected (%s): it is protected, as set-user-ID programs and "
                          "those that called prctl(PR_SET_DUMPABLE, 0) are",
                          (int)f->c->pid, f->errname);
    if (p->perfmon_foreign && p->first_user_namespace != KNOWN_NO)
        explain_set_remedy(f, "Count it as root, or give the program CAP_PERFMON with 'setcap cap_perfmon+ep PROGRAM'");
    else
        explain_set_remedy(f, "Count it as root");
}

static void explain_module(struct failure *f, const struct permissions *p)
{
    char paranoid[64] = "kernel.perf_event_paranoid cannot be read";
    if (p->paranoid_known)
        snprintf(paranoid, sizeof paranoid, "kernel.perf_event_paranoid is %d", p->paranoid);
    explain_set_cause(f, UPMU_E_SECCOMP,
                      "perf_event_open is denied (%s) although permissions allow it (%s%s) and no seccomp filter "
                      "denies the call as such: a security module such as SELinux or AppArmor probably forbids it",
                      f->errname, paranoid,
                      p->capable == KNOWN_YES ? ", and the program has CAP_PERFMON or CAP_SYS_ADMIN" : "");
}

static void explain_denied(struct failure *f)
{
    struct permissions p;
    const char *asked;
    permissions_read(f->k, &p);
    int needed = explain_paranoid_needed(f, &asked);
    bool other_process = f->c->pid > 0 && p.capable != KNOWN_YES;
    long owner = other_process ? explain_owner(f) : -1;
    bool paranoid = p.paranoid_known && p.paranoid > needed && p.capable != KNOWN_YES;
    if (f->k->reach() < 0)
        explain_seccomp(f, &p);
    else if (owner >= 0 && p.uid >= 0 && owner != p.uid)
        explain_foreign(f, &p, owner); /* which no value of perf_event_paranoid fixes */
    else if (paranoid)
        explain_paranoid(f, &p, asked, needed);
    else if (other_process)
        explain_foreign(f, &p, owner);
    else
        explain_module(f, &p);
}

static void explain_no_syscall(struct failure *f)
{
    struct permissions p;
    permissions_read(f->k, &p);
    if (p.seccomp == KNOWN_YES) {
        explain_set_cause(f, UPMU_E_NO_SYSCALL,
                          "perf_event_open does not exist here (ENOSYS): the seccomp filter of this program hides it, "
                          "as containers do");
        explain_filter_remedy(f);
        return;
    }
    explain_set_cause(f, UPMU_E_NO_SYSCALL,
                      "perf_event_open does not exist here (ENOSYS): the kernel was built without "
                      "CONFIG_PERF_EVENTS, or this is an emulator or sandbox that lacks it");
}

/* ----------------------------------------------------------------- ENOENT, EOPNOTSUPP, EINVAL, ENODEV, ENXIO */

/* Whether `cpu` is in a list like "0-3,8"; unknown if the list is malformed. */
static enum known explain_is_listed(const char *list, int cpu)
{
    const char *at = list;
    while (*at >= '0' && *at <= '9') {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (cpu >= first && cpu <= last)
            return KNOWN_YES;
        at = end + (*end == ',');
    }
    return at != list && (*at == '\0' || *at == '\n') ? KNOWN_NO : KNOWN_NOT;
}

/* @return whether the CPU to count is the cause. */
static bool explain_cpu(struct failure *f)
{
    char online[1024];
    if (f->c->cpu < 0 || (f->err != ENODEV && f->err != EINVAL))
        return false;
    ssize_t n = f->k->read_file("/sys/devices/system/cpu/online", online, sizeof online);
    if (n <= 0 || explain_is_listed(online, f->c->cpu) != KNOWN_NO)
        return false;
    online[strcspn(online, "\n")] = '\0';
    explain_set_cause(f, UPMU_E_GONE, "CPU %d is not online (%s); the online CPUs are %.200s", f->c->cpu, f->errname,
                      online);
    explain_set_remedy(f, "Choose one of those");
    return true;
}

static void explain_no_pmu(struct failure *f)
{
    if (machine_get()->cpu.hypervisor)
        explain_set_cause(f, UPMU_E_NO_PMU,
                          "no PMU in this virtual machine (%s): its hypervisor does not pass the CPU's hardware "
                          "counters on",
                          f->errname);
    else
        explain_set_cause(f, UPMU_E_NO_PMU,
                          "the kernel has no hardware PMU (%s): its driver for this CPU is missing or not enabled, or "
                          "this is a virtual machine without one",
                          f->errname);
    explain_set_remedy(f, "Count software events, which work without it");
}

static void explain_unsupported(struct failure *f)
{
    const char *pmu = machine_get()->core_pmu;
    if (f->c->precise && (f->err == EINVAL || f->err == EOPNOTSUPP)) {
        explain_set_cause(
            f, UPMU_E_UNSUPPORTED,
            "the kernel has no precise counts (%s): ':p' applies to the address of a sample, and a count has none",
            f->errname);
        explain_set_remedy(f, "Omit 'p' from the modifiers: the count is the same");
    } else if (f->err == EINVAL && f->c->grouped) {
        explain_set_cause(f, UPMU_E_FIT,
                          "the kernel does not put it into one group with the events before it (EINVAL)");
        explain_set_remedy(f, "Count it in a set of its own");
    } else if (explain_is_hardware(f->c->type) && core_pmu_known(f->k) == KNOWN_NOT) {
        explain_set_cause(f, UPMU_E_UNSUPPORTED,
                          "the kernel cannot count it (%s), and /sys/bus/event_source/devices does not show whether "
                          "there is a hardware PMU",
                          f->errname);
        explain_set_remedy(f, "Mount sysfs with 'mount -t sysfs sysfs /sys' to learn more");
    } else if (explain_is_hardware(f->c->type)) {
        explain_set_cause(f, UPMU_E_UNSUPPORTED,
                          "the kernel's PMU '%s' does not have this event, or not with these modes left out "
                          "(%s)",
                          pmu, f->errname);
    } else {
        explain_set_cause(f, UPMU_E_UNSUPPORTED, "the kernel's PMU with type %u cannot count it (%s)", f->c->type,
                          f->errname);
    }
}

static void explain_absent(struct failure *f)
{
    if (explain_cpu(f))
        return;
    if (explain_is_hardware(f->c->type) && core_pmu_known(f->k) == KNOWN_NO)
        explain_no_pmu(f);
    else
        explain_unsupported(f);
}

/* --------------------------------------------------------------------------------------------------- limits */

/* The lowest limit that suffices for all wanted descriptors and the program's own. */
static uint64_t explain_limit_needed(const struct kernel_descriptors *now, size_t wanted)
{
    enum { SHORT_LIVED = 2 }; /* of an event while it is opened: the copy of its group's leader, and its lower number */
    uint64_t own = now->open > now->held ? now->open - now->held : 0;
    uint64_t library = now->held + (wanted > 0 ? wanted : 1);
    uint64_t limit = own + library + SPARE_DESCRIPTORS + SHORT_LIVED;
    while (kernel_descriptors_allowed(limit) < library)
        limit++;
    return limit;
}

static void explain_limit_remedy(struct failure *f, const struct kernel_descriptors *now)
{
    uint64_t needed = explain_limit_needed(now, f->c->descriptors);
    if (needed <= now->soft)
        return; /* other threads have closed descriptors in the meantime */
    explain_set_remedy(f, "Raise it with 'ulimit -n %" PRIu64 "'%s", needed, needed > now->hard ? " as root" : "");
}

static void explain_descriptors(struct failure *f)
{
    struct kernel_descriptors now;
    if (f->err == ENFILE) {
        explain_set_cause(f, UPMU_E_NFILES, "the whole system has no file descriptor left (ENFILE)");
        return;
    }
    f->k->descriptors(&now);
    explain_set_cause(f, UPMU_E_NFILES,
                      "no file descriptor is left for it (EMFILE): of the limit of %" PRIu64 ", %" PRIu64
                      " are open, and libupmu may hold %" PRIu64 " and leaves %d free",
                      now.soft, now.open, kernel_descriptors_allowed(now.soft), SPARE_DESCRIPTORS);
    explain_limit_remedy(f, &now);
}

static void explain_busy(struct failure *f)
{
    long watchdog;
    if (sysctl_read(f->k, "/proc/sys/kernel/nmi_watchdog", &watchdog) && watchdog != 0)
        explain_set_cause(
            f, UPMU_E_BUSY,
            "the counter it needs is taken (%s): the kernel's NMI watchdog holds one (kernel.nmi_watchdog "
            "is %ld)",
            f->errname, watchdog);
    else
        explain_set_cause(
            f, UPMU_E_BUSY,
            "the counters it needs are taken (%s): another profiler, a pinned event or the hypervisor holds "
            "them",
            f->errname);
}

static void explain_gone(struct failure *f)
{
    if (f->c->pid > 0)
        explain_set_cause(f, UPMU_E_GONE, "process or thread %d does not exist (ESRCH)", (int)f->c->pid);
    else
        explain_set_cause(f, UPMU_E_GONE, "the thread to count has ended (ESRCH)");
}

static void explain_recorded(struct failure *f)
{
    explain_set_cause(f, UPMU_E_STATE,
                      "UPMU_FSROOT is set: names are resolved for the machine whose /proc and /sys were copied there, "
                      "and its encodings "
                      "may mean something else on this one, so nothing is counted");
    explain_set_remedy(f, "Unset UPMU_FSROOT to count");
}

/* Errors of backends other than perf_event_open. */
static void explain_backend(struct failure *f)
{
    const char *reason = "";
    explain_set_remedy(f, "Unset UPMU_BACKEND to count through perf_event_open");
    switch (f->err) {
    case ELIBACC:
        (void)f->k->backend(KERNEL_BACKEND_PAPI, &reason);
        explain_set_cause(f, UPMU_E_BACKEND, "PAPI cannot be used: %s", reason);
        f->out->remedy[0] = '\0'; /* the reason contains it */
        break;
    case ENODATA:
        explain_set_cause(f, UPMU_E_UNSUPPORTED,
                          "PAPI has no name for it: only perf generic events and raw encodings of the core PMU can be "
                          "counted through PAPI");
        break;
    case EALREADY:
        explain_set_cause(f, UPMU_E_BUSY,
                          "PAPI counts one event set of a thread at a time, and another one of this thread is running");
        break;
    default:
        explain_set_cause(f, UPMU_E_UNSUPPORTED,
                          "PAPI can neither start counting at exec, nor count threads and children created later "
                          "without losing read errors");
        explain_set_remedy(f, "%sUnset UPMU_BACKEND to count through perf_event_open",
                           f->c->inherit ? "Exclude them (UPMU_SET_NO_INHERIT). " : "");
    }
}

static void explain_old_kernel(struct failure *f)
{
    char release[96];
    if (f->k->read_file("/proc/sys/kernel/osrelease", release, sizeof release) <= 0)
        snprintf(release, sizeof release, "of unknown version");
    release[strcspn(release, "\n")] = '\0';
    explain_set_cause(f, UPMU_E_UNSUPPORTED,
                      "the running kernel (%s) is too old for the fields of the event's encoding (E2BIG)", release);
}

static void explain_memory(struct failure *f)
{
    explain_set_cause(f, UPMU_E_NOMEM, "the kernel has no memory for it (ENOMEM)");
}

static void explain_other(struct failure *f)
{
    explain_set_cause(f, UPMU_E_SYSTEM, "%s failed in the kernel: %s (%s)", f->c->mapping ? "mapping" : "opening",
                      strerror(f->err), f->errname);
}

/* -------------------------------------------------------------------------------------------------- mapping */

static void explain_locked_memory(struct failure *f)
{
    long kilobytes;
    char locked[32];
    if (!sysctl_read(f->k, "/proc/sys/kernel/perf_event_mlock_kb", &kilobytes)) {
        explain_set_cause(f, UPMU_E_MLOCK, "no further page may be locked for reads without a system call (EPERM)");
        return;
    }
    limit_read(f->k, "Max locked memory", locked, sizeof locked);
    explain_set_cause(f, UPMU_E_MLOCK,
                      "no further page may be locked for reads without a system call (EPERM): "
                      "kernel.perf_event_mlock_kb is %ld, and the limit of locked memory %s bytes",
                      kilobytes, locked[0] ? locked : "of unknown");
    explain_set_remedy(f, "Run 'sysctl kernel.perf_event_mlock_kb=%ld' as root; the event is counted in any case",
                       kilobytes < MLOCK_KB_USUAL ? (long)MLOCK_KB_USUAL : 4 * kilobytes);
}

static void explain_map(struct failure *f)
{
    switch (f->err) {
    case EPERM:
        explain_locked_memory(f);
        break;
    case ENOMEM:
        explain_memory(f);
        break;
    case EACCES:
        explain_denied(f);
        break;
    case EINVAL:
    case ENODEV:
    case EOPNOTSUPP:
        explain_set_cause(f, UPMU_E_UNSUPPORTED,
                          "the kernel provides no page for reads without a system call for it (%s)", f->errname);
        break;
    default:
        explain_other(f);
    }
}

/* ------------------------------------------------------------------------------------------------------ all */

static void explain_open_errno(struct failure *f)
{
    switch (f->err) {
    case EACCES:
    case EPERM:
        explain_denied(f);
        break;
    case ENOSYS:
        explain_no_syscall(f);
        break;
    case ENOENT:
    case EOPNOTSUPP:
    case EINVAL:
    case ENODEV:
    case ENXIO:
        explain_absent(f);
        break;
    case EMFILE:
    case ENFILE:
        explain_descriptors(f);
        break;
    case EBUSY:
    case ENOSPC:
        explain_busy(f);
        break;
    case ESRCH:
        explain_gone(f);
        break;
    case EREMOTE:
        explain_recorded(f);
        break;
    case ELIBACC:
    case ENODATA:
    case EALREADY:
    case EPROTONOSUPPORT:
        explain_backend(f);
        break;
    case ENOMEM:
        explain_memory(f);
        break;
    case E2BIG:
        explain_old_kernel(f);
        break;
    default:
        explain_other(f);
    }
}

void explain_open(const struct kernel_ops *k, int err, const struct explain_context *c, struct explanation *out)
{
    struct failure f = {.k = k, .c = c, .err = err < 0 ? -err : err, .out = out};
    f.errname = upmu_errno_name(f.err);
    *out = (struct explanation){.code = UPMU_E_SYSTEM};
    if (c->mapping)
        explain_map(&f);
    else
        explain_open_errno(&f);
}

void explain_text(const char *event, const struct explanation *e, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s: %s.%s%s%s", event, e->cause, e->remedy[0] ? " " : "", e->remedy, e->remedy[0] ? "." : "");
}

int explain_open_failure(const struct kernel_ops *k, int err, const struct explain_context *c)
{
    struct explanation e;
    char text[EXPLANATION_TEXT_MAX];
    explain_open(k, err, c, &e);
    explain_text(c->event, &e, text, sizeof text);
    return upmu_fail(e.code, "%s", text);
}
