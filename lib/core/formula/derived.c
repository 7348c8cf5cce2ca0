/* SPDX-License-Identifier: MIT */
/* Values of derived events: weighted sums of counters over one interval. */
#include "core/formula/derived.h"

#include "core/formula/formula.h"

bool derived_zero_doubtful(const struct event *e, bool self)
{
    return e->zero_unsure || event_always_moves(e, self);
}

/* A counter that went backwards was reset or replaced: the difference is meaningless. The non-zero time keeps sums
 * from treating this part as a thread that slept. */
static struct upmu_value derived_backwards(const struct reading *after)
{
    struct upmu_value v = value_without(UPMU_NOT_COUNTED, 0);
    v.enabled = after->enabled > 0 ? after->enabled : 1;
    return v;
}

static bool derived_went_back(const struct reading *before, const struct reading *after)
{
    return after->count < before->count || after->enabled < before->enabled || after->running < before->running;
}

static struct upmu_value derived_term(derived_read_fn read, void *arg, size_t part)
{
    struct reading before, after;
    int cause = read(arg, part, &before, &after);
    if (cause < 0)
        return value_without(value_status_of(cause), cause);
    return derived_went_back(&before, &after) ? derived_backwards(&after) : value_between(&before, &after);
}

static struct upmu_value derived_of_terms(const struct counters *c, size_t i, derived_read_fn read, void *arg,
                                          bool *doubted)
{
    struct upmu_value terms[FORMULA_TERMS_MAX];
    int32_t weights[FORMULA_TERMS_MAX];
    size_t n = 0;
    do {
        weights[n] = c->counter[i].weight;
        terms[n] = derived_term(read, arg, i);
        if (derived_zero_doubtful(&c->list->events[i], c->pid == 0))
            *doubted |= value_doubt_zero(&terms[n]);
        n++;
        i = c->counter[i].also;
    } while (i && n < FORMULA_TERMS_MAX);
    return value_weighted(terms, weights, n);
}

/* ------------------------------------------------------------------------------------------- several kinds */

/* The terms on one core type as one counter with the times of their group. @return 0, or the cause. */
static int derived_of_core_type(const struct counters *c, size_t head, derived_read_fn read, void *arg,
                                struct reading *before, struct reading *after, bool *doubted)
{
    struct upmu_value counts[FORMULA_TERMS_MAX];
    int32_t weights[FORMULA_TERMS_MAX];
    size_t n = 0;
    for (size_t i = head; n == 0 || (i && n < FORMULA_TERMS_MAX); i = c->counter[i].also) {
        struct reading b, a;
        int cause = read(arg, i, &b, &a);
        if (cause < 0)
            return cause;
        if (c->counter[i].group != c->counter[head].group)
            return UPMU_E_FIT;
        if (derived_went_back(&b, &a))
            return UPMU_E_IO;
        if (n == 0) {
            *before = b;
            *after = a;
        }
        uint64_t count = a.count - b.count;
        *doubted |= count == 0 && a.running > b.running && derived_zero_doubtful(&c->list->events[i], c->pid == 0);
        weights[n] = c->counter[i].weight;
        counts[n++] = (struct upmu_value){.value = count, .raw = count, .status = UPMU_EXACT};
    }
    struct upmu_value sum = value_weighted(counts, weights, n);
    before->count = 0;
    after->count = sum.value;
    return sum.status == UPMU_EXACT ? 0 : UPMU_E_RANGE;
}

static struct upmu_value derived_of_core_types(const struct counters *c, size_t i, derived_read_fn read, void *arg,
                                               bool *doubted)
{
    struct reading before[VALUE_CORE_TYPES_MAX], after[VALUE_CORE_TYPES_MAX];
    size_t n = 0;
    do {
        int cause = c->counter[i].elsewhere ? 0 : derived_of_core_type(c, i, read, arg, &before[n], &after[n], doubted);
        if (cause < 0) {
            struct upmu_value v = value_without(value_status_of(cause), cause);
            v.enabled = 1;
            return v;
        }
        n += !c->counter[i].elsewhere;
        i = c->counter[i].next;
    } while (i && n < VALUE_CORE_TYPES_MAX);
    return n > 0 ? value_of_core_types(before, after, n, NULL) : value_without(UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED);
}

struct upmu_value derived_value(const struct counters *c, size_t i, derived_read_fn read, void *arg, bool *doubted)
{
    bool doubt = false;
    struct upmu_value v =
        c->counter[i].next ? derived_of_core_types(c, i, read, arg, &doubt) : derived_of_terms(c, i, read, arg, &doubt);
    if (doubt && (v.status == UPMU_EXACT || v.status == UPMU_SCALED)) {
        v.status = UPMU_NOT_COUNTED;
        v.value = UPMU_NO_VALUE;
    }
    if (doubted)
        *doubted |= doubt;
    return v;
}
