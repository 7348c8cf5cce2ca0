/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: a file of metrics, and the same text as one expression.
 *
 * The file ends with a faulty line, so that its metrics, which would stay for later inputs, are refused after they have been read.
 */
#include <stdlib.h>
#include <string.h>

#include "core/formula/expression.h"
#include "fuzz.h"
#include "upmu/upmu.h"

static void evaluate(const char *text)
{
    struct expression e;
    double values[EXPRESSION_NAMES_MAX];

    for (size_t i = 0; i < EXPRESSION_NAMES_MAX; i++)
        values[i] = (double)i;
    if (expression_parse(text, &e) == 0)
        (void)expression_compute(&e, values, 1);
    else if (!upmu_error()[0])
        abort(); /* a refusal has a message */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char fault[] = "\n=\n";
    char *file = malloc(size + sizeof fault);

    if (!file)
        abort();
    if (size > 0)
        memcpy(file, data, size);
    memcpy(file + size, fault, sizeof fault);
    if (upmu_metric_load(fuzz_file("metrics", file, size + sizeof fault - 1)) >= 0 || !upmu_error()[0])
        abort(); /* a refusal has a message */
    file[size] = '\0';
    evaluate(file);
    free(file);
    return 0;
}
