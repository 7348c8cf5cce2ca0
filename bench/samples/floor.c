/* SPDX-License-Identifier: MIT */
/*
 * The kernel's part of a sampler's cost, for bench_samples.sh: a command with the event of upmu record -F, which has no ring and no reader.
 *
 *     floor FREQUENCY COMMAND...
 *
 * The kernel makes each sample with its call stack, and drops it. One event per CPU, as a ring that threads inherit needs.
 * Exit status: that of the command; 1 if the kernel refuses the event, 127 without that command.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As lib/sampling/event.c has it; other machines copy no stack for frame pointers. */
static void add_stack(struct perf_event_attr *attr)
{
#ifdef __x86_64__
    attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr->sample_regs_user = 1ULL << PERF_REG_X86_SP;
    attr->sample_stack_user = 64;
#else
    (void)attr;
#endif
}

int main(int argc, char **argv)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .freq = 1,
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                  PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
                                   .disabled = 1,
                                   .enable_on_exec = 1,
                                   .inherit = 1,
                                   .exclude_hv = 1,
                                   .exclude_callchain_kernel = 1,
                                   .sample_id_all = 1,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC_RAW};
    if (argc < 3) {
        fprintf(stderr, "usage: floor FREQUENCY COMMAND...\n");
        return 2;
    }
    attr.sample_freq = strtoull(argv[1], NULL, 10);
    add_stack(&attr);
    for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
        long fd = syscall(SYS_perf_event_open, &attr, 0, cpu, -1, 0);
        if (fd < 0 && errno == EACCES) { /* as upmu record: without the kernel, where it may not be sampled */
            attr.exclude_kernel = 1;
            fd = syscall(SYS_perf_event_open, &attr, 0, cpu, -1, 0);
        }
        if (fd < 0 && errno != ENODEV) { /* ENODEV: the CPU is offline */
            fprintf(stderr, "floor: perf_event_open() failed: %s\n", strerror(errno));
            return 1;
        }
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
