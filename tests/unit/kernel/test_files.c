/* SPDX-License-Identifier: MIT */
/* Files, directories and thread lists through the real kernel, and their re-rooting by UPMU_FSROOT. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel_ops.h"
#include "kernel/parts.h"
#include "unit/suite.h"

static const struct kernel_ops *const k = &upmu_kernel_perf;

/* A fresh directory with etc/machine ("sw_64\n") and three names in etc. */
static void make_root(char root[64])
{
    char path[128];
    strcpy(root, "/tmp/upmu-fsroot-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(path, sizeof path, "%s/etc", root);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    const char *const names[] = {"machine", "b", "a"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/etc/%s", root, names[i]);
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_ge(fputs("sw_64\n", f), 0);
        ck_assert_int_eq(fclose(f), 0);
    }
}

static void remove_root(const char *root)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static int join_names(const char *name, void *arg)
{
    char *all = arg;
    strcat(all, name);
    strcat(all, ",");
    return 0;
}

START_TEST(file_is_read_whole)
{
    char text[64];
    ssize_t n = k->read_file("/proc/sys/kernel/ostype", text, sizeof text);
    ck_assert_int_eq(n, 6);
    ck_assert_str_eq(text, "Linux\n");
}
END_TEST

START_TEST(file_that_just_fits_is_no_error_and_one_byte_less_is)
{
    char text[7];
    ck_assert_int_eq(k->read_file("/proc/sys/kernel/ostype", text, 7), 6);
    ck_assert_str_eq(text, "Linux\n");
    ck_assert_int_eq(k->read_file("/proc/sys/kernel/ostype", text, 6), -EFBIG);
    ck_assert_str_eq(text, "Linux");
}
END_TEST

START_TEST(missing_file_and_directory_have_their_errno)
{
    char text[16] = "old";
    ck_assert_int_eq(k->read_file("/proc/no-such-file", text, sizeof text), -ENOENT);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(k->read_file("/proc", text, sizeof text), -EISDIR);
    ck_assert_int_eq(k->list_dir("/no-such-dir", join_names, text), -ENOENT);
}
END_TEST

START_TEST(root_of_the_environment_precedes_every_path)
{
    char root[64], text[64], names[64] = "";
    make_root(root);
    ck_assert_int_eq(setenv("UPMU_FSROOT", root, 1), 0);
    ck_assert_int_eq(k->read_file("/etc/machine", text, sizeof text), 6);
    ck_assert_str_eq(text, "sw_64\n");
    ck_assert_int_eq(k->list_dir("/etc", join_names, names), 0);
    ck_assert_str_eq(names, "a,b,machine,");
    /* Nothing slips to the running machine. */
    ck_assert_int_eq(k->read_file("/proc/sys/kernel/ostype", text, sizeof text), -ENOENT);
    ck_assert_int_eq(k->list_dir("/proc", join_names, names), -ENOENT);
    remove_root(root);
}
END_TEST

/* A recording is a folder from anywhere: its links must not reach the running machine. */
START_TEST(links_in_a_recording_do_not_leave_it)
{
    char root[64], path[128], text[64];
    make_root(root);
    snprintf(path, sizeof path, "%s/etc/outside", root);
    ck_assert_int_eq(symlink("/proc/sys/kernel/ostype", path), 0);
    snprintf(path, sizeof path, "%s/etc/inside", root);
    ck_assert_int_eq(symlink("/etc/machine", path), 0);
    ck_assert_int_eq(setenv("UPMU_FSROOT", root, 1), 0);
    /* Where the kernel has no openat2, links lead from the running machine's root, out of the recording or nowhere. */
    ssize_t n = k->read_file("/etc/outside", text, sizeof text);
    ck_assert_msg(n == -ENOENT || n == -EXDEV, "%zd", n);
    n = k->read_file("/etc/inside", text, sizeof text);
    ck_assert_msg(n == 6 || n == -EXDEV || n == -ENOENT, "%zd", n);
    remove_root(root);
}
END_TEST

START_TEST(links_are_followed_out_of_no_folder_without_openat2)
{
    char root[64], path[128];
    make_root(root);
    snprintf(path, sizeof path, "%s/etc/outside", root);
    ck_assert_int_eq(symlink("/proc/sys/kernel/ostype", path), 0);
    snprintf(path, sizeof path, "%s/etc/inside", root);
    ck_assert_int_eq(symlink("machine", path), 0);
    int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(top, 0);
    ck_assert_int_eq(kernel_open_beneath(top, "/etc/outside", O_RDONLY | O_CLOEXEC), -EXDEV);
    ck_assert_int_eq(kernel_open_beneath(top, "/../../etc", O_RDONLY | O_CLOEXEC), -EXDEV);
    ck_assert_int_eq(kernel_open_beneath(top, "/no-such", O_RDONLY | O_CLOEXEC), -ENOENT);
    int fd = kernel_open_beneath(top, "/etc/inside", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    close(fd);
    fd = kernel_open_beneath(top, "/", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    close(fd);
    close(top);
    remove_root(root);
}
END_TEST

START_TEST(nothing_is_opened_on_a_recorded_machine)
{
    char root[64];
    const struct kernel_open req = {.type = KERNEL_TYPE_SOFTWARE,
                                    .config = KERNEL_SW_DUMMY,
                                    .exclude = UPMU_EXCLUDE_KERNEL,
                                    .cpu = -1,
                                    .group_fd = -1};
    make_root(root);
    ck_assert_int_eq(setenv("UPMU_FSROOT", root, 1), 0);
    ck_assert_int_eq(k->open(&req), -EREMOTE);
    remove_root(root);
}
END_TEST

START_TEST(root_is_decided_once)
{
    char text[64];
    ck_assert_int_eq(k->read_file("/proc/sys/kernel/ostype", text, sizeof text), 6);
    ck_assert_int_eq(setenv("UPMU_FSROOT", "/no-such-root", 1), 0);
    ck_assert_int_eq(k->read_file("/proc/sys/kernel/ostype", text, sizeof text), 6);
}
END_TEST

START_TEST(root_that_is_too_long_reads_nothing)
{
    static char root[2 * PATH_MAX];
    char text[64];
    memset(root, '/', sizeof root - 1);
    ck_assert_int_eq(setenv("UPMU_FSROOT", root, 1), 0);
    ck_assert_int_eq(k->read_file("/proc/sys/kernel/ostype", text, sizeof text), -ENAMETOOLONG);
}
END_TEST

static int stop_at_b(const char *name, void *arg)
{
    ++*(int *)arg;
    return strcmp(name, "b") == 0 ? 42 : 0;
}

START_TEST(listing_ends_where_the_caller_wants)
{
    char root[64], path[128];
    int seen = 0;
    make_root(root);
    snprintf(path, sizeof path, "%s/etc", root);
    ck_assert_int_eq(k->list_dir(path, stop_at_b, &seen), 42);
    ck_assert_int_eq(seen, 2);
    remove_root(root);
}
END_TEST

struct sleeper {
    pthread_t thread;
    pid_t tid;
    pthread_barrier_t *both;
};

static void *sleep_between_barriers(void *arg)
{
    struct sleeper *s = arg;
    s->tid = k->gettid();
    pthread_barrier_wait(s->both);
    pthread_barrier_wait(s->both);
    return NULL;
}

START_TEST(threads_of_a_process_are_all_listed)
{
    enum { THREADS = 8 };
    struct sleeper sleepers[THREADS];
    pthread_barrier_t both;
    pid_t tids[64], few[3] = {0, 0, -1};
    ck_assert_int_eq(pthread_barrier_init(&both, NULL, THREADS + 1), 0);
    for (int i = 0; i < THREADS; i++) {
        sleepers[i].both = &both;
        ck_assert_int_eq(pthread_create(&sleepers[i].thread, NULL, sleep_between_barriers, &sleepers[i]), 0);
    }
    pthread_barrier_wait(&both);
    ssize_t n = k->threads(getpid(), tids, 64);
    ssize_t with_small_buffer = k->threads(getpid(), few, 2);
    pthread_barrier_wait(&both);
    /* Sanitizers keep a thread of their own. */
    ck_assert_int_ge(n, THREADS + 1);
    ck_assert_int_eq(with_small_buffer, n);
    ck_assert_int_eq(few[2], -1);
    for (int i = 0; i < THREADS; i++) {
        int found = 0;
        for (ssize_t j = 0; j < n; j++)
            found += tids[j] == sleepers[i].tid;
        ck_assert_int_eq(found, 1);
        pthread_join(sleepers[i].thread, NULL);
    }
    pthread_barrier_destroy(&both);
}
END_TEST

START_TEST(threads_of_no_process_is_esrch)
{
    pid_t tids[4];
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(k->threads(child, tids, 4), -ESRCH);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("files");
    tcase_add_test(cases, file_is_read_whole);
    tcase_add_test(cases, file_that_just_fits_is_no_error_and_one_byte_less_is);
    tcase_add_test(cases, missing_file_and_directory_have_their_errno);
    tcase_add_test(cases, root_of_the_environment_precedes_every_path);
    tcase_add_test(cases, links_in_a_recording_do_not_leave_it);
    tcase_add_test(cases, links_are_followed_out_of_no_folder_without_openat2);
    tcase_add_test(cases, nothing_is_opened_on_a_recorded_machine);
    tcase_add_test(cases, root_is_decided_once);
    tcase_add_test(cases, root_that_is_too_long_reads_nothing);
    tcase_add_test(cases, listing_ends_where_the_caller_wants);
    tcase_add_test(cases, threads_of_a_process_are_all_listed);
    tcase_add_test(cases, threads_of_no_process_is_esrch);
    return run_suite("kernel files", cases);
}
