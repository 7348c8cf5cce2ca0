/* SPDX-License-Identifier: MIT */
/* upmu list --cpus: the CPUs that have a table. */
#include <stdlib.h>

#include "ui/command.h"
#include "ui/csv.h"
#include "ui/json.h"
#include "list.h"
#include "ui/table.h"

static bool next_cpu(size_t *position, struct upmu_cpu_info *info)
{
    *info = (struct upmu_cpu_info){.size = sizeof *info};
    return upmu_cpu_at((*position)++, info) == 0;
}

static void cpus_text(struct output *out)
{
    static const struct table_column columns[] = {{"CPU", false}, {"CORE", false}, {"COUNTERS", true}, {"NOTE", false}};
    struct upmu_cpu_info info;
    struct table t;
    size_t position = 0;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    while (next_cpu(&position, &info)) {
        table_cell(&t, STYLE_PLAIN, "%s", info.name);
        table_cell(&t, STYLE_PLAIN, "%s", info.title);
        if (info.counters)
            table_cell(&t, STYLE_PLAIN, "%u", info.counters);
        else
            table_cell(&t, STYLE_PLAIN, "?");
        table_cell(&t, STYLE_PLAIN, "%s", info.remark);
    }
    table_end(&t, out, 0);
}

static void cpus_csv(struct output *out)
{
    struct upmu_cpu_info info;
    struct csv c;
    size_t position = 0;

    csv_begin(&c, out->file, ',');
    csv_row(&c, (const char *const[]){"cpu", "title", "vendor", "remark", "rule", NULL});
    while (next_cpu(&position, &info))
        csv_row(&c, (const char *const[]){info.name, info.title, info.vendor, info.remark, info.rule, NULL});
}

static void cpus_json(struct output *out)
{
    struct upmu_cpu_info info;
    struct json_document doc;
    size_t position = 0;

    struct textbuf *j = json_begin(&doc, out->file, "upmu-list-cpus");
    json_array(j, "cpus");
    while (next_cpu(&position, &info)) {
        json_object(j, NULL);
        list_cpu_members(j, &info);
        json_object_end(j);
    }
    json_array_end(j);
    json_end(&doc);
}

int list_cpus(bool as_json, bool as_csv)
{
    struct output out;

    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (as_json)
        cpus_json(&out);
    else if (as_csv)
        cpus_csv(&out);
    else
        cpus_text(&out);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}
