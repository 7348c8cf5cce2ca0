/* SPDX-License-Identifier: MIT */
/* upmu report --heap. */
#include "heap.h"
#include "report/report_views.h"
#include "ui/options.h"

enum { HEAP_TOP_DEFAULT = 20 };

static int heap_print(const struct report_request *q, const struct heap_report *r)
{
    struct output out;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return -1;
    if (q->as_json)
        heap_write_json(&out, r);
    else
        heap_write_text(&out, r);
    return output_close(&out);
}

int report_heap(const struct report_request *q)
{
    struct heap_report r = {.dir = q->dir};
    r.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : HEAP_TOP_DEFAULT;
    if (q->sort || q->group_given)
        return options_usage(q->self, "--heap can be combined with --json and --top only");
    if (upmu_heap_open(&r.heap, q->dir) < 0 || upmu_overview_open(&r.overview, q->dir, NULL) < 0) {
        complain("%s", upmu_error());
        upmu_heap_close(r.heap);
        return EXIT_FAILED;
    }
    heap_rows_make(&r);
    int rc = heap_print(q, &r);
    heap_rows_free(&r);
    upmu_overview_close(r.overview);
    upmu_heap_close(r.heap);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}
