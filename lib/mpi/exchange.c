/* SPDX-License-Identifier: MIT */
/* Messages of the recorder's own between the ranks of a job. */
#include "mpi/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/tick.h"
#include "mpi/abi.h"
#include "mpi/state.h"
#include "region/recorder.h"

enum {
    TAG_HELLO = 29091, /* on MPI_COMM_WORLD; MPI guarantees tags up to 32,767 */
    TAG_ANSWER,
    TAG_OWN, /* on communicators of our own */
    PAUSE_NS = 20000,
    SPINS = 500,
    ALL_HERE = 1,
};

/* Rank 0 waits that long after the last rank that has come, unless UPMU_MPI_EXCHANGE has another number. */
enum { WAIT_S = 5, WAIT_S_MAX = 3600 };
#define EXCHANGE_NS_PER_S UINT64_C(1000000000)
/* The others see so often whether rank 0 has refused. */
#define CHECK_NS UINT64_C(50000000)

struct mpi_exchange mpi_exchange;

/** A receive of rank 0, from another rank. */
struct hello {
    long request;
    uint32_t text;
    bool here;
};

static struct {
    struct hello *hellos; /* of each rank; NULL: not rank 0 */
    char path[PATH_MAX];
} exchange;

/* -------------------------------------------------------------------------------------------------------- messages */

static void exchange_pause(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    (void)nanosleep(&pause, NULL); /* a shorter pause does no harm */
}

void mpi_exchange_send(long comm, int to, const void *bytes, size_t n)
{
    (void)mpi_own[MPI_OWN_Send]((long)bytes, (long)n, mpi_abi.byte, (long)to, (long)TAG_OWN, comm);
}

static bool request_is_done(long *request)
{
    int flag = 0;
    return mpi_own[MPI_OWN_Test]((long)request, (long)&flag, mpi_abi.status_ignore) == 0 && flag;
}

static long exchange_request(long comm, int from, void *bytes, size_t n)
{
    long request = 0;
    (void)mpi_own[MPI_OWN_Irecv]((long)bytes, (long)n, mpi_abi.byte, (long)from, (long)TAG_OWN, comm, (long)&request);
    return request;
}

void mpi_exchange_receive(long comm, int from, void *bytes, size_t n)
{
    long request = exchange_request(comm, from, bytes, n);
    for (int i = 0; !request_is_done(&request); i++)
        if (i > SPINS)
            (void)sched_yield(); /* the sender may be waiting for this CPU: not all MPIs give it away */
}

void mpi_exchange_await(long comm, int from, void *bytes, size_t n)
{
    long request = exchange_request(comm, from, bytes, n);
    while (!request_is_done(&request))
        exchange_pause();
}

/* In round k, ranks 0 to k - 1 send to those that are so many above. */
void mpi_exchange_spread(long comm, void *bytes, size_t n)
{
    int rank = 0, size = 0;
    if (!mpi_comm_place(comm, &rank, &size))
        return;
    for (int k = 1; k < size; k *= 2) {
        if (rank >= k && rank < 2 * k)
            mpi_exchange_await(comm, rank - k, bytes, n);
        else if (rank < k && rank + k < size)
            mpi_exchange_send(comm, rank + k, bytes, n);
    }
}

void mpi_exchange_collect(uint64_t word)
{
    (void)mpi_own[MPI_OWN_Allgather]((long)&word, (long)sizeof word, mpi_abi.byte, (long)mpi_exchange.words,
                                     (long)sizeof word, mpi_abi.byte, mpi_exchange.comm);
}

long mpi_exchange_split(int color)
{
    long comm = 0;
    (void)mpi_own[MPI_OWN_Comm_split](mpi_exchange.comm, (long)color, (long)mpi_exchange.rank, (long)&comm);
    return mpi_handle_load((long)&comm);
}

void mpi_exchange_leave(long comm)
{
    (void)mpi_own[MPI_OWN_Comm_free]((long)&comm);
}

/* ------------------------------------------------------------------------------------------------------- agreement */

static bool exchange_find_path(void)
{
    const char *dir = upmu_recorder_dir_();
    int length = (int)upmu_recorder_recording_();
    return dir && snprintf(exchange.path, sizeof exchange.path, "%.*s/.mpi-%016" PRIx64 "-%d", length, dir,
                           mpi_process.job, (int)mpi_process.size) < (int)sizeof exchange.path;
}

void mpi_exchange_dir(char dir[PATH_MAX])
{
    const char *slash = strrchr(exchange.path, '/');
    snprintf(dir, PATH_MAX, "%.*s", slash ? (int)(slash - exchange.path) : 0, exchange.path);
}

/* Seconds; 0: there is to be no exchange. */
static long exchange_wait(void)
{
    const char *value = secure_getenv("UPMU_MPI_EXCHANGE");
    long wait = value && *value ? strtol(value, NULL, 10) : WAIT_S;
    return wait >= 0 && wait <= WAIT_S_MAX ? wait : WAIT_S;
}

static bool exchange_is_wanted(void)
{
    return mpi_process.rank >= 0 && mpi_process.size > 1 && mpi_process.job && exchange_wait() > 0;
}

void mpi_exchange_announce(void)
{
    if (!exchange_is_wanted() || !exchange_find_path() || !upmu_recorder_trace_clock_(&mpi_exchange.clock))
        return;
    size_t n = (size_t)mpi_process.size, hellos = mpi_process.rank == 0 ? n * sizeof *exchange.hellos : 0;
    void *p = mmap(NULL, hellos + n * sizeof *mpi_exchange.words, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED)
        return;
    mpi_exchange.words = (uint64_t *)((char *)p + hellos);
    if (mpi_process.rank != 0)
        return;
    exchange.hellos = p;
    (void)unlink(exchange.path);
    int fd = open(exchange.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

static void request_receive(long *request, uint32_t *text, int from, int tag)
{
    (void)mpi_own[MPI_OWN_Irecv]((long)text, (long)sizeof *text, mpi_abi.byte, (long)from, (long)tag, mpi_abi.world,
                                 (long)request);
}

static void request_send(uint32_t text, int to, int tag)
{
    (void)mpi_own[MPI_OWN_Send]((long)&text, (long)sizeof text, mpi_abi.byte, (long)to, (long)tag, mpi_abi.world);
}

static void request_cancel(long *request)
{
    (void)mpi_own[MPI_OWN_Cancel]((long)request);
    (void)mpi_own[MPI_OWN_Wait]((long)request, mpi_abi.status_ignore);
}

/* @return how many of the ranks are missing still. */
static int hellos_count_missing(struct hello *h, int size)
{
    int missing = 0;
    for (int i = 1; i < size; i++) {
        h[i].here = h[i].here || request_is_done(&h[i].request);
        missing += !h[i].here;
    }
    return missing;
}

static bool hellos_wait(struct hello *h, int size)
{
    uint64_t last = tick_clock_ns(CLOCK_MONOTONIC);
    uint64_t wait = (uint64_t)exchange_wait() * EXCHANGE_NS_PER_S;
    int before = size, missing;
    while ((missing = hellos_count_missing(h, size)) > 0) {
        uint64_t now = tick_clock_ns(CLOCK_MONOTONIC);
        last = missing < before ? now : last;
        before = missing;
        if (now - last > wait)
            return false;
        exchange_pause();
    }
    return true;
}

static bool exchange_was_refused(void)
{
    struct stat st;
    return stat(exchange.path, &st) == 0 && st.st_size != 0;
}

/* Ranks that come later find the file, too, and what they send must not reach the receives of the program: those of our own stay. */
static bool exchange_ask_all(int size)
{
    struct hello *h = exchange.hellos;
    if (!h)
        return false;
    for (int i = 1; i < size; i++)
        request_receive(&h[i].request, &h[i].text, i, TAG_HELLO);
    if (!hellos_wait(h, size)) {
        (void)truncate(exchange.path, 1); /* it is our own, and there are no blocks to find space for */
        return false;
    }
    (void)unlink(exchange.path); /* all have seen it */
    for (int i = 1; i < size; i++)
        request_send(ALL_HERE, i, TAG_ANSWER);
    exchange.hellos = NULL;
    return true;
}

/* Rank 0 either answers or refuses. */
static bool exchange_ask_first(void)
{
    uint32_t answer = 0;
    long request = 0;
    if (access(exchange.path, F_OK) != 0 || exchange_was_refused())
        return false;
    request_receive(&request, &answer, 0, TAG_ANSWER);
    request_send((uint32_t)mpi_process.rank, 0, TAG_HELLO);
    uint64_t checked = tick_clock_ns(CLOCK_MONOTONIC);
    while (!request_is_done(&request)) {
        uint64_t now = tick_clock_ns(CLOCK_MONOTONIC);
        if (now - checked > CHECK_NS && exchange_was_refused()) {
            request_cancel(&request);
            return false;
        }
        checked = now - checked > CHECK_NS ? now : checked;
        exchange_pause();
    }
    return answer == ALL_HERE;
}

void mpi_exchange_start(void)
{
    struct mpi_exchange *x = &mpi_exchange;
    if (exchange.hellos && (mpi_process.rank != 0 || mpi_launcher_differs))
        (void)truncate(exchange.path, 1);
    if (!mpi_exchange.words || mpi_launcher_differs)
        return;
    x->rank = mpi_process.rank;
    x->size = mpi_process.size;
    x->on = x->rank == 0 ? exchange_ask_all(x->size) : exchange_ask_first();
    x->comm = mpi_abi.world;
}

bool mpi_exchange_agree(bool takes_part)
{
    if (!mpi_exchange.on)
        return false;
    mpi_exchange.comm = mpi_exchange_split(0);
    mpi_exchange_collect(takes_part);
    for (int i = 0; i < mpi_exchange.size; i++)
        takes_part &= mpi_exchange.words[i] != 0;
    return takes_part;
}

void mpi_exchange_end(void)
{
    if (mpi_exchange.on)
        mpi_exchange_leave(mpi_exchange.comm);
    mpi_exchange.on = false;
    for (int i = 1; exchange.hellos && i < mpi_exchange.size; i++)
        if (!exchange.hellos[i].here && exchange.hellos[i].request)
            request_cancel(&exchange.hellos[i].request);
    exchange.hellos = NULL; /* the memory may still be that of a receive which could not be canceled */
}
