/* SPDX-License-Identifier: MIT */
/* See spare_stack.h. */
#include "sync_trace/stack/spare_stack.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The frame pointer is the canonical frame address minus a constant, so that unwinders find the caller's stack. */
#if defined(__x86_64__)
#define SPARE_STACK 1
__asm__(".pushsection .text\n.p2align 4\n"
        ".globl sync_spare_stack_call\n.hidden sync_spare_stack_call\n.type sync_spare_stack_call, @function\n"
        "sync_spare_stack_call:\n.cfi_startproc\n"
        "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
        "movq %rdx, %rsp\n"
        "movq %rdi, %rax\n"
        "movq %rsi, %rdi\n"
        "call *%rax\n"
        "movq %rbp, %rsp\n"
        "popq %rbp\n.cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n.size sync_spare_stack_call, .-sync_spare_stack_call\n.popsection\n");
#elif defined(__aarch64__)
#define SPARE_STACK 1
__asm__(".pushsection .text\n.p2align 4\n"
        ".globl sync_spare_stack_call\n.hidden sync_spare_stack_call\n.type sync_spare_stack_call, %function\n"
        "sync_spare_stack_call:\n.cfi_startproc\n"
        "stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset x29, -16\n.cfi_offset x30, -8\n"
        "mov x29, sp\n.cfi_def_cfa_register x29\n"
        "mov sp, x2\n"
        "mov x9, x0\n"
        "mov x0, x1\n"
        "blr x9\n"
        "mov sp, x29\n.cfi_def_cfa_register sp\n"
        "ldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore x29\n.cfi_restore x30\n"
        "ret\n"
        ".cfi_endproc\n.size sync_spare_stack_call, .-sync_spare_stack_call\n.popsection\n");
#else
#define SPARE_STACK 0
#endif

#if SPARE_STACK

/** Call run(arg) with the stack pointer `top`. */
void sync_spare_stack_call(void (*run)(void *), void *arg, void *top);

bool sync_on_spare_stack(struct sync_thread *t, void (*run)(void *), void *arg)
{
    enum { BYTES = 64 << 10 };
    const uint64_t all[2] = {UINT64_MAX, UINT64_MAX};
    uint64_t before[2];
    if (!t->spare_stack) {
        void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (p == MAP_FAILED)
            return false;
        t->spare_stack = p;
    }
    /* By the system call: the C library leaves out its own signals. */
    syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, all, before, (long)(_NSIG / 8));
    sync_spare_stack_call(run, arg, (uint8_t *)t->spare_stack + BYTES);
    syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, before, NULL, (long)(_NSIG / 8));
    return true;
}

#else

bool sync_on_spare_stack(struct sync_thread *t, void (*run)(void *), void *arg)
{
    (void)t;
    run(arg);
    return true;
}

#endif
