/* SPDX-License-Identifier: MIT */
/* Functions that only pass a call on, by the lines of their code. */
#include "symbols/dwarf/dwarf_unit.h"

/* The rows of a function's lines. */
struct passing_body {
    const struct dwarf_row *first, *end;
};

static struct passing_body passing_body_of(const struct dwarf_unit *unit, uint64_t low, uint64_t high)
{
    struct passing_body b = {.first = dwarf_lines_at(&unit->lines, low)};
    b.end = b.first;
    if (!b.first) /* perhaps there are no rows at all */
        return b;
    const struct dwarf_row *end = unit->lines.rows + unit->lines.n_rows;
    while (b.end < end && b.end->address < high && !b.end->end)
        b.end++;
    return b;
}

bool dwarf_unit_passes_on(struct dwarf_unit *unit, uint64_t address)
{
    enum { BYTES_MAX = 256, BYTES_AFTER_MAX = 32 }; /* without a call after it, but a check of the stack */
    const struct dwarf_function *f = dwarf_unit_function(unit, address - 1);
    Dwarf_Addr low, high;
    bool is_whole = f && f == &unit->functions[dwarf_unit_function_at(unit, address - 1)] &&
                    dwarf_lowpc((Dwarf_Die *)(uintptr_t)&f->die, &low) == 0 &&
                    dwarf_highpc((Dwarf_Die *)(uintptr_t)&f->die, &high) == 0;
    if (!is_whole || high - low > BYTES_MAX || address > high || high - address > BYTES_AFTER_MAX ||
        dwarf_function_makes_tail_call(f)) /* one more call, which looks like the return */
        return false;
    const struct passing_body b = passing_body_of(unit, low, high);
    const struct dwarf_row *call = dwarf_lines_at(&unit->lines, address - 1);
    if (!b.first || !call || b.first == b.end)
        return false;
    uint32_t last = b.end[-1].line;
    for (const struct dwarf_row *r = b.first; r < b.end; r++) {
        uint32_t other = r->address < address ? b.first->line : last;
        if (r->line != 0 && (r->file != call->file || (r->line != call->line && r->line != other)))
            return false;
    }
    return last != call->line || b.first->line != call->line; /* on one line, there may be more */
}
