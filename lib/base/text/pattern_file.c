/* SPDX-License-Identifier: MIT */
/* Reading of pattern files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/pattern.h"

int pattern_file_read(const char *path, int (*line)(void *arg, const char *path, size_t number, char *text), void *arg)
{
    char *text = NULL;
    size_t capacity = 0;
    int rc = 0;
    FILE *f = fopen(path, "re");
    if (!f) {
        const char *why = strerrordesc_np(errno);
        return upmu_fail(UPMU_E_IO, "\"%s\": %s", path, why ? why : "unknown error");
    }
    for (size_t number = 1; rc == 0 && getline(&text, &capacity, f) > 0; number++) {
        text[strcspn(text, "\r\n")] = '\0';
        char *begin = text + strspn(text, " \t");
        if (*begin != '\0' && *begin != '#')
            rc = line(arg, path, number, begin);
    }
    if (rc == 0 && ferror(f))
        rc = upmu_fail(UPMU_E_IO, "cannot read \"%s\"", path);
    free(text);
    (void)fclose(f); /* opened for reading */
    return rc;
}
