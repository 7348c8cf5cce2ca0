/* SPDX-License-Identifier: MIT */
/* The report of upmu stat on a hybrid CPU: two runs, an event on both core types and one on one type. */
#include <stdio.h>
#include <string.h>

#include "../../../tools/upmu/stat/stat.h"

static char big[] = "cpu_core", small[] = "cpu_atom", cycles[] = "cycles", flat[] = "page-faults", nothing[] = "";

static struct stat_mean mean_of(unsigned runs, const double *values)
{
    struct stat_mean m = {0};
    for (unsigned i = 0; i < runs; i++)
        stat_mean_add(&m, values[i]);
    return m;
}

int main(int argc, char **argv)
{
    const unsigned runs = argc > 2 ? 2 : 1;
    struct stat_kind kinds[] = {
        {.pmu = big, .value = mean_of(runs, (const double[]){1000, 1200}), .total = runs == 1 ? 1000 : 2200},
        {.pmu = small, .value = mean_of(runs, (const double[]){30, 50}), .total = runs == 1 ? 30 : 80},
    };
    struct stat_event events[] = {
        {.name = cycles,
         .unit = nothing,
         .scale = 1,
         .reason = nothing,
         .status = UPMU_EXACT,
         .enabled = 10,
         .running = 10,
         .value = mean_of(runs, (const double[]){1030, 1250}),
         .total = runs == 1 ? 1030 : 2280,
         .kinds = kinds,
         .n_kinds = 2},
        {.name = flat,
         .unit = nothing,
         .scale = 1,
         .reason = nothing,
         .status = UPMU_EXACT,
         .enabled = 10,
         .running = 10,
         .value = mean_of(runs, (const double[]){7, 7}),
         .total = 7ull * runs},
    };
    char *const command[] = {cycles, NULL};
    const struct stat_request request = {.events = "cycles", .argv = (char **)command, .runs = runs};
    const struct stat_result result = {
        .request = &request, .events = events, .n_events = 2, .runs = runs, .instances = 1};
    struct output out;
    if (argc < 2 || output_standard(&out, OUTPUT_STDOUT) != 0)
        return 2;
    if (strcmp(argv[1], "json") == 0)
        stat_write_json(&out, &request, &result);
    else
        stat_write_text(&out, &request, &result);
    return output_close(&out) == 0 ? 0 : 1;
}
