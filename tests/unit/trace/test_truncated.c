/* SPDX-License-Identifier: MIT */
/* Files of a recording that another program truncates while they are written: no signal reaches the program. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/tick.h"
#include "suite.h"
#include "trace/format/control.h"
#include "trace/write/stream.h"

enum { OWN_FAULT, SENT, HANDLED };

static void own_handler(int signal)
{
    (void)signal;
    _exit(7);
}

/* A sanitizer handles SIGBUS, too. */
static void set_up(void)
{
    recording_set_up();
    ck_assert(signal(SIGBUS, SIG_DFL) != SIG_ERR);
}

static void write_marks(struct trace_stream *s, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert(trace_mark(s, tick_now(), "a mark", 6));
}

static int truncate_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    return type == FTW_F && strncmp(path + ftw->base, "stream_", 7) == 0 ? truncate(path, 0) : 0;
}

static void truncate_streams(void)
{
    ck_assert_int_eq(nftw(recording, truncate_entry, 16, FTW_PHYS), 0);
}

/* The trace has `events` events, and then the error `missing`; NULL: none. */
static void must_have(uint64_t events, uint64_t lost, const char *missing)
{
    struct upmu_trace *t = trace_of(recording);
    const struct upmu_trace_event *e;
    struct upmu_trace_process p = process_of(t, 0);
    uint64_t n = 0;
    int rc;
    while ((rc = upmu_trace_next(t, &e)) > 0)
        n++;
    ck_assert_uint_eq(n, events);
    ck_assert_uint_eq(p.lost, lost);
    ck_assert_int_eq(rc, missing ? UPMU_E_FORMAT : 0);
    if (missing)
        ck_assert_msg(strstr(upmu_error(), missing) != NULL, "%s", upmu_error());
    upmu_trace_close(t);
}

START_TEST(the_events_of_a_truncated_packet_are_lost_and_counted)
{
    struct trace_writer *w = writer_with(NULL, 0, 4096);
    struct trace_stream *s = stream_of(w, gettid());
    write_marks(s, 10);
    truncate_streams();
    write_marks(s, 15);
    trace_stream_release(s);
    ck_assert_uint_eq(trace_writer_lost(w), 25);
    s = stream_of(w, gettid());
    write_marks(s, 5);
    trace_writer_close(w);
    must_have(5, 25, "of 2 packets of events 1 are missing");
}
END_TEST

START_TEST(a_thread_after_another_continues_in_a_new_file)
{
    struct trace_writer *w = writer_with(NULL, 0, 4096);
    struct trace_stream *s = stream_of(w, gettid());
    write_marks(s, 10);
    trace_stream_release(s);
    truncate_streams();
    s = stream_of(w, gettid());
    write_marks(s, 5);
    trace_stream_release(s);
    ck_assert_uint_eq(trace_writer_lost(w), 0);
    trace_writer_close(w);
    must_have(5, 0, "of 2 packets of events 1 are missing");
}
END_TEST

START_TEST(a_thread_continues_in_a_new_file)
{
    enum { MANY = 1000 };
    struct trace_writer *w = writer_with(NULL, 0, 4096);
    struct trace_stream *s = stream_of(w, gettid());
    write_marks(s, 10);
    truncate_streams();
    write_marks(s, MANY);
    uint64_t lost = trace_writer_lost(w);
    ck_assert(lost >= 10 && lost < MANY);
    trace_writer_close(w);
    must_have(MANY + 10 - lost, lost, " 1 are missing");
}
END_TEST

START_TEST(packets_that_were_finished_before_are_missing)
{
    struct trace_writer *w = writer_with(NULL, 0, 4096);
    struct trace_stream *s = stream_of(w, gettid());
    write_marks(s, 10);
    trace_stream_release(s);
    truncate_streams();
    s = stream_of(w, gettid());
    write_marks(s, 3);
    trace_writer_close(w);
    must_have(3, 0, "of 2 packets of events 1 are missing");
}
END_TEST

START_TEST(all_events_of_a_truncated_ring_are_lost_and_counted)
{
    enum { MANY = 2000 };
    const struct trace_config config = {.dir = recording, .ring_bytes = TRACE_RING_MIN};
    struct trace_writer *w;
    ck_assert_int_eq(trace_writer_open(&w, &config), 0);
    struct trace_stream *s = stream_of(w, gettid());
    write_marks(s, MANY);
    truncate_streams();
    write_marks(s, 10);
    trace_stream_release(s);
    ck_assert_uint_eq(trace_writer_lost(w), MANY + 10);
    s = stream_of(w, gettid());
    write_marks(s, 4);
    trace_writer_close(w);
    must_have(4, MANY + 10, NULL);
}
END_TEST

START_TEST(a_truncated_control_file_leaves_the_program_alone)
{
    struct trace_writer *w = writer_with(NULL, 0, 4096);
    struct trace_stream *s = stream_of(w, gettid());
    char path[PATH_MAX];
    ck_assert_int_eq(truncate(path_in(path, trace_writer_dir(w), CONTROL_FILE), 0), 0);
    write_marks(s, 10);
    trace_lost(w, LOSS_HANDLER, 1);
    trace_writer_close(w);
}
END_TEST

/* How a process with a trace ends by SIGBUS that is not about the trace. */
static void end_by_sigbus(int how)
{
    char path[PATH_MAX];
    if (how == HANDLED)
        signal(SIGBUS, own_handler);
    struct trace_writer *w = writer_with(NULL, 0, 4096);
    write_marks(stream_of(w, gettid()), 10);
    if (how == SENT)
        raise(SIGBUS);
    write_whole(path_in(path, recording, "own"), "own", 3);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    volatile char *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (own == MAP_FAILED || ftruncate(fd, 0) != 0)
        _exit(1);
    own[0] = 1;
    _exit(0);
}

START_TEST(any_other_sigbus_has_its_effect)
{
    for (int how = OWN_FAULT; how <= HANDLED; how++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            end_by_sigbus(how);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        if (how == HANDLED)
            ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        else
            ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("truncated");
    tcase_set_timeout(cases, 100);
    tcase_add_checked_fixture(cases, set_up, recording_tear_down);
    tcase_add_test(cases, the_events_of_a_truncated_packet_are_lost_and_counted);
    tcase_add_test(cases, a_thread_after_another_continues_in_a_new_file);
    tcase_add_test(cases, a_thread_continues_in_a_new_file);
    tcase_add_test(cases, packets_that_were_finished_before_are_missing);
    tcase_add_test(cases, all_events_of_a_truncated_ring_are_lost_and_counted);
    tcase_add_test(cases, a_truncated_control_file_leaves_the_program_alone);
    tcase_add_test(cases, any_other_sigbus_has_its_effect);
    return run_suite("trace truncated", cases);
}
