/* SPDX-License-Identifier: MIT */
/*
 * Tick source of the recorder: selection, frequency, and readings of all clocks.
 *
 * The CPU's own counter is used only if it has a constant rate and is synchronous on all cores: on x86 the
 * invariant-TSC bit and the kernel's clock source list decide (the kernel removes a TSC it has marked unstable); on
 * Arm, LoongArch and RISC-V the architecture defines such a timer; on MIPS and Sunway tick_problem.c decides. Its frequency is measured against
 * CLOCK_MONOTONIC_RAW, so that wrong firmware data has no effect.
 */
#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/own_once.h"
#include "base/process/host_clock.h"
#include "base/tick.h"
#include "base/tick_problem.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__mips64)
#include <sys/auxv.h>
#endif

int (*tick_clock_gettime)(clockid_t, struct timespec *) = clock_gettime;
static struct own_once clock_once;
static struct clock_triple clock_first, clock_earlier;
static const struct clock_triple *clock_fit = &clock_first; /* atomic: from where the frequency is fitted */
static const char *clock_reason = "";

#ifdef TICK_ISA_NAME
uint32_t tick_use_isa = 0;

#if defined(__x86_64__) || defined(__i386__)
/* Whether the kernel lists the TSC as usable: an unstable one is removed from the list. Without the file (an
 * emulator, a sandbox) only the CPUID bit remains. */
static bool clock_kernel_trusts_tsc(void)
{
    char text[256];
    int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return true;
    text[n] = '\0';
    /* A guest's paravirtual clock is computed from the TSC, too. */
    return strstr(text, "tsc") || strstr(text, "kvm-clock") || strstr(text, "hyperv") || strstr(text, "xen");
}

static const char *isa_counter_problem(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & (1u << 8)))
        return "the CPU does not report an invariant TSC";
    if (!clock_kernel_trusts_tsc())
        return "the kernel has marked the TSC unstable";
    return "";
}
#elif defined(__mips64)
/* CPUCFG, unknown to assemblers: word $8 to $9. */
static uint32_t clock_cpucfg(uint32_t word)
{
    register uint32_t number __asm__("$8") = word, value __asm__("$9");
    __asm__ volatile(".insn\n.word 0xc8080118 | (8 << 21) | (9 << 11)" : "=r"(value) : "r"(number));
    return value;
}

static const char *isa_counter_problem(void)
{
    const unsigned long hwcap_cpucfg = 1ul << 14;
    bool has_words = (getauxval(AT_HWCAP) & hwcap_cpucfg) != 0;
    return tick_problem_mips(has_words, has_words ? clock_cpucfg(2) : 0);
}
#elif defined(__sw_64__)
static const char *isa_counter_problem(void)
{
    enum { READINGS = 4, APART_NS = 1000000 };
    struct tick_reading at[READINGS];
    struct clock_triple now = {0};
    tick_use_isa = 1; /* to be read; the only thread decides */
    for (int i = 0; i < READINGS; i++) {
        do
            clock_sample(&now);
        while (i > 0 && now.raw_ns - at[i - 1].raw_ns < APART_NS);
        at[i] = (struct tick_reading){.tick = now.tick, .raw_ns = now.raw_ns, .width = now.width};
    }
    return tick_problem_rate(at, READINGS);
}
#else
static const char *isa_counter_problem(void)
{
    return "";
}
#endif
#endif

void clock_sample(struct clock_triple *t)
{
    int saved = errno;
    t->width = UINT32_MAX;
    /* An interrupt between the readings widens the bracket; the narrowest of a few tries is the most precise. */
    for (int i = 0; i < 5; i++) {
        uint64_t before = tick_now();
        uint64_t monotonic = tick_clock_ns(CLOCK_MONOTONIC);
        uint64_t raw = tick_clock_ns(CLOCK_MONOTONIC_RAW); /* in the middle: ticks are fitted to this one */
        uint64_t realtime = tick_clock_ns(CLOCK_REALTIME);
        uint64_t after = tick_now();
        uint64_t width = after - before;
        if (width < t->width) {
            t->tick = before + width / 2;
            t->raw_ns = raw;
            t->monotonic_ns = monotonic;
            t->realtime_ns = realtime;
            t->width = (uint32_t)width;
        }
    }
    errno = saved;
}

/* A program without a dynamic libc has no other clock_gettime() either. The handle stays open as libc itself does. */
static void clock_find_gettime(void)
{
    int (*found)(clockid_t, struct timespec *) = NULL;
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!libc)
        return;
    *(void **)&found = dlsym(libc, "clock_gettime");
    if (found)
        tick_clock_gettime = found;
}

/* ------------------------------------------------------------------------------------------------- time namespaces */

/* The clocks of a time namespace differ from those of other processes of the recording and of the kernel's records: times are those
 * of the host. */
static struct {
    int (*gettime)(clockid_t, struct timespec *); /* NULL: not in one so far */
    int64_t offset_ns;
} clock_namespace;

static int namespace_clock_gettime(clockid_t id, struct timespec *out)
{
    enum { NS_PER_S = 1000000000 };
    int rc = clock_namespace.gettime(id, out);
    if (rc != 0 || (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW))
        return rc;
    int64_t ns = (int64_t)out->tv_sec * NS_PER_S + out->tv_nsec - clock_namespace.offset_ns;
    out->tv_sec = (time_t)(ns / NS_PER_S);
    out->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}

static void clock_enter_namespace(void)
{
    clock_namespace.offset_ns = host_clock_offset_ns();
    if (clock_namespace.offset_ns == 0 || clock_namespace.gettime)
        return;
    clock_namespace.gettime = tick_clock_gettime;
    tick_clock_gettime = namespace_clock_gettime;
}

/* ------------------------------------------------------------------------------------------ another host's clocks */

/* UPMU_TEST_CLOCK=SHIFT_NS:PPB, for tests: all clocks of this process are those of a host that is ahead by so many nanoseconds,
 * and gains so many per second of CLOCK_MONOTONIC_RAW. */
static struct {
    int (*gettime)(clockid_t, struct timespec *);
    int64_t shift_ns, ppb;
    bool on;
} test_clock;

static int test_clock_gettime(clockid_t id, struct timespec *out)
{
    enum { NS_PER_S = 1000000000 };
    __extension__ typedef __int128 i128;
    struct timespec raw;
    int rc = test_clock.gettime(CLOCK_MONOTONIC_RAW, &raw);
    if (rc != 0 || (id != CLOCK_MONOTONIC_RAW && (rc = test_clock.gettime(id, out)) != 0))
        return rc;
    if (id == CLOCK_MONOTONIC_RAW)
        *out = raw;
    i128 since = (i128)raw.tv_sec * NS_PER_S + raw.tv_nsec;
    i128 ns = (i128)out->tv_sec * NS_PER_S + out->tv_nsec + test_clock.shift_ns + since * test_clock.ppb / NS_PER_S;
    out->tv_sec = (time_t)(ns / NS_PER_S);
    out->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}

static bool test_clock_start(void)
{
    char *end;
    const char *text = secure_getenv("UPMU_TEST_CLOCK");
    if (!text || !*text)
        return false;
    test_clock.shift_ns = strtoll(text, &end, 10);
    test_clock.ppb = *end == ':' ? strtoll(end + 1, NULL, 10) : 0;
    test_clock.gettime = tick_clock_gettime;
    test_clock.on = true;
    tick_clock_gettime = test_clock_gettime;
    return true;
}

uint64_t clock_test_host(void)
{
    clock_start();
    return test_clock.on ? (uint64_t)test_clock.shift_ns ^ (uint64_t)test_clock.ppb << 48 : 0;
}

static void clock_decide(void)
{
    clock_find_gettime();
    clock_enter_namespace();
    bool shifted = test_clock_start();
#ifdef TICK_ISA_NAME
    clock_reason = shifted ? "UPMU_TEST_CLOCK is set" : isa_counter_problem();
    tick_use_isa = clock_reason[0] == '\0';
#else
    (void)shifted;
    clock_reason = "no constant counter is supported on this architecture";
#endif
    clock_sample(&clock_first);
}

void clock_start(void)
{
    own_once(&clock_once, clock_decide);
}

void clock_renew(void)
{
    clock_start();
    clock_enter_namespace();
}

static bool clock_uses_isa(void)
{
#ifdef TICK_ISA_NAME
    return tick_use_isa != 0;
#else
    return false;
#endif
}

const char *clock_source(void)
{
    clock_start();
#ifdef TICK_ISA_NAME
    if (clock_uses_isa())
        return TICK_ISA_NAME;
#endif
    return "CLOCK_MONOTONIC_RAW";
}

const char *clock_source_reason(void)
{
    clock_start();
    return clock_reason;
}

const struct clock_triple *clock_origin(void)
{
    clock_start();
    return &clock_first;
}

/* By the time of day, unless it was set in between. */
static bool clock_raw_follows_realtime(const struct clock_triple *earlier, const struct clock_triple *now)
{
    enum { NS_PER_S = 1000000000, PARTS = 1000 };
    uint64_t raw = now->raw_ns - earlier->raw_ns, real = now->realtime_ns - earlier->realtime_ns;
    return (raw > real ? raw - real : real - raw) <= NS_PER_S / PARTS + raw / PARTS;
}

bool clock_is_same_since(const struct clock_triple *earlier, const struct clock_triple *now)
{
    enum { FIT_NS = 200000, NS_PER_S = 1000000000, PARTS = 10, PER_MS = 1000 };
    if (!clock_uses_isa() || clock_raw_follows_realtime(earlier, now))
        return true;
    double hz = clock_hz(FIT_NS), ticks = (double)(now->tick - earlier->tick);
    double expected = (double)(now->raw_ns - earlier->raw_ns) * hz / NS_PER_S, apart = ticks - expected;
    return (apart < 0 ? -apart : apart) < ticks / PARTS + hz / PER_MS;
}

/* The clocks must have advanced equally: CLOCK_MONOTONIC_RAW is another one in a time namespace of which /proc has nothing. */
void clock_fit_from(const struct clock_triple *earlier)
{
    clock_start();
    if (earlier->tick >= clock_first.tick || earlier->raw_ns >= clock_first.raw_ns ||
        !clock_raw_follows_realtime(earlier, &clock_first) ||
        __atomic_load_n(&clock_fit, __ATOMIC_RELAXED) != &clock_first)
        return;
    clock_earlier = *earlier;
    __atomic_store_n(&clock_fit, &clock_earlier, __ATOMIC_RELEASE);
}

double clock_hz(uint64_t min_ns)
{
    clock_start();
    if (!clock_uses_isa())
        return 1e9;
    const struct clock_triple *from = __atomic_load_n(&clock_fit, __ATOMIC_ACQUIRE);
    struct clock_triple now;
    clock_sample(&now);
    while (now.raw_ns - from->raw_ns < min_ns || now.raw_ns == from->raw_ns)
        clock_sample(&now);
    return (double)(now.tick - from->tick) * 1e9 / (double)(now.raw_ns - from->raw_ns);
}
