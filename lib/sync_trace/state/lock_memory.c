/* SPDX-License-Identifier: MIT */
/* Addresses of the locks that exist: registration and search. */
#include "sync_trace/state/lock_memory.h"

enum {
    BITS = 16,      /* of a word of the table, one per LOCK_MEMORY_ALIGN bytes */
    BUCKET_LOG = 8, /* bytes of memory per bucket */
    NEAR_LOG = 6,   /* adjacent buckets that stay together: a page of the table */
    NEAR_USERS_LOG = 9,
    USER_BITS = 12,   /* thread number in a word of `users` */
    FULL = 255,       /* a count of `near` that stays as it is */
    ALL_FROM_LOG = 34 /* for larger ranges the whole table is searched */
};

static const uint64_t bit_mask = (1u << BITS) - 1;

_Static_assert(1 << LOCK_MEMORY_GRANULE_LOG == BITS * LOCK_MEMORY_ALIGN, "a bit for each address");
_Static_assert(1 << LOCK_MEMORY_WORD_LOG == 8 << LOCK_MEMORY_GRANULE_LOG, "eight numbers in a word");
_Static_assert(offsetof(struct lock_memory, entry) % (LOCK_MEMORY_IN_BUCKET * sizeof(uint64_t)) == 0,
               "buckets are lines");

static uint64_t lock_granule(uintptr_t address)
{
    return (uint64_t)address >> LOCK_MEMORY_GRANULE_LOG;
}

/* A hash of `bits` bits that differs in the low `near` bits for numbers that do: locks that are near each other touch few pages. */
static size_t lock_hash_near(uint64_t number, unsigned near, unsigned bits)
{
    return lock_memory_hash(number >> near, bits) ^ (number & ((UINT64_C(1) << near) - 1));
}

static size_t lock_bucket(uintptr_t address)
{
    return lock_hash_near((uint64_t)address >> BUCKET_LOG, NEAR_LOG, LOCK_MEMORY_BUCKETS_LOG);
}

static uint64_t lock_bit(uintptr_t lock)
{
    return UINT64_C(1) << lock / LOCK_MEMORY_ALIGN % BITS;
}

/* Whether the address can be registered: no process has addresses beyond 54 bits today. */
static bool lock_fits(uintptr_t lock)
{
    return lock != 0 && lock % LOCK_MEMORY_ALIGN == 0 && lock_granule(lock) >> (64 - BITS) == 0;
}

static void near_count(struct lock_memory *p, uintptr_t lock, bool more)
{
    uint64_t *word = (uint64_t *)(uintptr_t)lock_memory_near(p, lock), now = __atomic_load_n(word, __ATOMIC_RELAXED),
             next;
    unsigned shift = (unsigned)lock_granule(lock) % 8 * 8;
    do {
        if ((now >> shift & FULL) == FULL)
            return;
        next = more ? now + (UINT64_C(1) << shift) : now - (UINT64_C(1) << shift);
    } while (!__atomic_compare_exchange_n(word, &now, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static const uint32_t *far_counter(const struct lock_memory *p, uintptr_t address)
{
    return &p->far[lock_memory_hash((uint64_t)address >> LOCK_MEMORY_REGION_LOG, LOCK_MEMORY_FAR_LOG)];
}

static void lock_memory_count(struct lock_memory *p, uintptr_t lock, bool more)
{
    __atomic_fetch_add((uint32_t *)(uintptr_t)far_counter(p, lock), more ? 1 : UINT32_MAX, __ATOMIC_RELAXED);
    near_count(p, lock, more);
}

/* Set the bit in the granule's word, else in a free one: two threads may start one each. @return false if it was set,
 * or does not fit. */
static bool bucket_add(uint64_t *e, uint64_t granule, uint64_t bit)
{
    for (int i = 0; i < LOCK_MEMORY_IN_BUCKET; i++) {
        uint64_t word = __atomic_load_n(&e[i], __ATOMIC_RELAXED);
        while (word >> BITS == granule && (word & bit_mask)) {
            if (word & bit)
                return false;
            if (__atomic_compare_exchange_n(&e[i], &word, word | bit, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                return true;
        }
    }
    for (int i = 0; i < LOCK_MEMORY_IN_BUCKET; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&e[i], &none, granule << BITS | bit, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static uint64_t *lock_user_entry(const struct lock_memory *p, uintptr_t lock)
{
    /* As if the locks were that far apart; those in between, which are small, are spread over the same page. */
    enum { APART_LOG = 5, SMALL = 8, SMALL_LOG = 6 };
    uint64_t number = (uint64_t)lock >> APART_LOG ^ (uint64_t)lock / LOCK_MEMORY_ALIGN % SMALL << SMALL_LOG;
    return (uint64_t *)(uintptr_t)&p->users[lock_hash_near(number, NEAR_USERS_LOG, LOCK_MEMORY_USERS_LOG)];
}

static uint64_t lock_user_word(uintptr_t lock, unsigned user)
{
    return (uint64_t)lock / LOCK_MEMORY_ALIGN << USER_BITS | user;
}

/* `first`: no thread has used it before. Otherwise, if another lock has the entry, its thread is unknown. */
static void lock_user_add(struct lock_memory *p, uintptr_t lock, unsigned user, bool first)
{
    uint64_t *line = lock_user_entry(p, lock), word = __atomic_load_n(line, __ATOMIC_RELAXED), next;
    do {
        unsigned before = (unsigned)(word % (1u << USER_BITS));
        bool known = word >> USER_BITS == (uint64_t)lock / LOCK_MEMORY_ALIGN;
        if (known && (user == LOCK_MEMORY_NO_THREAD || before == user))
            return;
        if (known)
            next = lock_user_word(lock, before == LOCK_MEMORY_NO_THREAD ? user : LOCK_MEMORY_MANY);
        else
            next = lock_user_word(lock, first ? user : LOCK_MEMORY_MANY);
    } while (!__atomic_compare_exchange_n(line, &word, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

unsigned lock_memory_thread(const struct lock_memory *p, uintptr_t lock)
{
    uint64_t word = __atomic_load_n(lock_user_entry(p, lock), __ATOMIC_RELAXED);
    bool known = lock_fits(lock) && word >> USER_BITS == (uint64_t)lock / LOCK_MEMORY_ALIGN;
    return known ? (unsigned)(word % (1u << USER_BITS)) : LOCK_MEMORY_MANY;
}

void lock_memory_put(struct lock_memory *p, uintptr_t lock, unsigned user)
{
    if (!lock_fits(lock))
        return;
    lock_memory_count(p, lock, true); /* first, so that no count is ever too low */
    bool first = bucket_add(p->entry[lock_bucket(lock)], lock_granule(lock), lock_bit(lock));
    if (!first)
        lock_memory_count(p, lock, false);
    lock_user_add(p, lock, user, first);
    if (!__atomic_load_n(&p->used, __ATOMIC_RELAXED))
        __atomic_store_n(&p->used, 1, __ATOMIC_RELAXED);
}

bool lock_memory_remove(struct lock_memory *p, uintptr_t lock)
{
    uint64_t *e = p->entry[lock_bucket(lock)], bit = lock_fits(lock) ? lock_bit(lock) : 0,
             *line = lock_user_entry(p, lock);
    uint64_t user = __atomic_load_n(line, __ATOMIC_RELAXED);
    bool removed = false;
    if (bit && user >> USER_BITS == (uint64_t)lock / LOCK_MEMORY_ALIGN)
        (void)__atomic_compare_exchange_n(line, &user, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    for (int i = 0; i < LOCK_MEMORY_IN_BUCKET; i++) {
        uint64_t word = __atomic_load_n(&e[i], __ATOMIC_RELAXED);
        while (word >> BITS == lock_granule(lock) && (word & bit)) {
            uint64_t rest = word & ~bit;
            if (!__atomic_compare_exchange_n(&e[i], &word, rest & bit_mask ? rest : 0, true, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
                continue;
            lock_memory_count(p, lock, false);
            removed = true;
            break;
        }
    }
    return removed;
}

/* ------------------------------------------------------------------------------------------------------- search */

/* The lowest address of a bucket in [from, end), or `least` if that is lower; 0: none. */
static uintptr_t bucket_first(const uint64_t *e, uintptr_t from, uintptr_t end, uintptr_t least)
{
    for (int i = 0; i < LOCK_MEMORY_IN_BUCKET; i++) {
        uint64_t word = __atomic_load_n(&e[i], __ATOMIC_RELAXED), bits = word & bit_mask;
        if (!bits || word >> BITS < lock_granule(from) || word >> BITS > lock_granule(end - 1))
            continue;
        for (; bits; bits &= bits - 1) {
            uintptr_t address = (uintptr_t)(word >> BITS << LOCK_MEMORY_GRANULE_LOG);
            address += (uintptr_t)__builtin_ctzll(bits) * LOCK_MEMORY_ALIGN;
            if (address >= from && address < end && (least == 0 || address < least))
                least = address;
        }
    }
    return least;
}

/* The lowest lock of the whole table in [from, end); 0: none. */
static uintptr_t table_next(const struct lock_memory *p, uintptr_t from, uintptr_t end)
{
    uintptr_t least = 0;
    for (size_t b = 0; b < (size_t)1 << LOCK_MEMORY_BUCKETS_LOG; b++)
        least = bucket_first(p->entry[b], from, end, least);
    return least;
}

/* The next multiple of 2^log above the address. */
static uintptr_t next_multiple(uintptr_t address, unsigned log)
{
    return ((address >> log) + 1) << log;
}

/* Advances *from to the first granule up to `last` where there may be a lock. @return false if there is none in this
 * word of `near`; then *from is behind it. */
static bool near_find_granule(const struct lock_memory *p, uintptr_t *from, uintptr_t last)
{
    uintptr_t at = *from, word_end = next_multiple(at, LOCK_MEMORY_WORD_LOG);
    uint64_t numbers = __atomic_load_n(lock_memory_near(p, at), __ATOMIC_RELAXED) & lock_memory_from(at);
    if (last - at < word_end - at)
        numbers &= lock_memory_to(last);
    if (numbers) {
        uintptr_t granule = (at >> LOCK_MEMORY_WORD_LOG << LOCK_MEMORY_WORD_LOG) +
                            ((uintptr_t)__builtin_ctzll(numbers) / 8 << LOCK_MEMORY_GRANULE_LOG);
        *from = granule > at ? granule : at;
        return true;
    }
    bool far = at % (1u << LOCK_MEMORY_REGION_LOG) < 1u << LOCK_MEMORY_WORD_LOG &&
               __atomic_load_n(far_counter(p, at), __ATOMIC_RELAXED) == 0;
    *from = far ? next_multiple(at, LOCK_MEMORY_REGION_LOG) : word_end;
    return false;
}

uintptr_t lock_memory_next(const struct lock_memory *p, uintptr_t from, uintptr_t end)
{
    if (end > from && (uint64_t)(end - from) >> ALL_FROM_LOG)
        return table_next(p, from, end);
    while (from < end) {
        uintptr_t begin = from;
        if (near_find_granule(p, &from, end - 1)) {
            uintptr_t next = next_multiple(from, LOCK_MEMORY_GRANULE_LOG);
            uintptr_t found = bucket_first(p->entry[lock_bucket(from)], from, next - 1 < end - 1 ? next : end, 0);
            if (found)
                return found;
            from = next;
        }
        if (from < begin) /* the address wrapped around */
            break;
    }
    return 0;
}
