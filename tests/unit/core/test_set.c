/* SPDX-License-Identifier: MIT */
/* Counter sets over the scripted kernel: every refusal at open and at read, and no leaks. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/set/counters.h"
#include "support/machine.h"
#include "unit/suite.h"

static const struct scripted_sample steady[] = {{100, 1000, 1000}, {250, 2000, 2000}, {300, 3000, 3000}};

static void set_up(void)
{
    machine_plain(steady, 3);
}

static void nothing_left(void)
{
    ck_assert_uint_eq(scripted_open_now(), 0);
    ck_assert_uint_eq(scripted_mapped_now(), 0);
    ck_assert_uint_eq(scripted_misuse(), 0);
}

static struct upmu_set *opened(const char *events, uint32_t flags)
{
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .flags = flags};
    int rc = upmu_set_open(&set, events, &opts);
    ck_assert_msg(rc == 0, "%s: %s", events, upmu_error());
    return set;
}

static void expect(const struct upmu_value *v, int status, int cause, uint64_t value)
{
    ck_assert_msg(v->status == status && v->cause == cause, "%s (%s) instead of %s (%s)", upmu_status_name(v->status),
                  upmu_strerror(v->cause), upmu_status_name(status), upmu_strerror(cause));
    ck_assert_uint_eq(v->value, value);
}

START_TEST(a_set_counts_and_gives_everything_back)
{
    struct upmu_value v[2];
    struct upmu_set *set = opened("cycles,instructions:u", UPMU_SET_NO_USER_READ);
    ck_assert_uint_eq(upmu_set_event_count(set), 2);
    ck_assert_uint_eq(upmu_set_group_count(set), 1);
    ck_assert_uint_eq(upmu_set_instance_count(set), 1);
    ck_assert_str_eq(upmu_set_name(set, 1), "instructions:u");
    ck_assert_ptr_null(upmu_set_name(set, 2));
    ck_assert_str_eq(upmu_set_reason(set, 0), "");
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    expect(&v[0], UPMU_EXACT, 0, 100);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    expect(&v[1], UPMU_EXACT, 0, 250);
    ck_assert_int_eq(upmu_set_stop(set), 0);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(states_and_arguments_are_checked)
{
    struct upmu_value v[2];
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .target = 9};
    ck_assert_int_eq(upmu_set_open(NULL, "cycles", NULL), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_set_open(&set, NULL, NULL), UPMU_E_INVAL);
    ck_assert_ptr_null(set);
    ck_assert_int_eq(upmu_set_open(&set, " , ", NULL), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_set_open(&set, "cylces", NULL), UPMU_E_NAME);
    ck_assert_ptr_null(set);
    ck_assert_int_eq(upmu_set_open(&set, "cycles", &opts), UPMU_E_INVAL);
    opts = (struct upmu_set_opts){.size = sizeof opts, .flags = 1u << 30};
    ck_assert_int_eq(upmu_set_open(&set, "cycles", &opts), UPMU_E_INVAL);
    opts = (struct upmu_set_opts){.size = 4};
    ck_assert_int_eq(upmu_set_open(&set, "cycles", &opts), UPMU_E_INVAL);
    opts = (struct upmu_set_opts){.size = sizeof opts, .target = UPMU_TARGET_PROCESS};
    ck_assert_int_eq(upmu_set_open(&set, "cycles", &opts), UPMU_E_INVAL);
    opts = (struct upmu_set_opts){.size = sizeof opts, .target = UPMU_TARGET_CPU, .cpu = -1};
    ck_assert_int_eq(upmu_set_open(&set, "cycles", &opts), UPMU_E_INVAL);
    opts = (struct upmu_set_opts){.size = sizeof opts, .target = UPMU_TARGET_COMMAND};
    ck_assert_int_eq(upmu_set_open(&set, "cycles", &opts), UPMU_E_INVAL);
    set = opened("cycles,instructions", 0);
    ck_assert_int_eq(upmu_set_read(set, v, 2), UPMU_E_STATE);
    ck_assert_int_eq(upmu_set_wait(set, NULL), UPMU_E_STATE);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 1), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_set_read(set, NULL, 2), UPMU_E_INVAL);
    upmu_set_close(set);
    upmu_set_close(NULL);
    nothing_left();
}
END_TEST

/* Everything an open can be refused with, and the status of the event then. */
static const struct {
    int err, status;
} refusals[] = {
    {EACCES, UPMU_REFUSED},
    {EPERM, UPMU_REFUSED},
    {ENOSYS, UPMU_UNSUPPORTED},
    {EMFILE, UPMU_REFUSED},
    {ENFILE, UPMU_REFUSED},
    {EBUSY, UPMU_REFUSED},
    {ENOMEM, UPMU_REFUSED},
    {ENOENT, UPMU_UNSUPPORTED},
    {EOPNOTSUPP, UPMU_UNSUPPORTED},
    {ENODEV, UPMU_UNSUPPORTED},
    {EINVAL, -1},
    {E2BIG, -1},
    {ENOSPC, -1},
    {EIO, -1},
    {EINTR, -1},
};

START_TEST(each_errno_of_open_becomes_a_reason_and_no_number)
{
    struct upmu_value v[3];
    int status = refusals[_i].status;
    scripted_open_error(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, refusals[_i].err);
    struct upmu_set *set = opened("task-clock,page-faults,cpu-clock", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 3), 3);
    ck_assert(v[1].status == UPMU_REFUSED || v[1].status == UPMU_UNSUPPORTED);
    ck_assert_msg(status < 0 || v[1].status == status, "%s", upmu_status_name(v[1].status));
    ck_assert_uint_eq(v[1].value, UPMU_NO_VALUE);
    ck_assert_int_lt(v[1].cause, 0);
    ck_assert_msg(strstr(upmu_set_reason(set, 1), "page-faults") != NULL, "%s", upmu_set_reason(set, 1));
    expect(&v[0], UPMU_EXACT, 0, 100);
    expect(&v[2], UPMU_EXACT, 0, 100);
    ck_assert_str_eq(upmu_set_reason(set, 0), "");
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_strict_set_fails_with_each_errno_and_leaks_nothing)
{
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .flags = UPMU_SET_STRICT};
    scripted_open_error(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, refusals[_i].err);
    int rc = upmu_set_open(&set, "task-clock,page-faults,cpu-clock", &opts);
    ck_assert_int_lt(rc, 0);
    ck_assert_ptr_null(set);
    ck_assert_msg(strstr(upmu_error(), "page-faults") != NULL, "%s", upmu_error());
    nothing_left();
}
END_TEST

START_TEST(no_descriptor_in_the_middle_of_a_group)
{
    struct upmu_value v[4];
    scripted_open_limit(2);
    struct upmu_set *set = opened("task-clock,page-faults,cpu-clock,major-faults", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 4), 4);
    expect(&v[0], UPMU_EXACT, 0, 100);
    expect(&v[1], UPMU_EXACT, 0, 100);
    expect(&v[2], UPMU_REFUSED, UPMU_E_NFILES, UPMU_NO_VALUE);
    expect(&v[3], UPMU_REFUSED, UPMU_E_NFILES, UPMU_NO_VALUE);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(no_descriptor_for_the_first_of_a_group_leaves_the_others_a_chance)
{
    struct upmu_value v[2];
    scripted_open_error(KERNEL_TYPE_SOFTWARE, KERNEL_SW_TASK_CLOCK, EMFILE);
    struct upmu_set *set = opened("task-clock,page-faults", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    expect(&v[0], UPMU_REFUSED, UPMU_E_NFILES, UPMU_NO_VALUE);
    expect(&v[1], UPMU_EXACT, 0, 100);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_sibling_that_does_not_fit_leads_a_group_of_its_own)
{
    struct upmu_value v[3];
    int counters = 1;
    scripted_rule(scripted_rule_group_size, &counters);
    struct upmu_set *set = opened("cycles,instructions,branches", UPMU_SET_NO_USER_READ);
    ck_assert_uint_eq(upmu_set_group_count(set), 3);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_ENABLE), 3);
    ck_assert_int_eq(upmu_set_read(set, v, 3), 3);
    for (int i = 0; i < 3; i++)
        expect(&v[i], UPMU_EXACT, 0, 100);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(kernel_mode_that_is_not_granted_is_left_out_and_shows_in_the_name)
{
    struct upmu_value v[4];
    scripted_user(2);
    struct upmu_set *set = opened("instructions,task-clock,page-faults:k,cpu-migrations", UPMU_SET_NO_USER_READ);
    ck_assert_str_eq(upmu_set_name(set, 0), "instructions:u");
    ck_assert_str_eq(upmu_set_name(set, 1), "task-clock");
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 4), 4);
    expect(&v[0], UPMU_EXACT, 0, 100);
    expect(&v[1], UPMU_EXACT, 0, 100);
    expect(&v[2], UPMU_REFUSED, UPMU_E_PERM, UPMU_NO_VALUE); /* its modes were asked for */
    expect(&v[3], UPMU_REFUSED, UPMU_E_PERM, UPMU_NO_VALUE); /* in user mode it would read 0 */
    ck_assert_msg(strstr(upmu_set_reason(set, 3), "perf_event_paranoid") != NULL, "%s", upmu_set_reason(set, 3));
    upmu_set_close(set);
    nothing_left();
}
END_TEST

/* What a read can come to instead of the whole group: errors, the end of file of a group in error state, a piece. */
static const ssize_t bad_reads[] = {-EIO, -EBADF, -EINTR, 0, 8, 24};

START_TEST(a_bad_read_is_no_number_and_the_group_is_not_read_again)
{
    struct upmu_value v[2];
    struct upmu_set *set = opened("page-faults,task-clock", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    scripted_read_fault(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, bad_reads[_i], 1);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    expect(&v[0], UPMU_REFUSED, UPMU_E_IO, UPMU_NO_VALUE);
    expect(&v[1], UPMU_REFUSED, UPMU_E_IO, UPMU_NO_VALUE);
    size_t reads = scripted_count(SCRIPTED_READ);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2); /* what is behind the descriptor may be the program's own by now */
    expect(&v[0], UPMU_REFUSED, UPMU_E_IO, UPMU_NO_VALUE);
    ck_assert_uint_eq(scripted_count(SCRIPTED_READ), reads);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

/* Reads of another event of the same shape, as if the program had put it at our descriptor's number. */
static ssize_t read_of_another(int fd, void *words, size_t bytes)
{
    ssize_t n = upmu_kernel_scripted.read(fd, words, bytes);
    ((uint64_t *)words)[KERNEL_READ_GROUP_HEAD + 3] += 1000; /* the id of the second member */
    return n;
}

START_TEST(the_reading_of_another_event_is_refused)
{
    static struct kernel_ops swapped;
    struct upmu_value v[2];
    swapped = upmu_kernel_scripted;
    swapped.read = read_of_another;
    struct upmu_set *set = opened("page-faults,task-clock", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    expect(&v[0], UPMU_EXACT, 0, 100);
    core_kernel_use(&swapped);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
        expect(&v[0], UPMU_REFUSED, UPMU_E_IO, UPMU_NO_VALUE);
        expect(&v[1], UPMU_REFUSED, UPMU_E_IO, UPMU_NO_VALUE);
    }
    /* the group and its member's own times, then the group once more and never again */
    ck_assert_uint_eq(scripted_count(SCRIPTED_READ), 3);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_count_that_went_backwards_is_not_counted)
{
    const struct scripted_sample back[] = {{100, 1000, 1000}, {40, 2000, 2000}};
    struct upmu_value v;
    scripted_counter(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, back, 2);
    struct upmu_set *set = opened("page-faults", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_reset(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    expect(&v, UPMU_NOT_COUNTED, 0, UPMU_NO_VALUE);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(a_reset_that_cannot_read_fails_instead_of_leaving_the_old_count)
{
    struct upmu_set *set = opened("page-faults", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    scripted_read_fault(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, -EIO, 1);
    ck_assert_int_eq(upmu_set_reset(set), UPMU_E_SYSTEM);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(reset_starts_counts_and_times_anew)
{
    struct upmu_value v;
    struct upmu_set *set = opened("page-faults", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_reset(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    expect(&v, UPMU_EXACT, 0, 150);
    ck_assert_uint_eq(v.enabled, 1000);
    ck_assert_uint_eq(v.running, 1000);
    upmu_set_close(set);
}
END_TEST

START_TEST(multiplexed_counts_are_extrapolated_and_unplaced_ones_are_no_zero)
{
    const struct scripted_sample half[] = {{100, 1000, 500}}, none[] = {{0, 1000, 0}};
    struct upmu_value v;
    scripted_counter(KERNEL_TYPE_HARDWARE, 0, half, 1);
    struct upmu_set *set = opened("cycles", UPMU_SET_NO_USER_READ);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    expect(&v, UPMU_SCALED, 0, 200);
    scripted_counter(KERNEL_TYPE_HARDWARE, 0, none, 1);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    expect(&v, UPMU_NOT_COUNTED, 0, UPMU_NO_VALUE);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(controls_that_fail_are_reported)
{
    struct upmu_set *set = opened("page-faults", 0);
    scripted_control_error(EBADF);
    ck_assert_int_eq(upmu_set_start(set), UPMU_E_SYSTEM);
    ck_assert_msg(strstr(upmu_error(), "EBADF") != NULL, "%s", upmu_error());
    scripted_control_error(0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    scripted_control_error(EIO);
    ck_assert_int_eq(upmu_set_stop(set), UPMU_E_SYSTEM);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(an_absent_event_is_unsupported_with_its_reason)
{
    struct upmu_value v[2];
    struct upmu_set *set;
    struct upmu_set_opts strict = {.size = sizeof strict, .flags = UPMU_SET_STRICT};
    set = opened("context-switches:u,page-faults", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    expect(&v[0], UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED, UPMU_NO_VALUE);
    ck_assert_msg(strstr(upmu_set_reason(set, 0), "always read 0") != NULL, "%s", upmu_set_reason(set, 0));
    upmu_set_close(set);
    ck_assert_int_eq(upmu_set_open(&set, "context-switches:u,page-faults", &strict), UPMU_E_UNSUPPORTED);
    nothing_left();
}
END_TEST

START_TEST(too_many_events_are_refused)
{
    char names[65 * 12 + 1] = "";
    struct upmu_set *set;
    for (int i = 0; i < 64; i++)
        strcat(names, "page-faults,");
    set = opened(names, 0);
    ck_assert_uint_eq(upmu_set_event_count(set), 64);
    upmu_set_close(set);
    strcat(names, "page-faults,");
    ck_assert_int_eq(upmu_set_open(&set, names, NULL), UPMU_E_LIMIT);
    nothing_left();
}
END_TEST

/* Whether all calls that count are refused here. */
static bool all_refused(struct upmu_set *set)
{
    struct upmu_value v;
    return upmu_set_start(set) == UPMU_E_STATE && upmu_set_stop(set) == UPMU_E_STATE &&
           upmu_set_reset(set) == UPMU_E_STATE && upmu_set_read(set, &v, 1) == UPMU_E_STATE &&
           upmu_set_user_read(set, 0) == 0;
}

static void *use_elsewhere(void *arg)
{
    return all_refused(arg) && strstr(upmu_error(), "another thread") ? arg : NULL;
}

START_TEST(another_threads_set_may_not_be_used)
{
    pthread_t thread;
    void *refused;
    struct upmu_set *set = opened("page-faults", 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_elsewhere, set), 0);
    pthread_join(thread, &refused);
    ck_assert_ptr_eq(refused, set);
    upmu_set_close(set);
}
END_TEST

/* In the child, by exit status: 0, or which expectation failed. */
static int close_as_a_child(struct upmu_set *set)
{
    if (!all_refused(set) || !strstr(upmu_error(), "opened before fork()"))
        return 1;
    upmu_set_close(set);
    if (scripted_open_now() != 0 || scripted_misuse() != 0)
        return 2;
    return scripted_count(SCRIPTED_UNMAP) == 0 ? 0 : 3;
}

START_TEST(a_forked_child_may_only_close_a_set_and_that_without_its_pages)
{
    int status;
    struct upmu_set *set = opened("cycles", 0);
    size_t pages = scripted_mapped_now();
    ck_assert_int_eq(upmu_set_start(set), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(close_as_a_child(set));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x", (unsigned)status);
    ck_assert_uint_eq(scripted_mapped_now(), pages);
    upmu_set_close(set);
    nothing_left();
}
END_TEST

START_TEST(an_uncore_event_needs_a_cpu)
{
    struct upmu_value v;
    scripted_file(TEST_DEVICES "/power/type", "12\n");
    scripted_file(TEST_DEVICES "/power/cpumask", "0\n");
    scripted_counter(12, SCRIPTED_ANY, steady, 3);
    struct upmu_set *set = opened("power/config=2/", 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    expect(&v, UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED, UPMU_NO_VALUE);
    upmu_set_close(set);
    ck_assert_int_eq(upmu_event_probe("power/config=2/", NULL), 0);
    ck_assert_int_eq(scripted_nth(SCRIPTED_OPEN, 0)->req.cpu, 0);
    ck_assert_int_eq(scripted_nth(SCRIPTED_OPEN, 0)->req.pid, -1);
    nothing_left();
}
END_TEST

START_TEST(probing_reports_why_an_event_cannot_be_opened)
{
    const struct scripted_sample none[] = {{0, 1000, 0}};
    ck_assert_int_eq(upmu_event_probe("page-faults", NULL), 0);
    ck_assert_int_eq(upmu_event_probe("no-such-thing", NULL), UPMU_E_NAME);
    scripted_counter(KERNEL_TYPE_HARDWARE, 0, none, 1);
    ck_assert_int_eq(upmu_event_probe("cycles", NULL), UPMU_E_BUSY);
    scripted_open_error(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, ENOSYS);
    ck_assert_int_eq(upmu_event_probe("page-faults", NULL), UPMU_E_NO_SYSCALL);
    nothing_left();
}
END_TEST

static int rule_no_precision(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)group, (void)n, (void)arg;
    return req->precise ? -EOPNOTSUPP : 0;
}

/* What perf's modifiers ask of the kernel. */
START_TEST(modifiers_reach_the_kernel)
{
    static const struct {
        const char *name;
        uint32_t exclude;
        uint8_t precise;
    } cases[] = {
        {"cycles", 0, 0},
        {"cycles:u", UPMU_EXCLUDE_KERNEL, 0},
        {"cycles:G", UPMU_EXCLUDE_HOST, 0},
        {"cycles:kH", UPMU_EXCLUDE_USER | UPMU_EXCLUDE_GUEST, 0},
        {"cycles:GH", 0, 0},
        {"cycles:upp", UPMU_EXCLUDE_KERNEL, 2},
        {"cycles:P", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine_plain(steady, 3);
        scripted_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
                                       "stepping\t: 1\nflags\t\t: fpu perfctr_core\n");
        scripted_file("/proc/sys/kernel/osrelease", "6.1.0\n");
        struct upmu_set *set = opened(cases[i].name, 0);
        ck_assert_str_eq(upmu_set_reason(set, 0), "");
        ck_assert_str_eq(upmu_set_name(set, 0), cases[i].name);
        const struct kernel_open *req = &scripted_nth(SCRIPTED_OPEN, 0)->req;
        ck_assert_msg(req->exclude == cases[i].exclude && req->precise == cases[i].precise, "%s: 0x%x, %u",
                      cases[i].name, req->exclude, req->precise);
        upmu_set_close(set);
    }
}
END_TEST

START_TEST(precision_that_the_kernel_refuses_has_its_remedy)
{
    struct upmu_value v;
    scripted_rule(rule_no_precision, NULL);
    struct upmu_set *set = opened("cycles:p", 0);
    ck_assert_msg(strstr(upmu_set_reason(set, 0), "Omit 'p' from") != NULL, "%s", upmu_set_reason(set, 0));
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    expect(&v, UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED, UPMU_NO_VALUE);
    upmu_set_close(set);
    set = opened("cycles", 0); /* the remedy */
    ck_assert_str_eq(upmu_set_reason(set, 0), "");
    upmu_set_close(set);
}
END_TEST

/* Of a socket there is one number, whichever of its CPUs is asked. */
START_TEST(events_of_a_socket_are_counted_on_its_one_cpu)
{
    struct upmu_value v;
    for (int cpu = 0; cpu < 3; cpu++) {
        struct upmu_set *set;
        const struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_CPU, .cpu = cpu};
        machine_plain(steady, 3);
        scripted_file(TEST_DEVICES "/power/type", "22\n");
        scripted_file(TEST_DEVICES "/power/cpumask", "0,2\n");
        scripted_file(TEST_DEVICES "/power/format/event", "config:0-7\n");
        scripted_file(TEST_DEVICES "/power/events/energy-pkg", "event=0x02\n");
        scripted_counter(22, 2, steady, 3);
        ck_assert_int_eq(upmu_set_open(&set, "power/energy-pkg/", &opts), 0);
        ck_assert_int_eq(upmu_set_start(set), 0);
        ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
        if (cpu == 1) {
            expect(&v, UPMU_NOT_COUNTED, 0, UPMU_NO_VALUE);
            ck_assert(v.enabled == 0 && strstr(upmu_set_reason(set, 0), "on CPU 0,2 only") != NULL);
        } else {
            expect(&v, UPMU_EXACT, 0, 100);
        }
        upmu_set_close(set);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("set");
    const int n_refusals = sizeof refusals / sizeof *refusals, n_reads = sizeof bad_reads / sizeof *bad_reads;
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, a_set_counts_and_gives_everything_back);
    tcase_add_test(cases, states_and_arguments_are_checked);
    tcase_add_loop_test(cases, each_errno_of_open_becomes_a_reason_and_no_number, 0, n_refusals);
    tcase_add_loop_test(cases, a_strict_set_fails_with_each_errno_and_leaks_nothing, 0, n_refusals);
    tcase_add_test(cases, no_descriptor_in_the_middle_of_a_group);
    tcase_add_test(cases, no_descriptor_for_the_first_of_a_group_leaves_the_others_a_chance);
    tcase_add_test(cases, a_sibling_that_does_not_fit_leads_a_group_of_its_own);
    tcase_add_test(cases, kernel_mode_that_is_not_granted_is_left_out_and_shows_in_the_name);
    tcase_add_loop_test(cases, a_bad_read_is_no_number_and_the_group_is_not_read_again, 0, n_reads);
    tcase_add_test(cases, the_reading_of_another_event_is_refused);
    tcase_add_test(cases, a_count_that_went_backwards_is_not_counted);
    tcase_add_test(cases, a_reset_that_cannot_read_fails_instead_of_leaving_the_old_count);
    tcase_add_test(cases, reset_starts_counts_and_times_anew);
    tcase_add_test(cases, multiplexed_counts_are_extrapolated_and_unplaced_ones_are_no_zero);
    tcase_add_test(cases, controls_that_fail_are_reported);
    tcase_add_test(cases, an_absent_event_is_unsupported_with_its_reason);
    tcase_add_test(cases, too_many_events_are_refused);
    tcase_add_test(cases, another_threads_set_may_not_be_used);
    tcase_add_test(cases, a_forked_child_may_only_close_a_set_and_that_without_its_pages);
    tcase_add_test(cases, an_uncore_event_needs_a_cpu);
    tcase_add_test(cases, probing_reports_why_an_event_cannot_be_opened);
    tcase_add_test(cases, modifiers_reach_the_kernel);
    tcase_add_test(cases, precision_that_the_kernel_refuses_has_its_remedy);
    tcase_add_test(cases, events_of_a_socket_are_counted_on_its_one_cpu);
    return run_suite("set", cases);
}
