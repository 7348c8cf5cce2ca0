/* SPDX-License-Identifier: MIT */
/* Names of constructs, as the program was written. */
#include "openmp_stacks/constructs.h"

#include <inttypes.h>
#include <stdio.h>

#include "openmp_stacks/names.h"
#include "upmu/openmp.h"

enum { HOST_MAX = 400, NESTED_MAX = 64 };

/* The function around the code at `site`; an empty text: not known by its name. */
static void construct_host(const struct omp_context *c, omp_code_find find, void *arg, char host[HOST_MAX])
{
    struct omp_code code;
    host[0] = '\0';
    for (size_t i = 0; host[0] == '\0' && find(arg, c->process, c->site, i, &code); i++)
        if (!omp_name_is_runtime(code.function, code.module))
            snprintf(host, HOST_MAX, "%.*s", (int)upmu_openmp_host_length(code.function),
                     code.function ? code.function : "");
}

static void construct_text(const char *host, const char *what, uint32_t line, char text[OMP_NAME_MAX])
{
    char where[32] = "";
    if (line)
        snprintf(where, sizeof where, " from line %" PRIu32, line);
    snprintf(text, OMP_NAME_MAX, "%.*s%sOMP %s%s", (int)HOST_MAX, host, host[0] ? ", " : "", what, where);
}

void omp_construct_name(const struct omp_contexts *c, uint32_t index, omp_code_find find, void *arg,
                        char text[OMP_NAME_MAX])
{
    const struct omp_context *of = omp_contexts_at(c, index), *at = of;
    struct omp_code code = {.line = 0};
    char host[HOST_MAX];
    bool known = find(arg, of->process, of->site, 0, &code) && !omp_name_is_runtime(code.function, code.module);
    construct_host(of, find, arg, host);
    /* A region within the body of another one is in the function around that. */
    for (int i = 0; i < NESTED_MAX && host[0] == '\0' && at && at->kind == OMP_CONTEXT_REGION; i++) {
        uint32_t around;
        (void)omp_contexts_stack(c, at->process, at->stack, &around);
        at = omp_contexts_at(c, around);
        if (at)
            construct_host(at, find, arg, host);
    }
    construct_text(host, of->kind == OMP_CONTEXT_REGION ? "parallel region" : "task", known ? code.line : 0, text);
}

void omp_construct_name_of_body(const char *function, uint32_t line, char text[OMP_NAME_MAX])
{
    char host[HOST_MAX];
    snprintf(host, sizeof host, "%.*s", (int)upmu_openmp_host_length(function), function);
    construct_text(host, "construct", line, text);
}
