/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Generator of the C event tables from data/events; data/events/README.md has the format.
 *
 * It is in C so that a build needs nothing but a C compiler and CMake; a cross build compiles it for the host.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arch/generator/emit.h"
#include "arch/generator/fault.h"
#include "arch/generator/model.h"

static void main_write(const char *path, void (*emit)(FILE *out, const struct model *m), const struct model *m)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        fault(path, 0, "cannot be written");
        return;
    }
    emit(out, m);
    int failed = ferror(out);
    if (fclose(out) != 0 || failed)
        fault(path, 0, "cannot be written");
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s TABLES.c TABLES.h FILE.csv...\n", argv[0]);
        return 2;
    }
    struct model m;
    model_read(&m, argv + 3, (size_t)argc - 3);
    model_link(&m);
    if (fault_count() == 0)
        model_complete(&m);
    if (fault_count() == 0)
        main_write(argv[1], emit_source, &m);
    if (fault_count() == 0)
        main_write(argv[2], emit_header, &m);
    model_free(&m);
    return fault_count() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
