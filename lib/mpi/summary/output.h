/* SPDX-License-Identifier: MIT */
/** @file The summary of a job as JSON and as a table. */
#ifndef UPMU_MPI_SUMMARY_OUTPUT_H
#define UPMU_MPI_SUMMARY_OUTPUT_H

#include "base/text/textbuf.h"
#include "mpi/summary/rows.h"

void summary_json(const struct summary *s, int world, struct textbuf *out);
void summary_text(const struct summary *s, int world, struct textbuf *out);

#endif
