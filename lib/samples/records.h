/* SPDX-License-Identifier: MIT */
/** @file Records of a samples file, and their fields. */
#ifndef UPMU_SAMPLES_RECORDS_H
#define UPMU_SAMPLES_RECORDS_H

#include <linux/perf_event.h>
#include <string.h>

#include "samples/samples.h"

struct record_index {
    uint64_t time, offset;
    uint64_t weight; /**< of a timed call, in ns; RECORD_IS_EXIT */
};
#define RECORD_IS_EXIT UINT64_MAX

struct record_file {
    const char *data;
    size_t bytes;
    struct record_index *index; /**< in time order */
    size_t n, cap;
};

/** Unread part of a record; `failed` is set when a field lies beyond its end. */
struct record_cursor {
    const char *at;
    size_t left;
    bool failed;
};

static inline const char *take_bytes(struct record_cursor *c, size_t bytes)
{
    const char *at = c->at;
    if (bytes > c->left) {
        c->failed = true;
        return NULL;
    }
    c->at += bytes;
    c->left -= bytes;
    return at;
}

static inline uint64_t take_u64(struct record_cursor *c)
{
    uint64_t v = 0;
    const char *at = take_bytes(c, sizeof v);
    if (at)
        memcpy(&v, at, sizeof v);
    return v;
}

static inline uint32_t take_u32(struct record_cursor *c)
{
    uint32_t v = 0;
    const char *at = take_bytes(c, sizeof v);
    if (at)
        memcpy(&v, at, sizeof v);
    return v;
}

/** Two 32-bit numbers. */
static inline uint32_t take_u32_pair(struct record_cursor *c, uint32_t *second)
{
    uint32_t first = take_u32(c);
    *second = take_u32(c);
    return first;
}

static inline struct record_cursor record_open(const struct record_file *f, uint64_t offset,
                                               struct perf_event_header *h)
{
    memcpy(h, f->data + offset, sizeof *h);
    return (struct record_cursor){f->data + offset + sizeof *h, h->size - sizeof *h, false};
}

/* calls.c */

/** Set the weights of timed calls. @return false without memory. */
bool samples_time_calls(struct upmu_samples *s, struct record_file *f);

#endif
