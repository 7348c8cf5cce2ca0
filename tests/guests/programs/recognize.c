/* SPDX-License-Identifier: MIT */
/*
 * Machines whose counts mean nothing or that have no PMU: identity, event table, statuses.
 *
 * The table is compared with what the kernel's driver accepts. Runs with guest_family=NAME, guest_pmu=0|1 and
 * guest_page=BYTES on the guest's command line.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "core/arch_ops.h"
#include "core/kernel_ops.h"
#include "core/machine/machine.h"
#include "guest.h"

static const char *said(const char *variable)
{
    const char *value = getenv(variable);
    if (!value)
        guest_skip("the guest's command line does not have %s=", variable);
    return value;
}

static bool has_pmu(void)
{
    return strcmp(said("guest_pmu"), "1") == 0;
}

static void cpu_is_recognised(void)
{
    const char *family = said("guest_family");
    const struct machine *m = machine_get();
    EXPECT(strcmp(m->family->name, family) == 0, "%s, not %s", m->family->name, family);
    EXPECT((m->core_pmu[0] != '\0') == has_pmu(), "core PMU '%s'", m->core_pmu);
    guest_note("%s (%s), core PMU '%s'", m->family->title, m->cpu.model_name[0] ? m->cpu.model_name : m->cpu.cpu_model,
               m->core_pmu);
    EXPECT(sysconf(_SC_PAGESIZE) == strtol(said("guest_page"), NULL, 10), "pages of %ld bytes", sysconf(_SC_PAGESIZE));
}

/* ------------------------------------------------------------------------------------------------------ no PMU */

static void without_a_pmu_hardware_events_say_so(void)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    if (has_pmu())
        guest_skip("this machine has a PMU");
    struct upmu_set *set = guest_open("cycles,instructions,l1d-load-miss,task-clock", UPMU_TARGET_THREAD, 0, 0);
    guest_start(set);
    guest_loop(LOOP_INSTRUCTIONS);
    guest_stop(set);
    guest_read(set, v);
    for (size_t i = 0; i < 2; i++) {
        guest_status(set, i, &v[i], UPMU_UNSUPPORTED);
        EXPECT(v[i].cause == UPMU_E_NO_PMU && v[i].value == UPMU_NO_VALUE, "%s: %s", upmu_set_name(set, i),
               upmu_strerror(v[i].cause));
    }
    guest_note("%s", upmu_set_reason(set, 0));
    guest_status(set, 2, &v[2], UPMU_UNSUPPORTED);
    if (guest_status(set, 3, &v[3], UPMU_EXACT))
        EXPECT(v[3].value > 0, "no CPU time");
    upmu_set_close(set);
}

/* Through the mapped page, whose size is this machine's. */
static void context_switches_and_faults_are_counted(void)
{
    enum { SLEEPS = 20, PAGES = 10 };
    const struct timespec shortly = {.tv_nsec = 1000000};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set = guest_open("context-switches,page-faults", UPMU_TARGET_THREAD, 0, 0);
    volatile unsigned char *memory = aligned_alloc(page, 64 * page); /* large enough to be mapped afresh */
    EXPECT(memory != NULL, "no memory");
    guest_start(set);
    for (int i = 0; i < SLEEPS; i++)
        nanosleep(&shortly, NULL);
    for (size_t i = 0; i < PAGES; i++)
        memory[(i + 1) * page] = 1;
    guest_stop(set);
    guest_read(set, v);
    if (guest_status(set, 0, &v[0], UPMU_EXACT))
        EXPECT_WITHIN(v[0].value, SLEEPS, 10 * SLEEPS, "context switches");
    if (guest_status(set, 1, &v[1], UPMU_EXACT))
        EXPECT_WITHIN(v[1].value, PAGES, PAGES + 10, "page faults");
    EXPECT(upmu_set_user_read(set, 0), "switches are not read from the page");
    guest_note("%d sleeps: %llu switches", SLEEPS, (unsigned long long)v[0].value);
    upmu_set_close(set);
}

static int print_finding(const struct upmu_diagnosis *f, void *arg)
{
    int *n = arg;
    *n += 1;
    guest_note("%s: %s", f->topic, f->text);
    return 0;
}

static void diagnosis_has_a_word_on_everything(void)
{
    int n = 0;
    EXPECT(upmu_diagnose(print_finding, &n) == 0 && n > 5, "%d findings", n);
}

/* ---------------------------------------------------------------------------------------- the table and the driver */

/* @return 0 if the kernel's driver takes the code, else the errno. */
static int refusal(uint32_t type, uint64_t config)
{
    const struct kernel_open request = {
        .type = type, .config = config, .exclude = UPMU_EXCLUDE_KERNEL, .cpu = -1, .group_fd = -1, .disabled = true};
    int fd = upmu_kernel_perf.open(&request);
    if (fd >= 0)
        upmu_kernel_perf.close(fd);
    return fd >= 0 ? 0 : -fd;
}

static uint32_t type_of(const struct arch_event *row)
{
    return row->kind == ARCH_CODE_HARDWARE   ? KERNEL_TYPE_HARDWARE
           : row->kind == ARCH_CODE_HW_CACHE ? KERNEL_TYPE_HW_CACHE
                                             : machine_get()->pmu_type;
}

static void driver_takes_every_code_of_the_table(void)
{
    const struct arch_family *family = machine_get()->family;
    size_t taken = 0;
    if (!has_pmu())
        guest_skip("this machine has no PMU");
    const struct arch_event *row;
    for (size_t i = 0; (row = arch_family_event_at(family, i)) != NULL; i++) {
        if (row->kind == ARCH_CODE_NONE)
            continue;
        int err = refusal(type_of(row), row->config);
        EXPECT(err == 0, "%s (0x%llx): %s", arch_text(row->name), (unsigned long long)row->config,
               upmu_errno_name(err));
        /* The raw encoding behind a perf generic event is what a user of raw codes would use. */
        if (row->raw_encoding != UINT64_MAX)
            err = refusal(machine_get()->pmu_type, row->raw_encoding);
        EXPECT(err == 0, "raw encoding 0x%llx of %s: %s", (unsigned long long)row->raw_encoding, arch_text(row->name),
               upmu_errno_name(err));
        taken++;
    }
    const struct arch_native *native;
    for (size_t at = 0; (native = arch_family_native_next(family, &at)) != NULL;) {
        int err = refusal(machine_get()->pmu_type, native->config);
        EXPECT(err == 0, "native::%s: %s", arch_text(native->name), upmu_errno_name(err));
        taken++;
    }
    guest_note("%zu codes are taken", taken);
    EXPECT(taken > 10, "%zu", taken);
}

static bool table_has(unsigned kind, uint64_t config)
{
    const struct arch_family *family = machine_get()->family;
    const struct arch_event *row;
    for (size_t i = 0; (row = arch_family_event_at(family, i)) != NULL; i++)
        if (row->kind == kind && row->config == config)
            return true;
    return false;
}

/* A perf generic event is in the table if and only if the driver maps it. */
static void expect_mapped_as_in_table(unsigned kind, uint32_t type, uint64_t config, size_t *refused)
{
    int err = refusal(type, config);
    bool listed = table_has(kind, config);
    *refused += err != 0;
    EXPECT((err == 0) == listed, "type %u id 0x%llx: the table %s, the driver returns %s", type,
           (unsigned long long)config, listed ? "has it" : "does not have it", err ? upmu_errno_name(err) : "yes");
    EXPECT(err == 0 || err == EOPNOTSUPP || err == ENOENT || err == EINVAL, "id 0x%llx: %s", (unsigned long long)config,
           upmu_errno_name(err));
}

static void driver_refuses_every_id_that_the_table_lacks(void)
{
    size_t refused = 0;
    if (!has_pmu())
        guest_skip("this machine has no PMU");
    for (uint64_t id = 0; id < PERF_COUNT_HW_MAX; id++)
        expect_mapped_as_in_table(ARCH_CODE_HARDWARE, KERNEL_TYPE_HARDWARE, id, &refused);
    for (uint64_t cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
        for (uint64_t op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++)
            for (uint64_t result = 0; result < PERF_COUNT_HW_CACHE_RESULT_MAX; result++)
                expect_mapped_as_in_table(ARCH_CODE_HW_CACHE, KERNEL_TYPE_HW_CACHE, cache | op << 8 | result << 16,
                                          &refused);
    guest_note("%zu ids are refused", refused);
    EXPECT(refused > 0, "nothing is refused");
}

/* Every name of the library is either counted or has no number; what the values mean is not known here. */
static void every_name_opens_or_has_its_reason(void)
{
    size_t open = 0, without = 0;
    const char *name;
    for (size_t i = 0; upmu_event_name_at(i, &name) == 0; i++) {
        struct upmu_event_info info = {.size = sizeof info};
        int known = upmu_event_find(name, &info);
        EXPECT(known == 0 || known == UPMU_E_UNSUPPORTED, "%s: %s", name, upmu_strerror(known));
        struct upmu_set *set = guest_open(name, UPMU_TARGET_THREAD, 0, 0);
        bool reason = upmu_set_reason(set, 0)[0] != '\0';
        EXPECT(known == 0 || reason, "%s is absent and no reason is given", name);
        open += !reason;
        without += reason;
        upmu_set_close(set);
    }
    guest_note("%zu names open, %zu have a reason why not", open, without);
    EXPECT(open >= (has_pmu() ? 15 : 5) && without > 0, "%zu open", open);
}

static const struct guest_test tests[] = {
    {"cpu_is_recognised", cpu_is_recognised},
    {"without_a_pmu_hardware_events_say_so", without_a_pmu_hardware_events_say_so},
    {"context_switches_and_faults_are_counted", context_switches_and_faults_are_counted},
    {"diagnosis_has_a_word_on_everything", diagnosis_has_a_word_on_everything},
    {"driver_takes_every_code_of_the_table", driver_takes_every_code_of_the_table},
    {"driver_refuses_every_id_that_the_table_lacks", driver_refuses_every_id_that_the_table_lacks},
    {"every_name_opens_or_has_its_reason", every_name_opens_or_has_its_reason},
};

int main(void)
{
    return guest_run(tests, sizeof tests / sizeof *tests);
}
