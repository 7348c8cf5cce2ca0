/* SPDX-License-Identifier: MIT */
/* The scripted kernel does what is scripted: other tests believe it, so it is tested first. */
#include <errno.h>
#include <string.h>

#include "support/scripted.h"
#include "unit/suite.h"

static const struct kernel_ops *const k = &upmu_kernel_scripted;

enum { CYCLES = 0, INSTRUCTIONS = 1, CACHE_REFERENCES = 2, CACHE_MISSES = 3, BRANCH_MISSES = 5 };

static struct kernel_open request(uint32_t type, uint64_t config)
{
    return (struct kernel_open){.type = type, .config = config, .cpu = -1, .group_fd = -1};
}

static int open_event(uint32_t type, uint64_t config, int group_fd, bool group_read)
{
    struct kernel_open req = request(type, config);
    req.group_fd = group_fd;
    req.group_read = group_read;
    return k->open(&req);
}

static void counts(uint32_t type, uint64_t config, uint64_t value)
{
    scripted_counter(type, config, &(struct scripted_sample){value, 100, 100}, 1);
}

START_TEST(what_is_not_scripted_is_not_there)
{
    char text[8];
    pid_t tid;
    int gate;
    char *const argv[] = {"true", NULL};
    ck_assert_int_eq(open_event(KERNEL_TYPE_SOFTWARE, 1, -1, false), -ENOENT);
    ck_assert_int_eq(k->read_file("/proc/cpuinfo", text, sizeof text), -ENOENT);
    ck_assert_int_eq(k->list_dir("/proc", NULL, NULL), -ENOENT);
    ck_assert_int_eq(k->threads(1, &tid, 1), -ESRCH);
    ck_assert_int_eq(k->spawn(argv, &gate), -ENOENT);
    ck_assert_int_eq(gate, -1);
}
END_TEST

START_TEST(reads_give_the_samples_in_turn)
{
    const struct scripted_sample samples[] = {{10, 100, 50}, {20, 200, 100}};
    uint64_t words[KERNEL_READ_ONE_WORDS];
    scripted_counter(KERNEL_TYPE_HARDWARE, CYCLES, samples, 2);
    for (int open = 0; open < 2; open++) {
        int fd = open_event(KERNEL_TYPE_HARDWARE, CYCLES, -1, false);
        for (size_t i = 0; i < 3; i++) {
            const struct scripted_sample *want = &samples[i < 2 ? i : 1];
            ck_assert_int_eq(k->read(fd, words, sizeof words), (ssize_t)sizeof words);
            ck_assert_uint_eq(words[0], want->value);
            ck_assert_uint_eq(words[1], want->enabled);
            ck_assert_uint_eq(words[2], want->running);
        }
        k->close(fd);
    }
    ck_assert_uint_eq(scripted_open_now(), 0);
    ck_assert_uint_eq(scripted_misuse(), 0);
}
END_TEST

START_TEST(group_read_has_the_members_in_order)
{
    uint64_t words[KERNEL_READ_GROUP_HEAD + 2 * 3];
    counts(KERNEL_TYPE_HARDWARE, CYCLES, 1);
    counts(KERNEL_TYPE_HARDWARE, INSTRUCTIONS, 2);
    counts(KERNEL_TYPE_HARDWARE, SCRIPTED_ANY, 3);
    int leader = open_event(KERNEL_TYPE_HARDWARE, CYCLES, -1, true);
    int second = open_event(KERNEL_TYPE_HARDWARE, INSTRUCTIONS, leader, true);
    int third = open_event(KERNEL_TYPE_HARDWARE, BRANCH_MISSES, leader, true);
    ck_assert_int_ge(third, 0);
    ck_assert_int_eq(k->read(leader, words, sizeof words), (ssize_t)sizeof words);
    ck_assert_uint_eq(words[0], 3);
    ck_assert_uint_eq(words[3], 1);
    ck_assert_uint_eq(words[5], 2);
    ck_assert_uint_eq(words[7], 3);
    ck_assert_uint_ne(words[4], words[6]);
    ck_assert_int_eq(k->read(leader, words, sizeof words - 1), -ENOSPC);
    k->close(second);
    ck_assert_int_eq(k->read(leader, words, sizeof words), (ssize_t)(sizeof words - 16));
    ck_assert_uint_eq(words[5], 3);
}
END_TEST

START_TEST(faults_of_reads_last_as_long_as_asked)
{
    uint64_t words[KERNEL_READ_ONE_WORDS];
    counts(KERNEL_TYPE_SOFTWARE, 1, 5);
    int fd = open_event(KERNEL_TYPE_SOFTWARE, 1, -1, false);
    scripted_read_fault(KERNEL_TYPE_SOFTWARE, 1, -EINTR, 2);
    ck_assert_int_eq(k->read(fd, words, sizeof words), -EINTR);
    ck_assert_int_eq(k->read(fd, words, sizeof words), -EINTR);
    ck_assert_int_eq(k->read(fd, words, sizeof words), (ssize_t)sizeof words);
    scripted_read_fault(KERNEL_TYPE_SOFTWARE, 1, 8, 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(k->read(fd, words, sizeof words), 8);
    k->close(fd);
    ck_assert_int_eq(k->read(fd, words, sizeof words), -EBADF);
    ck_assert_uint_eq(scripted_misuse(), 1);
}
END_TEST

START_TEST(open_errors_and_limits)
{
    counts(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, 5);
    scripted_open_error(KERNEL_TYPE_SOFTWARE, 3, EBUSY);
    scripted_open_limit(2);
    ck_assert_int_eq(open_event(KERNEL_TYPE_SOFTWARE, 3, -1, false), -EBUSY);
    int first = open_event(KERNEL_TYPE_SOFTWARE, 1, -1, false);
    ck_assert_int_ge(open_event(KERNEL_TYPE_SOFTWARE, 2, -1, false), 0);
    ck_assert_int_eq(open_event(KERNEL_TYPE_SOFTWARE, 4, -1, false), -EMFILE);
    k->close(first);
    ck_assert_int_ge(open_event(KERNEL_TYPE_SOFTWARE, 4, -1, false), 0);
    ck_assert_uint_eq(scripted_open_now(), 2);
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), 5);
    ck_assert_int_eq((int)scripted_nth(SCRIPTED_OPEN, 3)->result, -EMFILE);
    ck_assert_uint_eq(scripted_nth(SCRIPTED_OPEN, 3)->req.config, 4);
    ck_assert_ptr_null(scripted_nth(SCRIPTED_OPEN, 5));
}
END_TEST

START_TEST(rule_of_denial_comes_before_the_event)
{
    static int err;
    const int errnos[] = {EACCES, EPERM, ENOSYS};
    counts(KERNEL_TYPE_SOFTWARE, 1, 5);
    scripted_rule(scripted_rule_deny, &err);
    for (size_t i = 0; i < 3; i++) {
        err = errnos[i];
        ck_assert_int_eq(open_event(KERNEL_TYPE_SOFTWARE, 1, -1, false), -err);
    }
}
END_TEST

START_TEST(user_at_paranoid_2_may_count_user_mode)
{
    char text[8];
    struct kernel_open req = request(KERNEL_TYPE_SOFTWARE, 1);
    counts(KERNEL_TYPE_SOFTWARE, 1, 5);
    scripted_user(2);
    ck_assert_int_eq(k->open(&req), -EACCES);
    req.exclude = UPMU_EXCLUDE_KERNEL;
    ck_assert_int_ge(k->open(&req), 0);
    req.pid = -1;
    req.cpu = 0;
    ck_assert_int_eq(k->open(&req), -EACCES);
    ck_assert_int_eq(k->read_file("/proc/sys/kernel/perf_event_paranoid", text, sizeof text), 2);
    ck_assert_str_eq(text, "2\n");
}
END_TEST

START_TEST(machine_rules_refuse_as_their_drivers_do)
{
    static int counters = 2;
    struct kernel_open req = request(KERNEL_TYPE_HARDWARE, CYCLES);
    struct kernel_open group[] = {request(KERNEL_TYPE_RAW, 1), request(KERNEL_TYPE_RAW, 2)};
    ck_assert_int_eq(scripted_rule_no_pmu(&req, NULL, 0, NULL), -ENOENT);
    ck_assert_int_eq(scripted_rule_group_size(&req, group, 1, &counters), 0);
    ck_assert_int_eq(scripted_rule_group_size(&req, group, 2, &counters), -EINVAL);
    ck_assert_int_eq(scripted_rule_no_filter(&req, NULL, 0, NULL), 0);
    req.exclude = UPMU_EXCLUDE_KERNEL;
    ck_assert_int_eq(scripted_rule_no_filter(&req, NULL, 0, NULL), -EOPNOTSUPP);
    req = request(KERNEL_TYPE_SOFTWARE, 1);
    ck_assert_int_eq(scripted_rule_no_pmu(&req, NULL, 0, NULL), 0);
    ck_assert_int_eq(scripted_rule_no_mixed_group(&req, group, 1, NULL), -EINVAL);
    ck_assert_int_eq(scripted_rule_no_mixed_group(&req, NULL, 0, NULL), 0);
}
END_TEST

START_TEST(core3b_opens_what_it_never_counts)
{
    uint64_t words[KERNEL_READ_GROUP_HEAD + 2 * 2];
    counts(KERNEL_TYPE_HARDWARE, SCRIPTED_ANY, 9);
    counts(KERNEL_TYPE_RAW, SCRIPTED_ANY, 9);
    scripted_rule(scripted_rule_core3b, NULL);
    scripted_place(scripted_place_core3b, NULL);
    int leader = open_event(KERNEL_TYPE_HARDWARE, CACHE_REFERENCES, -1, true);
    int member = open_event(KERNEL_TYPE_HARDWARE, CACHE_MISSES, leader, true);
    ck_assert_int_eq(k->read(leader, words, sizeof words), (ssize_t)sizeof words);
    ck_assert_uint_eq(words[2], 100);
    ck_assert_uint_eq(words[3], 9);
    k->close(member);
    /* Cycles and instructions are both on counter 0. */
    ck_assert_int_ge(open_event(KERNEL_TYPE_HARDWARE, INSTRUCTIONS, leader, true), 0);
    ck_assert_int_eq(k->read(leader, words, sizeof words), (ssize_t)sizeof words);
    ck_assert_uint_eq(words[1], 100);
    ck_assert_uint_eq(words[2], 0);
    ck_assert_uint_eq(words[3], 0);
    ck_assert_int_eq(open_event(KERNEL_TYPE_RAW, 0x010, -1, true), -EINVAL);
    ck_assert_int_ge(open_event(KERNEL_TYPE_RAW, 0x13d, -1, true), 0);
    struct kernel_open req = request(KERNEL_TYPE_RAW, 1);
    req.exclude = UPMU_EXCLUDE_HV;
    ck_assert_int_eq(k->open(&req), -EINVAL);
    req.exclude = UPMU_EXCLUDE_USER | UPMU_EXCLUDE_KERNEL;
    ck_assert_int_eq(k->open(&req), -EOPNOTSUPP);
}
END_TEST

static int join_names(const char *name, void *arg)
{
    strcat(arg, name);
    strcat(arg, ",");
    return 0;
}

START_TEST(files_make_their_directories)
{
    char names[64] = "", text[8];
    scripted_file("/sys/devices/msr/type", "11\n");
    scripted_file("/sys/devices/cpu/type", "4\n");
    scripted_file("/sys/devices/cpu/events/cycles", "event=0x3c\n");
    scripted_dir("/sys/devices/empty");
    scripted_file_error("/sys/devices/secret", EACCES);
    ck_assert_int_eq(k->list_dir("/sys/devices", join_names, names), 0);
    ck_assert_str_eq(names, "cpu,empty,msr,secret,");
    ck_assert_int_eq(k->list_dir("/sys/devices/empty", join_names, names), 0);
    ck_assert_int_eq(k->list_dir("/sys/devices/secret", join_names, names), -EACCES);
    ck_assert_int_eq(k->list_dir("/sys/devices/cpu/type", join_names, names), -ENOTDIR);
    ck_assert_int_eq(k->read_file("/sys/devices/cpu/events/cycles", text, sizeof text), -EFBIG);
    ck_assert_str_eq(text, "event=0");
}
END_TEST

START_TEST(threads_change_from_call_to_call)
{
    const pid_t first[] = {10}, then[] = {10, 11, 12};
    pid_t tids[2];
    scripted_threads(10, first, 1);
    scripted_threads(10, then, 3);
    ck_assert_int_eq(k->threads(10, tids, 2), 1);
    ck_assert_int_eq(k->threads(10, tids, 2), 3);
    ck_assert_int_eq(tids[1], 11);
    ck_assert_int_eq(k->threads(10, tids, 2), 3);
    scripted_threads(10, NULL, 0);
    ck_assert_int_eq(k->threads(10, tids, 2), -ESRCH);
}
END_TEST

START_TEST(pages_follow_switches_and_limits)
{
    const void *page, *other;
    uint64_t switches;
    counts(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, 5);
    int fd = open_event(KERNEL_TYPE_SOFTWARE, 1, -1, false);
    scripted_map_limit(1, EPERM);
    ck_assert_int_eq(k->map(fd, &page), 0);
    ck_assert_int_eq(k->map(open_event(KERNEL_TYPE_SOFTWARE, 2, -1, false), &other), -EPERM);
    ck_assert_ptr_null(other);
    scripted_switch(3, true);
    scripted_switch(2, false);
    ck_assert_int_eq(k->thread_switches(&switches), 0);
    ck_assert_uint_eq(switches, 5);
    ck_assert_uint_eq(*k->page_sequence(page), 6);
    ck_assert_ptr_eq((const void *)scripted_page(fd), page);
    k->close(fd);
    k->unmap(page);
    ck_assert_uint_eq(scripted_mapped_now(), 0);
    ck_assert_uint_eq(scripted_misuse(), 0);
    k->unmap(page);
    k->close(fd);
    ck_assert_uint_eq(scripted_misuse(), 2);
}
END_TEST

START_TEST(command_goes_as_scripted)
{
    char *const argv[] = {"true", NULL};
    int gate, status = 0;
    scripted_command(555, -ENOEXEC, 0x100);
    ck_assert_int_eq(k->spawn(argv, &gate), 555);
    ck_assert_uint_eq(scripted_open_now(), 1);
    ck_assert_int_eq(k->release(gate, NULL), -ENOEXEC);
    ck_assert_uint_eq(scripted_open_now(), 0);
    ck_assert_int_eq(k->wait(555, &status, NULL), 0);
    ck_assert_int_eq(status, 0x100);
    ck_assert_int_eq(k->wait(556, &status, NULL), -ECHILD);
}
END_TEST

static void count_reads(enum scripted_op op, int fd, void *arg)
{
    (void)fd;
    *(int *)arg += op == SCRIPTED_READ;
}

START_TEST(hook_sees_calls_and_reset_forgets_all)
{
    uint64_t words[KERNEL_READ_ONE_WORDS];
    int reads = 0;
    counts(KERNEL_TYPE_SOFTWARE, 1, 5);
    scripted_hook(count_reads, &reads);
    int fd = open_event(KERNEL_TYPE_SOFTWARE, 1, -1, false);
    ck_assert_int_gt((int)k->read(fd, words, sizeof words), 0);
    ck_assert_int_eq(reads, 1);
    scripted_reset();
    ck_assert_uint_eq(scripted_open_now(), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_READ), 0);
    ck_assert_int_eq(open_event(KERNEL_TYPE_SOFTWARE, 1, -1, false), -ENOENT);
    ck_assert_int_eq(reads, 1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("scripted");
    tcase_add_checked_fixture(cases, scripted_reset, scripted_reset);
    tcase_add_test(cases, what_is_not_scripted_is_not_there);
    tcase_add_test(cases, reads_give_the_samples_in_turn);
    tcase_add_test(cases, group_read_has_the_members_in_order);
    tcase_add_test(cases, faults_of_reads_last_as_long_as_asked);
    tcase_add_test(cases, open_errors_and_limits);
    tcase_add_test(cases, rule_of_denial_comes_before_the_event);
    tcase_add_test(cases, user_at_paranoid_2_may_count_user_mode);
    tcase_add_test(cases, machine_rules_refuse_as_their_drivers_do);
    tcase_add_test(cases, core3b_opens_what_it_never_counts);
    tcase_add_test(cases, files_make_their_directories);
    tcase_add_test(cases, threads_change_from_call_to_call);
    tcase_add_test(cases, pages_follow_switches_and_limits);
    tcase_add_test(cases, command_goes_as_scripted);
    tcase_add_test(cases, hook_sees_calls_and_reset_forgets_all);
    return run_suite("kernel scripted", cases);
}
