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

char *library_problem(const char *name, const char *symbol)
{
    char *path = library_path(name);
    if (!path)
        return memory_format("the folder of %s is not known", name);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    char *problem = module && dlsym(module, symbol) ? NULL : memory_copy(dlerror());
    free(path);
    return problem;
}

char *library_symbols_problem(void)
{
    char *why = library_problem("upmu/elfutils.so", "upmu_elfutils");
    if (!why)
        return NULL;
    char *text = memory_format("functions, lines and names of variables are not shown: libdw cannot be opened: %s. "
                               "Install elfutils (libdw) and all files of libupmu",
                               why);
    free(why);
    return text;
}

void library_complain_symbols(void)
{
    char *problem = library_symbols_problem();
    if (problem)
        complain("%s", problem);
    free(problem);
}
