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

void sled_vectors_find(void)
{
    sled_vectors = __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx") ? 1 : 0;
}

/* Each handler has two parts: the first one uses no vector register, and suffices for most calls; the second one is called if it returns
 * false, with all vector registers saved. `slot` is the address of the function's return address: it falls with each call, and is the
 * same at entry and exit. */
__attribute__((used, noinline)) static bool sled_entered(uint32_t function, const uint64_t *slot)
{
    return func_hook_enter_known(sled_functions[function], (uint64_t)(uintptr_t)slot, *slot);
}

__attribute__((used, noinline)) static void sled_entered_slowly(uint32_t function, const uint64_t *slot)
{
    func_hook_enter(sled_functions[function], (uint64_t)(uintptr_t)slot, *slot);
}

__attribute__((used, noinline)) static bool sled_left(uint32_t function)
{
    return func_hook_return_known(sled_functions[function]);
}

__attribute__((used, noinline)) static void sled_left_slowly(uint32_t function, const uint64_t *slot)
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
static inline bool patched_record(uint64_t function, uint64_t *slot, bool *is_replaced)
{
    uint64_t site = func_returns_to(slot, *slot);
    *is_replaced = false;
    if (!(func_gate_read() & FUNC_KIND))
        return true;
    *is_replaced = func_returns_replace_known(slot, site);
    return *is_replaced && func_hook_enter_known(function, (uint64_t)(uintptr_t)slot, site);
}

static inline bool patched_record_slowly(uint64_t function, uint64_t *slot)
{
    uint64_t site = func_returns_to(slot, *slot);
    if (!(func_gate_read() & FUNC_KIND))
        return false;
    func_hook_enter(function, (uint64_t)(uintptr_t)slot, site);
    return func_returns_replace(slot, site);
}

__attribute__((used, noinline)) static bool patched_entered(uint64_t after, uint64_t *slot)
{
    bool is_replaced;
    return patched_record(patched_function(after), slot, &is_replaced);
}

__attribute__((used, noinline)) static void patched_entered_slowly(uint64_t after, uint64_t *slot)
{
    (void)patched_record_slowly(patched_function(after), slot);
}

/* The same of a function without hooks, by the stub of its calls. `target` is the address of the word with the function's; with its lowest
 * bit set, the call's return address is not replaced. */
__attribute__((used, noinline)) static bool wrapped_entered(uint64_t *target, uint64_t *slot)
{
    bool is_replaced, done = patched_record(*(const uint64_t *)(uintptr_t)*target, slot, &is_replaced);
    *target |= done && !is_replaced;
    return done;
}

__attribute__((used, noinline)) static void wrapped_entered_slowly(uint64_t *target, uint64_t *slot)
{
    *target |= !patched_record_slowly(*(const uint64_t *)(uintptr_t)*target, slot);
}

/* First the address, for what unwinds the stack from here on. */
__attribute__((used, noinline)) static bool patched_returned(uint64_t *slot)
{
    *slot = func_returns_original(slot);
    return func_hook_returned_known((uint64_t)(uintptr_t)slot);
}

__attribute__((used, noinline)) static void patched_returned_slowly(const uint64_t *slot)
{
    func_hook_returned((uint64_t)(uintptr_t)slot);
}

#define SLED_EACH(move, register, step)                                                             \
    move(register, 0, step) move(register, 1, step) move(register, 2, step) move(register, 3, step) \
        move(register, 4, step) move(register, 5, step) move(register, 6, step) move(register, 7, step)
#define SLED_STORE(register, i, step) "vmovups %" #register #i ", " #step "*" #i "(%rsp)\n"
#define SLED_LOAD(register, i, step) "vmovups " #step "*" #i "(%rsp), %" #register #i "\n"
#define SLED_STORE_XMM(register, i, step) "movups %" #register #i ", " #step "*" #i "(%rsp)\n"
#define SLED_LOAD_XMM(register, i, step) "movups " #step "*" #i "(%rsp), %" #register #i "\n"
#define SLED_SLOWLY(handler, label, store, load, register, step) \
    label SLED_EACH(store, register, step) "call " #handler "_slowly\n" SLED_EACH(load, register, step) "jmp 3f\n"

/* Frame: rbp, then r11 to rax (r11 at -72), then 8 vectors of up to 64 bytes. `arguments` reads saved registers only. */
#define SLED_CALL_TO(name, begin, arguments, handler, end)                                                            \
    __asm__(".pushsection .text\n.p2align 4\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" begin \
            "pushq %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\n"                                         \
            "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                                                           \
            "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\n"                                            \
            "pushq %r8\npushq %r9\npushq %r10\npushq %r11\n"                                                          \
            "andq $-64, %rsp\nsubq $512, %rsp\n" arguments "call " #handler "\ntestb %al, %al\njne 3f\n" arguments    \
            "movl sled_vectors(%rip), %eax\ncmpl $1, %eax\nje 1f\nja 2f\n" SLED_SLOWLY(handler, "", SLED_STORE_XMM,   \
                                                                                       SLED_LOAD_XMM, xmm, 16)        \
                SLED_SLOWLY(handler, "1:\n", SLED_STORE, SLED_LOAD, ymm, 32)                                          \
                    SLED_SLOWLY(handler, "2:\n", SLED_STORE, SLED_LOAD, zmm,                                          \
                                64) "3:\nleaq -72(%rbp), %rsp\n"                                                      \
                                    "popq %r11\npopq %r10\npopq %r9\npopq %r8\n"                                      \
                                    "popq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\n"                         \
                                    "popq %rbp\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\n" end                        \
                                    ".cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")
#define SLED_CALL(name, begin, arguments, handler) SLED_CALL_TO(name, begin, arguments, handler, "ret\n")

#define SLED_BEGIN(name) #name ":\n.cfi_startproc\nendbr64\n"
#define SLED_AT_CALL "movq 8(%rbp), %rdi\nmovl -9(%rdi), %edi\nleaq 16(%rbp), %rsi\n"
#define SLED_AT_RETURN "movl -64(%rbp), %edi\nleaq 8(%rbp), %rsi\n"
SLED_CALL(sled_entry, SLED_BEGIN(sled_entry), SLED_AT_CALL, sled_entered);
SLED_CALL(sled_tail, SLED_BEGIN(sled_tail), SLED_AT_CALL, sled_left);
SLED_CALL(sled_exit, SLED_BEGIN(sled_exit), SLED_AT_RETURN, sled_left);
SLED_CALL(sled_patched, SLED_BEGIN(sled_patched), "movq 8(%rbp), %rdi\nleaq 16(%rbp), %rsi\n", patched_entered);

/* The stub's call has become the function's: r11, which any call may change, has the address of the word with the function's. */
SLED_CALL_TO(sled_wrapped, SLED_BEGIN(sled_wrapped), "leaq -72(%rbp), %rdi\nleaq 8(%rbp), %rsi\n", wrapped_entered,
             "testb $1, %r11b\nje sled_called\njmp *-1(%r11)\n");

/* A return has taken its address from the stack: the place is reserved again, for the original, to which this returns. An unwinder
 * looks up the address before the one that it finds on the stack: it belongs to this function, too. The CFA is an expression as well,
 * since libunwind takes frames with a simple one for such that have their return address below it.
 *
 * A wrapped function is called from here, in place of its caller's call, so that the processor has predicted both returns: replaced
 * return addresses alone are two mispredictions. */
#define SLED_TEXT_OF(...) #__VA_ARGS__
#define SLED_TEXT(...) SLED_TEXT_OF(__VA_ARGS__)
#define SLED_ORIGINAL ".cfi_escape 0x10, 16, 27, " SLED_TEXT(FUNC_RETURNS_EXPRESSION) "\n"
#define SLED_CFA(offset) ".cfi_escape 0x0f, 2, 0x77, " #offset "\n" /* rsp + offset */
#define SLED_RETURNED                                                                                   \
    "sled_called:\n.cfi_startproc\nleaq 8(%rsp), %rsp\n.cfi_def_cfa_offset 0\n" SLED_ORIGINAL SLED_CFA( \
        0) "call *(%r11)\nsled_returned:\nleaq -8(%rsp), %rsp\n.cfi_adjust_cfa_offset 8\n" SLED_CFA(8)
SLED_CALL(sled_returned, SLED_RETURNED, "leaq 8(%rbp), %rdi\n", patched_returned);

#endif
