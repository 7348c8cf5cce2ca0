/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of a program without unwind tables, on instruction sets whose code is scanned then.
 *
 * Each function notes where it returns to: that is what the stack must have, in this order. Among them are functions with
 * large and with growing frames, and a function of the C library.
 */
#include <alloca.h>

#include "../read_object.h"

#ifdef __alpha__ /* from 4 KiB on it is allocated by a loop, which is not understood */
enum { LARGE = 3000 };
#else
enum { LARGE = 100000 };
#endif
enum { RETURNS_MAX = 32, GROWS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Return addresses, outermost first. */
static struct {
    uint64_t of[RETURNS_MAX];
    unsigned n;
} returns;

#define NOTE_RETURN() (void)(returns.of[returns.n++] = (uintptr_t)__builtin_return_address(0))
#define FUNCTION static __attribute__((noinline, noclone))

/* What it returns keeps each call from being a jump. */
FUNCTION int locks(void)
{
    NOTE_RETURN();
    lock(&mutex);
    unlock(&mutex);
    return 1;
}

FUNCTION int large_frame(volatile char *before)
{
    volatile char memory[LARGE];
    NOTE_RETURN();
    memory[0] = memory[LARGE - 1] = before[0];
    return locks() + memory[LARGE - 1];
}

FUNCTION int growing_frame(size_t n)
{
    NOTE_RETURN();
    volatile char *memory = alloca(n);
    memory[0] = memory[n - 1] = 0;
    return large_frame(memory) + memory[n - 1];
}

FUNCTION int early_return(int n)
{
    if (n < 0)
        return n;
    NOTE_RETURN();
    int below = growing_frame((size_t)n);
    return below > 2 ? growing_frame(1) : below + 1;
}

FUNCTION int many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{
    NOTE_RETURN();
    return early_return(a + b + c + d + e + f + g + h + i + j) + a * b;
}

/* Called by qsort(), whose frames are between. */
static int compare(const void *a, const void *b)
{
    static volatile int sum; /* the first call alone */
    if (sum == 0)
        sum = many_arguments(GROWS, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    return *(const int *)a - *(const int *)b;
}

FUNCTION int sorts(void)
{
    int numbers[] = {3, 1, 2};
    NOTE_RETURN();
    qsort(numbers, 3, sizeof *numbers, compare);
    return numbers[0];
}

static void *thread(void *unused)
{
    CHECK(sorts() > 0);
    return unused;
}

/* The call stack of the mutex's acquisition. */
static void read_stack(struct upmu_trace_stack *out, uint64_t *frames)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    uint32_t id = 0;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while (upmu_trace_next(t, &e) > 0)
        if (e->kind == UPMU_TRACE_LOCK_ACQUIRE && e->object == (uintptr_t)&mutex)
            id = e->stack;
    CHECK(upmu_trace_stack_find(t, 0, id, out) == 0);
    memcpy(frames, out->frames, out->n_frames * sizeof *frames);
    upmu_trace_close(t);
}

/* @return whether all that was noted is in the stack, in order. */
static bool has_all(const uint64_t *frames, uint32_t n)
{
    unsigned left = returns.n;
    for (uint32_t i = 0; i < n && left > 0; i++)
        left -= frames[i] == returns.of[left - 1];
    return left == 0;
}

int main(void)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    uint64_t frames[64];
    CHECK(mkdtemp(dir) != NULL);
    const struct upmu_sync_opts o = {.size = sizeof o, .mode = UPMU_SYNC_ALL, .stack_depth = 64, .trace = dir};
    CHECK(upmu_sync_begin(&o) == 0);
    in_thread(thread, NULL);
    end();
    read_stack(&stack, frames);
    bool right = has_all(frames, stack.n_frames);
    printf("%u frames by method %u, %u functions noted\n", stack.n_frames, stack.method, returns.n);
    for (uint32_t i = 0; !right && i < stack.n_frames; i++)
        printf("  0x%" PRIx64 "\n", frames[i]);
    for (unsigned i = 0; !right && i < returns.n; i++)
        printf("  noted 0x%" PRIx64 "\n", returns.of[i]);
    CHECK(right && stack.method == UPMU_STACK_SCANNED);
    CHECK(stack.n_frames <= returns.n + 10);
    return remove_recording();
}
