/* SPDX-License-Identifier: MIT */
/* elfutils_open() of the shared library. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "elfutils/elfutils.h"
#include "elfutils/module.h"

const struct elfutils *elfutils;

static pthread_once_t opened_once = PTHREAD_ONCE_INIT;
static char opened_problem[512];

static void opened_fail(const char *why)
{
    snprintf(opened_problem, sizeof opened_problem,
             "libdw cannot be opened: %s. Install elfutils (libdw) and all files of libupmu", why);
}

/* By its path: a name alone is searched for by the run path of the caller of dlopen(), which is a sanitizer, if there is one. */
static void *opened_module(void)
{
    char path[4096];
    Dl_info here;
    if (!dladdr(&opened_once, &here) || !here.dli_fname)
        return NULL;
    const char *slash = strrchr(here.dli_fname, '/');
    int n = slash
                ? snprintf(path, sizeof path, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname, ELFUTILS_MODULE)
                : -1;
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void opened_open(void)
{
    const struct elfutils *(*table)(size_t);
    void *module = opened_module(), *symbol = module ? dlsym(module, "upmu_elfutils") : NULL;
    if (!symbol) {
        const char *why = dlerror();
        opened_fail(why ? why : "the folder of libupmu_analysis is not known");
        return;
    }
    memcpy(&table, &symbol, sizeof table);
    elfutils = table(sizeof *elfutils);
    if (!elfutils)
        opened_fail(ELFUTILS_MODULE " is of another version");
}

bool elfutils_open(void)
{
    pthread_once(&opened_once, opened_open);
    return elfutils != NULL;
}

const char *elfutils_problem(void)
{
    return opened_problem;
}
