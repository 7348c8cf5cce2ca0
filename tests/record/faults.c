/* SPDX-License-Identifier: MIT */
/* Known page faults for a recording: eight threads, each of which touches 1,000 pages for the first time. */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 8, PAGES = 1000 };

static void *touch(void *arg)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
    volatile char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return arg;
    (void)madvise((void *)(size_t)p, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        p[i * page] = 1;
    munmap((void *)(size_t)p, bytes);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 1; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, touch, NULL) != 0)
            return 1;
    touch(NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
