/* SPDX-License-Identifier: MIT */
/* Libraries of libupmu, beside the one that the command itself uses. */
#include "ui/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "ui/output.h"
#include "upmu/trace.h"

char *library_path(const char *name)
{
    Dl_info info;
    char real[PATH_MAX];
    if (!dladdr((const void *)(uintptr_t)upmu_trace_open, &info) || !realpath(info.dli_fname, real)) {
        complain("cannot locate %s", name);
        return NULL;
    }
    *strrchr(real, '/') = '\0'; /* an absolute path has one */
    return memory_format("%s/%s", real, name);
}
