/* SPDX-License-Identifier: MIT */
/* What the ranks of a job have measured, reduced to rank 0 and written there. */
#include "mpi/summary/reduce.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/clocks.h"
#include "mpi/exchange.h"
#include "mpi/state.h"
#include "mpi/summary/output.h"
#include "mpi/summary/rows.h"
#include "upmu/region.h"
#include "upmu/upmu.h"

/* Rows in a message. */
enum { CHUNK = 512, FILES_MAX = 100 };

/* ------------------------------------------------------------------------------------------------------ own rows */

static void rows_of_rank(struct summary *s, int rank, uint64_t tick)
{
    uint64_t begin = mpi_clocks_ns(mpi_process.begin), end = mpi_clocks_ns(tick);
    uint64_t time = end > begin ? end - begin : 0, mpi = mpi_clocks_ticks_ns(mpi_tls.ticks);
    if (!mpi_process.quiet)
        summary_add(s, SUMMARY_RANK, "rank", "recorded", 1, rank, UPMU_EXACT);
    summary_add(s, SUMMARY_RANK, "rank", "begin", begin, rank, UPMU_EXACT);
    summary_add(s, SUMMARY_RANK, "rank", "end", end, rank, UPMU_EXACT);
    summary_add(s, SUMMARY_RANK, "rank", "time", time, rank, UPMU_EXACT);
    summary_add(s, SUMMARY_RANK, "rank", "mpi", mpi, rank, UPMU_EXACT);
    summary_add(s, SUMMARY_RANK, "rank", "useful", time > mpi ? time - mpi : 0, rank, UPMU_EXACT);
}

static void rows_of_functions(struct summary *s, int rank)
{
    for (uint32_t i = 0; i < MPI_CALL_NUMBERS; i++) {
        const struct mpi_total *t = &mpi_process.total[i];
        const char *name = mpi_call_rows[i].name;
        uint64_t timed = __atomic_load_n(&t->calls, __ATOMIC_RELAXED);
        uint64_t calls = timed + __atomic_load_n(&mpi_process.calls[i], __ATOMIC_RELAXED);
        uint64_t bytes = __atomic_load_n(&t->bytes, __ATOMIC_RELAXED);
        if (calls)
            summary_add(s, SUMMARY_FUNCTION, name, "calls", calls, rank, UPMU_EXACT);
        if (timed)
            summary_add(s, SUMMARY_FUNCTION, name, "ns",
                        mpi_clocks_ticks_ns(__atomic_load_n(&t->ticks, __ATOMIC_RELAXED)), rank, UPMU_EXACT);
        if (bytes)
            summary_add(s, SUMMARY_FUNCTION, name, "bytes", bytes, rank, UPMU_EXACT);
    }
}

static void rows_of_region(struct summary *s, int rank, const char *name)
{
    struct upmu_region_stats stats = {.size = sizeof stats};
    if (upmu_region_stats_read(name, UPMU_ALL_THREADS, &stats) != 0 || stats.count == 0)
        return;
    summary_add(s, SUMMARY_REGION, name, "count", stats.count, rank, UPMU_EXACT);
    summary_add(s, SUMMARY_REGION, name, "ns", stats.wall.sum, rank, UPMU_EXACT);
    for (size_t i = 0; i < stats.n_events; i++) {
        struct upmu_region_event_stats e = {.size = sizeof e};
        const char *event;
        if (upmu_region_event_name_at(i, &event) == 0 &&
            upmu_region_event_stats_at(name, UPMU_ALL_THREADS, i, &e) == 0 && e.stat.count)
            summary_add(s, SUMMARY_REGION, name, event, e.stat.sum, rank, e.status);
    }
}

static void rows_of_regions(struct summary *s, int rank)
{
    size_t n = upmu_region_count();
    for (size_t i = 0; i < n; i++) {
        const char *name;
        if (upmu_region_name_at(i, &name) == 0)
            rows_of_region(s, rank, name);
    }
    struct upmu_region_health health = {.size = sizeof health};
    if (upmu_region_health_read(&health) == 0 && health.names_refused > 0)
        s->incomplete = 1;
}

/* ----------------------------------------------------------------------------------------------------------- tree */

struct reduce_head {
    uint32_t n, incomplete;
};

static void reduce_send(const struct summary *s, int to)
{
    const struct reduce_head head = {s->n, s->incomplete};
    mpi_exchange_send(mpi_exchange.comm, to, &head, sizeof head);
    for (uint32_t i = 0; i < s->n; i += CHUNK) {
        uint32_t n = s->n - i < CHUNK ? s->n - i : CHUNK;
        mpi_exchange_send(mpi_exchange.comm, to, &s->rows[i], n * sizeof *s->rows);
    }
}

/* Without memory the rows are received and dropped: the sender must not wait. */
static void reduce_receive(struct summary *s, int from)
{
    static struct summary_row dropped[CHUNK];
    struct reduce_head head;
    mpi_exchange_await(mpi_exchange.comm, from, &head, sizeof head);
    struct summary_row *rows = head.n ? malloc(head.n * sizeof *rows) : NULL;
    for (uint32_t i = 0; i < head.n; i += CHUNK) {
        uint32_t n = head.n - i < CHUNK ? head.n - i : CHUNK;
        mpi_exchange_await(mpi_exchange.comm, from, rows ? &rows[i] : dropped, n * sizeof *rows);
    }
    summary_merge(s, rows, rows ? head.n : 0, head.incomplete || (head.n && !rows));
    free(rows);
}

/* In round k, rank r receives from r + k, or sends to r - k and has finished. */
static void reduce_tree(struct summary *s)
{
    int rank = mpi_exchange.rank;
    for (int k = 1; k < mpi_exchange.size; k *= 2) {
        if (rank & k) {
            reduce_send(s, rank - k);
            return;
        }
        if (rank + k < mpi_exchange.size)
            reduce_receive(s, rank + k);
    }
}

/* ---------------------------------------------------------------------------------------------------------- files */

/* A recording may have several jobs: the first file has no number. */
static void summary_write(const struct textbuf *text, const char *suffix)
{
    char path[PATH_MAX], dir[PATH_MAX], number[16] = "";
    mpi_exchange_dir(dir);
    for (int i = 2; i < FILES_MAX && !text->failed; i++) {
        if (snprintf(path, sizeof path, "%s/mpi-summary%s.%s", dir, number, suffix) >= (int)sizeof path)
            return;
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            (void)textbuf_write(text, fd); /* what is missing on a full disk is in the traces */
            close(fd);
            return;
        }
        snprintf(number, sizeof number, "-%d", i);
    }
}

void summary_reduce(uint64_t tick)
{
    struct summary s = {0};
    struct textbuf json = {0}, text = {0};
    rows_of_rank(&s, mpi_exchange.rank, tick);
    rows_of_functions(&s, mpi_exchange.rank);
    rows_of_regions(&s, mpi_exchange.rank);
    summary_sort(&s);
    reduce_tree(&s);
    if (mpi_exchange.rank == 0) {
        summary_json(&s, mpi_exchange.size, &json);
        summary_text(&s, mpi_exchange.size, &text);
        summary_write(&json, "json");
        summary_write(&text, "txt");
    }
    textbuf_free(&json);
    textbuf_free(&text);
    summary_free(&s);
}
