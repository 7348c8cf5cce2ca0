/* SPDX-License-Identifier: MIT */
/** @file Columns as an Arrow IPC stream: schema, batches, end. Dictionaries are not supported. */
#ifndef UPMU_COLUMNS_IPC_H
#define UPMU_COLUMNS_IPC_H

#include "columns/columns.h"

/** Append the message with the types of the columns, the first one of a stream. */
void ipc_schema(const struct columns *cs, struct textbuf *out);
/** Append the batch as a message. */
void ipc_batch(const struct columns *cs, struct textbuf *out);
/** Append the end of the stream. */
void ipc_end(struct textbuf *out);

#endif
