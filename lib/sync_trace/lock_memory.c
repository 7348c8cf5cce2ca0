/* SPDX-License-Identifier: MIT */
/* Where locks lie: changes, and the long look. Room: sync_trace; see places.h. */
#include "sync_trace/lock_memory.h"

enum {
    BITS = 16,        /* of a word of the table, one per PLACES_ALIGN bytes */
    BUCKET_LOG = 8,   /* bytes of memory that a bucket serves */
    WHO_BITS = 12,    /* of a word of the table `met` */
    FULL = 255,       /* a number of `near` that is not counted any more, up or down */
    ALL_FROM_LOG = 34 /* in more memory than that, locks are looked for by going through all there are */
};

static const uint64_t bit_mask = (1u << BITS) - 1;

_Static_assert(1 << PLACES_GRANULE_LOG == BITS * PLACES_ALIGN, "a bit for each place");
_Static_assert(1 << PLACES_WORD_LOG == 8 << PLACES_GRANULE_LOG, "eight numbers in a word");
_Static_assert(offsetof(struct places, entry) % (PLACES_IN_BUCKET * sizeof(uint64_t)) == 0, "buckets are lines");

static uint64_t granule_of(uintptr_t address)
{
    return (uint64_t)address >> PLACES_GRANULE_LOG;
}

static size_t bucket_of(uintptr_t address)
{
    return places_hash((uint64_t)address >> BUCKET_LOG, PLACES_BUCKETS_LOG);
}

static uint64_t bit_of(uintptr_t lock)
{
    return UINT64_C(1) << lock / PLACES_ALIGN % BITS;
}

/* Whether a place can be kept at all: no process of today has addresses beyond 54 bits. */
static bool fits(uintptr_t lock)
{
    return lock != 0 && lock % PLACES_ALIGN == 0 && granule_of(lock) >> (64 - BITS) == 0;
}

static void count_near(struct places *p, uintptr_t lock, bool more)
{
    uint64_t *word = (uint64_t *)(uintptr_t)places_near(p, lock), now = __atomic_load_n(word, __ATOMIC_RELAXED), next;
    unsigned shift = (unsigned)granule_of(lock) % 8 * 8;
    do {
        if ((now >> shift & FULL) == FULL)
            return;
        next = more ? now + (UINT64_C(1) << shift) : now - (UINT64_C(1) << shift);
    } while (!__atomic_compare_exchange_n(word, &now, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static const uint32_t *far_of(const struct places *p, uintptr_t address)
{
    return &p->far[places_hash((uint64_t)address >> PLACES_REGION_LOG, PLACES_FAR_LOG)];
}

static void count(struct places *p, uintptr_t lock, bool more)
{
    __atomic_fetch_add((uint32_t *)(uintptr_t)far_of(p, lock), more ? 1 : UINT32_MAX, __ATOMIC_RELAXED);
    count_near(p, lock, more);
}

/* Into a word that stands for the granule already, else into a free one: two threads may begin one each. @return false if
 * it is there, or nowhere. */
static bool put(uint64_t *e, uint64_t granule, uint64_t bit)
{
    for (int i = 0; i < PLACES_IN_BUCKET; i++) {
        uint64_t word = __atomic_load_n(&e[i], __ATOMIC_RELAXED);
        while (word >> BITS == granule && (word & bit_mask)) {
            if (word & bit)
                return false;
            if (__atomic_compare_exchange_n(&e[i], &word, word | bit, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                return true;
        }
    }
    for (int i = 0; i < PLACES_IN_BUCKET; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&e[i], &none, granule << BITS | bit, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static uint64_t *met_of(const struct places *p, uintptr_t lock)
{
    return (uint64_t *)(uintptr_t)&p->met[places_hash((uint64_t)lock / PLACES_ALIGN, PLACES_MET_LOG)];
}

static uint64_t met_word(uintptr_t lock, unsigned who)
{
    return (uint64_t)lock / PLACES_ALIGN << WHO_BITS | who;
}

/* `first`: nobody has met it before. Else, if another lock has the line, somebody has, and it is not known who. */
static void meet(struct places *p, uintptr_t lock, unsigned who, bool first)
{
    uint64_t *line = met_of(p, lock), word = __atomic_load_n(line, __ATOMIC_RELAXED), next;
    do {
        unsigned before = (unsigned)(word % (1u << WHO_BITS));
        bool known = word >> WHO_BITS == (uint64_t)lock / PLACES_ALIGN;
        if (known && (who == PLACES_NOBODY || before == who))
            return;
        if (known)
            next = met_word(lock, before == PLACES_NOBODY ? who : PLACES_MANY);
        else
            next = met_word(lock, first ? who : PLACES_MANY);
    } while (!__atomic_compare_exchange_n(line, &word, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

unsigned places_who(const struct places *p, uintptr_t lock)
{
    uint64_t word = __atomic_load_n(met_of(p, lock), __ATOMIC_RELAXED);
    bool known = fits(lock) && word >> WHO_BITS == (uint64_t)lock / PLACES_ALIGN;
    return known ? (unsigned)(word % (1u << WHO_BITS)) : PLACES_MANY;
}

void places_put(struct places *p, uintptr_t lock, unsigned who)
{
    if (!fits(lock))
        return;
    count(p, lock, true); /* first, so that no number is ever less than what there is */
    bool first = put(p->entry[bucket_of(lock)], granule_of(lock), bit_of(lock));
    if (!first)
        count(p, lock, false);
    meet(p, lock, who, first);
    if (!__atomic_load_n(&p->used, __ATOMIC_RELAXED))
        __atomic_store_n(&p->used, 1, __ATOMIC_RELAXED);
}

bool places_remove(struct places *p, uintptr_t lock)
{
    uint64_t *e = p->entry[bucket_of(lock)], bit = fits(lock) ? bit_of(lock) : 0, *line = met_of(p, lock);
    uint64_t word_met = __atomic_load_n(line, __ATOMIC_RELAXED);
    bool removed = false;
    if (bit && word_met >> WHO_BITS == (uint64_t)lock / PLACES_ALIGN)
        (void)__atomic_compare_exchange_n(line, &word_met, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    for (int i = 0; i < PLACES_IN_BUCKET; i++) {
        uint64_t word = __atomic_load_n(&e[i], __ATOMIC_RELAXED);
        while (word >> BITS == granule_of(lock) && (word & bit)) {
            uint64_t rest = word & ~bit;
            if (!__atomic_compare_exchange_n(&e[i], &word, rest & bit_mask ? rest : 0, true, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
                continue;
            count(p, lock, false);
            removed = true;
            break;
        }
    }
    return removed;
}

/* ------------------------------------------------------------------------------------------------------- looking */

/* The least place of a bucket in [from, end), or `least` if that is less; 0 is none. */
static uintptr_t first_of(const uint64_t *e, uintptr_t from, uintptr_t end, uintptr_t least)
{
    for (int i = 0; i < PLACES_IN_BUCKET; i++) {
        uint64_t word = __atomic_load_n(&e[i], __ATOMIC_RELAXED), bits = word & bit_mask;
        if (!bits || word >> BITS < granule_of(from) || word >> BITS > granule_of(end - 1))
            continue;
        for (; bits; bits &= bits - 1) {
            uintptr_t place = (uintptr_t)(word >> BITS << PLACES_GRANULE_LOG);
            place += (uintptr_t)__builtin_ctzll(bits) * PLACES_ALIGN;
            if (place >= from && place < end && (least == 0 || place < least))
                least = place;
        }
    }
    return least;
}

static uintptr_t next_of_all(const struct places *p, uintptr_t from, uintptr_t end)
{
    uintptr_t least = 0;
    for (size_t b = 0; b < (size_t)1 << PLACES_BUCKETS_LOG; b++)
        least = first_of(p->entry[b], from, end, least);
    return least;
}

/* The first address that is a multiple of so much, and larger. */
static uintptr_t after(uintptr_t address, unsigned log)
{
    return ((address >> log) + 1) << log;
}

/* Goes on from *from to the first granule up to `last` where there may be a lock. @return false if there is none in this
 * word of `near`, then *from is behind it. */
static bool find_granule(const struct places *p, uintptr_t *from, uintptr_t last)
{
    uintptr_t at = *from, word_end = after(at, PLACES_WORD_LOG);
    uint64_t numbers = __atomic_load_n(places_near(p, at), __ATOMIC_RELAXED) & places_from(at);
    if (last - at < word_end - at)
        numbers &= places_to(last);
    if (numbers) {
        uintptr_t granule = (at >> PLACES_WORD_LOG << PLACES_WORD_LOG) +
                            ((uintptr_t)__builtin_ctzll(numbers) / 8 << PLACES_GRANULE_LOG);
        *from = granule > at ? granule : at;
        return true;
    }
    bool far =
        at % (1u << PLACES_REGION_LOG) < 1u << PLACES_WORD_LOG && __atomic_load_n(far_of(p, at), __ATOMIC_RELAXED) == 0;
    *from = far ? after(at, PLACES_REGION_LOG) : word_end;
    return false;
}

uintptr_t places_next(const struct places *p, uintptr_t from, uintptr_t end)
{
    if (end > from && (uint64_t)(end - from) >> ALL_FROM_LOG)
        return next_of_all(p, from, end);
    while (from < end) {
        uintptr_t begin = from;
        if (find_granule(p, &from, end - 1)) {
            uintptr_t next = after(from, PLACES_GRANULE_LOG);
            uintptr_t found = first_of(p->entry[bucket_of(from)], from, next - 1 < end - 1 ? next : end, 0);
            if (found)
                return found;
            from = next;
        }
        if (from < begin) /* the end of all memory */
            break;
    }
    return 0;
}
