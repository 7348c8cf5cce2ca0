/* SPDX-License-Identifier: MIT */
/* The text buffer of reports: growing, escaping for JSON and CSV, writing past interruptions. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/text/textbuf.h"
#include "unit/suite.h"

static void expect_json(const char *in, const char *out)
{
    struct textbuf b = {0};
    textbuf_json(&b, in);
    ck_assert_str_eq(b.data, out);
    textbuf_free(&b);
}

static void expect_csv(const char *in, const char *out)
{
    struct textbuf b = {0};
    textbuf_add(&b, "", 0); /* an empty field allocates nothing: there must be something to compare */
    textbuf_csv(&b, in, ',');
    ck_assert_str_eq(b.data, out);
    textbuf_free(&b);
}

START_TEST(grows_over_many_additions_and_stays_terminated)
{
    struct textbuf b = {0};
    for (int i = 0; i < 10000; i++) {
        textbuf_printf(&b, "%04d", i);
        ck_assert_uint_eq(b.len, (size_t)(i + 1) * 4);
        ck_assert_int_eq(b.data[b.len], '\0');
    }
    ck_assert(!b.failed);
    ck_assert_int_eq(memcmp(b.data + 4 * 1234, "1234", 4), 0);
    textbuf_free(&b);
    ck_assert_ptr_null(b.data);
    ck_assert_uint_eq(b.len, 0);
}
END_TEST

START_TEST(a_text_that_exactly_fills_the_buffer_keeps_its_end)
{
    for (size_t len = 1020; len < 1030; len++) {
        struct textbuf b = {0};
        char text[1100];
        memset(text, 'x', len);
        text[len] = '\0';
        textbuf_printf(&b, "%s", text);
        textbuf_printf(&b, "%s", text);
        ck_assert_uint_eq(b.len, 2 * len);
        ck_assert_uint_eq(strlen(b.data), 2 * len);
        ck_assert_uint_lt(b.len, b.cap);
        textbuf_free(&b);
    }
}
END_TEST

START_TEST(json_escapes_quotes_backslashes_and_control_characters)
{
    expect_json("", "\"\"");
    expect_json("plain", "\"plain\"");
    expect_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
    expect_json("\n\t\x01\x1f\x7f", "\"\\n\\t\\u0001\\u001f\\u007f\"");
}
END_TEST

START_TEST(json_keeps_valid_utf8_and_replaces_the_rest)
{
    expect_json("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    expect_json("\xff", "\"\xef\xbf\xbd\"");
    expect_json("\xc3", "\"\xef\xbf\xbd\"");                                 /* cut off */
    expect_json("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");                 /* overlong '/' */
    expect_json("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* half a surrogate pair */
    expect_json("\xe0\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    expect_json("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* past U+10FFFF */
    expect_json("\xe2\x82\"", "\"\xef\xbf\xbd\xef\xbf\xbd\\\"\""); /* a quote is not swallowed by a lead byte */
}
END_TEST

START_TEST(csv_cells_are_no_formulas_and_numbers_stay_numbers)
{
    expect_csv("=1+1", "\"'=1+1\"");
    expect_csv("@SUM(A1)", "\"'@SUM(A1)\"");
    expect_csv("-x", "\"'-x\"");
    expect_csv("+1+2", "\"'+1+2\"");
    expect_csv("-5e", "\"'-5e\"");
    expect_csv("\t=1", "\"'\t=1\"");
    expect_csv("-5", "-5");
    expect_csv("+1.5e-3", "+1.5e-3");
    expect_csv("-", "-");
    expect_csv("a=b", "a=b");
}
END_TEST

START_TEST(what_a_terminal_obeys_is_escaped)
{
    struct textbuf b = {0};
    char shown[PRINTABLE_MAX];
    for (const char *s = "a\x1b[1m\x9b\xc2\x9b\xe2\x80\xae\xff\n\r\t\x7f\xc3\xa9\xf0\x9f\x90\x81"; *s;) {
        s += printable_next(s, shown);
        textbuf_add(&b, shown, strlen(shown));
    }
    ck_assert_str_eq(b.data, "a\\x1b[1m\\x9b\\x9b\\u202e\\xff\\n\\r\\t\\x7f\xc3\xa9\xf0\x9f\x90\x81");
    textbuf_free(&b);
    expect_csv("\x1b[1m\x9b", "\\x1b[1m\\x9b");
    expect_json("\xc2\x9b\xe2\x81\xa6", "\"\\u009b\\u2066\"");
}
END_TEST

START_TEST(csv_quotes_only_what_needs_it)
{
    expect_csv("", "");
    expect_csv("plain text; 'quoted'", "plain text; 'quoted'");
    expect_csv("a,b", "\"a,b\"");
    expect_csv("put \"x\"", "\"put \"\"x\"\"\"");
    expect_csv("two\nlines", "\"two\nlines\"");
    expect_csv("\r", "\"\r\"");
    expect_csv("\"", "\"\"\"\"");
}
END_TEST

START_TEST(a_failed_buffer_takes_no_more_and_reports_failure)
{
    struct textbuf b = {0};
    textbuf_printf(&b, "kept");
    b.failed = true;
    textbuf_printf(&b, "lost");
    textbuf_add(&b, "lost", 4);
    ck_assert_str_eq(b.data, "kept");
    ck_assert_int_eq(textbuf_write(&b, STDOUT_FILENO), -ENOMEM);
    textbuf_free(&b);
    ck_assert(!b.failed);
}
END_TEST

START_TEST(writing_to_a_bad_descriptor_gives_its_errno)
{
    struct textbuf b = {0};
    textbuf_printf(&b, "x");
    ck_assert_int_eq(textbuf_write(&b, -1), -EBADF);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(full, 0);
    ck_assert_int_eq(textbuf_write(&b, full), -ENOSPC);
    close(full);
    textbuf_free(&b);
}
END_TEST

/* The reader of a pipe that is far smaller than the text: it takes it slowly and adds up what it gets. */
static void *slow_reader(void *arg)
{
    int fd = *(int *)arg;
    unsigned char buf[999];
    uintptr_t sum = 0;
    ssize_t n;
    while ((n = read(fd, buf, sizeof buf)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            sum += buf[i];
        usleep(200);
    }
    return (void *)sum;
}

static void on_alarm(int sig)
{
    (void)sig;
}

START_TEST(short_and_interrupted_writes_are_continued)
{
    enum { BYTES = 300000 };
    int ends[2];
    struct textbuf b = {0};
    uintptr_t sum = 0;
    for (int i = 0; i < BYTES; i++) {
        char c = (char)('a' + i % 26);
        textbuf_add(&b, &c, 1);
        sum += (unsigned char)c;
    }
    struct sigaction act = {.sa_handler = on_alarm}; /* no SA_RESTART: write() is to give EINTR */
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    ck_assert_int_eq(pipe(ends), 0);
    pthread_t reader;
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* the signals are the writer's */
    ck_assert_int_eq(pthread_create(&reader, NULL, slow_reader, &ends[0]), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    ck_assert_int_eq(textbuf_write(&b, ends[1]), 0);
    setitimer(ITIMER_REAL, &never, NULL);
    close(ends[1]);
    void *got;
    pthread_join(reader, &got);
    ck_assert_uint_eq((uintptr_t)got, sum);
    close(ends[0]);
    textbuf_free(&b);
}
END_TEST

START_TEST(checked_arithmetic_rounds_and_saturates_below_no_value)
{
    ck_assert_uint_eq(mul_div_u64(10, 3, 4), 8); /* 7.5 */
    ck_assert_uint_eq(mul_div_u64(10, 1, 4), 3); /* 2.5 */
    ck_assert_uint_eq(mul_div_u64(0, 5, 7), 0);
    ck_assert_uint_eq(mul_div_u64(UINT64_MAX, 7, 7), UINT64_MAX - 1);
    ck_assert_uint_eq(mul_div_u64(UINT64_MAX, UINT64_MAX, 1), UINT64_MAX - 1);
    ck_assert_uint_eq(mul_div_u64(1ull << 40, 1ull << 40, 1ull << 40), 1ull << 40);
    ck_assert_uint_eq(sat_add_u64(1, 2), 3);
    ck_assert_uint_eq(sat_add_u64(UINT64_MAX - 1, 1), UINT64_MAX - 1);
    ck_assert_uint_eq(sat_add_u64(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("textbuf");
    tcase_add_test(cases, grows_over_many_additions_and_stays_terminated);
    tcase_add_test(cases, a_text_that_exactly_fills_the_buffer_keeps_its_end);
    tcase_add_test(cases, json_escapes_quotes_backslashes_and_control_characters);
    tcase_add_test(cases, json_keeps_valid_utf8_and_replaces_the_rest);
    tcase_add_test(cases, csv_quotes_only_what_needs_it);
    tcase_add_test(cases, csv_cells_are_no_formulas_and_numbers_stay_numbers);
    tcase_add_test(cases, what_a_terminal_obeys_is_escaped);
    tcase_add_test(cases, a_failed_buffer_takes_no_more_and_reports_failure);
    tcase_add_test(cases, writing_to_a_bad_descriptor_gives_its_errno);
    tcase_add_test(cases, short_and_interrupted_writes_are_continued);
    tcase_add_test(cases, checked_arithmetic_rounds_and_saturates_below_no_value);
    tcase_set_timeout(cases, 30);
    return run_suite("textbuf", cases);
}
