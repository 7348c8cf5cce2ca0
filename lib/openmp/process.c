/* SPDX-License-Identifier: MIT */
/* Begin of recording in the process. */
#include "openmp/process.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process/variables.h"
#include "openmp/state.h"
#include "region/recorder.h"
#include "upmu/upmu.h"

static void process_in_child(void)
{
    omp_process.described = 0;
    omp_tls = (struct omp_tls){0};
}

/* The program restricts its system calls or reading the time. */
static void process_restrict(void)
{
    __atomic_store_n(&omp_process.on, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&omp_process.fast, 0, __ATOMIC_RELEASE);
}

static void process_begin(void)
{
    if (!variable_is_on("UPMU_OPENMP"))
        return;
    if (upmu_recorder_begin_(NULL) < 0 || upmu_recorder_at_finish_(process_restrict) < 0) {
        variable_report("OpenMP is not recorded", upmu_error());
        return;
    }
    (void)recorder_use_clock();
    (void)pthread_atfork(NULL, NULL, process_in_child); /* without memory for it a child's runtime has no name */
    __atomic_store_n(&omp_process.fast, tick_is_short() ? UINTPTR_MAX : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&omp_process.on, 1, __ATOMIC_RELEASE);
}

/* LLVM's runtime may ask for its tool before this library's constructor has run. */
bool omp_process_begin(void)
{
    static uint32_t begun;
    if (!__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
        process_begin();
    return omp_is_on();
}

__attribute__((constructor)) static void omp_load(void)
{
    (void)omp_process_begin();
}
