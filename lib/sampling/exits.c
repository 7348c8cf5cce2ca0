/* SPDX-License-Identifier: MIT */
/* Instructions by which a function ends: returns, and jumps out of it. */
#include "sampling/exits.h"

#include <elf.h>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

const struct exits_machine *sampling_exits(unsigned machine)
{
    static const struct exits_machine machines[] = {
        {EM_X86_64, "x86-64", "%ip", exits_x86_step, false},
        {EM_AARCH64, "AArch64", "%pc", exits_aarch64_step, true},
        {EM_RISCV, "RISC-V", "%epc", exits_riscv_step, true},
        {EM_LOONGARCH, "LoongArch", "%csr_era", exits_loongarch_step, false},
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].machine == machine)
            return &machines[i];
    return NULL;
}

static bool exits_is_within(const struct exits_code *all, size_t n, uint64_t address)
{
    for (size_t k = 0; k < n; k++)
        if (address - all[k].address < all[k].bytes)
            return true;
    return false;
}

uint64_t sampling_next_exit(const struct exits_machine *m, const struct exits_code *all, size_t n, size_t one,
                            size_t *offset, bool *jumps)
{
    const struct exits_code *code = &all[one];
    while (*offset < code->bytes) {
        struct exits_step step = m->step(code->at + *offset, code->bytes - *offset);
        uint64_t address = code->address + *offset;
        if (step.bytes == 0 || step.kind == EXITS_REFUSED)
            return UINT64_MAX;
        *offset += step.bytes;
        *jumps = step.kind != EXITS_RETURN;
        if (step.kind != EXITS_NONE && (step.kind != EXITS_DIRECT || !exits_is_within(all, n, address + step.by)))
            return address;
    }
    return 0;
}
