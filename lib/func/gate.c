/* SPDX-License-Identifier: MIT */
/*
 * Gate of the hooks, and the file it is mapped from.
 *
 * One page of the file replaces the page of the gate, so that hooks read one word at a fixed address, and another process can
 * change it. A forked child has its parent's gate until it makes its own at its first call.
 */
#include "func/gate.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "func/files.h"

struct func_gate_area func_gate_area;

int func_gate_start(void)
{
    struct func_switch *s =
        mmap(NULL, FUNC_SWITCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s == MAP_FAILED)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the settings of function recording");
    memcpy(s->magic, FUNC_SWITCH_MAGIC, sizeof s->magic);
    s->version = FUNC_SWITCH_VERSION;
    func_process.control = s;
    return 0;
}

/* @return whether it was mapped. */
static bool gate_replace_page(struct func_switch *s, long page)
{
    uintptr_t at = (uintptr_t)func_gate() & (uintptr_t)(page - 1);
    char *to = (char *)func_gate() - at, *from = (char *)s + FUNC_SWITCH_STEP;
    *(uint32_t *)(void *)(from + at) = __atomic_load_n(func_gate(), __ATOMIC_ACQUIRE);
    if (mremap(from, (size_t)page, (size_t)page, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
        return false;
    s->gate_at = (uint32_t)(FUNC_SWITCH_STEP + at);
    return true;
}

int func_gate_open(void)
{
    const struct func_switch *before = func_process.control;
    if (!func_process.to_trace)
        return 0;
    struct func_switch *s = func_file_map(FUNC_SWITCH_FILE, FUNC_SWITCH_BYTES, FUNC_SWITCH_BYTES);
    if (!s)
        return upmu_fail(UPMU_E_IO, "cannot create \"%s/" FUNC_SWITCH_FILE "\": %s", func_process.dir, strerror(errno));
    memcpy(s, before, sizeof *s);
    memcpy(func_switch_selection(s, 0), func_switch_selection(before, 0),
           FUNC_SELECTIONS * sizeof(struct func_selection));
    s->gate_at = 0;
    long page = sysconf(_SC_PAGESIZE);
    if (page > 0 && page <= FUNC_SWITCH_STEP)
        (void)gate_replace_page(s, page); /* else other processes cannot change it, and are refused */
    __atomic_store_n(&func_process.control, s, __ATOMIC_RELEASE);
    return 0;
}

void func_gate_close(void)
{
    long page = sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)func_gate() & (uintptr_t)(page - 1);
    char *to = (char *)func_gate() - at;
    if (func_process.control->gate_at == 0 ||
        mmap(to, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != to)
        __atomic_store_n(func_gate(), FUNC_OFF, __ATOMIC_RELEASE);
}
