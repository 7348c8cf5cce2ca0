/* SPDX-License-Identifier: MIT */
/*
 * Continuation of a walk in code without unwind tables, on the instruction sets of scan.h.
 *
 * A wrong guess could lead to an address that is not mapped, so each page is tested before it is read: rt_sigprocmask()
 * with an operation that does not exist reads the new mask, and changes nothing.
 */
#include "sync_trace/stack/scan_stack.h"

#ifdef SCAN_ISA
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync_trace/libc/resolve.h"
#include "sync_trace/stack/scan.h"

enum { PAGES = 4, PAGE_BYTES = 4096 }; /* the smallest of any page size */

/* The pages that were read last, which have been tested. */
struct scan_pages {
    uint64_t readable[PAGES];
    unsigned next;
};

static bool scan_page_is_readable(struct scan_pages *p, uint64_t page)
{
    enum { NO_OPERATION = -1, SET_BYTES = _NSIG / 8 };
    for (int i = 0; i < PAGES; i++)
        if (p->readable[i] == page)
            return true;
    long rc = SYNC_REAL(syscall)(SYS_rt_sigprocmask, NO_OPERATION, (long)page, 0, SET_BYTES, 0, 0);
    if (rc != 0 && errno == EFAULT)
        return false;
    p->readable[p->next++ % PAGES] = page;
    return true;
}

__attribute__((no_sanitize("address", "thread"))) static bool scan_read(void *arg, uint64_t address, void *out,
                                                                        size_t bytes)
{
    /* Aligned words are within a page. */
    if (address < PAGE_BYTES || address % bytes != 0 ||
        !scan_page_is_readable(arg, address & ~(uint64_t)(PAGE_BYTES - 1)))
        return false;
    memcpy(out, (const void *)(uintptr_t)address, bytes);
    return true;
}

uint32_t sync_scan_stack(void **frames, uint32_t n, uint32_t max, const struct sync_scan_from *from)
{
    struct scan_pages pages = {0};
    const struct scan_memory memory = {.read = scan_read, .arg = &pages};
    struct dwarf_eh_bases bases;
    if (n == 0 || _Unwind_Find_FDE((char *)frames[n - 1] - 1, &bases) != NULL)
        return n;
    struct scan_frame f = {.address = (uintptr_t)frames[n - 1], .stack = from->stack, .pointer = from->pointer};
    while (n < max && scan_step(SCAN_ISA, &memory, &f))
        frames[n++] = (void *)(uintptr_t)f.address;
    return n;
}
#endif
