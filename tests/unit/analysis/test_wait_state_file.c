/* SPDX-License-Identifier: MIT */
/* The reader of wait-state files, on files that do not have what their header promises, and whom it takes for the owner of a mutex. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/wait_state_file.h"
#include "deadlock/wait_state.h"
#include "upmu/trace.h"
#include "unit/suite.h"

static char folder[] = "/tmp/upmu-wait-state-XXXXXX", path[64];

static struct wait_file_slot slots_made[3];

/* A file with `slots` threads that wait, and a header that counts `counted`. */
static void file_make(uint32_t slots, uint32_t counted)
{
    const struct wait_file_header header = {
        .magic = WAIT_FILE_MAGIC, .version = WAIT_FILE_VERSION, .slot_bytes = WAIT_FILE_SLOT_BYTES, .slots = counted};
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(&header, sizeof header, 1, file), 1);
    for (uint32_t i = 0; i < slots; i++) {
        ck_assert_int_eq(fseeko(file, wait_file_slot_at(i), SEEK_SET), 0);
        ck_assert_uint_eq(fwrite(&slots_made[i], sizeof *slots_made, 1, file), 1);
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

/* Thread `tid` waits for the mutex at 64 since `since`, when `owner` had it. */
static void slot_make(uint32_t i, int32_t tid, int32_t owner, uint64_t since)
{
    slots_made[i] = (struct wait_file_slot){.state = WAIT_FILE_BLOCKED,
                                            .tid = tid,
                                            .kind = UPMU_TRACE_LOCK_BLOCK,
                                            .type = UPMU_OBJECT_MUTEX,
                                            .object = 64,
                                            .peer = owner,
                                            .since_ns = since,
                                            .owner = WAIT_FILE_OWNER_SEEN};
}

static size_t deadlocks_found(uint32_t slots)
{
    struct wait_state s;
    file_make(slots, slots);
    ck_assert_int_eq(wait_state_read(&s, folder), 1);
    s.wakers = (struct wait_state_wakers){.known = true, .asleep = true, .inside = true};
    ck_assert_int_eq(wait_state_find_blocked(&s, 0), 0);
    size_t n = s.snapshot.n_deadlocks;
    wait_state_free(&s);
    return n;
}

/* On a loaded machine a thread that has acquired the mutex shows its wait for long: it does not hold what it waits for. */
START_TEST(a_waiter_that_became_the_owner_is_not_deadlocked)
{
    slot_make(0, 1, 3, 10);
    slot_make(1, 2, 1, 20);
    ck_assert_uint_eq(deadlocks_found(2), 0);
    slots_made[0].kind = UPMU_TRACE_COND_WAIT;
    slots_made[0].object2 = 64;
    ck_assert_uint_eq(deadlocks_found(2), 0);
    slot_make(0, 1, 1, 10);
    ck_assert_uint_eq(deadlocks_found(2), 1);
}
END_TEST

static void begin(void)
{
    for (uint32_t i = 0; i < sizeof slots_made / sizeof *slots_made; i++)
        slots_made[i] = (struct wait_file_slot){.state = WAIT_FILE_BLOCKED, .tid = 1};
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
    tcase_add_test(cases, a_waiter_that_became_the_owner_is_not_deadlocked);
    return run_suite("wait_state_file", cases);
}
