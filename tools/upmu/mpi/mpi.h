/* SPDX-License-Identifier: MIT */
/** @file MPI jobs opened for a report. */
#ifndef UPMU_TOOL_MPI_H
#define UPMU_TOOL_MPI_H

#include <stddef.h>

#include "ui/output.h"
#include "upmu/mpi.h"

struct mpi_report {
    struct upmu_mpi *mpi;
    const char *dir;
    size_t top; /**< rows of each table */
};

void mpi_write_text(struct output *out, const struct mpi_report *r);
void mpi_write_json(struct output *out, const struct mpi_report *r);

#endif
