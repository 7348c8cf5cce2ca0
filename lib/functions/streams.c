/* SPDX-License-Identifier: MIT */
/*
 * Events of one thread.
 *
 * A node of the tree is a whole call path. So the calls that were open where a ring begins are known from its first event, and a
 * return whose call is missing, or the reverse, is noticed. Files may be damaged: numbers of nodes are checked.
 */
#include "functions/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"

enum { BLOCK_WORDS = FUNC_BLOCK_BYTES / sizeof(uint64_t), DEPTH_MAX = 1 << 20 };

static int stream_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading events of functions");
}

/* ------------------------------------------------------------------------------------------------------- blocks */

bool stream_locate(struct functions_stream *s, const struct func_tree *t)
{
    uint64_t end = t->events_end + FUNC_BLOCK_SLACK, at = t->event < end ? t->event : end;
    if (!t->events_base || at <= t->events_base || at - t->events_base > t->events_bytes ||
        t->events_from % FUNC_BLOCK_BYTES != 0 || t->events_bytes % FUNC_BLOCK_BYTES != 0)
        return false;
    uint64_t position = t->events_from + (at - t->events_base), last = (position - 1) / FUNC_BLOCK_BYTES;
    bool wrapped = t->events_ring && t->events_wraps > 0;
    s->one_leaf = t->version == FUNC_VERSION_ONE_LEAF;
    s->in_ring = wrapped ? t->events_bytes / FUNC_BLOCK_BYTES : 0;
    s->first_block = wrapped ? (last + 1) % s->in_ring : 0;
    s->blocks = wrapped ? s->in_ring : last + 1;
    s->last_bytes = position - last * FUNC_BLOCK_BYTES;
    return true;
}

uint64_t stream_bytes(const struct functions_stream *s)
{
    return s->blocks ? (s->blocks - 1) * FUNC_BLOCK_BYTES + s->last_bytes : 0;
}

/* The file is opened for each block: there may be more threads than descriptors. */
static int stream_read_block(struct functions_stream *s)
{
    uint64_t number = s->first_block + s->block;
    if (s->in_ring)
        number %= s->in_ring;
    size_t bytes = s->block + 1 == s->blocks ? s->last_bytes : FUNC_BLOCK_BYTES;
    int fd = open(s->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, s->words, bytes, (off_t)(number * FUNC_BLOCK_BYTES));
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return upmu_fail(UPMU_E_IO, "cannot read \"%s\": %s", s->path, strerror(error));
    s->block++;
    s->n = (size_t)n / sizeof(uint64_t);
    s->at = 0;
    return 0;
}

static int stream_set_word(struct functions_stream *s, uint64_t word, uint64_t tick)
{
    s->tick = tick > s->tick ? tick : s->tick;
    s->word = word;
    return 0;
}

/* Of a call and its return in one word the call; the return comes next. */
static int stream_split(struct functions_stream *s, uint64_t word)
{
    uint32_t what = (uint32_t)(word >> 32) & ~FUNC_EVENT_LEAF;
    uint32_t bits = s->one_leaf                     ? FUNC_LEAF_BITS_BEFORE
                    : (what & FUNC_EVENT_LEAF_LONG) ? FUNC_LEAF_BITS_LONG
                                                    : FUNC_LEAF_BITS;
    uint64_t node = what & ((1u << bits) - 1), tick = s->high | (uint32_t)word;
    s->leaf = (node | FUNC_EVENT_EXIT) << 32;
    s->leaf_tick = tick + ((s->one_leaf ? what : what & ~FUNC_EVENT_LEAF_LONG) >> bits);
    return stream_set_word(s, node << 32 | (uint32_t)word, tick);
}

/* The next word that is an event of a function. @return 0; UPMU_E_END; UPMU_E_IO. */
static int stream_next_word(struct functions_stream *s)
{
    if (s->leaf) {
        uint64_t word = s->leaf;
        s->leaf = 0;
        return stream_set_word(s, word, s->leaf_tick);
    }
    for (;;) {
        while (s->at == s->n) {
            if (s->block == s->blocks)
                return UPMU_E_END;
            int rc = stream_read_block(s);
            if (rc < 0)
                return rc;
        }
        uint64_t word = s->words[s->at++];
        uint32_t what = (uint32_t)(word >> 32);
        if (what == FUNC_EVENT_TIME) {
            s->high = word << 32;
        } else if (what == FUNC_EVENT_THREAD) {
            s->next_tid = (uint32_t)word;
            s->closing = s->depth;
            return 0;
        } else if ((what & (FUNC_EVENT_EXIT | FUNC_EVENT_LEAF)) == FUNC_EVENT_LEAF) {
            return stream_split(s, word);
        } else if (word != 0) {
            return stream_set_word(s, word, s->high | (uint32_t)word);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- events */

static uint64_t stream_raw_ns(const struct functions_stream *s)
{
    return s->begin_raw_ns +
           (s->tick > s->begin_tick ? (uint64_t)((double)(s->tick - s->begin_tick) * s->ns_per_tick) : 0);
}

static int stream_enter(struct functions_stream *s, uint32_t node, bool inferred, struct stream_event *out)
{
    struct stream_call *all = array_reserve(s->stack, s->depth, &s->cap, sizeof *all);
    if (!all)
        return stream_no_memory();
    s->stack = all;
    uint64_t now = stream_raw_ns(s);
    all[s->depth] = (struct stream_call){node, now};
    *out = (struct stream_event){now, now, s->rows[node], (uint32_t)s->depth++, s->tid, false, inferred};
    return 0;
}

static int stream_leave(struct functions_stream *s, bool inferred, struct stream_event *out)
{
    const struct stream_call *c = &s->stack[--s->depth];
    *out = (struct stream_event){stream_raw_ns(s), c->begin_raw_ns, s->rows[c->node], (uint32_t)s->depth, s->tid, true,
                                 inferred};
    return 0;
}

/* The calls that were open before the first event of a ring. */
static void stream_open_before(struct functions_stream *s, uint32_t node, bool leaves)
{
    uint32_t at = leaves ? node : s->parents[node];
    while (at >= FUNC_NODES_FIXED && s->n_opening < s->n_nodes) {
        if (s->rows[at] != UINT32_MAX)
            s->opening[s->n_opening++] = at;
        at = s->parents[at];
    }
}

/* What a word means, with the calls before that it ends. @return 1: nothing is to be reported of it. */
static int stream_apply(struct functions_stream *s, struct stream_event *out)
{
    uint32_t what = (uint32_t)(s->word >> 32), node = what & ~FUNC_EVENT_EXIT;
    size_t at = s->depth;
    s->word = 0;
    if (node >= s->n_nodes || s->rows[node] == UINT32_MAX)
        return 1;
    if (!(what & FUNC_EVENT_EXIT))
        return s->depth < DEPTH_MAX ? stream_enter(s, node, false, out) : 1;
    while (at > 0 && s->stack[at - 1].node != node)
        at--;
    if (at == 0)
        return 1;
    if (at == s->depth)
        return stream_leave(s, false, out);
    s->closing = s->depth - at;
    s->word = (uint64_t)what << 32;
    return 1;
}

/* Calls that are open at the end, end with the recording. */
static void stream_end(struct functions_stream *s)
{
    s->ended = true;
    s->closing = s->depth;
    s->tick = s->end_tick > s->tick ? s->end_tick : s->tick;
}

int stream_next(struct functions_stream *s, struct stream_event *out)
{
    for (;;) {
        if (s->closing > 0) {
            s->closing--;
            return stream_leave(s, true, out);
        }
        if (s->next_tid) {
            s->tid = s->next_tid;
            s->next_tid = 0;
        }
        if (s->n_opening > 0)
            return stream_enter(s, s->opening[--s->n_opening], true, out);
        int rc = s->ended ? UPMU_E_END : s->word ? 0 : stream_next_word(s);
        if (rc == UPMU_E_END && !s->ended) {
            stream_end(s);
            continue;
        }
        if (rc < 0)
            return rc;
        if (!s->word)
            continue;
        uint32_t what = (uint32_t)(s->word >> 32), node = what & ~FUNC_EVENT_EXIT;
        if (!s->begun) {
            s->begun = true;
            if (s->in_ring && node < s->n_nodes) {
                stream_open_before(s, node, what & FUNC_EVENT_EXIT);
                continue;
            }
        }
        rc = stream_apply(s, out);
        if (rc <= 0)
            return rc;
    }
}

int stream_begin(struct functions_stream *s)
{
    s->words = s->words ? s->words : malloc(FUNC_BLOCK_BYTES);
    s->opening = s->opening ? s->opening : calloc(s->n_nodes + 1, sizeof *s->opening);
    if (!s->words || !s->opening)
        return stream_no_memory();
    s->block = s->n = s->at = s->depth = s->closing = s->n_opening = 0;
    s->high = s->word = s->leaf = 0;
    s->tick = s->begin_tick;
    s->tid = s->first_tid;
    s->next_tid = 0;
    s->begun = s->ended = false;
    return 0;
}

void stream_free(struct functions_stream *s)
{
    free(s->path);
    free(s->rows);
    free(s->parents);
    free(s->words);
    free(s->stack);
    free(s->opening);
}
