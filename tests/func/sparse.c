/* SPDX-License-Identifier: MIT */
/* Calls a recorded function in 20 threads, and prints the pages in memory of the file that has their calls, and the file's bytes. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile int called;

static void *work(void *arg)
{
    called++;
    return arg;
}

PLAIN static void print_resident(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0)
        exit(1);
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    size_t pages = (size_t)st.st_size / (size_t)sysconf(_SC_PAGESIZE), resident = 0;
    unsigned char *in_memory = calloc(pages + 1, 1);
    if (at == MAP_FAILED || !in_memory || mincore(at, (size_t)st.st_size, in_memory) != 0)
        exit(1);
    for (size_t i = 0; i < pages; i++)
        resident += in_memory[i] & 1;
    printf("%zu of %zu\n", resident, pages);
}

PLAIN int main(void)
{
    char line[4096], *path;
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, work, NULL) != 0 || pthread_join(t, NULL) != 0)
            return 1;
    }
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "/.functions_0\n") && (path = strchr(line, '/'))) {
            path[strcspn(path, "\n")] = '\0';
            print_resident(path);
            return 0;
        }
    return 1;
}
