/* SPDX-License-Identifier: MIT */
/* Streams in a program that has threads, signals, children, other errnos and little memory. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/tick.h"
#include "suite.h"
#include "trace/write/stream.h"

static struct trace_writer *writer;

static void mark(struct trace_stream *s, const char *text)
{
    ck_assert(trace_mark(s, tick_now(), text, strlen(text)));
}

/* --------------------------------------------------------------------------------------------------- threads */

enum { THREADS = 8, EVENTS = 5000 };

static void *record_numbers(void *arg)
{
    pid_t tid = 1000 + (pid_t)(intptr_t)arg;
    struct trace_stream *s = stream_of(writer, tid);
    for (int i = 0; i < EVENTS; i++) {
        char text[40];
        snprintf(text, sizeof text, "%d", i);
        mark(s, text);
    }
    trace_stream_release(s);
    return NULL;
}

static void run_threads(void *(*body)(void *), intptr_t n)
{
    pthread_t threads[64];
    for (intptr_t i = 0; i < n; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, body, (void *)i), 0);
    for (intptr_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

START_TEST(threads_write_at_once_and_are_read_in_the_order_of_time)
{
    writer = writer_with(NULL, 0, 8192);
    run_threads(record_numbers, THREADS);
    trace_writer_close(writer);
    struct upmu_trace *t = trace_of(recording);
    int next[THREADS] = {0};
    uint64_t last = 0;
    for (int i = 0; i < THREADS * EVENTS; i++) {
        const struct upmu_trace_event *e = must_read(t);
        ck_assert_uint_ge(e->time_ns, last);
        last = e->time_ns;
        ck_assert_int_eq(atoi(e->name), next[e->tid - 1000]++);
    }
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

static void *record_one(void *arg)
{
    struct trace_stream *s = stream_of(writer, 1000 + (pid_t)(intptr_t)arg);
    mark(s, "one");
    trace_stream_release(s);
    return NULL;
}

/* Mappings of stream files in this process. */
static size_t mapped_packets(void)
{
    char line[PATH_MAX + 200];
    size_t n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, "/stream_") != NULL;
    fclose(f);
    return n;
}

START_TEST(short_lived_threads_share_files_and_memory)
{
    enum { AT_ONCE = 64, ROUNDS = 50 };
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *held = stream_of(writer, 999);
    for (int i = 0; i < ROUNDS; i++)
        run_threads(record_one, AT_ONCE);
    size_t files = count_files(trace_writer_dir(writer), "stream_");
    ck_assert_uint_le(files, AT_ONCE + 1);
    ck_assert_uint_le(mapped_packets(), files);
    trace_stream_release(held);
    ck_assert_uint_le(mapped_packets(), files - 1);
    trace_writer_close(writer);
    ck_assert_uint_eq(mapped_packets(), 0);
    struct upmu_trace *t = trace_of(recording);
    for (int i = 0; i < AT_ONCE * ROUNDS; i++)
        ck_assert_str_eq(must_read(t)->name, "one");
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(a_released_stream_goes_to_the_next_thread)
{
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *first = stream_of(writer, 1);
    mark(first, "first");
    trace_stream_release(first);
    struct trace_stream *second = stream_of(writer, 2);
    ck_assert_ptr_eq(first, second);
    mark(second, "second");
    trace_stream_release(second);
    char path[PATH_MAX];
    ck_assert_uint_eq(file_size(path_in(path, trace_writer_dir(writer), "stream_0000")), (size_t)sysconf(_SC_PAGESIZE));
    trace_writer_close(writer);
    ck_assert_uint_eq(file_size(path), (size_t)2 * STREAM_LEFT_ALIGN);
    struct upmu_trace *t = trace_of(recording);
    ck_assert_int_eq(must_read(t)->tid, 1);
    ck_assert_int_eq(must_read(t)->tid, 2);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(a_thread_without_events_leaves_nothing)
{
    writer = writer_with(NULL, 0, 0);
    char path[PATH_MAX];
    path_in(path, trace_writer_dir(writer), "stream_0000");
    trace_stream_release(stream_of(writer, 1));
    ck_assert_uint_eq(file_size(path), 0);
    struct trace_stream *s = stream_of(writer, 2);
    mark(s, "x");
    trace_stream_release(s);
    trace_stream_release(stream_of(writer, 3));
    trace_writer_close(writer);
    ck_assert_uint_eq(file_size(path), (size_t)sysconf(_SC_PAGESIZE));
    struct upmu_trace *t = trace_of(recording);
    ck_assert_int_eq(must_read(t)->tid, 2);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

/* --------------------------------------------------------------------------------------------------- signals */

START_TEST(an_event_that_interrupts_another_waits_and_then_follows_it)
{
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(writer, 1);
    mark(s, "before");
    s->busy = 1; /* as a signal handler finds it */
    for (int i = 0; i < STREAM_PENDING; i++)
        mark(s, "waits");
    ck_assert(!trace_mark(s, tick_now(), "too many", 8));
    s->busy = 0;
    ck_assert_uint_eq(trace_writer_lost(writer), 1);
    mark(s, "after");
    trace_stream_release(s);
    trace_writer_close(writer);
    struct upmu_trace *t = trace_of(recording);
    ck_assert_str_eq(must_read(t)->name, "before");
    ck_assert_str_eq(must_read(t)->name, "after"); /* its writer finds the slots taken once it is done */
    for (int i = 0; i < STREAM_PENDING; i++)
        ck_assert_str_eq(must_read(t)->name, "waits");
    must_end(t);
    ck_assert_uint_eq(process_of(t, 0).lost, 1);
    upmu_trace_close(t);
}
END_TEST

static struct trace_stream *storm_stream;
static atomic_int storm_made, storm_refused;

static void storm_handler(int signal)
{
    (void)signal;
    if (trace_mark(storm_stream, tick_now(), "signal", 6))
        atomic_fetch_add(&storm_made, 1);
    else
        atomic_fetch_add(&storm_refused, 1);
}

START_TEST(a_storm_of_signals_loses_no_event_uncounted)
{
    struct sigaction action = {.sa_handler = storm_handler, .sa_flags = SA_RESTART | SA_NODEFER};
    struct itimerval every = {.it_interval = {.tv_usec = 50}, .it_value = {.tv_usec = 50}}, never = {0};
    int made = 0;
    writer = writer_with(NULL, 0, 4096);
    storm_stream = stream_of(writer, 1);
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
    for (uint64_t until = tick_now(); atomic_load(&storm_made) < 2000 && tick_now() - until < UINT64_C(20000000000);)
        made += trace_mark(storm_stream, tick_now(), "program", 7);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    trace_stream_release(storm_stream);
    trace_writer_close(writer);
    struct upmu_trace *t = trace_of(recording);
    int program = 0, signals = 0, rc;
    const struct upmu_trace_event *e;
    while ((rc = upmu_trace_next(t, &e)) > 0)
        strcmp(e->name, "program") == 0 ? program++ : signals++;
    ck_assert_int_eq(rc, 0);
    ck_assert_int_gt(signals, 0);
    ck_assert_int_eq(program, made);
    ck_assert_int_eq(signals, atomic_load(&storm_made));
    ck_assert_uint_eq(trace_writer_lost(writer), (uint64_t)atomic_load(&storm_refused));
    upmu_trace_close(t);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- the host's own */

START_TEST(the_traced_path_keeps_errno_and_allocates_nothing)
{
    writer = writer_with(NULL, 0, 4096);
    struct trace_stream *s = stream_of(writer, 1);
    struct mallinfo2 before = mallinfo2();
    errno = EXDEV;
    for (int i = 0; i < 1000; i++)
        mark(s, "switches packets every few dozen events, and each switch makes system calls");
    ck_assert_int_eq(errno, EXDEV);
    trace_stream_release(s);
    ck_assert_int_eq(errno, EXDEV);
    struct mallinfo2 after = mallinfo2();
    ck_assert_uint_eq(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
    trace_writer_close(writer);
}
END_TEST

static atomic_int cancelled_events;

static void *record_while_cancelled(void *arg)
{
    (void)arg;
    pthread_cancel(pthread_self()); /* acted upon at the next cancellation point, which none of these calls may be */
    struct trace_stream *s;         /* no assertions here: noting them is such a point */
    if (trace_stream_acquire(writer, 5, "canceled", &s) != 0)
        return NULL;
    for (int i = 0; i < 1000; i++)
        if (trace_mark(s, tick_now(), "a thread that is to end soon, but not within an event of ours", 60))
            atomic_fetch_add(&cancelled_events, 1);
    trace_stream_release(s);
    return NULL;
}

START_TEST(recording_is_no_cancellation_point)
{
    pthread_t thread;
    void *result;
    writer = writer_with(NULL, 0, 4096);
    ck_assert_int_eq(pthread_create(&thread, NULL, record_while_cancelled, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_ne(result, PTHREAD_CANCELED);
    ck_assert_int_eq(atomic_load(&cancelled_events), 1000);
    trace_writer_close(writer);
}
END_TEST

static size_t open_descriptors(void)
{
    return count_files("/proc/self/fd", "");
}

START_TEST(streams_hold_no_descriptors)
{
    size_t before = open_descriptors();
    struct trace_stream *streams[32];
    writer = writer_with(NULL, 0, 0);
    for (pid_t i = 0; i < 32; i++)
        mark(streams[i] = stream_of(writer, 100 + i), "x");
    ck_assert_uint_le(open_descriptors(), before + 1); /* the control file's lock */
    for (pid_t i = 0; i < 32; i++)
        trace_stream_release(streams[i]);
    trace_writer_close(writer);
}
END_TEST

START_TEST(without_descriptors_events_are_lost_and_counted)
{
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(writer, 1), *late;
    struct rlimit limit, low;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    ck_assert_int_eq(trace_stream_acquire(writer, 2, "b", &late), 0);
    uint64_t written = 0, refused = 0;
    errno = EXDEV;
    while (refused < 10)
        trace_mark(late, tick_now(), "has no file", 11) ? written++ : refused++;
    ck_assert_uint_eq(written, 0);
    refused = 0;
    while (refused < 10)
        trace_mark(s, tick_now(), "fills the packet", 16) ? written++ : refused++;
    ck_assert_int_eq(errno, EXDEV);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    refused += 10;
    ck_assert_uint_eq(trace_writer_lost(writer), refused);
    ck_assert_uint_eq(trace_writer_control(writer)->refusal, EMFILE);
    while (!trace_mark(late, tick_now(), "has one", 7)) {
        refused++;
        usleep(1000);
    }
    written++;
    trace_stream_release(late);
    trace_stream_release(s);
    trace_writer_close(writer);
    struct upmu_trace *t = trace_of(recording);
    struct upmu_trace_process p = process_of(t, 0);
    ck_assert_uint_eq(p.events, written);
    ck_assert_uint_eq(p.lost, refused);
    ck_assert_ptr_nonnull(strstr(p.lost_note, "(EMFILE; ulimit -n)"));
    upmu_trace_close(t);
}
END_TEST

START_TEST(losses_of_several_causes_are_reported_with_their_counts)
{
    writer = writer_with(NULL, 0, 0);
    trace_lost(writer, LOSS_HANDLER, 3);
    trace_lost(writer, LOSS_STACKS, 1);
    trace_lost(writer, LOSS_STACKS, 1);
    trace_writer_close(writer);
    struct upmu_trace *t = trace_of(recording);
    struct upmu_trace_process p = process_of(t, 0);
    ck_assert_uint_eq(p.lost, 5);
    ck_assert_str_eq(p.lost_note, "3 in signal handlers that interrupted the recorder, "
                                  "2 of call stacks, whose table was full");
    upmu_trace_close(t);
}
END_TEST

START_TEST(a_thread_that_begins_on_a_full_disk_counts_each_event_and_continues_when_there_is_space)
{
    const struct trace_config config = {.dir = recording, .packet_bytes = 4096, .limit_bytes = TRACE_LIMIT_MIN};
    ck_assert_int_eq(trace_writer_open(&writer, &config), 0);
    struct trace_stream *spare = stream_of(writer, 9), *full = stream_of(writer, 1), *late;
    uint64_t written = 0, lost = 0;
    while (lost == 0)
        trace_mark(full, tick_now(), "fills the packet", 16) ? written++ : lost++;
    ck_assert_int_eq(trace_stream_acquire(writer, 2, "late", &late), 0);
    for (int i = 0; i < 1000; i++)
        trace_mark(late, tick_now(), "has no disk", 11) ? written++ : lost++;
    ck_assert_uint_eq(lost, 1001);
    ck_assert_uint_eq(trace_writer_lost(writer), lost);
    trace_stream_release(late);
    ck_assert_int_eq(trace_stream_acquire(writer, 3, "later", &late), 0);
    trace_stream_release(spare); /* and its packet, which is empty */
    while (!trace_mark(late, tick_now(), "has disk", 8)) {
        lost++;
        usleep(1000);
    }
    trace_stream_release(late);
    trace_stream_release(full);
    trace_writer_close(writer);
    struct upmu_trace *t = trace_of(recording);
    struct upmu_trace_process p = process_of(t, 0);
    ck_assert_uint_eq(p.events, written + 1);
    ck_assert_uint_eq(p.lost, lost);
    upmu_trace_close(t);
}
END_TEST

START_TEST(a_forked_child_leaves_the_trace_alone)
{
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(writer, 1);
    mark(s, "parent");
    pid_t child = fork();
    if (child == 0) {
        trace_writer_forget_parent(trace_writer_forget(writer), TRACE_CHILD_RECORDED);
        bool written = trace_mark(s, tick_now(), "child", 5);
        trace_lost(writer, LOSS_HANDLER, 7);
        trace_stream_release(s);
        trace_writer_close(writer);
        _exit(written ? 1 : 0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_uint_eq(trace_writer_lost(writer), 0);
    mark(s, "parent again");
    trace_stream_release(s);
    trace_writer_close(writer);
    struct upmu_trace *t = trace_of(recording);
    ck_assert_str_eq(must_read(t)->name, "parent");
    ck_assert_str_eq(must_read(t)->name, "parent again");
    must_end(t);
    ck_assert_uint_eq(process_of(t, 0).complete, 1);
    upmu_trace_close(t);
}
END_TEST

START_TEST(after_close_nothing_is_written_and_nothing_breaks)
{
    struct trace_stream *none;
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(writer, 1), *own = stream_of(writer, gettid());
    mark(s, "x");
    mark(own, "y");
    trace_writer_close(writer);
    ck_assert(!trace_mark(s, tick_now(), "late", 4));
    ck_assert(!trace_mark(own, tick_now(), "late", 4));
    ck_assert_int_eq(trace_stream_acquire(writer, 3, "late", &none), UPMU_E_IO);
    trace_writer_close(writer);
    struct upmu_trace *t = trace_of(recording);
    must_read(t);
    must_read(t);
    must_end(t);
    upmu_trace_close(t);
    trace_stream_release(s);
    trace_stream_release(own);
    t = trace_of(recording);
    must_read(t);
    must_read(t);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(files_are_for_their_owner_only)
{
    struct stat st;
    char path[PATH_MAX];
    writer = writer_with(NULL, 0, 0);
    mark(stream_of(writer, 1), "x");
    static const char *const names[] = {".control", "metadata", "stream_0000"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_int_eq(stat(path_in(path, trace_writer_dir(writer), names[i]), &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0600);
    }
    ck_assert_int_eq(stat(trace_writer_dir(writer), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    trace_writer_close(writer);
}
END_TEST

START_TEST(a_moved_stream_file_is_never_written_again)
{
    char path[PATH_MAX], moved[PATH_MAX];
    writer = writer_with(NULL, 0, 4096);
    struct trace_stream *s = stream_of(writer, 1);
    path_in(path, trace_writer_dir(writer), "stream_0000");
    mark(s, "x");
    ck_assert_int_eq(rename(path, path_in(moved, recording, "moved")), 0);
    write_whole(path, "innocent", 8);
    ck_assert_uint_eq(trace_writer_control(writer)->refusal, 0);
    uint64_t refused = 0;
    while (refused < 3)
        refused += !trace_mark(s, tick_now(), "fills the packet", 16);
    ck_assert_uint_eq(trace_writer_control(writer)->refusal, ESTALE);
    trace_stream_release(s);
    ck_assert_uint_eq(file_size(path), 8);
    trace_writer_close(writer);
}
END_TEST

START_TEST(a_packet_of_an_unreachable_file_stays_whole)
{
    char path[PATH_MAX], moved[PATH_MAX];
    struct ctf_packet head;
    size_t len;
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(writer, 1);
    path_in(path, trace_writer_dir(writer), "stream_0000");
    mark(s, "x");
    ck_assert_int_eq(rename(path, path_in(moved, recording, "moved")), 0);
    trace_stream_release(s);
    trace_writer_close(writer);
    char *bytes = read_whole(moved, &len);
    memcpy(&head, bytes, sizeof head);
    ck_assert_uint_eq(head.packet_size, len * 8);
    ck_assert_uint_eq(head.event_count, 1);
    free(bytes);
}
END_TEST

/* In a child that has no standard input and error. @return 0, or which of the expectations was wrong. */
static int record_without_standard_streams(rlim_t descriptors)
{
    struct trace_writer *w;
    struct trace_stream *s;
    struct trace_config config = {.dir = recording};
    struct rlimit limit = {descriptors, descriptors};
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    /* Nothing else is open, so that also a range of four is large enough. */
    if (close_range(3, ~0u, 0) != 0 || setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    if (trace_writer_open(&w, &config) != 0 || trace_stream_acquire(w, 1, "x", &s) != 0)
        return 2;
    if (write(STDERR_FILENO, "a message", 9) >= 0 || fcntl(STDIN_FILENO, F_GETFD) >= 0)
        return 3;
    if (memcmp(trace_writer_control(w)->magic, CONTROL_MAGIC, sizeof CONTROL_MAGIC) != 0)
        return 4;
    if (descriptors > 4 && fcntl((int)descriptors / 2, F_GETFD) != FD_CLOEXEC)
        return 5;
    int dirfd = open(trace_writer_dir(w), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirfd != STDIN_FILENO || control_is_running(dirfd) != 1)
        return 6;
    trace_stream_release(s);
    trace_writer_close(w);
    return 0;
}

START_TEST(standard_descriptors_stay_the_programs)
{
    static const rlim_t ranges[] = {4, 64, 1024};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(record_without_standard_streams(ranges[i]));
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 0);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("streams");
    tcase_set_timeout(cases, 100);
    tcase_add_checked_fixture(cases, recording_set_up, recording_tear_down);
    tcase_add_test(cases, threads_write_at_once_and_are_read_in_the_order_of_time);
    tcase_add_test(cases, short_lived_threads_share_files_and_memory);
    tcase_add_test(cases, a_released_stream_goes_to_the_next_thread);
    tcase_add_test(cases, a_thread_without_events_leaves_nothing);
    tcase_add_test(cases, an_event_that_interrupts_another_waits_and_then_follows_it);
    tcase_add_test(cases, a_storm_of_signals_loses_no_event_uncounted);
    tcase_add_test(cases, the_traced_path_keeps_errno_and_allocates_nothing);
    tcase_add_test(cases, recording_is_no_cancellation_point);
    tcase_add_test(cases, streams_hold_no_descriptors);
    tcase_add_test(cases, without_descriptors_events_are_lost_and_counted);
    tcase_add_test(cases, losses_of_several_causes_are_reported_with_their_counts);
    tcase_add_test(cases, a_thread_that_begins_on_a_full_disk_counts_each_event_and_continues_when_there_is_space);
    tcase_add_test(cases, a_forked_child_leaves_the_trace_alone);
    tcase_add_test(cases, after_close_nothing_is_written_and_nothing_breaks);
    tcase_add_test(cases, files_are_for_their_owner_only);
    tcase_add_test(cases, a_moved_stream_file_is_never_written_again);
    tcase_add_test(cases, a_packet_of_an_unreachable_file_stays_whole);
    tcase_add_test(cases, standard_descriptors_stay_the_programs);
    return run_suite("trace streams", cases);
}
