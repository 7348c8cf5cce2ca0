/* SPDX-License-Identifier: MIT */
/* The test harness of the guests' programs, which prints to the guest's console. */
#include "guest.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_SKIPPED = 77, LOOP_BODY = 2 };

static int failures; /* of the test that this process is */

void guest_failed(const char *file, int line, const char *condition, const char *fmt, ...)
{
    const char *base = strrchr(file, '/');
    va_list ap;
    failures++;
    printf("    %s:%d: %s: ", base ? base + 1 : file, line, condition);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("%s%s\n", upmu_error()[0] ? "; last message: " : "", upmu_error());
}

void guest_skip(const char *fmt, ...)
{
    va_list ap;
    printf("    skipped, because ");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
    _exit(failures ? 1 : EXIT_SKIPPED);
}

void guest_note(const char *fmt, ...)
{
    va_list ap;
    printf("    ");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
}

static int run_one(const struct guest_test *test)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        test->run();
        exit(failures ? 1 : 0); /* libupmu ends its recordings */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int guest_run(const struct guest_test *tests, size_t n)
{
    unsigned passed = 0, failed = 0, skipped = 0;
    for (size_t i = 0; i < n; i++) {
        int code = run_one(&tests[i]);
        passed += code == 0;
        skipped += code == EXIT_SKIPPED;
        failed += code != 0 && code != EXIT_SKIPPED;
        printf("%s %s", code == 0 ? "passed" : code == EXIT_SKIPPED ? "skipped" : "FAILED", tests[i].name);
        printf(code > 1 && code != EXIT_SKIPPED ? " (status %d)\n" : "\n", code);
    }
    printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed || passed == 0;
}

/* --------------------------------------------------------------------------------------------------- known work */

__attribute__((noinline)) void guest_loop(unsigned long instructions)
{
    unsigned long n = instructions / LOOP_BODY;
#if defined(__aarch64__)
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#elif defined(__riscv)
    __asm__ volatile(".option push\n\t.option norvc\n1: addi %0, %0, -1\n\tbnez %0, 1b\n\t.option pop" : "+r"(n));
#elif defined(__loongarch64)
    __asm__ volatile("1: addi.d %0, %0, -1\n\tbnez %0, 1b" : "+r"(n));
#elif defined(__mips64)
    /* The delay slot does the counting. */
    __asm__ volatile(".set push\n\t.set noreorder\n1: bne %0, %1, 1b\n\tdaddiu %0, %0, -1\n\t.set pop"
                     : "+r"(n)
                     : "r"(1ul));
#elif defined(__x86_64__)
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
#error "no loop of known length for this instruction set"
#endif
}

static size_t bytes_of(size_t pages)
{
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

unsigned char *guest_memory(size_t pages)
{
    void *memory = mmap(NULL, bytes_of(pages), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        EXPECT(false, "no memory for %zu pages", pages);
        fflush(stdout);
        _exit(1);
    }
    return memset(memory, 1, bytes_of(pages));
}

void guest_flush(unsigned char *memory, size_t pages)
{
    int there = mprotect(memory, bytes_of(pages), PROT_READ | PROT_WRITE | PROT_EXEC);
    int back = mprotect(memory, bytes_of(pages), PROT_READ | PROT_WRITE);
    EXPECT(there == 0 && back == 0, "mprotect");
}

unsigned guest_cycles_per_instruction(void)
{
    const char *shift = getenv("guest_shift"); /* the kernel hands unknown words of its command line to init */
    return shift ? 1u << strtoul(shift, NULL, 10) : 0;
}

bool guest_sysctl(const char *path, int value)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    bool written = fprintf(f, "%d\n", value) > 0;
    return fclose(f) == 0 && written;
}

int guest_calls_counter(const char *filter)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_TRACEPOINT};
    unsigned long long id = 0;
    FILE *f = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
    if (!f || fscanf(f, "%llu", &id) != 1)
        guest_skip("this kernel has no tracepoint at the entry of system calls");
    fclose(f);
    attr.config = id;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    EXPECT(fd >= 0, "the tracepoint cannot be opened: %s", strerror(errno));
    if (filter)
        EXPECT(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) == 0, "filter '%s': %s", filter, strerror(errno));
    return fd;
}

uint64_t guest_calls(int counter)
{
    uint64_t n = UPMU_NO_VALUE;
    EXPECT(read(counter, &n, sizeof n) == sizeof n, "read of the tracepoint");
    return n;
}

/* ---------------------------------------------------------------------------------------------- libupmu in short */

struct upmu_set *guest_open(const char *events, uint32_t target, uint32_t flags, int pid)
{
    struct upmu_set_opts opts = {.size = sizeof opts, .target = target, .flags = flags, .pid = pid};
    struct upmu_set *set;
    if (upmu_set_open(&set, events, &opts) < 0) {
        EXPECT(false, "'%s' cannot be opened", events);
        fflush(stdout);
        _exit(1);
    }
    return set;
}

void guest_start(struct upmu_set *set)
{
    int rc = upmu_set_start(set);
    EXPECT(rc == 0, "start: %s", upmu_strerror(rc));
}

void guest_stop(struct upmu_set *set)
{
    int rc = upmu_set_stop(set);
    EXPECT(rc == 0, "stop: %s", upmu_strerror(rc));
}

void guest_read(struct upmu_set *set, struct upmu_value *values)
{
    int n = upmu_set_read(set, values, GUEST_EVENTS_MAX);
    EXPECT(n == (int)upmu_set_event_count(set), "read: %d", n);
}

bool guest_status(struct upmu_set *set, size_t i, const struct upmu_value *v, int status)
{
    bool as_wanted = v->status == status;
    EXPECT(as_wanted, "%s is %s (value %llu, enabled %llu, running %llu): %s", upmu_set_name(set, i),
           upmu_status_name(v->status), (unsigned long long)v->value, (unsigned long long)v->enabled,
           (unsigned long long)v->running, upmu_set_reason(set, i));
    return as_wanted;
}
