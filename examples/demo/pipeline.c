/* SPDX-License-Identifier: MIT */
/*
 * The pipeline: one reading thread, N compressing and verifying threads, one thread that writes in order.
 *
 * A fixed number of blocks circulates: spare -> (reader) -> full -> (workers) -> done -> (writer) -> spare. libupmu is
 * used in its three forms: handles around the stages of a block, the scope form around a whole block, and strings where
 * a thread waits.
 */
#include "pipeline.h"

#include <bzlib.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "queue.h"
#include "upmu/region.h"

enum {
    BLOCK_BYTES = 900 * 1000,                             /* what libbz2 compresses as a whole at level 9 */
    PACKED_BYTES = BLOCK_BYTES + BLOCK_BYTES / 100 + 600, /* the worst case libbz2 documents */
    BLOCKS_PER_WORKER = 4,
};

struct block {
    uint64_t index; /* position in the input */
    unsigned plain_len, packed_len;
    char *plain, *packed, *again;
};

struct pipeline {
    int in, out;
    struct queue spare, full, done;
    struct block *blocks;
    size_t n_blocks;
    atomic_bool failed;
    struct pipeline_result result;
};

static void fail(struct pipeline *p, const char *what, const char *why)
{
    fprintf(stderr, "demo: %s: %s\n", what, why);
    atomic_store(&p->failed, true);
}

/* ------------------------------------------------------------------------------------------------ workers */

static bool compress_block(struct pipeline *p, struct block *b)
{
    static upmu_region_t region = UPMU_REGION("compress");
    upmu_region_enter(&region);
    b->packed_len = PACKED_BYTES;
    int rc = BZ2_bzBuffToBuffCompress(b->packed, &b->packed_len, b->plain, b->plain_len, 9, 0, 0);
    upmu_region_leave(&region);
    if (rc != BZ_OK)
        fail(p, "compress", "libbz2 gave up");
    return rc == BZ_OK;
}

static bool verify_block(struct pipeline *p, struct block *b)
{
    static upmu_region_t verify = UPMU_REGION("verify"), decompress = UPMU_REGION("decompress");
    unsigned len = BLOCK_BYTES;
    upmu_region_enter(&verify);
    upmu_region_enter(&decompress);
    int rc = BZ2_bzBuffToBuffDecompress(b->again, &len, b->packed, b->packed_len, 0, 0);
    upmu_region_leave(&decompress);
    bool same = rc == BZ_OK && len == b->plain_len && memcmp(b->again, b->plain, len) == 0;
    upmu_region_leave(&verify);
    if (!same)
        fail(p, "verify", "a block did not come back as it was");
    return same;
}

static void *worker(void *arg)
{
    struct pipeline *p = arg;
    pthread_setname_np(pthread_self(), "worker");
    for (;;) {
        upmu_region_begin("wait for work");
        struct block *b = queue_take(&p->full);
        upmu_region_end("wait for work");
        if (!b)
            return NULL;
        {
            UPMU_SCOPE("block");
            /* After a failure blocks are only passed on, so that every stage comes to its end. */
            if (atomic_load(&p->failed) || !compress_block(p, b) || !verify_block(p, b))
                b->packed_len = 0;
        }
        queue_put(&p->done, b);
    }
}

/* ------------------------------------------------------------------------------------------------- writer */

static bool write_block(struct pipeline *p, const struct block *b)
{
    static upmu_region_t region = UPMU_REGION("write");
    upmu_region_enter(&region);
    size_t at = 0;
    ssize_t n = 0;
    while (at < b->packed_len && (n >= 0 || errno == EINTR)) {
        n = write(p->out, b->packed + at, b->packed_len - at);
        at += n > 0 ? (size_t)n : 0;
    }
    upmu_region_leave(&region);
    if (at < b->packed_len)
        fail(p, "write", strerror(errno));
    return at == b->packed_len;
}

static void finish_block(struct pipeline *p, struct block *b)
{
    if (!atomic_load(&p->failed) && write_block(p, b)) {
        p->result.blocks++;
        p->result.bytes_in += b->plain_len;
        p->result.bytes_out += b->packed_len;
    }
    queue_put(&p->spare, b);
}

static void *writer(void *arg)
{
    struct pipeline *p = arg;
    pthread_setname_np(pthread_self(), "writer");
    /* Blocks in flight have different indices modulo n_blocks: a slot each. */
    struct block **waiting = calloc(p->n_blocks, sizeof *waiting);
    if (!waiting)
        fail(p, "write", "out of memory");
    uint64_t next = 0;
    for (;;) {
        upmu_region_begin("wait for a result");
        struct block *b = queue_take(&p->done);
        upmu_region_end("wait for a result");
        if (!b)
            break;
        if (!waiting) {
            finish_block(p, b);
            continue;
        }
        waiting[b->index % p->n_blocks] = b;
        while ((b = waiting[next % p->n_blocks]) != NULL) {
            waiting[next++ % p->n_blocks] = NULL;
            finish_block(p, b);
        }
    }
    free(waiting);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- reader */

/* Fill a block. A full one ends a read; so does the end of the input. */
static bool read_block(struct pipeline *p, struct block *b)
{
    static upmu_region_t region = UPMU_REGION("read");
    upmu_region_enter(&region);
    b->plain_len = 0;
    ssize_t n = 1;
    while (b->plain_len < BLOCK_BYTES && n != 0 && (n > 0 || errno == EINTR)) {
        n = read(p->in, b->plain + b->plain_len, BLOCK_BYTES - b->plain_len);
        b->plain_len += n > 0 ? (unsigned)n : 0;
    }
    upmu_region_leave(&region);
    if (n < 0)
        fail(p, "read", strerror(errno));
    return n >= 0 && b->plain_len > 0;
}

static void reader(struct pipeline *p, void (*progress)(uint64_t bytes))
{
    uint64_t bytes = 0;
    for (uint64_t index = 0;; index++) {
        upmu_region_begin("wait for a spare block");
        struct block *b = queue_take(&p->spare);
        upmu_region_end("wait for a spare block");
        if (!b || atomic_load(&p->failed) || !read_block(p, b))
            return;
        b->index = index;
        bytes += b->plain_len;
        queue_put(&p->full, b);
        if (progress)
            progress(bytes);
    }
}

/* -------------------------------------------------------------------------------------------------- whole */

static int make_blocks(struct pipeline *p, unsigned workers)
{
    p->n_blocks = (size_t)workers * BLOCKS_PER_WORKER;
    p->blocks = calloc(p->n_blocks, sizeof *p->blocks);
    if (!p->blocks || queue_init(&p->spare, p->n_blocks) < 0 || queue_init(&p->full, p->n_blocks) < 0 ||
        queue_init(&p->done, p->n_blocks) < 0)
        return -1;
    for (size_t i = 0; i < p->n_blocks; i++) {
        struct block *b = &p->blocks[i];
        b->plain = malloc(BLOCK_BYTES);
        b->packed = malloc(PACKED_BYTES);
        b->again = malloc(BLOCK_BYTES);
        if (!b->plain || !b->packed || !b->again)
            return -1;
        queue_put(&p->spare, b);
    }
    return 0;
}

static void free_blocks(struct pipeline *p)
{
    for (size_t i = 0; p->blocks && i < p->n_blocks; i++) {
        free(p->blocks[i].plain);
        free(p->blocks[i].packed);
        free(p->blocks[i].again);
    }
    free(p->blocks);
    queue_destroy(&p->done);
    queue_destroy(&p->full);
    queue_destroy(&p->spare);
}

/* Start the threads, read in this one, and take the threads down in the order in which blocks flow. */
static void run_threads(struct pipeline *p, pthread_t *threads, unsigned workers, void (*progress)(uint64_t bytes))
{
    pthread_t write_thread;
    unsigned started = 0;
    bool have_writer = pthread_create(&write_thread, NULL, writer, p) == 0;
    while (have_writer && started < workers && pthread_create(&threads[started], NULL, worker, p) == 0)
        started++;
    if (started == 0)
        fail(p, "start", "no thread could be created");
    else
        reader(p, progress);
    upmu_mark("input ended");
    queue_close(&p->full);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    queue_close(&p->done);
    if (have_writer)
        pthread_join(write_thread, NULL);
}

int pipeline_run(int in, int out, unsigned workers, void (*progress)(uint64_t bytes), struct pipeline_result *result)
{
    struct pipeline p = {.in = in, .out = out};
    pthread_t *threads = calloc(workers, sizeof *threads);
    if (threads && make_blocks(&p, workers) == 0)
        run_threads(&p, threads, workers, progress);
    else
        fail(&p, "start", "out of memory");
    free(threads);
    free_blocks(&p);
    *result = p.result;
    return atomic_load(&p.failed) ? -1 : 0;
}
