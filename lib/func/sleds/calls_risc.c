/* SPDX-License-Identifier: MIT */
/*
 * What stubs of functions without hooks jump to on AArch64, RISC-V, LoongArch and MIPS: all registers that a function may use for arguments
 * and results are kept.
 *
 * The return address of a call is in a register, and arguments may be on the stack: the function is called from here with the stack as
 * it is, in place of its caller's call. Its frame is empty; an unwinder finds what this returns to by an expression. The processor has
 * predicted both returns.
 */
#include "func/hooks.h"
#include "func/sleds/calls.h"
#include "func/sleds/returns.h"
#include "func/state.h"

#if FUNC_HAS_RETURNS && !defined(__x86_64__)

/* `slot` is below the function's frame, and above those of the functions that it calls. @return whether the call is recorded. */
__attribute__((used, noinline)) static bool risc_entered(uint64_t function, uint64_t *slot, uint64_t address)
{
    uint64_t site = func_returns_to(slot, address);
    if (!(func_gate_read() & FUNC_KIND) || !func_returns_replace(slot, site))
        return false;
    func_hook_enter(function, (uintptr_t)slot, site);
    return true;
}

/* @return what the call returns to. */
__attribute__((used, noinline)) static uint64_t risc_returned(const uint64_t *slot)
{
    uint64_t original = func_returns_original(slot);
    func_hook_returned((uintptr_t)slot);
    return original;
}

#define RISC_TEXT_OF(...) #__VA_ARGS__
#define RISC_TEXT(...) RISC_TEXT_OF(__VA_ARGS__)
/* DW_CFA_expression of the return address. */
#define RISC_ORIGINAL \
    ".cfi_escape 0x10, " RISC_TEXT(FUNC_RETURNS_ADDRESS) ", 27, " RISC_TEXT(FUNC_RETURNS_EXPRESSION) "\n"
#define RISC_BEGIN                                                                                               \
    ".pushsection .text\n.p2align 4\n.globl sled_wrapped\n.hidden sled_wrapped\n.type sled_wrapped, %function\n" \
    "sled_wrapped:\n.cfi_startproc\n"
#define RISC_CALLED                                                                                    \
    ".cfi_endproc\n.size sled_wrapped, . - sled_wrapped\n.type sled_called, %function\nsled_called:\n" \
    ".cfi_startproc\n" RISC_ORIGINAL
#define RISC_RETURNED ".globl sled_returned\n.hidden sled_returned\nsled_returned:\n"
#define RISC_END ".cfi_endproc\n.size sled_called, . - sled_called\n.popsection\n"

#if defined(__aarch64__)
/* Frame of 224 bytes: x29, x30, x0 to x8, x16, q0 to q7. CFA: DW_CFA_def_cfa_expression, DW_OP_breg31. First BTI C, for the
 * jump of a stub. */
#define RISC_SAVE                                                                             \
    "stp x29, x30, [sp, #-224]!\nmov x29, sp\nstp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\n" \
    "stp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstp x8, x16, [sp, #80]\n"                  \
    "stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\nstp q6, q7, [sp, #192]\n"
#define RISC_LOAD                                                                                     \
    "ldp q0, q1, [sp, #96]\nldp q2, q3, [sp, #128]\nldp q4, q5, [sp, #160]\nldp q6, q7, [sp, #192]\n" \
    "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\n"    \
    "ldp x8, x16, [sp, #80]\nldp x29, x30, [sp], #224\n"
__asm__(RISC_BEGIN "hint #34\n" RISC_SAVE ".cfi_def_cfa_offset 224\n.cfi_offset 29, -224\n.cfi_offset 30, -216\n"
                   "ldr x0, [x16]\nadd x1, sp, #216\nmov x2, x30\nbl risc_entered\nmov x17, x0\n" RISC_LOAD
                   ".cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n"
                   "ldr x16, [x16]\ntbnz w17, #0, sled_called\nbr x16\n" /* called here, or in place of this */
        RISC_CALLED ".cfi_escape 0x0f, 2, 0x8f, 0\nblr x16\n" RISC_RETURNED RISC_SAVE
                   ".cfi_escape 0x0f, 3, 0x8f, 0xe0, 0x01\n.cfi_offset 29, -224\n"
                   "add x0, sp, #216\nbl risc_returned\nstr x0, [sp, #8]\n" RISC_LOAD
                   ".cfi_escape 0x0f, 2, 0x8f, 0\n.cfi_restore 29\nret\n" RISC_END);
#elif defined(__loongarch64)
/* Frame of 160 bytes: a0 to a7, fa0 to fa7, t0, fp, ra. CFA: DW_CFA_def_cfa_expression, DW_OP_breg3. Vectors are passed in integer
 * registers or by reference. */
#define RISC_EACH(integer, real)                                                                                       \
#integer " $a0, $sp, 0\n" #integer " $a1, $sp, 8\n" #integer " $a2, $sp, 16\n" #integer " $a3, $sp, 24\n" #integer \
             " $a4, $sp, 32\n" #integer " $a5, $sp, 40\n" #integer " $a6, $sp, 48\n" #integer " $a7, $sp, 56\n" #real  \
             " $fa0, $sp, 64\n" #real " $fa1, $sp, 72\n" #real " $fa2, $sp, 80\n" #real " $fa3, $sp, 88\n" #real       \
             " $fa4, $sp, 96\n" #real " $fa5, $sp, 104\n" #real " $fa6, $sp, 112\n" #real " $fa7, $sp, 120\n" #integer \
             " $t0, $sp, 136\n" #integer " $fp, $sp, 144\n" #integer " $ra, $sp, 152\n"
#define RISC_SAVE "addi.d $sp, $sp, -160\n" RISC_EACH(st.d, fst.d) "addi.d $fp, $sp, 160\n"
#define RISC_LOAD RISC_EACH(ld.d, fld.d) "addi.d $sp, $sp, 160\n"
__asm__(RISC_BEGIN RISC_SAVE
        ".cfi_def_cfa_offset 160\n.cfi_offset 1, -8\n.cfi_offset 22, -16\n"
        "ld.d $a0, $t0, 0\naddi.d $a1, $sp, 152\nmove $a2, $ra\nbl risc_entered\nmove $t1, $a0\n" RISC_LOAD
        ".cfi_def_cfa_offset 0\n.cfi_restore 1\n.cfi_restore 22\n"
        "ld.d $t0, $t0, 0\nbnez $t1, sled_called\njr $t0\n" RISC_CALLED
        ".cfi_escape 0x0f, 2, 0x73, 0\njirl $ra, $t0, 0\n" RISC_RETURNED RISC_SAVE
        ".cfi_escape 0x0f, 3, 0x73, 0xa0, 0x01\n.cfi_offset 22, -16\n"
        "addi.d $a0, $sp, 152\nbl risc_returned\nst.d $a0, $sp, 152\n" RISC_LOAD
        ".cfi_escape 0x0f, 2, 0x73, 0\n.cfi_restore 22\nret\n" RISC_END);
#elif defined(__mips64)
/* Frame of 192 bytes: $a0 to $a7, $f12 to $f19, the results $v0, $v1, $f0, $f2, then $t8, $gp, $fp, $ra. CFA: DW_CFA_def_cfa_expression,
 * DW_OP_breg29. A function finds its data by $t9, its address; $gp is its caller's, so each call here makes its own. */
#define RISC_EACH(integer, real)                                                                                       \
#integer " $4, 0($29)\n" #integer " $5, 8($29)\n" #integer " $6, 16($29)\n" #integer " $7, 24($29)\n" #integer     \
             " $8, 32($29)\n" #integer " $9, 40($29)\n" #integer " $10, 48($29)\n" #integer " $11, 56($29)\n" #real    \
             " $f12, 64($29)\n" #real " $f13, 72($29)\n" #real " $f14, 80($29)\n" #real " $f15, 88($29)\n" #real       \
             " $f16, 96($29)\n" #real " $f17, 104($29)\n" #real " $f18, 112($29)\n" #real " $f19, 120($29)\n" #integer \
             " $2, 128($29)\n" #integer " $3, 136($29)\n" #real " $f0, 144($29)\n" #real " $f2, 152($29)\n" #integer   \
             " $24, 160($29)\n" #integer " $28, 168($29)\n" #integer " $30, 176($29)\n" #integer " $31, 184($29)\n"
#define RISC_SAVE "daddiu $29, $29, -192\n" RISC_EACH(sd, sdc1) "daddiu $30, $29, 192\n"
#define RISC_LOAD RISC_EACH(ld, ldc1) "daddiu $29, $29, 192\n"
/* $gp by the address of a symbol: by $t9 that of sled_wrapped, by $ra that of sled_here. */
#define RISC_DATA_OF_WRAPPED                                           \
    "lui $28, %hi(%neg(%gp_rel(sled_wrapped)))\ndaddu $28, $28, $25\n" \
    "daddiu $28, $28, %lo(%neg(%gp_rel(sled_wrapped)))\n"
#define RISC_DATA_OF_HERE                                                                           \
    "bal sled_here\nnop\nsled_here:\nlui $28, %hi(%neg(%gp_rel(sled_here)))\ndaddu $28, $28, $31\n" \
    "daddiu $28, $28, %lo(%neg(%gp_rel(sled_here)))\n"
#define RISC_SAVED ".cfi_offset 30, -16\n.cfi_offset 28, -24\n"
#define RISC_LOADED ".cfi_restore 30\n.cfi_restore 28\n"
__asm__(RISC_BEGIN ".set push\n.set noreorder\n" RISC_SAVE
                   ".cfi_def_cfa_offset 192\n.cfi_offset 31, -8\n" RISC_SAVED RISC_DATA_OF_WRAPPED
                   "ld $4, 0($24)\ndaddiu $5, $29, 184\nmove $6, $31\n"
                   "dla $25, risc_entered\njalr $25\nnop\nmove $12, $2\n" RISC_LOAD
                   ".cfi_def_cfa_offset 0\n.cfi_restore 31\n" RISC_LOADED
                   "ld $25, 0($24)\nbnez $12, sled_called\nnop\njr $25\nnop\n" RISC_CALLED
                   ".cfi_escape 0x0f, 2, 0x8d, 0\njalr $25\nnop\n" RISC_RETURNED RISC_SAVE
                   ".cfi_escape 0x0f, 3, 0x8d, 0xc0, 0x01\n" RISC_SAVED RISC_DATA_OF_HERE
                   "daddiu $4, $29, 184\ndla $25, risc_returned\njalr $25\nnop\nsd $2, 184($29)\n" RISC_LOAD
                   ".cfi_escape 0x0f, 2, 0x8d, 0\n" RISC_LOADED "jr $31\nnop\n.set pop\n" RISC_END);
#else
/* Frame of 160 bytes: a0 to a7, fa0 to fa7, t1, s0, ra. CFA: DW_CFA_def_cfa_expression, DW_OP_breg2. */
#define RISC_EACH(integer, real)                                                                               \
#integer " a0, 0(sp)\n" #integer " a1, 8(sp)\n" #integer " a2, 16(sp)\n" #integer " a3, 24(sp)\n" #integer \
             " a4, 32(sp)\n" #integer " a5, 40(sp)\n" #integer " a6, 48(sp)\n" #integer " a7, 56(sp)\n" #real  \
             " fa0, 64(sp)\n" #real " fa1, 72(sp)\n" #real " fa2, 80(sp)\n" #real " fa3, 88(sp)\n" #real       \
             " fa4, 96(sp)\n" #real " fa5, 104(sp)\n" #real " fa6, 112(sp)\n" #real " fa7, 120(sp)\n" #integer \
             " t1, 136(sp)\n" #integer " s0, 144(sp)\n" #integer " ra, 152(sp)\n"
#define RISC_SAVE "addi sp, sp, -160\n" RISC_EACH(sd, fsd) "addi s0, sp, 160\n"
#define RISC_LOAD RISC_EACH(ld, fld) "addi sp, sp, 160\n"
__asm__(RISC_BEGIN RISC_SAVE ".cfi_def_cfa_offset 160\n.cfi_offset 1, -8\n.cfi_offset 8, -16\n"
                             "ld a0, 0(t1)\naddi a1, sp, 152\nmv a2, ra\ncall risc_entered\nmv t0, a0\n" RISC_LOAD
                             ".cfi_def_cfa_offset 0\n.cfi_restore 1\n.cfi_restore 8\n"
                             "ld t1, 0(t1)\nbnez t0, sled_called\njr t1\n" RISC_CALLED
                             ".cfi_escape 0x0f, 2, 0x72, 0\njalr ra, 0(t1)\n" RISC_RETURNED RISC_SAVE
                             ".cfi_escape 0x0f, 3, 0x72, 0xa0, 0x01\n.cfi_offset 8, -16\n"
                             "addi a0, sp, 152\ncall risc_returned\nsd a0, 152(sp)\n" RISC_LOAD
                             ".cfi_escape 0x0f, 2, 0x72, 0\n.cfi_restore 8\nret\n" RISC_END);
#endif

#endif
