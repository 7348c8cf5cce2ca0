/* SPDX-License-Identifier: MIT */
/* Restartable sequence that is never executed, see switched.h. */
#include "sync_trace/libc/switched.h"

#include <dlfcn.h>

uintptr_t sync_sequence;
ptrdiff_t sync_sequence_offset;

#if defined(__x86_64__) && defined(__LP64__)

/* The kernel ends a process whose sequence is not preceded, at its abort address, by the number that the C library has
 * registered. */
#define SEQUENCE_NUMBER "0x53053053"

__asm__(".pushsection .text\n"
        ".long " SEQUENCE_NUMBER "\n"
        "upmu_sequence_abort: ud2\n"
        "upmu_sequence_begin: nop\n"
        "nop\n"
        "upmu_sequence_end: nop\n"
        ".popsection\n");
extern const char upmu_sequence_abort[] __attribute__((visibility("hidden")));
extern const char upmu_sequence_begin[] __attribute__((visibility("hidden")));
extern const char upmu_sequence_end[] __attribute__((visibility("hidden")));

/* The kernel's struct rseq_cs. */
static struct {
    uint32_t version, flags;
    uint64_t begin, bytes, abort;
} sequence __attribute__((aligned(32)));

void sync_switched_start(void)
{
    const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
    const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");
    if (!offset || !size || *size < sizeof(struct sync_sequence_area) - sizeof(uint32_t))
        return;
    sequence.begin = (uintptr_t)upmu_sequence_begin;
    sequence.bytes = (uint64_t)(upmu_sequence_end - upmu_sequence_begin);
    sequence.abort = (uintptr_t)upmu_sequence_abort;
    sync_sequence_offset = *offset;
    sync_sequence = (uintptr_t)&sequence;
}

#else

void sync_switched_start(void)
{
}

#endif
