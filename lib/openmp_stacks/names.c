/* SPDX-License-Identifier: MIT */
/* Names that compilers give to the bodies of OpenMP constructs, and those of the runtimes' code. */
#include "openmp_stacks/names.h"

#include <string.h>

#include "upmu/openmp.h"

static const char *const marks[] = {"._omp_fn.", ".omp_outlined", ".omp_task_entry", ".omp_task", "_omp_cpyfn"};

static bool name_begins(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

static const char *name_mark(const char *function)
{
    const char *first = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *mark = strstr(function, marks[i]);
        first = mark && (!first || mark < first) ? mark : first;
    }
    return first;
}

bool omp_name_is_outlined(const char *function)
{
    return function && name_mark(function) != NULL;
}

size_t upmu_openmp_host_length(const char *function)
{
    /* "foo() [clone ._omp_fn.0]" */
    static const char clone[] = " [clone ";
    size_t n_clone = sizeof clone - 1;
    const char *mark = function ? name_mark(function) : NULL;
    if (!function || name_begins(function, "__kmp"))
        return 0;
    if (!mark)
        return strlen(function);
    size_t length = (size_t)(mark - function);
    return length >= n_clone && memcmp(mark - n_clone, clone, n_clone) == 0 ? length - n_clone : length;
}

bool omp_name_is_same_body(const char *inner, const char *outer)
{
    static const char part[] = "._omp_fn.";
    if (strstr(inner, "_debug__") && !strstr(outer, "_debug__"))
        return true;
    if (strstr(inner, ".omp_outlined") && strstr(outer, ".omp_task_entry"))
        return true;
    /* gcc splits functions: foo._omp_fn.0.part.0 of foo._omp_fn.0 */
    size_t n = strlen(outer);
    return strstr(outer, part) && strncmp(inner, outer, n) == 0 && inner[n] == '.';
}

/* Whether the module's file, or the function, begins with one of these; the lists end with NULL. */
static bool name_is_of(const char *function, const char *const functions[], const char *module,
                       const char *const files[])
{
    const char *slash = module ? strrchr(module, '/') : NULL;
    const char *file = slash ? slash + 1 : module;
    for (size_t i = 0; file && files[i]; i++)
        if (name_begins(file, files[i]))
            return true;
    for (size_t i = 0; function && functions[i]; i++)
        if (name_begins(function, functions[i]))
            return true;
    return false;
}

bool omp_name_is_runtime(const char *function, const char *module)
{
    static const char *const files[] = {"libgomp.so", "libomp.so",      "libomp-", "libomp5",
                                        "libiomp5",   "libupmu_omp.so", NULL};
    static const char *const functions[] = {"__kmp", "GOMP_", "gomp_", NULL}; /* of a runtime within the program */
    return name_is_of(function, functions, module, files);
}

bool omp_name_is_start(const char *function, const char *module)
{
    static const char *const files[] = {"libc.so", "libc-", "libpthread", "ld-", "libupmu_", NULL};
    static const char *const functions[] = {"start_thread", "clone", "__clone", "_start", NULL};
    return name_is_of(function, functions, module, files);
}
