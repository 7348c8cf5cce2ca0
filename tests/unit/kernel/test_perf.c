/* SPDX-License-Identifier: MIT */
/* The real kernel's software events: counts, layouts, groups, pages, and where descriptors live. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel_ops.h"
#include "kernel/parts.h"
#include "unit/suite.h"

static const struct kernel_ops *const k = &upmu_kernel_perf;

static struct kernel_open request(enum kernel_software event)
{
    return (struct kernel_open){
        .type = KERNEL_TYPE_SOFTWARE,
        .exclude = UPMU_EXCLUDE_KERNEL | UPMU_EXCLUDE_HV,
        .config = event,
        .cpu = -1,
        .group_fd = -1,
    };
}

static int opened(const struct kernel_open *req)
{
    int fd = k->open(req);
    ck_assert_msg(fd >= 0, "open: %s", strerror(-fd));
    return fd;
}

enum { FAULT_PAGES_MAX = 3000 };
static char *fault_memory;

/* Memory whose pages can be made absent again. Touched once beforehand, so that what a sanitizer keeps beside it is there
 * and only the pages themselves fault later. */
static void fault_prepare(void)
{
    size_t bytes = FAULT_PAGES_MAX * (size_t)sysconf(_SC_PAGESIZE);
    fault_memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(fault_memory != MAP_FAILED);
    ck_assert_int_eq(madvise(fault_memory, bytes, MADV_NOHUGEPAGE), 0);
    memset(fault_memory, 1, bytes);
}

static void fault_finish(void)
{
    munmap(fault_memory, FAULT_PAGES_MAX * (size_t)sysconf(_SC_PAGESIZE));
}

/* One page fault for each of `pages` pages. */
static void fault(size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ck_assert_int_eq(madvise(fault_memory, pages * page, MADV_DONTNEED), 0);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)fault_memory)[i * page] = 1;
}

static void read_one(int fd, uint64_t words[KERNEL_READ_ONE_WORDS])
{
    ck_assert_int_eq(k->read(fd, words, KERNEL_READ_ONE_WORDS * sizeof *words),
                     (ssize_t)(KERNEL_READ_ONE_WORDS * sizeof *words));
}

START_TEST(page_faults_of_touched_pages_are_counted)
{
    struct kernel_open req = request(KERNEL_SW_PAGE_FAULTS);
    uint64_t before[KERNEL_READ_ONE_WORDS], after[KERNEL_READ_ONE_WORDS];
    int fd = opened(&req);
    fault(10); /* warm up: whatever the calls themselves touch */
    read_one(fd, before);
    fault(1000);
    read_one(fd, after);
    ck_assert_uint_ge(after[0] - before[0], 1000);
    ck_assert_uint_le(after[0] - before[0], 1020);
    ck_assert_uint_gt(after[1], before[1]);
    ck_assert_uint_eq(after[1], after[2]);
    ck_assert_uint_ne(after[3], 0);
    ck_assert_uint_eq(after[3], before[3]);
    k->close(fd);
}
END_TEST

START_TEST(task_clock_is_cpu_time)
{
    struct kernel_open req = request(KERNEL_SW_TASK_CLOCK);
    uint64_t words[KERNEL_READ_ONE_WORDS];
    struct timespec start, now;
    int fd = opened(&req);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    int64_t spent;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        spent = (int64_t)(now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec;
    } while (spent < 20000000);
    read_one(fd, words);
    /* The two clocks keep their own books: a hypervisor that takes the CPU away shows in one a little later. */
    ck_assert_uint_ge(words[0], 19000000);
    ck_assert_uint_le(words[0], 40000000);
    k->close(fd);
}
END_TEST

START_TEST(event_opened_stopped_counts_between_enable_and_disable)
{
    struct kernel_open req = request(KERNEL_SW_PAGE_FAULTS);
    uint64_t words[KERNEL_READ_ONE_WORDS];
    req.disabled = true;
    int fd = opened(&req);
    fault(100);
    read_one(fd, words);
    ck_assert_uint_eq(words[0], 0);
    ck_assert_uint_eq(words[2], 0);
    ck_assert_int_eq(k->control(fd, KERNEL_ENABLE), 0);
    fault(100);
    ck_assert_int_eq(k->control(fd, KERNEL_DISABLE), 0);
    fault(100);
    read_one(fd, words);
    ck_assert_uint_ge(words[0], 100);
    ck_assert_uint_lt(words[0], 150);
    k->close(fd);
}
END_TEST

START_TEST(group_is_read_as_one_in_the_documented_layout)
{
    struct kernel_open req = request(KERNEL_SW_TASK_CLOCK);
    uint64_t words[KERNEL_READ_GROUP_HEAD + 2 * 2];
    req.group_read = true;
    req.disabled = true;
    int leader = opened(&req);
    req = request(KERNEL_SW_PAGE_FAULTS);
    req.group_read = true;
    req.group_fd = leader;
    int member = opened(&req);
    ck_assert_int_eq(k->control(leader, KERNEL_ENABLE), 0);
    fault(200);
    ck_assert_int_eq(k->control(leader, KERNEL_DISABLE), 0);
    ck_assert_int_eq(k->read(leader, words, sizeof words), (ssize_t)sizeof words);
    ck_assert_uint_eq(words[0], 2);
    ck_assert_uint_gt(words[1], 0);
    ck_assert_uint_eq(words[1], words[2]);
    ck_assert_uint_gt(words[3], 0);
    ck_assert_uint_ge(words[5], 200);
    ck_assert_uint_lt(words[5], 300);
    ck_assert_uint_ne(words[4], words[6]);
    /* A buffer that is too small is an error, not a part of the group. */
    ck_assert_int_eq(k->read(leader, words, sizeof words - 8), -ENOSPC);
    k->close(member);
    k->close(leader);
}
END_TEST

START_TEST(inherited_event_counts_children)
{
    struct kernel_open req = request(KERNEL_SW_PAGE_FAULTS);
    uint64_t words[KERNEL_READ_ONE_WORDS];
    req.inherit = true;
    int fd = opened(&req);
    pid_t child = fork();
    if (child == 0) {
        fault(3000);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(k->wait(child, &status, NULL), 0);
    ck_assert_int_eq(status, 0);
    read_one(fd, words);
    ck_assert_uint_ge(words[0], 3000);
    k->close(fd);
}
END_TEST

START_TEST(command_is_counted_from_exec_on)
{
    char *const argv[] = {"true", NULL};
    struct kernel_open req = request(KERNEL_SW_TASK_CLOCK);
    uint64_t words[KERNEL_READ_ONE_WORDS];
    int gate;
    req.pid = k->spawn(argv, &gate);
    ck_assert_int_gt(req.pid, 0);
    req.disabled = req.enable_on_exec = true;
    int fd = opened(&req);
    read_one(fd, words);
    ck_assert_uint_eq(words[0], 0);
    ck_assert_int_eq(k->release(gate, NULL), 0);
    ck_assert_int_eq(k->wait(req.pid, NULL, NULL), 0);
    read_one(fd, words);
    ck_assert_uint_gt(words[0], 0);
    k->close(fd);
}
END_TEST

START_TEST(process_that_is_gone_is_esrch)
{
    struct kernel_open req = request(KERNEL_SW_TASK_CLOCK);
    req.pid = fork();
    if (req.pid == 0)
        _exit(0);
    ck_assert_int_eq(k->wait(req.pid, NULL, NULL), 0);
    ck_assert_int_eq(k->open(&req), -ESRCH);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

START_TEST(unknown_type_is_refused_and_takes_nothing)
{
    struct kernel_open req = request(KERNEL_SW_TASK_CLOCK);
    req.type = 4000000;
    ck_assert_int_eq(k->open(&req), -ENOENT);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- descriptors */

START_TEST(descriptor_lives_in_the_upper_half_and_is_closed_on_exec)
{
    struct kernel_open req = request(KERNEL_SW_TASK_CLOCK);
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int base = (int)((limit.rlim_cur < 4096 ? limit.rlim_cur : 4096) / 2);
    int lowest = dup(0);
    close(lowest);
    int fd = opened(&req);
    ck_assert_int_ge(fd, base);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    int next = dup(0);
    ck_assert_int_eq(next, lowest); /* the program finds its numbers undisturbed */
    close(next);
    k->close(fd);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

static void limit_descriptors(rlim_t n)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = n;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(library_takes_no_more_than_its_share)
{
    struct kernel_open req = request(KERNEL_SW_DUMMY);
    int fds[128];
    unsigned n = 0;
    limit_descriptors(128);
    int fd;
    while ((fd = k->open(&req)) >= 0 && n < 128)
        fds[n++] = fd;
    ck_assert_int_eq(fd, -EMFILE);
    ck_assert_uint_eq(n, 64);
    ck_assert_uint_eq(kernel_descriptors_held(), 64);
    /* The program still has its half, and what is closed can be had again. */
    int own = dup(0);
    ck_assert_int_ge(own, 0);
    ck_assert_int_lt(own, 64);
    close(own);
    k->close(fds[--n]);
    fds[n++] = opened(&req);
    while (n > 0)
        k->close(fds[--n]);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

/* Where the upper half is larger than the share, it is the share that counts: numbers from 2048 on, 3000 descriptors. */
START_TEST(share_counts_where_the_range_has_more_numbers)
{
    enum { LIMIT = 6000, SHARE = LIMIT / KERNEL_NOFILE_SHARE };
    struct kernel_open req = request(KERNEL_SW_DUMMY);
    struct rlimit limit;
    int fds[LIMIT], fd = 0, n = 0;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < LIMIT) {
        puts("share_counts_where_the_range_has_more_numbers is skipped, because the hard limit of descriptors is too "
             "low");
        return;
    }
    limit_descriptors(LIMIT);
    while (n < LIMIT && (fd = k->open(&req)) >= 0)
        fds[n++] = fd;
    ck_assert_int_eq(fd, -EMFILE);
    ck_assert_int_eq(n, SHARE);
    while (n > 0)
        k->close(fds[--n]);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

START_TEST(full_table_is_emfile_and_takes_nothing)
{
    struct kernel_open req = request(KERNEL_SW_DUMMY);
    limit_descriptors(64);
    int first = dup(0), last = first;
    for (int fd; (fd = dup(0)) >= 0;)
        last = fd;
    ck_assert_int_eq(last, 63);
    ck_assert_int_eq(k->open(&req), -EMFILE);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
    /* One free number in the lower half only: the event opens there but cannot be parked, and is closed. */
    close(first);
    ck_assert_int_eq(k->open(&req), -EMFILE);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
    ck_assert_int_eq(dup(0), first);
    for (int fd = first; fd <= last; fd++)
        close(fd);
}
END_TEST

START_TEST(event_is_closed_only_while_its_number_is_its_own)
{
    struct kernel_open req = request(KERNEL_SW_DUMMY);
    int fd = opened(&req), other = opened(&req);
    uint64_t id = k->identify(fd);
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_ne(id, k->identify(other));
    ck_assert_int_eq(dup2(0, fd), fd); /* a file of the program's */
    ck_assert_uint_eq(k->identify(fd), 0);
    k->close_event(fd, id);
    ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 1);
    ck_assert_int_eq(dup2(other, fd), fd); /* an event of the program's */
    k->close_event(other, id);
    ck_assert_int_ge(fcntl(other, F_GETFD), 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
    close(fd);
    close(other);
    fd = opened(&req);
    k->close_event(fd, k->identify(fd));
    ck_assert_int_lt(fcntl(fd, F_GETFD), 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
}
END_TEST

START_TEST(gate_counts_as_a_descriptor_of_the_library)
{
    char *const argv[] = {"true", NULL};
    int gate;
    pid_t pid = k->spawn(argv, &gate);
    ck_assert_int_gt(pid, 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 1);
    ck_assert_int_eq(k->release(gate, NULL), 0);
    ck_assert_uint_eq(kernel_descriptors_held(), 0);
    ck_assert_int_eq(k->wait(pid, NULL, NULL), 0);
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- pages */

static uint64_t no_counter(uint32_t index)
{
    ck_abort_msg("a software event has no counter, yet index %u was read", index);
    return 0;
}

START_TEST(software_event_page_maps_and_refers_to_read)
{
    struct kernel_open req = request(KERNEL_SW_TASK_CLOCK);
    struct kernel_page_count count;
    const void *page;
    int fd = opened(&req);
    ck_assert_int_eq(k->map(fd, &page), 0);
    ck_assert_ptr_nonnull(page);
    ck_assert_int_eq(k->page_read(page, no_counter, &count), -EAGAIN);
    ck_assert_uint_eq(*k->page_sequence(page) & 1, 0);
    k->unmap(page);
    k->close(fd);
}
END_TEST

START_TEST(mapping_no_event_fails)
{
    const void *page = &page;
    int ends[2];
    ck_assert_int_eq(k->map(-1, &page), -EBADF);
    ck_assert_ptr_null(page);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(k->map(ends[0], &page), -ENODEV);
}
END_TEST

START_TEST(switches_of_the_thread_grow_with_sleeps)
{
    uint64_t before = 0, after = 0;
    ck_assert_int_eq(k->thread_switches(&before), 0);
    for (int i = 0; i < 10; i++)
        usleep(100);
    ck_assert_int_eq(k->thread_switches(&after), 0);
    ck_assert_uint_ge(after - before, 10);
    ck_assert_uint_lt(after - before, 1000);
}
END_TEST

START_TEST(errors_of_reads_and_controls_are_returned_and_errno_is_kept)
{
    uint64_t words[KERNEL_READ_ONE_WORDS];
    errno = ERANGE;
    ck_assert_int_eq(k->read(-1, words, sizeof words), -EBADF);
    ck_assert_int_eq(errno, ERANGE);
    ck_assert_int_eq(k->control(-1, KERNEL_ENABLE), -EBADF);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("perf");
    tcase_set_timeout(cases, 30);
    tcase_add_checked_fixture(cases, fault_prepare, fault_finish);
    tcase_add_test(cases, page_faults_of_touched_pages_are_counted);
    tcase_add_test(cases, task_clock_is_cpu_time);
    tcase_add_test(cases, event_opened_stopped_counts_between_enable_and_disable);
    tcase_add_test(cases, group_is_read_as_one_in_the_documented_layout);
    tcase_add_test(cases, inherited_event_counts_children);
    tcase_add_test(cases, command_is_counted_from_exec_on);
    tcase_add_test(cases, process_that_is_gone_is_esrch);
    tcase_add_test(cases, unknown_type_is_refused_and_takes_nothing);
    tcase_add_test(cases, descriptor_lives_in_the_upper_half_and_is_closed_on_exec);
    tcase_add_test(cases, library_takes_no_more_than_its_share);
    tcase_add_test(cases, share_counts_where_the_range_has_more_numbers);
    tcase_add_test(cases, full_table_is_emfile_and_takes_nothing);
    tcase_add_test(cases, event_is_closed_only_while_its_number_is_its_own);
    tcase_add_test(cases, gate_counts_as_a_descriptor_of_the_library);
    tcase_add_test(cases, software_event_page_maps_and_refers_to_read);
    tcase_add_test(cases, mapping_no_event_fails);
    tcase_add_test(cases, switches_of_the_thread_grow_with_sleeps);
    tcase_add_test(cases, errors_of_reads_and_controls_are_returned_and_errno_is_kept);
    return run_suite("kernel perf", cases);
}
