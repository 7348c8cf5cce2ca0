/* SPDX-License-Identifier: MIT */
/* The reader of wait-state files on files that do not have what their header promises. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/wait_state_file.h"
#include "unit/suite.h"

static char folder[] = "/tmp/upmu-wait-state-XXXXXX", path[64];

/* A file with `slots` threads that wait, and a header that counts `counted`. */
static void file_make(uint32_t slots, uint32_t counted)
{
    const struct wait_file_header header = {
        .magic = WAIT_FILE_MAGIC, .version = WAIT_FILE_VERSION, .slot_bytes = WAIT_FILE_SLOT_BYTES, .slots = counted};
    const struct wait_file_slot slot = {.state = WAIT_FILE_BLOCKED, .tid = 1};
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(&header, sizeof header, 1, file), 1);
    for (uint32_t i = 0; i < slots; i++) {
        ck_assert_int_eq(fseeko(file, wait_file_slot_at(i), SEEK_SET), 0);
        ck_assert_uint_eq(fwrite(&slot, sizeof slot, 1, file), 1);
    }
    ck_assert_int_eq(ftruncate(fileno(file), slots ? wait_file_slot_at(slots) : (off_t)sizeof header), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(slots_of_the_file_are_read)
{
    struct wait_state_file f;
    file_make(3, 3);
    ck_assert_int_eq(wait_state_file_read(&f, folder), 1);
    ck_assert_uint_eq(f.n_threads, 3);
    ck_assert_uint_eq(f.threads[2].head.state, WAIT_FILE_BLOCKED);
    wait_state_file_free(&f);
}
END_TEST

/* They may be any number of threads; all the reader can report is that there are some, in an unknown state. */
START_TEST(slots_behind_the_end_are_one_running_thread)
{
    struct wait_state_file f;
    file_make(2, UINT32_MAX);
    ck_assert_int_eq(wait_state_file_read(&f, folder), 1);
    ck_assert_uint_eq(f.n_threads, 3);
    ck_assert_uint_eq(f.threads[1].head.state, WAIT_FILE_BLOCKED);
    ck_assert_uint_eq(f.threads[2].head.state, WAIT_FILE_RUNNING);
    wait_state_file_free(&f);
    file_make(0, WAIT_FILE_SLOTS_MAX);
    ck_assert_int_eq(wait_state_file_read(&f, folder), 1);
    ck_assert_uint_eq(f.n_threads, 1);
    wait_state_file_free(&f);
}
END_TEST

static void begin(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_lt(snprintf(path, sizeof path, "%s/" WAIT_FILE_NAME, folder), (int)sizeof path);
}

static void end(void)
{
    (void)unlink(path);
    (void)rmdir(folder);
}

int main(void)
{
    TCase *cases = tcase_create("wait_state_file");
    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_test(cases, slots_of_the_file_are_read);
    tcase_add_test(cases, slots_behind_the_end_are_one_running_thread);
    return run_suite("wait_state_file", cases);
}
