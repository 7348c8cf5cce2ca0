/* SPDX-License-Identifier: MIT */
/* Begin of recording the heap in the process: UPMU_HEAP has the mean number of bytes between two samples. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process/variables.h"
#include "heap/heap.h"
#include "region/recorder.h"

enum { PERIOD_MIN = 1, PERIOD_MAX = 1 << 30 };

static void process_in_child(void)
{
    heap_process.forks++;
    heap_process.waits = 1;
}

/* The recording ends, since the program restricts its system calls or reading the time. */
static void process_restrict(void)
{
    __atomic_store_n(&heap_process.on, 0, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void heap_load(void)
{
    char *end;
    const char *value = variable_value("UPMU_HEAP");
    if (!value)
        return;
    long long period = strtoll(value, &end, 10);
    if (*end != '\0' || period < PERIOD_MIN || period > PERIOD_MAX) {
        variable_report("the heap is not recorded", "UPMU_HEAP is not a number of bytes from 1 to 1073741824");
        return;
    }
    if (upmu_recorder_begin_(NULL) < 0 || upmu_recorder_at_finish_(process_restrict) < 0) {
        variable_report("the heap is not recorded", upmu_error());
        return;
    }
    (void)recorder_use_clock();
    if (pthread_atfork(NULL, NULL, process_in_child) != 0) {
        variable_report("the heap is not recorded", "out of memory");
        return;
    }
    heap_process.period = (uint64_t)period;
    __atomic_store_n(&heap_process.on, 1, __ATOMIC_RELEASE);
    heap_tls.left = 0; /* what was allocated before is not sampled */
}
