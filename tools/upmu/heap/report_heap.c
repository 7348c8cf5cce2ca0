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
    uint64_t from_ns, to_ns;
    r.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : HEAP_TOP_DEFAULT;
    if (q->sort || q->group_given)
        return options_usage(q->self, "--heap can be combined with --json, --top, --from and --to only");
    r.overview = report_open_stretch(q, &from_ns, &to_ns);
    if (!r.overview)
        return EXIT_FAILED;
    if (upmu_heap_open_between(&r.heap, q->dir, from_ns, to_ns) < 0) {
        complain("%s", upmu_error());
        upmu_overview_close(r.overview);
        return EXIT_FAILED;
    }
    heap_rows_make(&r);
    int rc = heap_print(q, &r);
    heap_rows_free(&r);
    upmu_overview_close(r.overview);
    upmu_heap_close(r.heap);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}
