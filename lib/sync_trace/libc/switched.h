/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether the thread was switched out since a point in time, without a system call.
 *
 * The kernel clears the pointer to a restartable sequence when it switches out a thread that is not inside of the sequence. Ours
 * is never executed: its pointer is stored before a call, and is still there afterwards if the thread was not switched out. The C
 * library registers the area with the kernel; where it did not, every call counts as one that may have been switched out.
 */
#ifndef UPMU_SYNC_SWITCHED_H
#define UPMU_SYNC_SWITCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The kernel's struct rseq, whose layout is fixed. */
struct sync_sequence_area {
    uint32_t cpu_id_start;
    int32_t cpu_id; /**< negative: not registered */
    uint64_t sequence;
    uint32_t flags;
};

/** The sequence's address; 0: not used here. */
extern uintptr_t sync_sequence __attribute__((visibility("hidden")));
extern ptrdiff_t sync_sequence_offset __attribute__((visibility("hidden")));

/** Find the area. */
void sync_switched_start(void);

#if defined(__x86_64__) && defined(__LP64__)

static inline struct sync_sequence_area *sync_sequence_area(void)
{
    return (struct sync_sequence_area *)(void *)((char *)__builtin_thread_pointer() + sync_sequence_offset);
}

static inline void sync_switched_arm(void)
{
    if (__builtin_expect(sync_sequence != 0, 1))
        __atomic_store_n(&sync_sequence_area()->sequence, sync_sequence, __ATOMIC_RELAXED);
}

/** Since sync_switched_arm(); true also if it is not known. */
static inline bool sync_switched(void)
{
    if (__builtin_expect(sync_sequence == 0, 0))
        return true;
    const struct sync_sequence_area *a = sync_sequence_area();
    return __atomic_load_n(&a->sequence, __ATOMIC_RELAXED) != sync_sequence ||
           __atomic_load_n(&a->cpu_id, __ATOMIC_RELAXED) < 0;
}

#else

static inline void sync_switched_arm(void)
{
}

static inline bool sync_switched(void)
{
    return true;
}

#endif

#endif
