/* SPDX-License-Identifier: MIT */
/* Error messages and texts of codes: one message per thread, never NULL, errno kept. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "unit/suite.h"

START_TEST(no_failure_no_message)
{
    ck_assert_str_eq(upmu_error(), "");
}
END_TEST

START_TEST(a_failure_gives_its_code_and_message_and_keeps_errno)
{
    errno = ENOSPC;
    ck_assert_int_eq(upmu_fail(UPMU_E_INVAL, "bad %s %d", "thing", 7), UPMU_E_INVAL);
    ck_assert_int_eq(errno, ENOSPC);
    ck_assert_str_eq(upmu_error(), "bad thing 7");
}
END_TEST

START_TEST(a_message_too_long_is_cut_and_terminated)
{
    char text[3 * ERROR_TEXT_MAX];
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq(upmu_fail(UPMU_E_IO, "%s", text), UPMU_E_IO);
    ck_assert_uint_eq(strlen(upmu_error()), ERROR_TEXT_MAX - 1);
}
END_TEST

START_TEST(a_message_is_copied_with_its_code_as_far_as_it_fits)
{
    char text[8] = "before";
    (void)upmu_fail(UPMU_E_BUSY, "0123456789");
    ck_assert_int_eq(upmu_error_code(), UPMU_E_BUSY);
    ck_assert_uint_eq(upmu_error_copy(text, sizeof text), 10);
    ck_assert_str_eq(text, "0123456");
    ck_assert_uint_eq(upmu_error_copy(NULL, 0), 10);
    ck_assert_uint_eq(upmu_error_copy(NULL, 8), 10);
}
END_TEST

static void *fail_without_key(void *arg)
{
    (void)arg;
    ck_assert_int_eq(upmu_fail(UPMU_E_IO, "lost"), UPMU_E_IO);
    return strstr(upmu_error(), "out of memory") && upmu_error_code() == UPMU_E_NOMEM ? (void *)1 : NULL;
}

START_TEST(without_a_buffer_the_message_is_a_fixed_text)
{
    pthread_t thread;
    pthread_key_t key;
    void *right;
    while (pthread_key_create(&key, NULL) == 0) /* so that the buffer of this process has none */
        continue;
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_without_key, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &right), 0);
    ck_assert_ptr_nonnull(right);
    ck_assert_str_eq(upmu_error(), "");
    ck_assert_ptr_nonnull(fail_without_key(NULL));
    ck_assert_ptr_nonnull(fail_without_key(NULL));
}
END_TEST

static void *fail_elsewhere(void *arg)
{
    (void)arg;
    int before = strcmp(upmu_error(), "");
    (void)upmu_fail(UPMU_E_NAME, "elsewhere");
    return before == 0 && strcmp(upmu_error(), "elsewhere") == 0 ? (void *)1 : NULL;
}

START_TEST(each_thread_has_its_own_message)
{
    pthread_t thread;
    void *right;
    (void)upmu_fail(UPMU_E_NAME, "here");
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, &right);
    ck_assert_ptr_nonnull(right);
    ck_assert_str_eq(upmu_error(), "here");
}
END_TEST

START_TEST(every_code_has_a_text_of_its_own_and_any_other_number_one_too)
{
    for (int code = UPMU_E_NESTED; code <= 0; code++) {
        ck_assert_ptr_nonnull(upmu_strerror(code));
        ck_assert_str_ne(upmu_strerror(code), upmu_strerror(1));
        for (int other = code + 1; other <= 0; other++)
            ck_assert_str_ne(upmu_strerror(code), upmu_strerror(other));
    }
    ck_assert_str_eq(upmu_strerror(UPMU_E_NESTED - 1), upmu_strerror(1));
    ck_assert_str_eq(upmu_strerror(-2147483647 - 1), upmu_strerror(1));
    ck_assert_str_eq(upmu_strerror(2147483647), upmu_strerror(1));
}
END_TEST

START_TEST(errno_names)
{
    ck_assert_str_eq(upmu_errno_name(EACCES), "EACCES");
    ck_assert_str_eq(upmu_errno_name(EMFILE), "EMFILE");
    ck_assert_ptr_nonnull(upmu_errno_name(99999));
    ck_assert_ptr_nonnull(upmu_errno_name(-1));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("error");
    tcase_add_test(cases, no_failure_no_message);
    tcase_add_test(cases, a_failure_gives_its_code_and_message_and_keeps_errno);
    tcase_add_test(cases, a_message_too_long_is_cut_and_terminated);
    tcase_add_test(cases, a_message_is_copied_with_its_code_as_far_as_it_fits);
    tcase_add_test(cases, each_thread_has_its_own_message);
    tcase_add_test(cases, without_a_buffer_the_message_is_a_fixed_text);
    tcase_add_test(cases, every_code_has_a_text_of_its_own_and_any_other_number_one_too);
    tcase_add_test(cases, errno_names);
    return run_suite("error", cases);
}
