/* SPDX-License-Identifier: MIT */
/* Rows as a table or as JSON, and the verdict. */
#include <stdio.h>

#include "bench.h"
#include "upmu/upmu.h"

static double judged(const struct bench_row *row)
{
    switch (row->judge) {
    case BENCH_RATIO:
        return row->ratio;
    case BENCH_NS:
        return row->ns;
    case BENCH_ADDED:
        return row->ns - row->floor_ns;
    case BENCH_COUNT:
        return row->count;
    default:
        return 0;
    }
}

/* Counts are no timing: a busy machine is no excuse. */
bool bench_met(const struct bench *b, const struct bench_row *row)
{
    if (row->judge == BENCH_NOTHING || b->slack <= 0)
        return true;
    return judged(row) <= (row->judge == BENCH_COUNT ? row->bar : row->bar * b->slack);
}

static const char *verdict(const struct bench *b, const struct bench_row *row)
{
    if (row->failed[0])
        return "FAILED";
    if (row->skipped[0])
        return "skipped";
    if (row->judge == BENCH_NOTHING)
        return "-";
    if (b->slack <= 0)
        return "not judged";
    return bench_met(b, row) ? "met" : "MISSED";
}

/* ------------------------------------------------------------------------------------------------------ table */

static void print_bar(const struct bench_row *row)
{
    char bar[24] = "";
    if (row->judge == BENCH_RATIO)
        snprintf(bar, sizeof bar, "%.2f x", row->bar);
    else if (row->judge == BENCH_NS)
        snprintf(bar, sizeof bar, "%.1f ns", row->bar);
    else if (row->judge == BENCH_ADDED)
        snprintf(bar, sizeof bar, "+%.1f ns", row->bar);
    else if (row->judge == BENCH_COUNT)
        snprintf(bar, sizeof bar, "%g", row->bar);
    printf(" %9s", bar);
}

static void print_row(const struct bench *b, const struct bench_row *row)
{
    printf("%-44s", row->name);
    if (row->failed[0] || row->skipped[0]) {
        if (row->failed[0])
            printf(" FAILED, because %s\n", row->failed);
        else
            printf(" skipped, because %s\n", row->skipped);
        return;
    }
    if (row->judge == BENCH_COUNT)
        printf(" %9g %9s %9s %8s %13s", row->count, "", "", "", "");
    else
        printf(" %9.2f %9.2f %9.2f %8.3f %6.3f-%-6.3f", row->ns, row->ns_p10, row->floor_ns, row->ratio, row->ratio_low,
               row->ratio_high);
    print_bar(row);
    printf("  %-10s %s\n", verdict(b, row), row->floor);
}

static void print_table(const struct bench *b)
{
    if (b->heading)
        printf("%-44s %9s %9s %9s %8s %13s %9s  %-10s %s\n", "what", "ns", "p10", "floor ns", "ratio", "half of them",
               "bar", "verdict", "against");
    for (size_t i = 0; i < b->n_rows; i++)
        print_row(b, &b->rows[i]);
}

/* ------------------------------------------------------------------------------------------------------- JSON */

static void print_text(const char *key, const char *text)
{
    printf(",\"%s\":\"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void print_object(const struct bench *b, const struct bench_row *row)
{
    static const char *const judges[] = {[BENCH_NOTHING] = "nothing",
                                         [BENCH_RATIO] = "ratio",
                                         [BENCH_NS] = "ns",
                                         [BENCH_ADDED] = "added ns",
                                         [BENCH_COUNT] = "count"};
    printf("{\"version\":\"%s\"", upmu_version());
    print_text("bench", b->title);
    print_text("name", row->name);
    print_text("verdict", verdict(b, row));
    if (row->failed[0] || row->skipped[0]) {
        print_text("because", row->failed[0] ? row->failed : row->skipped);
    } else if (row->judge == BENCH_COUNT) {
        printf(",\"count\":%g", row->count);
    } else {
        print_text("floor", row->floor);
        printf(",\"ns\":%.3f,\"ns_p10\":%.3f,\"floor_ns\":%.3f,\"ratio\":%.4f,\"ratio_p25\":%.4f,\"ratio_p75\":%.4f",
               row->ns, row->ns_p10, row->floor_ns, row->ratio, row->ratio_low, row->ratio_high);
    }
    print_text("judge", judges[row->judge]);
    if (row->judge != BENCH_NOTHING)
        printf(",\"bar\":%g,\"slack\":%g", row->bar, row->judge == BENCH_COUNT && b->slack > 0 ? 1 : b->slack);
    printf("}\n");
}

/* -------------------------------------------------------------------------------------------------------- end */

static int exit_status(const struct bench *b)
{
    size_t skipped = 0;
    for (size_t i = 0; i < b->n_rows; i++) {
        const char *v = verdict(b, &b->rows[i]);
        if (v[0] == 'F' || v[0] == 'M')
            return 1;
        skipped += b->rows[i].skipped[0] != '\0';
    }
    return skipped == b->n_rows ? BENCH_SKIPPED : 0;
}

int bench_end(struct bench *b)
{
    if (b->json)
        for (size_t i = 0; i < b->n_rows; i++)
            print_object(b, &b->rows[i]);
    else
        print_table(b);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "bench_%s: cannot write the results\n", b->title);
        return 2;
    }
    return exit_status(b);
}
