/* SPDX-License-Identifier: MIT */
/*
 * What patched sleds call: all registers that a function may use for arguments and results are kept.
 *
 * A sled's call and its return are a pair, and the return of the function itself is executed here: shadow stacks stay in step.
 */
#include "func/sleds/calls.h"

#include <string.h>

#include "func/hooks.h"
#include "func/sleds/returns.h"
#include "func/state.h"

uint64_t *sled_functions;

#if defined(__x86_64__) && defined(__LP64__)

uint32_t sled_vectors;

/* `slot` is the address of the function's return address: it falls with each call, and is the same at entry and exit. */
__attribute__((used, noinline)) static void sled_entered(uint32_t function, const uint64_t *slot)
{
    func_hook_enter(sled_functions[function], (uint64_t)(uintptr_t)slot, *slot);
}

__attribute__((used, noinline)) static void sled_left(uint32_t function, const uint64_t *slot)
{
    func_hook_return(sled_functions[function], (uint64_t)(uintptr_t)slot);
}

static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/* The nops follow the function's first instruction where indirect branches are tracked. */
static uint64_t patched_function(uint64_t after)
{
    uint64_t nops = after - SLED_PATCH_BYTES;
    bool has_endbr = memcmp((const char *)(uintptr_t)nops - sizeof endbr64, endbr64, sizeof endbr64) == 0;
    return has_endbr ? nops - sizeof endbr64 : nops;
}

/* Without memory for its return address the call ends with its caller's. */
__attribute__((used, noinline)) static void patched_entered(uint64_t after, uint64_t *slot)
{
    uint64_t site = func_returns_to(slot);
    if (!(func_gate_read() & FUNC_KIND))
        return;
    func_hook_enter(patched_function(after), (uint64_t)(uintptr_t)slot, site);
    (void)func_returns_replace(slot, site);
}

/* First the address, for what unwinds the stack from here on. */
__attribute__((used, noinline)) static void patched_returned(uint64_t *slot)
{
    *slot = func_returns_original(slot);
    func_hook_returned((uint64_t)(uintptr_t)slot);
}

/* The handlers use no vector registers wider than xmm themselves, but what they call for a thread's first call may. */
#define SLED_EACH(move, register, step)                                                             \
    move(register, 0, step) move(register, 1, step) move(register, 2, step) move(register, 3, step) \
        move(register, 4, step) move(register, 5, step) move(register, 6, step) move(register, 7, step)
#define SLED_STORE(register, i, step) "vmovups %" #register #i ", " #step "*" #i "(%rsp)\n"
#define SLED_LOAD(register, i, step) "vmovups " #step "*" #i "(%rsp), %" #register #i "\n"
#define SLED_STORE_XMM(register, i, step) "movups %" #register #i ", " #step "*" #i "(%rsp)\n"
#define SLED_LOAD_XMM(register, i, step) "movups " #step "*" #i "(%rsp), %" #register #i "\n"

/* Frame: rbp, then r11 to rax, then 8 vectors of up to 64 bytes. */
#define SLED_CALL(name, begin, arguments, handler)                                                                    \
    __asm__(".pushsection .text\n.p2align 4\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" begin \
            "pushq %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\n"                                         \
            "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                                                           \
            "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\n"                                            \
            "pushq %r8\npushq %r9\npushq %r10\npushq %r11\n" arguments "andq $-64, %rsp\nsubq $512, %rsp\n"           \
            "movl sled_vectors(%rip), %eax\ncmpl $1, %eax\nje 1f\nja 2f\n" SLED_EACH(                                 \
                SLED_STORE_XMM, xmm,                                                                                  \
                16) "call " #handler                                                                                  \
                    "\n" SLED_EACH(SLED_LOAD_XMM, xmm,                                                                \
                                   16) "jmp 3f\n"                                                                     \
                                       "1:\n" SLED_EACH(SLED_STORE, ymm, 32) "call " #handler "\n" SLED_EACH(         \
                                           SLED_LOAD, ymm,                                                            \
                                           32) "jmp 3f\n"                                                             \
                                               "2:\n" SLED_EACH(SLED_STORE, zmm, 64) "call " #handler "\n" SLED_EACH( \
                                                   SLED_LOAD, zmm,                                                    \
                                                   64) "3:\nleaq -72(%rbp), %rsp\n"                                   \
                                                       "popq %r11\npopq %r10\npopq %r9\npopq %r8\n"                   \
                                                       "popq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\n"      \
                                                       "popq %rbp\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\nret\n"    \
                                                       ".cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

#define SLED_BEGIN(name) #name ":\n.cfi_startproc\nendbr64\n"
#define SLED_AT_CALL "movq 8(%rbp), %rdi\nmovl -9(%rdi), %edi\nleaq 16(%rbp), %rsi\n"
#define SLED_AT_RETURN "movl %r10d, %edi\nleaq 8(%rbp), %rsi\n"
SLED_CALL(sled_entry, SLED_BEGIN(sled_entry), SLED_AT_CALL, sled_entered);
SLED_CALL(sled_tail, SLED_BEGIN(sled_tail), SLED_AT_CALL, sled_left);
SLED_CALL(sled_exit, SLED_BEGIN(sled_exit), SLED_AT_RETURN, sled_left);
SLED_CALL(sled_patched, SLED_BEGIN(sled_patched), "movq 8(%rbp), %rdi\nleaq 16(%rbp), %rsi\n", patched_entered);

/* A return has taken its address from the stack: the place is reserved again, for the original, to which this returns. With
 * A = CFA - 8 and the numbers of returns.c, it is at ROOT[A >> 26] + (A & 0x3ffffff). An unwinder looks up the address before the
 * one that it finds on the stack: it belongs to this function, too. The CFA is an expression as well, since libunwind takes frames with
 * a simple one for such that have their return address below it. */
#define SLED_ORIGINAL                                                                                           \
    ".cfi_escape 0x10, 16, 27, 0x38, 0x1c, 0x12, 0x08, 26, 0x25, 0x33, 0x24, 0x0e, 0, 0, 0, 0, 0, 0x2d, 0, 0, " \
    "0x22, 0x06, 0x16, 0x0c, 0xff, 0xff, 0xff, 0x03, 0x1a, 0x22\n"
#define SLED_CFA(offset) ".cfi_escape 0x0f, 2, 0x77, " #offset "\n" /* rsp + offset */
#define SLED_RETURNED                                                                                                \
    ".cfi_startproc\n.cfi_def_cfa_offset 0\n" SLED_ORIGINAL SLED_CFA(0) "nop\nsled_returned:\nleaq -8(%rsp), %rsp\n" \
                                                                        ".cfi_adjust_cfa_offset 8\n" SLED_CFA(8)
SLED_CALL(sled_returned, SLED_RETURNED, "leaq 8(%rbp), %rdi\n", patched_returned);

#endif
