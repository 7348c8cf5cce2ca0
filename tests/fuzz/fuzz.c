/* SPDX-License-Identifier: MIT */
/* Scratch files of the fuzz targets. They are in memory (/dev/shm) where that exists. */
#include "fuzz.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static char path[PATH_MAX];

static void die(const char *what)
{
    perror(what);
    abort();
}

static void remove_folder(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        perror(folder);
}

const char *fuzz_folder(void)
{
    if (folder[0])
        return folder;
    snprintf(folder, sizeof folder, "%s/upmu-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        die(folder);
    atexit(remove_folder);
    return folder;
}

void fuzz_write(const char *file, const void *data, size_t size)
{
    FILE *stream = fopen(file, "we");
    if (!stream || (size > 0 && fwrite(data, size, 1, stream) != 1) || fclose(stream) != 0)
        die(file);
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    fuzz_write(path, data, size);
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        die("malloc");
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}
