/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: a file of metrics, and the same text as one expression and as the formula of a derived event.
 *
 * The file ends with a faulty line, so that its metrics, which would stay for later inputs, are refused after they have been read.
 */
#include <stdlib.h>
#include <string.h>

#include "core/formula/expression.h"
#include "core/formula/formula.h"
#include "core/machine/machine.h"
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

static void derive(const char *text)
{
    static const char *const cpus[] = {"zen4", "goldencove", "3a6000", "kunpeng920"};
    struct machine machine;
    struct event event = {.summary = "", .unit = "", .papi = "", .perf = ""};

    if (machine_of_cpu(cpus[strlen(text) % (sizeof cpus / sizeof *cpus)], &machine) != 0)
        abort();
    if (formula_resolve(&machine, text, &event) < 0 && !upmu_error()[0])
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
    derive(file);
    free(file);
    return 0;
}
