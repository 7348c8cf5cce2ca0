/* SPDX-License-Identifier: MIT */
/*
 * perf_event_open and operations on its descriptors; the kernel interface's function table.
 *
 * No policy: requests are passed to the kernel unchanged. Events opened through PAPI have numbers beyond all
 * descriptors and are passed to papi/sets.c.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/page.h"
#include "kernel/papi/sets.h"
#include "kernel/parts.h"

/* Check the constants that core declares without a kernel header. */
_Static_assert((int)KERNEL_TYPE_HARDWARE == (int)PERF_TYPE_HARDWARE, "type of generic hardware events");
_Static_assert((int)KERNEL_TYPE_SOFTWARE == (int)PERF_TYPE_SOFTWARE, "type of software events");
_Static_assert((int)KERNEL_TYPE_TRACEPOINT == (int)PERF_TYPE_TRACEPOINT, "type of tracepoints");
_Static_assert((int)KERNEL_TYPE_HW_CACHE == (int)PERF_TYPE_HW_CACHE, "type of generic cache events");
_Static_assert((int)KERNEL_TYPE_RAW == (int)PERF_TYPE_RAW, "type of raw events");
_Static_assert((int)KERNEL_HW_CYCLES == (int)PERF_COUNT_HW_CPU_CYCLES, "cycles");
_Static_assert((int)KERNEL_HW_INSTRUCTIONS == (int)PERF_COUNT_HW_INSTRUCTIONS, "instructions");
_Static_assert((int)KERNEL_SW_CPU_CLOCK == (int)PERF_COUNT_SW_CPU_CLOCK, "cpu-clock");
_Static_assert((int)KERNEL_SW_TASK_CLOCK == (int)PERF_COUNT_SW_TASK_CLOCK, "task-clock");
_Static_assert((int)KERNEL_SW_PAGE_FAULTS == (int)PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
_Static_assert((int)KERNEL_SW_CONTEXT_SWITCHES == (int)PERF_COUNT_SW_CONTEXT_SWITCHES, "context-switches");
_Static_assert((int)KERNEL_SW_CPU_MIGRATIONS == (int)PERF_COUNT_SW_CPU_MIGRATIONS, "cpu-migrations");
_Static_assert((int)KERNEL_SW_MINOR_FAULTS == (int)PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor-faults");
_Static_assert((int)KERNEL_SW_DUMMY == (int)PERF_COUNT_SW_DUMMY, "dummy");

static void perf_attr_build(struct perf_event_attr *attr, const struct kernel_open *req)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = req->type;
    attr->config = req->config;
    attr->config1 = req->config1;
    attr->config2 = req->config2;
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
    if (req->group_read)
        attr->read_format |= PERF_FORMAT_GROUP;
    attr->disabled = req->disabled;
    attr->inherit = req->inherit;
    attr->enable_on_exec = req->enable_on_exec;
    attr->sample_period = req->period;
    attr->wakeup_events = req->period != 0;
    attr->exclude_user = (req->exclude & UPMU_EXCLUDE_USER) != 0;
    attr->exclude_kernel = (req->exclude & UPMU_EXCLUDE_KERNEL) != 0;
    attr->exclude_hv = (req->exclude & UPMU_EXCLUDE_HV) != 0;
    attr->exclude_host = (req->exclude & UPMU_EXCLUDE_HOST) != 0;
    attr->exclude_guest = (req->exclude & UPMU_EXCLUDE_GUEST) != 0;
    attr->precise_ip = req->precise & 3u;
}

static int perf_open(const struct kernel_open *req)
{
    struct perf_event_attr attr;
    if (kernel_files_recorded())
        return -EREMOTE; /* encodings of a recorded machine must not be opened on this one */
    if (req->backend == KERNEL_BACKEND_PAPI)
        return papi_open(req);
    if (!kernel_descriptor_reserve())
        return -EMFILE;
    perf_attr_build(&attr, req);
    long fd = syscall(SYS_perf_event_open, &attr, req->pid, req->cpu, req->group_fd, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        int err = errno;
        kernel_descriptor_unreserve();
        return -err;
    }
    return kernel_descriptor_park((int)fd);
}

/* Unknown flags are refused first, on every kernel since 2.6.31. */
static int perf_reach(void)
{
    int saved = errno;
    long rc = syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0ul);
    int err = rc < 0 ? errno : 0;
    errno = saved;
    return err == EINVAL ? 0 : -err;
}

static uint64_t perf_identify(int fd)
{
    uint64_t id = 0;
    int saved = errno;
    if (papi_owns(fd))
        return papi_identify(fd);
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
        id = 0;
    errno = saved;
    return id;
}

static void perf_close(int fd)
{
    if (papi_owns(fd))
        papi_close(fd, 0);
    else
        kernel_descriptor_close(fd);
}

static void perf_close_event(int fd, uint64_t id)
{
    if (papi_owns(fd))
        papi_close(fd, id);
    else if (id == 0 || perf_identify(fd) == id)
        kernel_descriptor_close(fd);
    else
        kernel_descriptor_unreserve();
}

/* Not read(3), which is a cancellation point: a thread must not be canceled while it begins a region. */
static ssize_t perf_read(int fd, void *words, size_t bytes)
{
    if (papi_owns(fd))
        return papi_read(fd, words, bytes);
    int saved = errno;
    ssize_t n = syscall(SYS_read, fd, words, bytes);
    if (n < 0)
        n = -errno;
    errno = saved;
    return n;
}

static int perf_control(int fd, enum kernel_verb verb)
{
    static const unsigned long requests[] = {
        [KERNEL_ENABLE] = PERF_EVENT_IOC_ENABLE,
        [KERNEL_DISABLE] = PERF_EVENT_IOC_DISABLE,
        [KERNEL_REFRESH] = PERF_EVENT_IOC_REFRESH,
    };
    if (papi_owns(fd))
        return papi_control(fd, verb);
    return ioctl(fd, requests[verb], verb == KERNEL_REFRESH ? 1 : 0) < 0 ? -errno : 0;
}

static size_t perf_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int perf_map(int fd, const void **page)
{
    *page = NULL;
    if (papi_owns(fd))
        return -EOPNOTSUPP;
    void *at = mmap(NULL, perf_page_bytes(), PROT_READ, MAP_SHARED, fd, 0);
    *page = at == MAP_FAILED ? NULL : at;
    return at == MAP_FAILED ? -errno : 0;
}

static void perf_unmap(const void *page)
{
    munmap((void *)(uintptr_t)page, perf_page_bytes());
}

static int perf_thread_switches(uint64_t *switches)
{
    struct rusage usage;
    int saved = errno;
    if (getrusage(RUSAGE_THREAD, &usage) < 0) {
        int err = errno;
        errno = saved;
        return -err;
    }
    *switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
    return 0;
}

/* The C library's own call, if there is one, is the shortest; counters run meanwhile. */
static pid_t perf_gettid(void)
{
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 30)
    return gettid();
#endif
#endif
    return (pid_t)syscall(SYS_gettid);
}

static int perf_backend(enum kernel_backend which, const char **reason)
{
    if (which == KERNEL_BACKEND_PAPI)
        return papi_usable(reason);
    *reason = "perf_event_open";
    return 0;
}

static int perf_named(enum kernel_backend which, const char *name, uint64_t *code)
{
    return which == KERNEL_BACKEND_PAPI ? papi_named(name, code) : -ENOENT;
}

static const char *perf_ask_cpu(arch_cpu_ask_fn ask, struct arch_cpu *out)
{
    return kernel_files_recorded() ? NULL : ask(out);
}

const struct kernel_ops upmu_kernel_perf = {
    .name = "perf_event_open",
    .open = perf_open,
    .close = perf_close,
    .reach = perf_reach,
    .descriptors = kernel_descriptors_now,
    .identify = perf_identify,
    .close_event = perf_close_event,
    .read = perf_read,
    .control = perf_control,
    .overflow_signal = kernel_overflow_signal,
    .cpu_timer = kernel_cpu_timer,
    .cpu_timer_set = kernel_cpu_timer_set,
    .cpu_timer_delete = kernel_cpu_timer_delete,
    .thread_lives = kernel_thread_lives,
    .map = perf_map,
    .unmap = perf_unmap,
    .page_read = kernel_page_read,
    .page_sequence = kernel_page_sequence,
    .thread_switches = perf_thread_switches,
    .work = kernel_work,
    .usage = kernel_usage,
    .switches_open = kernel_switches_open,
    .points_find = kernel_points_find,
    .switches_next = kernel_switches_next,
    .switches_close = kernel_switches_close,
    .futexes_find = kernel_futexes_find,
    .futexes_open = kernel_futexes_open,
    .futexes_close = kernel_futexes_close,
    .gettid = perf_gettid,
    .threads = kernel_threads,
    .backend = perf_backend,
    .named = perf_named,
    .recorded = kernel_files_recorded,
    .ask_cpu = perf_ask_cpu,
    .read_file = kernel_read_file,
    .list_dir = kernel_list_dir,
    .spawn = kernel_spawn,
    .release = kernel_release,
    .abandon = kernel_abandon,
    .exec_detaches = kernel_exec_detaches,
    .wait = kernel_wait,
};
