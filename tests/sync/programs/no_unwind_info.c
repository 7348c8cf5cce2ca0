/* SPDX-License-Identifier: MIT */
/* A program that closes all descriptors and uses their numbers for files of its own, and locks below frames without unwind information,
 * for which libunwind uses a pipe. Prints what the files contain and where their descriptors are. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 6, DEPTHS = 40, NUMBERS = 64 };

void call_without_unwind_info(void (*function)(int), int depth);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_once(int depth)
{
    (void)depth;
    if (pthread_mutex_lock(&mutex) != 0 || pthread_mutex_unlock(&mutex) != 0)
        abort();
}

/* All but the standard ones. @return how many there were. */
static int close_all(int numbers[NUMBERS])
{
    DIR *all = opendir("/proc/self/fd");
    int n = 0;
    for (struct dirent *e; all && n < NUMBERS && (e = readdir(all));) {
        numbers[n] = atoi(e->d_name);
        n += numbers[n] > STDERR_FILENO && numbers[n] != dirfd(all);
    }
    if (!all || closedir(all) != 0)
        abort();
    for (int i = 0; i < n; i++)
        close(numbers[i]);
    return n;
}

int main(void)
{
    int fds[FILES], numbers[NUMBERS];
    call_without_unwind_info(lock_once, 1);
    int closed = close_all(numbers);
    for (int i = 0; i < FILES; i++) {
        char path[] = "/tmp/upmu-no-unwind-info-XXXXXX";
        fds[i] = mkstemp(path);
        if (fds[i] < 0 || unlink(path) != 0 || write(fds[i], "own bytes", 9) != 9 || lseek(fds[i], 0, SEEK_SET) != 0)
            return 1;
    }
    for (int i = 0; i < closed; i++)
        if (numbers[i] > fds[FILES - 1] && dup2(fds[i % FILES], numbers[i]) < 0)
            return 1;
    for (int depth = 0; depth < DEPTHS; depth++)
        call_without_unwind_info(lock_once, depth);
    for (int i = 0; i < FILES; i++) {
        char text[16] = "";
        long at = (long)lseek(fds[i], 0, SEEK_CUR);
        if (pread(fds[i], text, sizeof text - 1, 0) < 0)
            return 1;
        printf("%d: %s, at %ld\n", fds[i], text, at);
    }
    return 0;
}
