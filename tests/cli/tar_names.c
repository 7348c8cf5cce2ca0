/* SPDX-License-Identifier: MIT */
/* Writes an archive whose file names and sizes lie at the edges of the ustar form, for gather.sh. Each file's content is
 * its size in letters. Prints "LENGTH SIZE RESULT" per file. Before it: gather.sh; after it: tools/upmu/gather/tar.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/upmu/gather/tar.h"

/* A path of `len` bytes: folders of 30 letters. */
static void make_path(char *path, size_t len, char letter)
{
    for (size_t i = 0; i < len; i++)
        path[i] = i % 31 == 30 && i + 1 < len ? '/' : letter;
    path[len] = '\0';
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {1, 99, 100, 101, 155, 200, 240, 300};
    static const size_t sizes[] = {0, 1, 511, 512, 513, 1024, 2000, 0};
    static char data[2048], path[512];
    struct tar t;
    FILE *out = argc == 2 ? fopen(argv[1], "we") : NULL;

    if (!out)
        return EXIT_FAILURE;
    memset(data, 'x', sizeof data);
    tar_begin(&t, out, 1700000000);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        make_path(path, lengths[i], (char)('a' + i));
        printf("%zu %zu %d\n", lengths[i], sizes[i], tar_add(&t, path, data, sizes[i]));
    }
    /* A hundred and one bytes without a slash fit nowhere; nor does an absolute path, or none. */
    memset(path, 'q', 101);
    path[101] = '\0';
    printf("101 0 %d\n", tar_add(&t, path, data, 0));
    printf("5 0 %d\n", tar_add(&t, "/etc/", data, 0));
    printf("0 0 %d\n", tar_add(&t, "", data, 0));
    tar_end(&t);
    return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
