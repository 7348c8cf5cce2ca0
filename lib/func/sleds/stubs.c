/* SPDX-License-Identifier: MIT */
/*
 * What sleds call: jumps to the library, which may be further away than a call in a sled reaches.
 *
 * The sleds of XRay call stubs in a page near their module. A patchable entry has no bytes that are skipped: those that follow the
 * first one are executed until they are part of a call, and a thread may be descheduled between them. They are the distance of that
 * call, which therefore may have only bytes that are harmless as instructions (nop, cmc, clc, stc, cld, and last a segment
 * prefix, too), and is the same for all entries of a module: each has a pad of its own at that distance. Where the entry
 * is one nop of five bytes, only its last two are free, and may have any value. Pages without pads do not exist.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "func/sleds/module.h"

#if defined(__x86_64__) && defined(__LP64__)

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static uint64_t stubs_page(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* "jmp *0(%rip)" and the address. */
static void stub_fill(char *stub, void (*to)(void))
{
    static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};
    uintptr_t address = (uintptr_t)to;
    memcpy(stub, jump, sizeof jump);
    memcpy(stub + sizeof jump, &address, sizeof address);
}

/* Free memory at an address. NULL: something is there. */
static char *stubs_map_at(uint64_t at, size_t bytes)
{
    void *p = mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == (void *)(uintptr_t)at)
        return p;
    if (p != MAP_FAILED)
        munmap(p, bytes); /* a kernel before 4.17 takes the address as a hint */
    return NULL;
}

/* A page that all of the module can call: the distance has 32 bits. */
static char *stubs_map(const struct sled_module *m, size_t page)
{
    enum { TRIES = 8192 };
    const uint64_t reach = (UINT64_C(1) << 31) - (1 << 20), step = 1 << 18;
    for (uint64_t i = 0; i < TRIES; i++) {
        uint64_t away = (i / 2 + 1) * step, start = m->start & ~(uint64_t)(page - 1);
        uint64_t at = i % 2 ? ((m->end + page - 1) & ~(uint64_t)(page - 1)) + away : start - away;
        if ((i % 2 == 0 && start < away + step) || m->end - m->start + away > reach)
            continue;
        char *p = stubs_map_at(at, page);
        if (p)
            return p;
    }
    return NULL;
}

static int stubs_no_place(const struct sled_module *m)
{
    return upmu_fail(UPMU_E_NOMEM, "no memory is free within 2 GiB of the module at 0x%llx",
                     (unsigned long long)m->start);
}

static int stubs_make_executable(char *stubs, size_t bytes)
{
    if (mprotect(stubs, bytes, PROT_READ | PROT_EXEC) == 0)
        return 0;
    int err = errno;
    munmap(stubs, bytes);
    return upmu_fail(UPMU_E_SYSTEM,
                     "functions are not patched: memory cannot be made executable: %s. SELinux (execmem), a "
                     "seccomp filter or PR_SET_MDWE forbids it",
                     strerror(err));
}

static int stubs_make_page(struct sled_module *m)
{
    static void (*const to[])(void) = {sled_entry, sled_exit, sled_tail}; /* by kind */
    size_t page = stubs_page();
    char *stubs = stubs_map(m, page);
    if (!stubs)
        return stubs_no_place(m);
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        stub_fill(stubs + i * STUB_BYTES, to[i]);
    int rc = stubs_make_executable(stubs, page);
    m->stubs = rc == 0 ? stubs : NULL;
    return rc;
}

/* ----------------------------------------------------------------------------------------------------------- pads */

/* Distance number `i` that the calls of a kind may have; 0: there are no more. */
static int32_t pads_distance(int kind, uint32_t i)
{
    static const uint8_t harmless[] = {0x90, 0xf5, 0xf8, 0xf9, 0xfc};
    static const uint8_t last[] = {0xfc, 0xf9, 0xf8, 0xf5, 0x26, 0x2e, 0x36, 0x3e, 0x90};
    enum { HARMLESS = sizeof harmless, LAST = sizeof last, NOP = 0x441f };
    uint8_t bytes[4];
    int32_t distance;
    if (kind == SLED_NOP) { /* from near to far, in both directions */
        uint8_t high = (uint8_t)(i / 2 + 1);
        bytes[0] = NOP & 0xff;
        bytes[1] = NOP >> 8;
        bytes[2] = 0;
        bytes[3] = (uint8_t)(i % 2 ? high : 256 - high);
        if (high > 127)
            return 0;
    } else {
        if (i >= LAST * HARMLESS * HARMLESS)
            return 0;
        bytes[0] = harmless[0];
        bytes[1] = harmless[i / LAST / HARMLESS];
        bytes[2] = harmless[i / LAST % HARMLESS];
        bytes[3] = last[i % LAST];
    }
    memcpy(&distance, bytes, sizeof distance);
    return distance;
}

/* Extent of the entries of a kind. @return false if there are none */
static bool pads_extent(const struct sled_module *m, int kind, uint64_t *start, uint64_t *end)
{
    *start = UINT64_MAX;
    *end = 0;
    for (size_t i = 0; i < m->n; i++) {
        if (m->all[i].kind != kind)
            continue;
        uint64_t after = m->all[i].address + SLED_PATCH_BYTES;
        *start = after < *start ? after : *start;
        *end = after + SLED_PATCH_BYTES > *end ? after + SLED_PATCH_BYTES : *end;
    }
    return *start < *end;
}

/* Each pad is a jump to the stub at the end. */
static void pads_fill(const struct sled_module *m, int kind, const struct sled_pads *p, char *stub)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->all[i].kind != kind)
            continue;
        char *pad = (char *)(uintptr_t)(m->all[i].address + SLED_PATCH_BYTES + (uint64_t)(int64_t)p->distance);
        int32_t to_stub = (int32_t)(stub - (pad + SLED_PATCH_BYTES));
        *pad = (char)0xe9;
        memcpy(pad + 1, &to_stub, sizeof to_stub);
    }
    stub_fill(stub, sled_patched);
}

static int pads_make(struct sled_module *m, int kind)
{
    struct sled_pads p = {.memory = NULL};
    uint64_t start, end, page = stubs_page();
    const uint64_t most = UINT64_C(1) << 30;
    if (!pads_extent(m, kind, &start, &end))
        return 0;
    for (uint32_t i = 0; end - start < most && !p.memory && (p.distance = pads_distance(kind, i)) != 0; i++) {
        int64_t from = (int64_t)start + p.distance, to = (int64_t)end + p.distance;
        if (from < (int64_t)page)
            continue;
        uint64_t at = (uint64_t)from / page * page;
        p.bytes = (((uint64_t)to - at) / page + 2) * page; /* with one for the stub */
        p.memory = stubs_map_at(at, p.bytes);
    }
    if (!p.memory)
        return stubs_no_place(m);
    pads_fill(m, kind, &p, p.memory + p.bytes - page);
    int rc = stubs_make_executable(p.memory, p.bytes);
    if (rc == 0)
        m->pads[kind - SLED_NOPS] = p;
    return rc;
}

int stubs_make(struct sled_module *m)
{
    bool has_xray = false;
    if (m->has_stubs)
        return 0;
    for (size_t i = 0; i < m->n && !has_xray; i++)
        has_xray = !sled_is_patchable(&m->all[i]);
    int rc = has_xray && !m->stubs ? stubs_make_page(m) : 0;
    for (int kind = SLED_NOPS; rc == 0 && kind <= SLED_NOP; kind++)
        if (!m->pads[kind - SLED_NOPS].memory)
            rc = pads_make(m, kind);
    m->has_stubs = rc == 0;
    return rc;
}

void stubs_free(struct sled_module *m)
{
    if (m->stubs)
        munmap(m->stubs, stubs_page());
    for (size_t i = 0; i < sizeof m->pads / sizeof *m->pads; i++)
        if (m->pads[i].memory)
            munmap(m->pads[i].memory, m->pads[i].bytes);
}

#endif
