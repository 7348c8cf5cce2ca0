/* SPDX-License-Identifier: MIT */
/** @file Rank and job by the launcher's environment. */
#ifndef UPMU_MPI_LABELS_H
#define UPMU_MPI_LABELS_H

/** Set rank, size and job of mpi_process; -1 and 0: unknown. */
void mpi_labels_read(void);

#endif
