/* SPDX-License-Identifier: MIT */
/* A sampling profiler (cycles, as perf record opens them) beside a libupmu set that counts. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "suites.h"

enum { PERIOD = 1000000, LOOPS = 20, RING_PAGES = 16, LOOP_BYTES = 256 };

struct profiler {
    int fd;
    size_t bytes; /* of the mapping: the head page and the ring */
    struct perf_event_mmap_page *page;
};

static bool profiler_open(struct profiler *p)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_CPU_CYCLES,
        .sample_period = PERIOD,
        .sample_type = PERF_SAMPLE_IP,
        .exclude_kernel = 1,
        .disabled = 1,
    };
    p->bytes = (1 + RING_PAGES) * page;
    p->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    EXPECT(p->fd >= 0, "cycles cannot be sampled: %s", strerror(errno));
    if (p->fd < 0)
        return false;
    p->page = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    EXPECT(p->page != MAP_FAILED, "the ring cannot be mapped: %s", strerror(errno));
    return p->page != MAP_FAILED;
}

static void profiler_close(struct profiler *p)
{
    munmap(p->page, p->bytes);
    close(p->fd);
}

struct samples {
    uint64_t all, in_loop, others; /* others: records that are no samples, such as those of losses */
};

/* The ring is larger than all there is, so that it never wraps. */
static struct samples profiler_samples(const struct profiler *p)
{
    const unsigned char *ring = (const unsigned char *)p->page + sysconf(_SC_PAGESIZE);
    const uint64_t loop = (uint64_t)(uintptr_t)guest_loop;
    const uint64_t end = __atomic_load_n(&p->page->data_head, __ATOMIC_ACQUIRE);
    struct samples found = {0, 0, 0};
    struct perf_event_header header;
    for (uint64_t at = 0; at + sizeof header <= end; at += header.size) {
        uint64_t ip = 0;
        memcpy(&header, ring + at, sizeof header);
        EXPECT(header.size >= sizeof header, "a record of %u bytes", (unsigned)header.size);
        if (header.size < sizeof header)
            break;
        if (header.type != PERF_RECORD_SAMPLE) {
            found.others++;
            continue;
        }
        memcpy(&ip, ring + at + sizeof header, sizeof ip);
        found.all++;
        found.in_loop += ip >= loop && ip < loop + LOOP_BYTES;
    }
    return found;
}

/* As many samples as periods, each in the loop; and the set beside it counts as if there were none. */
static void sampled_cycles_and_a_set_count_beside_each_other(void)
{
    struct profiler profiler;
    struct upmu_value v[GUEST_EVENTS_MAX];
    if (!profiler_open(&profiler))
        return;
    struct upmu_set *set = guest_open("instructions:u,cycles:u", UPMU_TARGET_THREAD, 0, 0);
    EXPECT(ioctl(profiler.fd, PERF_EVENT_IOC_ENABLE, 0) == 0, "enable: %s", strerror(errno));
    guest_start(set);
    guest_loop(LOOPS * LOOP_INSTRUCTIONS);
    guest_stop(set);
    EXPECT(ioctl(profiler.fd, PERF_EVENT_IOC_DISABLE, 0) == 0, "disable: %s", strerror(errno));
    guest_read(set, v);
    if (guest_status(set, 0, &v[0], UPMU_EXACT))
        EXPECT_WITHIN(v[0].value, LOOPS * LOOP_INSTRUCTIONS, LOOPS * LOOP_INSTRUCTIONS + 1000, "the loop");
    if (guest_status(set, 1, &v[1], UPMU_EXACT)) {
        struct samples found = profiler_samples(&profiler);
        uint64_t periods = v[1].value / PERIOD;
        EXPECT_WITHIN(found.all, periods - 1, periods + 1, "samples");
        EXPECT(found.in_loop == found.all && found.others == 0, "of %llu samples %llu in the loop, %llu other records",
               (unsigned long long)found.all, (unsigned long long)found.in_loop, (unsigned long long)found.others);
        guest_note("%llu samples of %d cycles, %llu in the loop; counted %llu cycles, %llu instructions",
                   (unsigned long long)found.all, PERIOD, (unsigned long long)found.in_loop,
                   (unsigned long long)v[1].value, (unsigned long long)v[0].value);
    }
    upmu_set_close(set);
    profiler_close(&profiler);
}

const struct guest_test sampling_tests[] = {
    {"sampled_cycles_and_a_set_count_beside_each_other", sampled_cycles_and_a_set_count_beside_each_other},
};
const size_t n_sampling_tests = sizeof sampling_tests / sizeof *sampling_tests;
