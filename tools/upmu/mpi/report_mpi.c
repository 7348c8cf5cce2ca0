/* SPDX-License-Identifier: MIT */
/* upmu report --mpi. */
#include "mpi.h"
#include "report/report_views.h"
#include "ui/options.h"
#include "upmu/analysis.h"

enum { MPI_TOP_DEFAULT = 16 };

/* Of deadlocks, and of delays outside of regions. */
static bool mpi_has_sites(const struct upmu_mpi *mpi)
{
    struct upmu_mpi_deadlock deadlock = {.size = sizeof deadlock};
    struct upmu_mpi_delay d = {.size = sizeof d};
    bool has = upmu_mpi_deadlock_at(mpi, 0, &deadlock) == 0;
    for (size_t i = 0; !has && upmu_mpi_delay_at(mpi, i, &d) == 0; i++)
        has = d.site != 0;
    return has;
}

int report_mpi(const struct report_request *q)
{
    struct mpi_report r = {.dir = q->dir, .stretch = q->stretch != NULL};
    struct output out;
    uint64_t from_ns = 0, to_ns = 0;
    r.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : MPI_TOP_DEFAULT;
    if (q->sort || q->group_given)
        return options_usage(q->self, "--mpi can be combined with --json, --top, --from and --to only");
    if (r.stretch && !(r.overview = report_open_stretch(q, &from_ns, &to_ns)))
        return EXIT_FAILED;
    if (upmu_mpi_open_between(&r.mpi, q->dir, from_ns, to_ns) < 0) {
        complain("%s", upmu_error());
        upmu_overview_close(r.overview);
        return EXIT_FAILED;
    }
    if (!r.overview && mpi_has_sites(r.mpi) && upmu_overview_open(&r.overview, q->dir, NULL) != 0)
        complain("call stacks cannot be read: %s", upmu_error());
    if (output_standard(&out, OUTPUT_STDOUT) != 0) {
        upmu_overview_close(r.overview);
        upmu_mpi_close(r.mpi);
        return EXIT_FAILED;
    }
    if (q->as_json)
        mpi_write_json(&out, &r);
    else
        mpi_write_text(&out, &r);
    int rc = output_close(&out);
    upmu_overview_close(r.overview);
    upmu_mpi_close(r.mpi);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}
