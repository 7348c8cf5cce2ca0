/* SPDX-License-Identifier: MIT */
/*
 * Ranks that wait for each other in known ways, with the times of each call by this program's own clock: waits SHARED_FILE [PATTERN].
 *
 * In each round of each pattern, or of this one, every rank begins its call later than when all have met, by a delay of its own. What
 * the delays turn out to be is in the file: struct shared.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 3, ROUNDS = 6, PATTERNS = 11, LARGE = 1 << 20 };
enum { EARLY_MS = 0, MIDDLE_MS = 25, LATE_MS = 60 };

static volatile struct shared {
    int64_t met[RANKS];                        /* rounds that each rank has reached */
    int64_t times[PATTERNS][ROUNDS][RANKS][2]; /* ns of begin and end; 0: no call */
} * shared;
static int rank, size, pattern, turn;
static char buffer[LARGE], other[LARGE];

static void pause_ms(int ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000L};
    nanosleep(&t, NULL);
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void meet(int delay_ms)
{
    int64_t round = (int64_t)pattern * ROUNDS + turn + 1;
    __atomic_store_n(&shared->met[rank], round, __ATOMIC_SEQ_CST);
    for (int i = 0; i < size; i++)
        while (__atomic_load_n(&shared->met[i], __ATOMIC_SEQ_CST) < round)
            pause_ms(1);
    if (delay_ms)
        pause_ms(delay_ms + turn);
}

#define TIMED(call)                                                   \
    do {                                                              \
        volatile int64_t *times = shared->times[pattern][turn][rank]; \
        times[0] = now();                                             \
        (call);                                                       \
        times[1] = now();                                             \
    } while (0)

static double in = 1, out;

static void late_sender(void)
{
    meet(rank == 0 ? LATE_MS : EARLY_MS);
    if (rank == 0)
        TIMED(MPI_Send(&in, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD));
    else if (rank == 1)
        TIMED(MPI_Recv(&out, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void late_sender_of_request(void)
{
    MPI_Request request;
    if (rank == 1)
        MPI_Irecv(&out, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
    meet(rank == 0 ? LATE_MS : MIDDLE_MS);
    if (rank == 0)
        TIMED(MPI_Send(&in, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD));
    else if (rank == 1)
        TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* What was sent first is received last. */
static void wrong_order(void)
{
    if (rank == 0)
        MPI_Send(&in, 1, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
    meet(rank == 0 ? LATE_MS : EARLY_MS);
    if (rank == 0)
        TIMED(MPI_Send(&in, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD));
    else if (rank == 1)
        TIMED(MPI_Recv(&out, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 1)
        MPI_Recv(&out, 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void late_receiver(void)
{
    meet(rank == 1 ? LATE_MS : EARLY_MS);
    if (rank == 0)
        TIMED(MPI_Ssend(&in, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD));
    else if (rank == 1)
        TIMED(MPI_Recv(&out, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Too large for a buffer: the send cannot end before the receive. */
static void late_receiver_of_large(void)
{
    meet(rank == 1 ? LATE_MS : EARLY_MS);
    if (rank == 0)
        TIMED(MPI_Send(buffer, LARGE, MPI_BYTE, 1, 7, MPI_COMM_WORLD));
    else if (rank == 1)
        TIMED(MPI_Recv(other, LARGE, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Which rank is the last one changes. */
static int turning_delay(void)
{
    static const int delays[RANKS] = {EARLY_MS, MIDDLE_MS, LATE_MS};
    return delays[(rank + turn) % RANKS];
}

static void barrier(void)
{
    meet(turning_delay());
    TIMED(MPI_Barrier(MPI_COMM_WORLD));
}

static void all_to_all(void)
{
    meet(turning_delay());
    TIMED(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static void early_reduce(void)
{
    meet(rank == 0 ? EARLY_MS : rank == 1 ? MIDDLE_MS : LATE_MS);
    TIMED(MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
}

static void late_broadcast(void)
{
    meet(rank == 1 ? LATE_MS : rank == 0 ? MIDDLE_MS : EARLY_MS);
    TIMED(MPI_Bcast(&out, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD));
}

static void early_scan(void)
{
    meet(rank == 0 ? LATE_MS : rank == 1 ? MIDDLE_MS : EARLY_MS);
    TIMED(MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static void finalize(void)
{
    if (turn != ROUNDS - 1)
        return;
    meet(rank == 0 ? EARLY_MS : rank == 1 ? MIDDLE_MS : LATE_MS);
    TIMED(MPI_Finalize());
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*play)(void);
    } patterns[PATTERNS] = {
        {"late-sender", late_sender},
        {"late-sender-of-request", late_sender_of_request},
        {"wrong-order", wrong_order},
        {"late-receiver", late_receiver},
        {"late-receiver-of-large", late_receiver_of_large},
        {"wait-at-barrier", barrier},
        {"wait-for-all", all_to_all},
        {"early-reduce", early_reduce},
        {"late-broadcast", late_broadcast},
        {"early-scan", early_scan},
        {"wait-at-finalize", finalize},
    };
    int done, fd = argc >= 2 ? open(argv[1], O_RDWR) : -1;
    void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return 2;
    shared = memory;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (pattern = 0; pattern < PATTERNS; pattern++)
        for (turn = 0; turn < ROUNDS; turn++)
            if (argc == 2 || strcmp(argv[2], patterns[pattern].name) == 0)
                patterns[pattern].play();
    MPI_Finalized(&done);
    if (!done)
        MPI_Finalize();
    return 0;
}
