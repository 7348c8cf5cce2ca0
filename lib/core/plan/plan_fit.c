/* SPDX-License-Identifier: MIT */
/* Assignment of events to counters: fit test and lower bound on groups. */
#include "core/plan/plan_fit.h"

#include <string.h>

#include "core/kernel_ops.h"

enum { COUNTERS_MAX = 32 };

/* ------------------------------------------------------------------------------------------------- demands */

/* The raw encoding of an event, UINT64_MAX if only the kernel has it. */
static uint64_t plan_code_of(const struct event *e)
{
    if (e->raw_encoding != UINT64_MAX)
        return e->raw_encoding;
    bool generic = e->type == KERNEL_TYPE_HARDWARE || e->type == KERNEL_TYPE_HW_CACHE;
    return generic ? UINT64_MAX : e->config;
}

const struct arch_code_rule *plan_rule_of(const struct event *e, const struct arch_counters *c)
{
    uint64_t code = plan_code_of(e);
    for (size_t i = 0; i < c->n_rules && code != UINT64_MAX; i++)
        if ((code & c->rules[i].mask) == c->rules[i].match)
            return &c->rules[i];
    return NULL;
}

static uint32_t fit_general_counters(const struct arch_counters *c)
{
    if (c->general == 0)
        return c->no_group_check ? 1 : (1u << ARCH_FIXED) - 1;
    return c->general >= ARCH_FIXED ? (1u << ARCH_FIXED) - 1 : (1u << c->general) - 1;
}

uint32_t plan_counters(const struct arch_counters *c)
{
    return fit_general_counters(c) | ((1u << c->fixed) - 1) << ARCH_FIXED;
}

struct plan_demand plan_demand_of(const struct event *e, const struct plan_rules *rules)
{
    const struct arch_counters *c = &rules->counters;
    const struct arch_code_rule *rule = plan_rule_of(e, c);
    struct plan_demand d = {.code = {e->type, e->config, e->config1}};
    uint32_t named = e->counters != ARCH_ANY ? e->counters : rule ? rule->counters : ARCH_ANY;
    d.mask = named == ARCH_ANY ? fit_general_counters(c) : named & plan_counters(c);
    if (d.mask == 0 && c->general == 0 && named < 1u << ARCH_FIXED)
        d.mask = 1; /* a general counter; only their existence is known */
    if (!rule)
        return d;
    d.pair = rule->takes_pair;
    d.pool = rule->pool;
    d.pool_size = rule->pool_size;
    if (d.pair)
        d.mask &= fit_general_counters(c) >> 1; /* its neighbor must exist, too */
    return d;
}

uint32_t plan_mask(const struct event *e, const struct arch_counters *c)
{
    const struct plan_rules rules = {.counters = *c};
    return plan_demand_of(e, &rules).mask;
}

/* ------------------------------------------------------------------------------------------------- assignment */

static bool fit_same_code(const struct plan_demand *a, const struct plan_demand *b)
{
    return memcmp(a->code, b->code, sizeof a->code) == 0;
}

/* Number of different codes of a pool among the demands. */
static size_t fit_pool_codes(const struct plan_demand *const *d, size_t n, uint8_t pool)
{
    size_t codes = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (d[i]->pool != pool)
            continue;
        while (k < i && (d[k]->pool != pool || !fit_same_code(d[k], d[i])))
            k++;
        codes += k == i;
    }
    return codes;
}

static bool fit_pools_suffice(const struct plan_demand *const *d, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (d[i]->pool && fit_pool_codes(d, n, d[i]->pool) > d[i]->pool_size)
            return false;
    return true;
}

struct assignment {
    const struct plan_demand *const *demands;
    size_t n;
    uint32_t held;
    uint32_t taken;         /* by pairs */
    int on[COUNTERS_MAX];   /* the single demand on a counter, -1 if none; n is the holder of `held` */
    int pair[COUNTERS_MAX]; /* the pair demand whose first counter this is, -1 if none */
};

/* One augmenting path of bipartite matching: assign demand i, moving others if necessary. */
static bool assign_single(struct assignment *s, size_t i, uint32_t *tried)
{
    uint32_t mask = (i == s->n ? s->held : s->demands[i]->mask) & ~s->taken;
    for (unsigned c = 0; c < COUNTERS_MAX; c++) {
        if (!(mask >> c & 1) || *tried >> c & 1)
            continue;
        *tried |= 1u << c;
        if (s->on[c] < 0 || assign_single(s, (size_t)s->on[c], tried)) {
            s->on[c] = (int)i;
            return true;
        }
    }
    return false;
}

static bool assign_singles(struct assignment *s)
{
    memset(s->on, -1, sizeof s->on);
    for (size_t i = 0; i <= s->n; i++) {
        uint32_t tried = 0;
        bool wanted = i < s->n ? !s->demands[i]->pair : s->held != 0;
        if (wanted && !assign_single(s, i, &tried))
            return false;
    }
    return true;
}

/* Pairs are not a matching problem, but few: try their positions, then match the others. */
static bool assign_pairs(struct assignment *s, size_t from)
{
    size_t i = from;
    while (i < s->n && !s->demands[i]->pair)
        i++;
    if (i == s->n)
        return assign_singles(s);
    for (unsigned c = 0; c + 1 < COUNTERS_MAX; c++) {
        uint32_t both = 3u << c;
        if (!(s->demands[i]->mask >> c & 1) || s->taken & both)
            continue;
        s->taken |= both;
        s->pair[c] = (int)i;
        if (assign_pairs(s, i + 1))
            return true;
        s->taken &= ~both;
        s->pair[c] = -1;
    }
    return false;
}

bool plan_assign(const struct plan_demand *const *demands, size_t n, const struct plan_rules *rules, int16_t *counter)
{
    struct assignment s = {.demands = demands, .n = n, .held = rules->held};
    memset(s.pair, -1, sizeof s.pair);
    if (n > COUNTERS_MAX || !fit_pools_suffice(demands, n) || !assign_pairs(&s, 0))
        return false;
    for (unsigned c = 0; counter && c < COUNTERS_MAX; c++) {
        if (s.pair[c] >= 0)
            counter[s.pair[c]] = (int16_t)c;
        if (s.on[c] >= 0 && (size_t)s.on[c] < n)
            counter[s.on[c]] = (int16_t)c;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------- bound */

/* The bound solves a relaxed problem: `groups` copies of each counter, regardless of which copies belong to one
 * group. Without pairs and pools the bound is always reached. */
struct copies {
    uint32_t mask[2 * PLAN_EVENTS_MAX];
    uint8_t on[COUNTERS_MAX][2 * PLAN_EVENTS_MAX]; /* the demands on a counter's copies */
    size_t used[COUNTERS_MAX];
    size_t groups;
};

static bool assign_copy(struct copies *s, size_t i, uint32_t *tried)
{
    for (unsigned c = 0; c < COUNTERS_MAX; c++) {
        if (!(s->mask[i] >> c & 1) || *tried >> c & 1)
            continue;
        *tried |= 1u << c;
        if (s->used[c] < s->groups) {
            s->on[c][s->used[c]++] = (uint8_t)i;
            return true;
        }
        for (size_t k = 0; k < s->groups; k++) {
            if (assign_copy(s, s->on[c][k], tried)) {
                s->on[c][k] = (uint8_t)i;
                return true;
            }
        }
    }
    return false;
}

static bool plan_copies_suffice(const struct plan_demand *d, size_t n, uint32_t held, size_t groups)
{
    struct copies s = {.groups = groups};
    size_t all = held ? n + groups : n;
    for (size_t i = 0; i < all; i++) {
        uint32_t tried = 0;
        s.mask[i] = i < n ? d[i].mask : held;
        if (!assign_copy(&s, i, &tried))
            return false;
    }
    return true;
}

/* Pairs occupy two counters each. */
static bool fit_counters_suffice(const struct plan_demand *d, size_t n, const struct plan_rules *rules, size_t groups)
{
    size_t counters = (size_t)__builtin_popcount(plan_counters(&rules->counters)) - (rules->held != 0);
    size_t wanted = n;
    for (size_t i = 0; i < n; i++)
        wanted += d[i].pair;
    return wanted <= counters * groups;
}

static bool fit_registers_suffice(const struct plan_demand *d, size_t n, size_t groups)
{
    const struct plan_demand *all[PLAN_EVENTS_MAX];
    for (size_t i = 0; i < n; i++)
        all[i] = &d[i];
    for (size_t i = 0; i < n; i++)
        if (d[i].pool && fit_pool_codes(all, n, d[i].pool) > d[i].pool_size * groups)
            return false;
    return true;
}

size_t plan_bound(const struct plan_demand *demands, size_t n, const struct plan_rules *rules)
{
    size_t groups = n > 0;
    while (groups < n &&
           !(fit_counters_suffice(demands, n, rules, groups) && fit_registers_suffice(demands, n, groups) &&
             plan_copies_suffice(demands, n, rules->held, groups)))
        groups++;
    return groups;
}

bool plan_fits(const struct event *const *events, size_t n, const struct plan_rules *rules)
{
    struct plan_demand demands[PLAN_EVENTS_MAX];
    const struct plan_demand *all[PLAN_EVENTS_MAX];
    if (n > PLAN_EVENTS_MAX)
        return false;
    for (size_t i = 0; i < n; i++) {
        demands[i] = plan_demand_of(events[i], rules);
        all[i] = &demands[i];
    }
    return plan_assign(all, n, rules, NULL);
}
