/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target on files and the files of folders, without a fuzzer: on seeds in every build, and on failed inputs. */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static unsigned replayed;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "re");
    size_t size_max = 1 << 24;
    uint8_t *data = malloc(size_max);

    if (!file || !data) {
        perror(path);
        exit(2);
    }
    LLVMFuzzerTestOneInput(data, fread(data, 1, size_max, file));
    fclose(file);
    free(data);
    replayed++;
}

/* A folder's files; false if `path` is none. */
static bool replay_folder(const char *path)
{
    char file[PATH_MAX];
    DIR *folder = opendir(path);
    const struct dirent *entry;

    if (!folder)
        return false;
    while ((entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' && snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < (int)sizeof file)
            replay_file(file);
    closedir(folder);
    return true;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!replay_folder(argv[i]))
            replay_file(argv[i]);
    printf("%u inputs\n", replayed);
    return replayed > 0 ? 0 : 1;
}
