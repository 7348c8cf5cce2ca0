/* SPDX-License-Identifier: MIT */
/* A second file of a program written for PAPI and LIKWID, whose markers are not switched on. */
#include "upmu/compat/likwid-marker.h"
#include "upmu/compat/papi_hl.h"

extern int compat_other_file(void);

int compat_other_file(void)
{
    LIKWID_MARKER_START("not switched on");
    int rc = PAPI_hl_region_begin("other");
    LIKWID_MARKER_STOP("not switched on");
    return rc == PAPI_OK ? PAPI_hl_region_end("other") : rc;
}
