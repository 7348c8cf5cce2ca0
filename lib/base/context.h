/* SPDX-License-Identifier: MIT */
/** @file Program counter of the code that a signal interrupted, on each instruction set. */
#ifndef UPMU_BASE_CONTEXT_H
#define UPMU_BASE_CONTEXT_H

#include <stdint.h>
#include <ucontext.h>

/** Whether context_pc() is known on this instruction set. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) || defined(__arm__) || defined(__riscv) ||        \
    defined(__loongarch__) || defined(__mips__) || defined(__sw_64__) || defined(__alpha__) || defined(__powerpc__) || \
    defined(__s390x__)
#define CONTEXT_HAS_PC 1
#else
#define CONTEXT_HAS_PC 0
#endif

/** Address of the interrupted instruction; 0 if it is not known here. Async-signal-safe. */
static inline uintptr_t context_pc(const ucontext_t *at)
{
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
    return (uintptr_t)at->uc_mcontext.pc;
#elif defined(__arm__)
    return (uintptr_t)at->uc_mcontext.arm_pc;
#elif defined(__riscv)
    return (uintptr_t)at->uc_mcontext.__gregs[REG_PC];
#elif defined(__loongarch__)
    return (uintptr_t)at->uc_mcontext.__pc;
#elif defined(__mips__)
    return (uintptr_t)at->uc_mcontext.pc;
#elif defined(__sw_64__) || defined(__alpha__)
    return (uintptr_t)at->uc_mcontext.sc_pc;
#elif defined(__powerpc64__)
    return (uintptr_t)at->uc_mcontext.gp_regs[32]; /* PT_NIP */
#elif defined(__powerpc__)
    return (uintptr_t)at->uc_mcontext.uc_regs->gregs[32]; /* PT_NIP */
#elif defined(__s390x__)
    return (uintptr_t)at->uc_mcontext.psw.addr;
#else
    (void)at;
    return 0;
#endif
}

#endif
