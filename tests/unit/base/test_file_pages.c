/* SPDX-License-Identifier: MIT */
/* Pages of a file that are in memory before they are mapped. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_pages.h"
#include "unit/suite.h"

enum { PAGES = 150, BEFORE = 3 };

/* A file with reserved space, and something in its first pages. */
static FILE *reserved(size_t page)
{
    FILE *f = tmpfile();
    ck_assert_ptr_nonnull(f);
    for (size_t i = 0; i < BEFORE * page; i++)
        ck_assert_int_eq(fputc('x', f), 'x');
    ck_assert_int_eq(fflush(f), 0);
    ck_assert_int_eq(posix_fallocate(fileno(f), 0, (off_t)(PAGES * page)), 0);
    return f;
}

START_TEST(the_pages_are_in_memory_and_empty)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (PAGES - BEFORE) * page;
    unsigned char present[PAGES - BEFORE];
    FILE *f = reserved(page);
    file_pages_make(fileno(f), (off_t)(BEFORE * page), bytes);
    char *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fileno(f), (off_t)(BEFORE * page));
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    ck_assert_int_eq(mincore(mapped, bytes, present), 0);
    for (int i = 0; i < PAGES - BEFORE; i++)
        ck_assert_int_eq(present[i] & 1, 1);
    for (size_t i = 0; i < bytes; i++)
        if (mapped[i] != 0)
            ck_abort_msg("byte %zu is %d", i, mapped[i]);
    ck_assert_int_eq(munmap(mapped, bytes), 0);
    fclose(f);
}
END_TEST

START_TEST(what_is_before_and_the_length_stay)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char last = 0;
    FILE *f = reserved(page);
    file_pages_make(fileno(f), (off_t)(BEFORE * page), (PAGES - BEFORE) * page);
    ck_assert_int_eq(pread(fileno(f), &last, 1, (off_t)(BEFORE * page) - 1), 1);
    ck_assert_int_eq(last, 'x');
    ck_assert_int_eq(lseek(fileno(f), 0, SEEK_END), (off_t)(PAGES * page));
    fclose(f);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_left)
{
    int fd = open("/dev/null", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    file_pages_make(fd, 0, 1 << 20);
    file_pages_make(-1, 0, 1 << 20);
    close(fd);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("file_pages");
    tcase_add_test(cases, the_pages_are_in_memory_and_empty);
    tcase_add_test(cases, what_is_before_and_the_length_stay);
    tcase_add_test(cases, a_file_that_cannot_be_written_is_left);
    return run_suite("file_pages", cases);
}
