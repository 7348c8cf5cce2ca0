/* SPDX-License-Identifier: MIT */
/* Sampled events: from options to perf_event_attr, and the reasons for which the kernel refuses them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "sampling/sampling.h"

enum {
    FREQUENCY_DEFAULT = 999,
    FREQUENCY_MAX = 100000,
    CLOCK_PERIOD_MIN = 10000, /* the kernel's own limit for clocks */
    STACK_BYTES_DEFAULT = 8192,
    STACK_TOP_BYTES = 64, /* with the return address of a function without a frame, or with a small one */
    STACK_BYTES_MIN = 512,
    STACK_BYTES_MAX = 65528, /* the kernel's limit for records */
    RING_DEFAULT = 512 * 1024,
    RING_COPY = 2048 * 1024,
    RING_COPY_CALLS = 32 * 1024 * 1024, /* of each call of a function: 0.8 GB a second here */
};

/* Registers from which a copied stack is unwound, as bits of <asm/perf_regs.h>; 0: not supported. */
#if defined(__x86_64__)
#define EVENT_REGS UINT64_C(0xff01ff) /* ax to ip, r8 to r15 */
#define EVENT_STACK_POINTER UINT64_C(0x80)
#elif defined(__aarch64__)
#define EVENT_REGS UINT64_C(0x1ffffffff) /* x0 to x29, lr, sp, pc */
#else
#define EVENT_REGS UINT64_C(0)
#endif
#ifndef EVENT_STACK_POINTER /* the return address is in a register */
#define EVENT_STACK_POINTER UINT64_C(0)
#endif

static int event_check_opts(const struct upmu_sampler_opts *o)
{
    if (o->frequency && o->period)
        return upmu_fail(UPMU_E_INVAL, "upmu_sampler_open: `frequency` and `period` exclude each other");
    if (o->frequency > FREQUENCY_MAX)
        return upmu_fail(UPMU_E_INVAL, "upmu_sampler_open: `frequency` is at most %d", (int)FREQUENCY_MAX);
    if (o->stacks < UPMU_SAMPLER_FRAME_POINTERS || o->stacks > UPMU_SAMPLER_NONE)
        return upmu_fail(UPMU_E_INVAL, "upmu_sampler_open: `stacks` is %d, which is not in enum upmu_sampler_stacks",
                         (int)o->stacks);
    if (o->stack_bytes &&
        (o->stack_bytes < STACK_BYTES_MIN || o->stack_bytes > STACK_BYTES_MAX || o->stack_bytes % 8 != 0))
        return upmu_fail(UPMU_E_INVAL, "upmu_sampler_open: `stack_bytes` is a multiple of 8 from %d to %d, not %u",
                         (int)STACK_BYTES_MIN, (int)STACK_BYTES_MAX, (unsigned)o->stack_bytes);
    if (o->stacks == UPMU_SAMPLER_COPY && EVENT_REGS == 0)
        return upmu_fail(
            UPMU_E_UNSUPPORTED,
            "call stacks from copies of the user stack are supported on x86-64 and arm64 only. Use frame pointers");
    return 0;
}

static bool event_is_clock(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE &&
           (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static int event_find(struct upmu_sampler *s, const char *name)
{
    struct upmu_event_info info = {.size = sizeof info};
    if (sampling_is_uprobe(name))
        return sampling_uprobe(s, name);
    int rc = upmu_event_find(name, &info);
    if (rc != 0)
        return rc;
    if (info.type == UINT32_MAX)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "event %s is a sum of events and cannot be sampled. Sample one of them: %s", info.name,
                         info.formula);
    if (info.cpus[0])
        return upmu_fail(UPMU_E_UNSUPPORTED, "event %s counts whole CPUs and cannot be sampled per thread", info.name);
    s->attr.type = info.type;
    s->attr.config = info.config;
    s->attr.config1 = info.config1;
    s->attr.config2 = info.config2;
    s->attr.exclude_user = (info.exclude & UPMU_EXCLUDE_USER) != 0;
    s->attr.exclude_kernel = (info.exclude & UPMU_EXCLUDE_KERNEL) != 0;
    s->attr.exclude_host = (info.exclude & UPMU_EXCLUDE_HOST) != 0;
    s->attr.exclude_guest = (info.exclude & UPMU_EXCLUDE_GUEST) != 0;
    s->modes_named = (info.exclude & UPMU_EXCLUDE_NAMED) != 0;
    s->precise = info.precise;
    snprintf(s->header.event, sizeof s->header.event, "%s", info.name);
    return 0;
}

static void event_choose_rate(struct upmu_sampler *s, const struct upmu_sampler_opts *o)
{
    const bool each = s->uprobe[0] && !o->frequency && !o->period; /* of calls, every one */
    s->header.period = each ? 1 : o->period;
    s->header.frequency = s->header.period ? 0 : o->frequency ? o->frequency : FREQUENCY_DEFAULT;
    s->attr.freq = s->header.period == 0;
    if (s->attr.freq)
        s->attr.sample_freq = s->header.frequency;
    else
        s->attr.sample_period = s->header.period;
}

static void event_choose_stacks(struct upmu_sampler *s, const struct upmu_sampler_opts *o)
{
    s->header.stacks = (uint32_t)o->stacks;
    s->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    if (s->attr.freq) /* with a fixed period, Linux would write a sample for each software event */
        s->attr.sample_type |= PERF_SAMPLE_PERIOD;
    if (o->stacks == UPMU_SAMPLER_FRAME_POINTERS)
        s->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
    if (o->stacks == UPMU_SAMPLER_FRAME_POINTERS && EVENT_STACK_POINTER != 0) {
        s->attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        s->attr.sample_regs_user = s->header.regs = EVENT_STACK_POINTER;
        s->attr.sample_stack_user = STACK_TOP_BYTES;
    }
    s->attr.exclude_callchain_kernel = 1;
    if (o->stacks == UPMU_SAMPLER_COPY) {
        s->attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        s->attr.sample_regs_user = s->header.regs = EVENT_REGS;
        s->attr.sample_stack_user = s->header.stack_bytes = o->stack_bytes ? o->stack_bytes : STACK_BYTES_DEFAULT;
    }
    if (s->timed)
        s->attr.sample_type |= PERF_SAMPLE_RAW;
    s->header.sample_type = s->attr.sample_type;
    const size_t copies = s->uprobe[0] ? RING_COPY_CALLS : RING_COPY;
    s->ring_bytes = o->ring_bytes ? o->ring_bytes : o->stacks == UPMU_SAMPLER_COPY ? copies : RING_DEFAULT;
}

/* Try it on this thread. @return 0 or errno. */
static int event_try(const struct upmu_sampler *s)
{
    long fd = syscall(SYS_perf_event_open, &s->attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

/* With fewer requests until the kernel accepts: the kernel's own addresses need permission, build-ids Linux 5.12. @return 0, or
 * the errno of the last attempt. */
static int event_try_less(struct upmu_sampler *s)
{
    const bool narrow = !s->modes_named && !s->attr.exclude_user && !s->attr.exclude_kernel;
    int err = 0;
    for (int attempt = 0; attempt < 4; attempt++) {
        if (attempt & 1 && !narrow)
            continue;
        if (narrow)
            s->attr.exclude_kernel = (attempt & 1) != 0;
#ifdef PERF_RECORD_MISC_MMAP_BUILD_ID /* not in older headers */
        s->attr.build_id = attempt < 2;
#endif
        err = event_try(s);
        if (err == 0)
            return 0;
    }
    return err;
}

/* The records of exits have the same fields, but no call stack. */
static void event_choose_exits(struct upmu_sampler *s)
{
    const uint64_t id = s->exit_attr.config;
    s->exit_attr = s->attr;
    s->exit_attr.config = id;
    s->exit_attr.exclude_callchain_user = 1;
    s->exit_attr.sample_stack_user = s->attr.sample_stack_user ? sizeof(uint64_t) : 0;
    s->exit_attr.mmap = s->exit_attr.mmap2 = s->exit_attr.comm = s->exit_attr.task = 0;
    s->header.flags |= SAMPLING_CALLS;
}

static int event_open_some(struct upmu_sampler *s)
{
    enum { PRECISE_MAX = 3 };
    const bool highest = s->precise > PRECISE_MAX; /* that the kernel accepts */
    int err;
    s->attr.precise_ip = highest ? PRECISE_MAX : s->precise & 3;
    while ((err = event_try_less(s)) != 0 && highest && s->attr.precise_ip > 0)
        s->attr.precise_ip--;
    if (err != 0)
        return sampling_refused(s, err);
    s->header.flags |= s->attr.exclude_kernel ? 0 : SAMPLING_KERNEL;
    if (s->timed)
        event_choose_exits(s);
    return 0;
}

int sampling_event(struct upmu_sampler *s, const struct upmu_sampler_opts *opts)
{
    struct utsname machine;
    s->attr = (struct perf_event_attr){.size = sizeof s->attr,
                                       .inherit = 1,
                                       .disabled = 1,
                                       .exclude_hv = 1,
                                       .mmap = 1,
                                       .mmap2 = 1,
                                       .comm = 1,
                                       .comm_exec = 1,
                                       .task = 1,
                                       .sample_id_all = 1,
                                       .use_clockid = 1,
                                       .clockid = CLOCK_MONOTONIC_RAW};
    int rc = event_check_opts(opts);
    if (rc == 0)
        rc = event_find(s, opts->event ? opts->event : "task-clock");
    if (rc != 0)
        return rc;
    event_choose_rate(s, opts);
    event_choose_stacks(s, opts);
    if (s->timed && s->header.period != 1)
        return upmu_fail(UPMU_E_INVAL, "%s times each call: it needs a period of 1 (-c 1)", s->header.event);
    if (event_is_clock(&s->attr)) {
        s->header.flags |= SAMPLING_NS;
        if (opts->period && opts->period < CLOCK_PERIOD_MIN)
            return upmu_fail(UPMU_E_INVAL, "a period of %s must be at least %d nanoseconds", s->header.event,
                             (int)CLOCK_PERIOD_MIN);
    }
    if (uname(&machine) == 0)
        snprintf(s->header.machine, sizeof s->header.machine, "%.31s", machine.machine);
    return event_open_some(s);
}

/* The system setting, or -1. */
static int event_paranoid(void)
{
    char text[16] = "";
    int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC), level = -1;
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && sscanf(text, "%d", &level) == 1 ? level : -1;
}

int sampling_refused(const struct upmu_sampler *s, int err)
{
    enum { PARANOID_OWN = 2 }; /* up to this level, a user may sample processes of its own */
    const char *event = s->header.event;
    int paranoid = event_paranoid();
    switch (err) {
    case EACCES:
        if (s->uprobe[0])
            return upmu_fail(UPMU_E_PERM, "%s is refused (EACCES): uprobes need root, or CAP_PERFMON", event);
        if (paranoid >= 0 && paranoid <= PARANOID_OWN)
            return upmu_fail(UPMU_E_PERM,
                             "sampling of %s is refused (EACCES): the process belongs to another user, or has more "
                             "privileges than this command",
                             event);
        return upmu_fail(UPMU_E_PERM,
                         "sampling of %s is refused (EACCES): kernel.perf_event_paranoid is %d. Set it to 2 or less",
                         event, paranoid);
    case EPERM:
        return upmu_fail(UPMU_E_SECCOMP,
                         "sampling of %s is refused (EPERM): a sandbox forbids perf_event_open, or the process belongs "
                         "to another user",
                         event);
    case ENOSYS:
        return upmu_fail(UPMU_E_NO_SYSCALL, "sampling of %s: there is no perf_event_open here (ENOSYS)", event);
    case ENOENT:
    case ENODEV:
        return upmu_fail(UPMU_E_UNSUPPORTED, "event %s is not available here (%s). See 'upmu doctor'", event,
                         strerror(err));
    case EINVAL:
    case EOPNOTSUPP:
        return upmu_fail(
            UPMU_E_UNSUPPORTED,
            "the kernel cannot sample event %s (%s): its counter may not report overflows. Sample task-clock", event,
            strerror(err));
    case ESRCH:
        return upmu_fail(UPMU_E_GONE, "the process to be sampled does not exist");
    case EMFILE:
    case ENFILE:
        return upmu_fail(UPMU_E_NFILES, "too many descriptors: one per thread and CPU is needed. Raise ulimit -n");
    case ENOMEM:
        return upmu_fail(UPMU_E_NOMEM, "out of memory while sampling %s", event);
    default:
        return upmu_fail(UPMU_E_SYSTEM, "sampling of %s failed: %s", event, strerror(err));
    }
}
