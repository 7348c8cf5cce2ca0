/* SPDX-License-Identifier: MIT */
/* Arrays that grow, and times cut to the stretch. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi_job/job.h"

int job_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading MPI events");
}

void *job_grow(void *array, size_t *n, size_t *cap, size_t bytes)
{
    enum { FIRST = 16 };
    void *data;
    memcpy(&data, array, sizeof data);
    if (*n == *cap) {
        size_t wanted = *cap ? *cap * 2 : FIRST;
        void *more = wanted > SIZE_MAX / 2 / bytes ? NULL : realloc(data, wanted * bytes);
        if (!more) {
            (void)job_no_memory();
            return NULL;
        }
        memcpy(array, &more, sizeof more);
        data = more;
        *cap = wanted;
    }
    char *element = (char *)data + (*n)++ * bytes;
    memset(element, 0, bytes);
    return element;
}

uint64_t job_cut(const struct upmu_mpi *m, uint64_t ns)
{
    return ns < m->from_ns ? m->from_ns : ns > m->to_ns ? m->to_ns : ns;
}

uint64_t job_within(const struct upmu_mpi *m, uint64_t begin, uint64_t end)
{
    return job_cut(m, end) - job_cut(m, begin);
}

bool job_touches(const struct upmu_mpi *m, uint64_t begin, uint64_t end)
{
    return begin <= m->to_ns && end >= m->from_ns;
}

uint64_t job_share(const struct upmu_mpi *m, uint64_t amount, uint64_t begin, uint64_t end)
{
    if (end <= begin)
        return job_touches(m, begin, end) ? amount : 0;
    double each = (double)amount / (double)(end - begin);
    uint64_t until_end = end <= m->to_ns ? amount : (uint64_t)(each * (double)(job_cut(m, end) - begin));
    return begin > m->to_ns || end < m->from_ns ? 0
                                                : until_end - (uint64_t)(each * (double)(job_cut(m, begin) - begin));
}

int job_add_wait(struct upmu_mpi *m, const struct job_wait *w, uint64_t until, uint64_t end)
{
    if (until > end)
        until = end;
    if (until <= w->begin || w->rank == w->cause)
        return 0;
    struct job_wait *to = job_grow(&m->waits, &m->n_waits, &m->cap_waits, sizeof *m->waits);
    if (!to)
        return UPMU_E_NOMEM;
    *to = *w;
    to->ns = until - w->begin;
    return 0;
}
