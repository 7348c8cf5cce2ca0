/* SPDX-License-Identifier: MIT */
/* Begin of recording in the process. */
#include "openmp/process.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/textbuf.h"
#include "base/tick.h"
#include "openmp/state.h"
#include "region/recorder.h"
#include "upmu/upmu.h"

/* There is no caller to return an error to. */
static void process_print(const char *what, const char *why)
{
    struct textbuf b = {0};
    textbuf_printf(&b, "libupmu: %s: %s\n", what, why);
    (void)textbuf_write(&b, STDERR_FILENO);
    textbuf_free(&b);
}

static void process_in_child(void)
{
    omp_process.described = 0;
    omp_tls = (struct omp_tls){0};
}

/* The program restricts its system calls or reading the time. */
static void process_restrict(void)
{
    __atomic_store_n(&omp_process.on, 0, __ATOMIC_RELEASE);
}

static void process_begin(void)
{
    struct recorder_clock clock;
    const char *value = secure_getenv("UPMU_OPENMP");
    if (!value || !*value || (value[0] == '0' && value[1] == '\0'))
        return;
    if (upmu_recorder_begin_(NULL) < 0 || upmu_recorder_at_finish_(process_restrict) < 0) {
        process_print("OpenMP is not recorded", upmu_error());
        return;
    }
    upmu_recorder_clock_(&clock);
    tick_clock_gettime = clock.gettime;
#ifdef TICK_ISA_NAME
    tick_use_isa = clock.use_isa;
#endif
    (void)pthread_atfork(NULL, NULL, process_in_child); /* without memory for it a child's runtime has no name */
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
