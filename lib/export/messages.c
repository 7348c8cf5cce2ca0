/* SPDX-License-Identifier: MIT */
/* Messages of MPI as arrows between the spans of calls. */
#include "export/messages.h"

#include <stdlib.h>

struct export_messages {
    struct upmu_mpi *mpi;
    size_t n;
    struct map first[2]; /**< of those that begin, or end, in a thread at a time: number of the message */
    uint32_t *next[2];   /**< the next one there, by number; 0: none */
};

static uint64_t thread_key(uint32_t process, int32_t tid)
{
    return (uint64_t)process << 32 | (uint32_t)tid;
}

static bool messages_add(struct export_messages *m, int received, uint64_t thread, uint64_t ns, uint32_t number)
{
    uint32_t before = map_find(&m->first[received], thread, ns);
    m->next[received][number] = before == MAP_NONE ? 0 : before;
    return map_put(&m->first[received], thread, ns, number);
}

static int messages_index(struct export_messages *m)
{
    struct upmu_mpi_message x = {.size = sizeof x};
    while (m->n < MAP_NONE - 1 && upmu_mpi_message_at(m->mpi, m->n, &x) == 0)
        m->n++;
    m->next[0] = calloc(m->n + 1, sizeof *m->next[0]);
    m->next[1] = calloc(m->n + 1, sizeof *m->next[1]);
    bool done = m->next[0] && m->next[1];
    for (uint32_t i = 0; done && i < m->n && upmu_mpi_message_at(m->mpi, i, &x) == 0; i++)
        done = messages_add(m, 0, thread_key(x.send_process, x.send_tid), x.send_ns, i + 1) &&
               messages_add(m, 1, thread_key(x.receive_process, x.receive_tid), x.receive_ns, i + 1);
    return done ? 0 : export_no_memory();
}

/* Read at the first call of MPI. Calls of processes that are no ranks have no messages. */
static int messages_open(struct export_job *job)
{
    job->messages = calloc(1, sizeof *job->messages);
    if (!job->messages)
        return export_no_memory();
    int rc = upmu_mpi_open(&job->messages->mpi, job->dir);
    if (rc == UPMU_E_STATE)
        return 0;
    return rc == 0 ? messages_index(job->messages) : rc;
}

int messages_next(struct export_job *job, const struct span *s, struct export_arrow *a)
{
    int rc = s->kind == SPAN_MPI && !job->messages ? messages_open(job) : 0, received = a->received;
    if (rc != 0 || s->kind != SPAN_MPI || job->messages->n == 0)
        return rc;
    const struct export_messages *m = job->messages;
    const struct ov_thread *t = export_thread(job, s->thread);
    uint32_t number = a->id ? m->next[received][a->id]
                            : map_find(&m->first[received], thread_key(t->process, (int32_t)t->tid),
                                       received ? s->end_ns : s->begin_ns);
    a->message.size = sizeof a->message;
    if (number == 0 || number == MAP_NONE || upmu_mpi_message_at(m->mpi, number - 1, &a->message) != 0)
        return 0;
    a->id = number;
    return 1;
}

void messages_free(struct export_job *job)
{
    struct export_messages *m = job->messages;
    if (!m)
        return;
    for (int i = 0; i < 2; i++) {
        map_free(&m->first[i]);
        free(m->next[i]);
    }
    upmu_mpi_close(m->mpi);
    free(m);
    job->messages = NULL;
}
