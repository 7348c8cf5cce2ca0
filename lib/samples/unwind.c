/* SPDX-License-Identifier: MIT */
/*
 * Copied stacks, unwound by the unwind information of the modules with libdwfl.
 *
 * libdwfl asks for registers and memory: registers are those of the sample, memory is the copy. Code and unwind tables come
 * from the modules' files. Frames beyond the copy are not known: the stack is cut.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elfutils/elfutils.h"
#include "samples/samples.h"

/* The numbers of <asm/perf_regs.h>, as positions among the recorded registers, by DWARF number. */
#if defined(__x86_64__)
static const unsigned char unwind_regs[] = {0, 3, 2, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 8};
enum { UNWIND_SP = 7, UNWIND_PC = 8 };
#elif defined(__aarch64__)
static const unsigned char unwind_regs[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                            16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
enum { UNWIND_SP = 31, UNWIND_PC = 32 };
#else
static const unsigned char unwind_regs[] = {0};
enum { UNWIND_SP = 0, UNWIND_PC = 0 };
#endif
enum { UNWIND_REGS = sizeof unwind_regs };

/** What a space keeps for its copied stacks. */
struct unwinder {
    Dwfl *dwfl;
    uint32_t changes; /**< of the space when its modules were reported */
    const struct samples_copy *copy;
    struct samples_stack *out;
    bool beyond; /**< memory outside the copy was needed */
};

/* ------------------------------------------------------------------------------------------ what libdwfl asks for */

static pid_t unwind_next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
    (void)dwfl;
    bool first = *thread_arg == NULL;
    *thread_arg = arg;
    return first ? 1 : 0;
}

static bool unwind_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
    struct unwinder *u = arg;
    uint64_t sp = u->copy->regs[UNWIND_SP];
    (void)dwfl;
    if (address < sp || u->copy->bytes < sizeof *result || address - sp > u->copy->bytes - sizeof *result) {
        u->beyond |= address >= sp;
        return false;
    }
    memcpy(result, u->copy->data + (address - sp), sizeof *result);
    return true;
}

static bool unwind_initial(Dwfl_Thread *thread, void *arg)
{
    const struct unwinder *u = arg;
    Dwarf_Word regs[UNWIND_REGS];
    for (size_t i = 0; i < UNWIND_REGS; i++)
        regs[i] = u->copy->regs[unwind_regs[i]];
    dwfl_thread_state_register_pc(thread, u->copy->regs[UNWIND_PC]);
    return dwfl_thread_state_registers(thread, 0, UNWIND_REGS, regs);
}

static int unwind_frame(Dwfl_Frame *frame, void *arg)
{
    struct unwinder *u = arg;
    Dwarf_Addr pc;
    if (!dwfl_frame_pc(frame, &pc, NULL))
        return DWARF_CB_ABORT;
    if (pc == 0)
        return DWARF_CB_ABORT;
    if (u->out->n == SAMPLES_FRAMES_MAX) {
        u->out->cut = true;
        return DWARF_CB_ABORT;
    }
    u->out->address[u->out->n++] = pc;
    return DWARF_CB_OK;
}

/* Separate debug files are the symbols' concern; unwind tables are in the modules themselves. */
static int unwind_no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                                const char *file_name, const char *link, GElf_Word crc, char **found)
{
    (void)module;
    (void)data;
    (void)name;
    (void)base;
    (void)file_name;
    (void)link;
    (void)crc;
    (void)found;
    return -1;
}

static int unwind_no_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file_name,
                         Elf **elf)
{
    (void)module;
    (void)data;
    (void)name;
    (void)base;
    (void)file_name;
    (void)elf;
    return -1; /* it was given when the module was reported */
}

/* -------------------------------------------------------------------------------------------------------- modules */

/* The address at which a file's first segment is loaded. */
static uint64_t unwind_base(const struct spaces_file *f, uint64_t bias)
{
    uint64_t lowest = UINT64_MAX, page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < f->n_loads; i++)
        lowest = f->loads[i].address < lowest ? f->loads[i].address : lowest;
    return bias + (lowest & ~(page - 1));
}

/* Later mappings hide earlier ones: they are reported first, and libdwfl refuses what overlaps. */
static void unwind_report(struct upmu_samples *s, struct unwinder *u, const struct space *space)
{
    dwfl_report_begin(u->dwfl);
    for (size_t i = space->n; i-- > 0;) {
        const struct spaces_mapping *m = &space->mappings[i];
        const struct spaces_place p = spaces_mapping_place(&s->spaces, m, m->start);
        const struct spaces_file *f = &s->spaces.files[m->file];
        if (f->n_loads == 0 || dwfl_addrmodule(u->dwfl, m->start))
            continue;
        (void)dwfl_report_elf(u->dwfl, f->path, spaces_image(&s->spaces, f), -1, unwind_base(f, p.bias), false);
    }
    (void)dwfl_report_end(u->dwfl, NULL, NULL);
    u->changes = space->changes;
}

static struct unwinder *unwind_open(struct upmu_samples *s, struct space *space)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = unwind_no_elf, .find_debuginfo = unwind_no_debug_file};
    static const Dwfl_Thread_Callbacks threads = {
        .next_thread = unwind_next_thread, .memory_read = unwind_memory, .set_initial_registers = unwind_initial};
    struct unwinder *u = space->unwinder;
    if (u && u->changes == space->changes)
        return u;
    samples_unwind_free(space);
    u = space->unwinder = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    u->dwfl = elfutils_open() ? dwfl_begin(&callbacks) : NULL;
    if (!u->dwfl) {
        samples_unwind_free(space);
        return NULL;
    }
    unwind_report(s, u, space);
    /* Fails while there is no module: then frames cannot be unwound either, and the stack is broken. */
    (void)dwfl_attach_state(u->dwfl, NULL, (pid_t)space->pid, &threads, u);
    return u;
}

bool samples_unwind(struct upmu_samples *s, struct space *space, const struct samples_copy *copy,
                    struct samples_stack *out)
{
    struct unwinder *u = unwind_open(s, space);
    if (!u)
        return false;
    u->copy = copy;
    u->out = out;
    u->beyond = false;
    if (copy->regs[UNWIND_PC] != 0)
        (void)dwfl_getthread_frames(u->dwfl, 1, unwind_frame, u); /* how it ended is seen by the outermost frame */
    if (out->n == 0 && copy->regs[UNWIND_PC] != 0)
        out->address[out->n++] = copy->regs[UNWIND_PC];
    out->cut |= u->beyond;
    return true;
}

void samples_unwind_free(struct space *space)
{
    struct unwinder *u = space->unwinder;
    if (!u)
        return;
    if (u->dwfl)
        dwfl_end(u->dwfl);
    free(u);
    space->unwinder = NULL;
}
