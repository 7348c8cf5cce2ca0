/* SPDX-License-Identifier: MIT */
/* Communicators of the process, by their handles. */
#include "mpi/comms.h"

#include <stddef.h>

#include "mpi/abi.h"

/* Communicators beyond that are not followed. MPICH has 2,048 context ids. */
enum { COMMS = 4096, KEY_FREED = 1 };

static struct {
    struct tiny_lock lock; /* entries are found without it: they never move */
    struct mpi_comm of[COMMS];
} comms;

struct mpi_comm *mpi_comm_last;

static uint64_t comm_key(long handle)
{
    return (uint64_t)handle + 1;
}

static uint32_t comm_slot(uint64_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % COMMS;
}

struct mpi_comm *mpi_comm_find(long handle)
{
    uint64_t key = comm_key(handle);
    for (uint32_t i = 0; i < COMMS; i++) {
        struct mpi_comm *c = &comms.of[(comm_slot(key) + i) % COMMS];
        uint64_t there = __atomic_load_n(&c->key, __ATOMIC_ACQUIRE);
        if (there == key)
            return c;
        if (there == 0)
            return NULL;
    }
    return NULL;
}

static uint64_t comm_mix(uint64_t h, uint64_t with)
{
    h = (h ^ with) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

static struct mpi_comm *comm_insert(long handle, uint64_t id, int rank, int size)
{
    uint64_t key = comm_key(handle);
    struct mpi_comm *found = NULL;
    tiny_lock_take(&comms.lock);
    for (uint32_t i = 0; i < COMMS && !found; i++) {
        struct mpi_comm *c = &comms.of[(comm_slot(key) + i) % COMMS];
        if (c->key != 0 && c->key != KEY_FREED && c->key != key)
            continue;
        *c = (struct mpi_comm){.id = id, .rank = (int32_t)rank, .size = (int32_t)size};
        __atomic_store_n(&c->key, key, __ATOMIC_RELEASE);
        found = c;
    }
    tiny_lock_give(&comms.lock);
    return found;
}

void mpi_comms_start(void)
{
    int rank, size;
    if (mpi_comm_place(mpi_abi.world, &rank, &size))
        (void)comm_insert(mpi_abi.world, MPI_COMM_ID_WORLD, rank, size);
    (void)comm_insert(mpi_abi.self, MPI_COMM_ID_SELF, 0, 1);
}

struct mpi_comm *mpi_comm_add(struct mpi_comm *parent, long handle, bool group, int tag)
{
    int rank, size;
    if (!parent)
        return NULL;
    /* The order of children made by a part of the members differs between ranks. */
    uint64_t place =
        group ? UINT64_C(1) << 63 | (uint32_t)tag : __atomic_add_fetch(&parent->children, 1, __ATOMIC_RELAXED);
    if (handle == mpi_abi.comm_null || mpi_comm_is_inter(handle) || !mpi_comm_place(handle, &rank, &size))
        return NULL;
    int first = mpi_comm_first(handle);
    if (first < 0)
        return NULL;
    uint64_t id = comm_mix(comm_mix(comm_mix(parent->id, place), (uint64_t)first), (uint64_t)size);
    return comm_insert(handle, id > MPI_COMM_ID_SELF ? id : id + MPI_COMM_ID_SELF + 1, rank, size);
}

void mpi_comm_remove(long handle)
{
    struct mpi_comm *c = mpi_comm_find(handle);
    if (c && c->id > MPI_COMM_ID_SELF)
        __atomic_store_n(&c->key, KEY_FREED, __ATOMIC_RELEASE);
}
