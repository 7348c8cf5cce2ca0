/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events of a recording as columns, through the Arrow C stream interface, which data tools read without a copy.
 * Link with libupmu_analysis; no Arrow library is needed. docs/guide/columns.md lists the columns.
 *
 *     struct upmu_trace *t;
 *     struct ArrowArrayStream stream;
 *     if (upmu_trace_open(&t, "DIR") < 0 || upmu_trace_arrow(t, NULL, &stream) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     else
 *         duckdb_arrow_scan(connection, "events", (duckdb_arrow_stream)&stream);
 */
#ifndef UPMU_ARROW_H
#define UPMU_ARROW_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/trace.h"

UPMU_BEGIN_DECLS

/* The two interfaces as Arrow's specification defines them, with its include guards. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/** Type of an array. */
struct ArrowSchema {
    const char *format;                    /**< type as a format string */
    const char *name;                      /**< name of the column */
    const char *metadata;                  /**< NULL */
    int64_t flags;                         /**< ARROW_FLAG_ */
    int64_t n_children;                    /**< number of columns of a struct */
    struct ArrowSchema **children;         /**< the columns */
    struct ArrowSchema *dictionary;        /**< type of the values of a dictionary */
    void (*release)(struct ArrowSchema *); /**< frees it; NULL once freed */
    void *private_data;                    /**< of the producer */
};

/** Values of an array. */
struct ArrowArray {
    int64_t length;                       /**< number of values */
    int64_t null_count;                   /**< number of values that are missing */
    int64_t offset;                       /**< values to skip in the buffers */
    int64_t n_buffers;                    /**< number of buffers */
    int64_t n_children;                   /**< number of columns of a struct */
    const void **buffers;                 /**< bits of the values present, then the values */
    struct ArrowArray **children;         /**< the columns */
    struct ArrowArray *dictionary;        /**< values of a dictionary */
    void (*release)(struct ArrowArray *); /**< frees it; NULL once freed */
    void *private_data;                   /**< of the producer */
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/** A sequence of arrays of one type. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out); /**< type; 0 or an errno value */
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);    /**< next array, released at the end */
    const char *(*get_last_error)(struct ArrowArrayStream *);              /**< message of the last failure */
    void (*release)(struct ArrowArrayStream *);                            /**< frees it; NULL once freed */
    void *private_data;                                                    /**< of the producer */
};
#endif

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_arrow_opts {
    size_t size; /**< sizeof(struct upmu_arrow_opts) */
    size_t rows; /**< largest number of events of an array; 0: 16384. At most 2^24 */
    /** Called for each part of the recording that could not be read, with its message; the stream continues after it. NULL:
     *  get_next() fails with EIO there, and may be called again for the rest. */
    void (*damage)(void *arg, const char *message);
    void *arg; /**< first argument of `damage`, valid until the stream is released */
};
#define UPMU_ARROW_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_arrow_opts, 32)

/**
 * The events of a trace from here on as a stream of arrays, one event per row, in the order of upmu_trace_next() and
 * within upmu_trace_filter(). On success the stream owns the trace, and releasing the stream closes it.
 * @param trace closed by the stream; unchanged if the call fails
 * @param opts  may be NULL; not used after the call
 * @param out   out: to be released by its member `release`
 * @return 0; UPMU_E_INVAL (NULL, `opts`), UPMU_E_NOMEM. The stream may be used by one thread at a time; its arrays are
 *         independent of it and of each other, and may be released in any thread.
 */
UPMU_API UPMU_CHECKED int upmu_trace_arrow(struct upmu_trace *trace, const struct upmu_arrow_opts *opts,
                                           struct ArrowArrayStream *out);

UPMU_END_DECLS

#endif
