/* SPDX-License-Identifier: MIT */
/* A function that ends in `__x86_return_thunk` returns to its caller, which unwinders find at each instruction on the way. */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "sync_trace/libc/returns.h"
#include "sync_trace/stack/cfi.h"
#include "unit/suite.h"

#if defined(__x86_64__) && defined(__GLIBC__)

/* step_through() executes value_of(), which returns its argument, with a signal after each instruction. */
__asm__(".pushsection .text\n"
        "value_of: .cfi_startproc\n movq %rdi, %rax\n jmp __x86_return_thunk\n .cfi_endproc\n"
        "step_through: .cfi_startproc\n"
        "pushfq\n.cfi_adjust_cfa_offset 8\n orq $0x100, (%rsp)\n popfq\n.cfi_adjust_cfa_offset -8\n"
        "call value_of\n"
        "step_returned: pushfq\n.cfi_adjust_cfa_offset 8\n andq $-0x101, (%rsp)\n popfq\n.cfi_adjust_cfa_offset -8\n"
        "ret\n .cfi_endproc\n .popsection\n");
uint64_t step_through(uint64_t value);
extern const char step_returned[], __x86_return_thunk[]; /* NOLINT(clang-diagnostic-reserved-identifier) */

enum { THUNK_BYTES = 32, FRAMES = 64 };
static volatile int steps, found, found_by_tables;

static void step(int sig, siginfo_t *info, void *context)
{
    const greg_t *at = ((ucontext_t *)context)->uc_mcontext.gregs;
    static uintptr_t copy[64];
    void *frames[FRAMES];
    bool whole;
    (void)sig, (void)info;
    if ((uintptr_t)at[REG_RIP] - (uintptr_t)__x86_return_thunk >= THUNK_BYTES)
        return;
    steps++;
    int n = backtrace(frames, FRAMES);
    for (int i = 0; i < n; i++)
        found += frames[i] == step_returned;
    uintptr_t low = (uintptr_t)at[REG_RSP] - sizeof(uintptr_t);
    memcpy(copy, (const void *)low, sizeof copy);
    const struct cfi_memory part = {low, sizeof copy, copy};
    const struct cfi_frame from = {
        .pc = (uintptr_t)at[REG_RIP] + 1, .sp = (uintptr_t)at[REG_RSP], .bp = (uintptr_t)at[REG_RBP]};
    found_by_tables += cfi_walk(from, &part, 1, frames, FRAMES, &whole) > 1 && frames[1] == step_returned;
}

START_TEST(each_instruction_has_its_caller)
{
    static const int instructions[] = {3, 4}; /* test, jump, return; test, jump, stack, jump */
    const struct sigaction a = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    void *frames[FRAMES];
    (void)backtrace(frames, FRAMES); /* loads libgcc */
    ck_assert_int_eq(sigaction(SIGTRAP, &a, &before), 0);
    steps = found = found_by_tables = 0;
    sync_returns_jump = _i != 0;
    ck_assert_uint_eq(step_through(4711), 4711);
    ck_assert_int_eq(sigaction(SIGTRAP, &before, NULL), 0);
    ck_assert_int_eq(steps, instructions[_i]);
    ck_assert_int_eq(found, steps);
    ck_assert_int_eq(found_by_tables,
                     steps - _i); /* a return address below the stack pointer is in no copy of a stack */
}
END_TEST

START_TEST(a_jump_is_chosen_by_the_mitigation)
{
    char text[64] = "";
    FILE *f = fopen("/sys/devices/system/cpu/vulnerabilities/spec_rstack_overflow", "re");
    bool safe = f && fgets(text, sizeof text, f) && strstr(text, "Safe RET");
    if (f)
        fclose(f);
    sync_returns_jump = false;
    sync_returns_start();
    ck_assert(sync_returns_jump == safe);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("returns");
    tcase_add_loop_test(c, each_instruction_has_its_caller, 0, 2);
    tcase_add_test(c, a_jump_is_chosen_by_the_mitigation);
    return run_suite("returns", c);
}

#else

int main(void)
{
    puts("returns: skipped, because only functions of x86-64 return by a jump");
    return 77;
}

#endif
