/* SPDX-License-Identifier: MIT */
/** @file Functions and edges as two CSV files at exit. */
#ifndef UPMU_FUNC_CSV_H
#define UPMU_FUNC_CSV_H

/** Write PREFIX.functions.csv and PREFIX.edges.csv, if any function was called. @return 0; UPMU_E_NOMEM, UPMU_E_IO; UPMU_E_LIMIT
 *  (written, and calls were lost). */
int func_csv_write(const char *prefix);

#endif
