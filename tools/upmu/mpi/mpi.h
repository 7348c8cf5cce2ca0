/* SPDX-License-Identifier: MIT */
/** @file MPI jobs opened for a report. */
#ifndef UPMU_TOOL_MPI_H
#define UPMU_TOOL_MPI_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/output.h"
#include "upmu/mpi.h"

struct mpi_report {
    struct upmu_mpi *mpi;
    const char *dir;
    size_t top;                     /**< rows of each table */
    bool stretch;                   /**< it is of a stretch, that of `overview` */
    struct upmu_overview *overview; /**< for call sites; NULL: there are none to show, or it cannot be read */
};

struct textbuf;
struct upmu_overview;

/** A deadlock across ranks; without `o` call stacks are left out. */
void mpi_write_deadlock(struct output *out, struct upmu_overview *o, const struct upmu_mpi *mpi, size_t i);
/** All of them as an array; `mpi` may be NULL. */
void mpi_json_deadlocks(struct textbuf *j, const char *key, struct upmu_overview *o, const struct upmu_mpi *mpi);

void mpi_write_text(struct output *out, const struct mpi_report *r);
void mpi_write_json(struct output *out, const struct mpi_report *r);

#endif
