/* SPDX-License-Identifier: MIT */
/* upmu report --mpi. */
#include "mpi.h"
#include "report/report_views.h"
#include "ui/options.h"

enum { MPI_TOP_DEFAULT = 16 };

int report_mpi(const struct report_request *q)
{
    struct mpi_report r = {.dir = q->dir};
    struct output out;
    r.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : MPI_TOP_DEFAULT;
    if (q->sort || q->group_given)
        return options_usage(q->self, "--mpi can be combined with --json and --top only");
    if (upmu_mpi_open(&r.mpi, q->dir) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    if (output_standard(&out, OUTPUT_STDOUT) != 0) {
        upmu_mpi_close(r.mpi);
        return EXIT_FAILED;
    }
    if (q->as_json)
        mpi_write_json(&out, &r);
    else
        mpi_write_text(&out, &r);
    int rc = output_close(&out);
    upmu_mpi_close(r.mpi);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}
