/* SPDX-License-Identifier: MIT */
/* Communicators of the process, by their handles. */
#include "mpi/comms.h"

#include <stddef.h>

#include "mpi/abi.h"

/* Communicators beyond that are not followed. MPICH has 2,048 context ids. */
enum { COMMS = 4096, KEY_FREED = 1 };

/* Communicators that their members made themselves. */
struct comm_same {
    uint64_t hash; /* 0: free */
    int64_t n;     /* with it */
};

static struct {
    struct tiny_lock lock; /* entries are found without it: they never move */
    struct mpi_comm of[COMMS];
    struct comm_same same[COMMS];
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

/* Add `with`, whose `id` is a hash. */
static struct mpi_comm *comm_insert(long handle, struct mpi_comm with)
{
    uint64_t key = comm_key(handle);
    struct mpi_comm *found = NULL;
    tiny_lock_take(&comms.lock);
    for (uint32_t i = 0; i < COMMS && !found; i++) {
        struct mpi_comm *c = &comms.of[(comm_slot(key) + i) % COMMS];
        if (c->key != 0 && c->key != KEY_FREED && c->key != key)
            continue;
        *c = with;
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
        (void)comm_insert(mpi_abi.world, (struct mpi_comm){.id = MPI_COMM_ID_WORLD, .rank = rank, .size = size});
    (void)comm_insert(mpi_abi.self, (struct mpi_comm){.id = MPI_COMM_ID_SELF, .size = 1});
}

static struct mpi_comm *comm_insert_hash(long handle, uint64_t hash, struct mpi_comm with)
{
    with.id = hash > MPI_COMM_ID_SELF ? hash : hash + MPI_COMM_ID_SELF + 1;
    return comm_insert(handle, with);
}

/* Rank and size within both groups of an intercommunicator. @return a hash of its members; 0: not known, or they are too many. */
static uint64_t comm_place_inter(long handle, struct mpi_comm *c)
{
    int rank, size;
    struct mpi_members own, other;
    if (!mpi_comm_place(handle, &rank, &size) || !mpi_comm_members(handle, false, &own) ||
        !mpi_comm_members(handle, true, &other) || own.size > UINT16_MAX || other.size > UINT16_MAX)
        return 0;
    bool before = own.first < other.first;
    c->inter = true;
    c->rank = before ? rank : rank + other.size;
    c->size = own.size + other.size;
    c->remote = (uint16_t)(before ? own.size : 0);
    return before ? mpi_mix(own.hash, other.hash) : mpi_mix(other.hash, own.hash);
}

/* The members that a child of a followed communicator can differ by from the others of the same call. 0: not known. */
static uint64_t comm_place_child(long handle, struct mpi_comm *c)
{
    int rank, size, first;
    if (mpi_comm_is_inter(handle))
        return comm_place_inter(handle, c);
    if (!mpi_comm_place(handle, &rank, &size) || (first = mpi_comm_first(handle)) < 0)
        return 0;
    c->rank = rank;
    c->size = size;
    return mpi_mix((uint64_t)first + 1, (uint64_t)size);
}

struct mpi_comm *mpi_comm_add(struct mpi_comm *parent, long handle, long alike)
{
    struct mpi_comm c = {0};
    if (!parent)
        return NULL;
    uint64_t place = __atomic_add_fetch(&parent->children, 1, __ATOMIC_RELAXED);
    uint64_t members = handle == mpi_abi.comm_null ? 0 : comm_place_child(alike, &c);
    return members ? comm_insert_hash(handle, mpi_mix(mpi_mix(parent->id, place), members), c) : NULL;
}

/* How many communicators had this hash before; -1: the table is full. */
static int64_t comm_count_same(uint64_t hash)
{
    int64_t count = -1;
    tiny_lock_take(&comms.lock);
    for (uint32_t i = 0; i < COMMS && count < 0; i++) {
        struct comm_same *s = &comms.same[(comm_slot(hash) + i) % COMMS];
        if (s->hash != 0 && s->hash != hash)
            continue;
        s->hash = hash;
        count = s->n++;
    }
    tiny_lock_give(&comms.lock);
    return count;
}

struct mpi_comm *mpi_comm_add_own(long handle, uint64_t tag)
{
    struct mpi_comm c = {0};
    struct mpi_members all;
    uint64_t hash = 0;
    int rank, size;
    if (handle == mpi_abi.comm_null)
        return NULL;
    if (mpi_comm_is_inter(handle)) {
        hash = comm_place_inter(handle, &c);
    } else if (mpi_comm_place(handle, &rank, &size) && mpi_comm_members(handle, false, &all)) {
        hash = all.hash;
        c.rank = rank;
        c.size = size;
    }
    int64_t before = hash ? comm_count_same(mpi_mix(hash, tag)) : -1;
    return before < 0 ? NULL : comm_insert_hash(handle, mpi_mix(mpi_mix(hash, tag), (uint64_t)before), c);
}

void mpi_comm_remove(long handle)
{
    struct mpi_comm *c = mpi_comm_find(handle);
    if (c && c->id > MPI_COMM_ID_SELF)
        __atomic_store_n(&c->key, KEY_FREED, __ATOMIC_RELEASE);
}
