/* SPDX-License-Identifier: MIT */
/*
 * Own time of uprobes, measured on a function of this library that does nothing.
 *
 * The kernel emulates the first instruction of a probed function, or executes it with one more trap: there is a function of
 * either kind.
 */
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/sampling.h"
#include "sampling/targets.h"

#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv) || defined(__loongarch64)

enum { ROUNDS = 20, CALLS_PER_ROUND = 5 };

typedef void calibrate_fn(void);

/* The file that has a function, and the function's offset in it. */
struct calibrate_place {
    uintptr_t address;
    uint64_t offset;
    char path[4096];
};

/* sampling_calibrate_emulated() and sampling_calibrate_stepped(): an instruction of either kind, which does nothing, and a return,
 * CALIBRATE_END bytes after it. */
#if defined(__x86_64__)
enum { CALIBRATE_END = 2 };
#define CALIBRATE_EMULATED "nop\nnop\nret\n"
#define CALIBRATE_STEPPED "movl %edi, %edi\nret\n"
#elif defined(__aarch64__)
enum { CALIBRATE_END = 4 };
#define CALIBRATE_EMULATED "adr x16, .\nret\n"
#define CALIBRATE_STEPPED "mov x16, x16\nret\n"
#elif defined(__riscv)
enum { CALIBRATE_END = 4 };
#define CALIBRATE_EMULATED "auipc t1, 0\nret\n"
#define CALIBRATE_STEPPED ".option push\n.option norvc\naddi t1, t1, 0\n.option pop\nret\n"
#else
enum { CALIBRATE_END = 4 };
#define CALIBRATE_EMULATED "pcaddi $t0, 0\nret\n"
#define CALIBRATE_STEPPED "or $t0, $t0, $zero\nret\n"
#endif
#define CALIBRATE_FUNCTION(name, code)                                                                                \
    extern calibrate_fn name __attribute__((visibility("hidden")));                                                   \
    __asm__(".pushsection .text\n.p2align 4\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name \
            ":\n" code ".size " #name ", . - " #name "\n.popsection\n")
CALIBRATE_FUNCTION(sampling_calibrate_emulated, CALIBRATE_EMULATED);
CALIBRATE_FUNCTION(sampling_calibrate_stepped, CALIBRATE_STEPPED);

static int calibrate_find(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct calibrate_place *to = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || to->address - info->dlpi_addr - p->p_vaddr >= p->p_filesz)
            continue;
        to->offset = to->address - info->dlpi_addr - p->p_vaddr + p->p_offset;
        const char *path = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
        return realpath(path, to->path) ? 1 : -1;
    }
    return 0;
}

/* The sample of the entry and that of the return follow each other. */
static void calibrate_read(const struct upmu_sampler *s, uint64_t *inner)
{
    const struct sampling_ring *r = &s->rings[0];
    uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), last = 0;
    for (uint64_t at = 0, n = 0; at + sizeof(struct perf_event_header) < head && head <= r->data_bytes;) {
        struct {
            struct perf_event_header header;
            uint64_t ip, thread, time;
        } sample;
        memcpy(&sample, (const char *)r->page + r->page_bytes + at, sizeof sample);
        if (sample.header.size == 0)
            return;
        at += sample.header.size;
        if (sample.header.type != PERF_RECORD_SAMPLE)
            continue;
        if (n++ % 2 == 1 && sample.time - last < *inner)
            *inner = sample.time - last;
        last = sample.time;
    }
}

/* @return the shortest time per call of a round. */
static uint64_t calibrate_call(calibrate_fn *volatile subject)
{
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = sampling_raw_now();
        for (int i = 0; i < CALLS_PER_ROUND; i++)
            subject();
        uint64_t each = (sampling_raw_now() - begin) / CALLS_PER_ROUND;
        best = each < best ? each : best;
    }
    return best;
}

static void calibrate_run(struct upmu_sampler *own, calibrate_fn *subject, struct sampling_header *to)
{
    uint64_t inner = UINT64_MAX;
    int calls = (int)syscall(SYS_perf_event_open, &own->attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    int exits = (int)syscall(SYS_perf_event_open, &own->exit_attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    bool mapped = calls >= 0 && exits >= 0 && sampling_ring_map(own, 0, calls) == 0;
    if (mapped && ioctl(exits, PERF_EVENT_IOC_SET_OUTPUT, calls) == 0 && ioctl(exits, PERF_EVENT_IOC_ENABLE, 0) == 0 &&
        ioctl(calls, PERF_EVENT_IOC_ENABLE, 0) == 0) {
        uint64_t each = calibrate_call(subject);
        calibrate_read(own, &inner);
        if (inner < each) {
            to->call_inner_ns = inner;
            to->call_outer_ns = each - inner;
        }
    }
    if (mapped)
        sampling_rings_unmap(own);
    if (calls >= 0)
        close(calls);
    if (exits >= 0)
        close(exits);
}

void sampling_calibrate(struct upmu_sampler *s)
{
    struct sampling_ring ring = {.page = NULL};
    struct upmu_sampler own = {.attr = s->attr,
                               .exit_attr = s->exit_attr,
                               .timed = true,
                               .ring_bytes = s->ring_bytes,
                               .rings = &ring,
                               .n_rings = 1};
    calibrate_fn *subject = s->stepped ? sampling_calibrate_stepped : sampling_calibrate_emulated;
    struct calibrate_place place = {.address = (uintptr_t)subject};
    if (dl_iterate_phdr(calibrate_find, &place) != 1)
        return;
    struct target entry = {.offset = place.offset}, end = {.offset = place.offset + CALIBRATE_END};
    const struct targets targets = {.entries = &entry, .n_entries = 1, .exits = &end, .n_exits = 1};
    if (sampling_uprobe_define(&own, s->header.event, place.path, &targets) == 0) {
        own.attr.inherit = own.exit_attr.inherit = 0; /* a ring of the thread, on all CPUs */
        own.attr.mmap = own.attr.mmap2 = own.attr.comm = own.attr.task = 0;
        calibrate_run(&own, subject, &s->header);
    }
    sampling_uprobe_end(&own);
}

#else /* no call is timed */

void sampling_calibrate(struct upmu_sampler *s)
{
    (void)s;
}

#endif
