/* SPDX-License-Identifier: MIT */
/*
 * Large blocks of malloc() that are requested at exit: none.
 *
 * The C library merges all small blocks that the program has freed before it returns or frees a large one, which takes a tenth
 * of the run time of a program with millions of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1024 };

extern void *__libc_malloc(size_t bytes);               // NOLINT(clang-diagnostic-reserved-identifier)
extern void *__libc_realloc(void *block, size_t bytes); // NOLINT(clang-diagnostic-reserved-identifier)

static volatile int exiting;

static void report(size_t bytes)
{
    static const char text[] = "a large block at exit\n";
    if (exiting && bytes >= LARGE && write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(1);
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    report(bytes);
    return __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t bytes)
{
    report(bytes);
    return __libc_realloc(block, bytes);
}

static void begin_exit(void)
{
    exiting = 1;
}

int main(void)
{
    free(malloc(LARGE));
    puts("done");
    (void)fflush(stdout);
    return atexit(begin_exit);
}
