/* SPDX-License-Identifier: MIT */
/* Formulas of derived events: weighted sums of events of one CPU's table. */
#include "core/formula/formula.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/names/intern.h"
#include "core/machine/machine.h"

enum { FORMULA_DEPTH_MAX = 4 };

/* --------------------------------------------------------------------------------------------------- parsing */

struct formula_reader {
    const struct machine *m;
    const char *whole;
    struct formula_term *terms;
    size_t n;
};

static int formula_malformed(const struct formula_reader *r, const char *at)
{
    return upmu_fail(UPMU_E_INVAL, "formula '%s': expected [WEIGHT*]NAME at '%s'", r->whole, at);
}

/* Parse one term. @return what follows it, or NULL. */
static const char *formula_read_term(const char *at, struct formula_term *term)
{
    char *end;
    term->weight = 1;
    if (*at >= '0' && *at <= '9') {
        unsigned long weight = strtoul(at, &end, 10);
        if (*end != '*' || weight < 1 || weight > FORMULA_WEIGHT_MAX)
            return NULL;
        term->weight = (int32_t)weight;
        at = end + 1;
    }
    size_t len = strcspn(at, " ");
    if (len == 0 || len >= sizeof term->name)
        return NULL;
    memcpy(term->name, at, len);
    term->name[len] = '\0';
    return at + len;
}

static int formula_read(struct formula_reader *r, const char *text, int32_t factor, unsigned depth);

/* Add a term; one that is a formula is replaced by its terms. */
static int formula_add(struct formula_reader *r, const struct formula_term *term, int32_t factor, unsigned depth)
{
    const struct arch_event *row = arch_family_event(r->m->family, term->name);
    int32_t weight;
    if (__builtin_mul_overflow(term->weight, factor, &weight))
        return upmu_fail(UPMU_E_INVAL, "formula '%s': the weights are too large", r->whole);
    if (row && row->kind == ARCH_CODE_FORMULA)
        return formula_read(r, arch_text(row->formula), weight, depth + 1);
    if (r->n == FORMULA_TERMS_MAX)
        return upmu_fail(UPMU_E_INVAL, "formula '%s': more than %d terms", r->whole, FORMULA_TERMS_MAX);
    r->terms[r->n] = *term;
    r->terms[r->n++].weight = weight;
    return 0;
}

static int formula_read(struct formula_reader *r, const char *text, int32_t factor, unsigned depth)
{
    int32_t sign = 1;
    if (depth > FORMULA_DEPTH_MAX)
        return upmu_fail(UPMU_E_INVAL, "formula '%s': its events refer to each other in a circle", r->whole);
    for (const char *at = text;;) {
        struct formula_term term;
        const char *next = formula_read_term(at, &term);
        if (!next)
            return formula_malformed(r, at);
        int rc = formula_add(r, &term, sign * factor, depth);
        if (rc < 0 || *next == '\0')
            return rc;
        if (strncmp(next, " + ", 3) != 0 && strncmp(next, " - ", 3) != 0)
            return formula_malformed(r, next);
        sign = next[1] == '+' ? 1 : -1;
        at = next + 3;
    }
}

/* The first term determines the position of the event in lists: choose one that is added. */
static void formula_put_added_first(struct formula_term *terms, size_t n)
{
    for (size_t i = 1; i < n && terms[0].weight < 0; i++) {
        if (terms[i].weight < 0)
            continue;
        struct formula_term added = terms[i];
        terms[i] = terms[0];
        terms[0] = added;
    }
}

int formula_terms(const struct machine *m, const char *text, struct formula_term terms[FORMULA_TERMS_MAX])
{
    struct formula_reader r = {.m = m, .whole = text, .terms = terms};
    int rc = formula_read(&r, text, 1, 0);
    if (rc < 0)
        return rc;
    formula_put_added_first(terms, r.n);
    return (int)r.n;
}

/* ------------------------------------------------------------------------------------------------ resolving */

int formula_resolve_term(const struct machine *m, const struct formula_term *term, const struct event *derived,
                         struct event *out)
{
    int rc = event_of_table(m, term->name, out);
    if (rc < 0)
        return rc;
    out->user = derived->user;
    out->kernel = derived->kernel;
    out->modes_fixed = derived->modes_fixed;
    out->hypervisor = derived->hypervisor;
    out->guest = derived->guest;
    out->host = derived->host;
    out->precise = derived->precise;
    out->precise_max = derived->precise_max;
    out->filter_ignored = derived->filter_ignored;
    out->zero_unsure |= out->hypervisor && !out->user && !out->kernel;
    return event_check_code(m, out);
}

/* The encodings of all terms, joined as in the formula. */
static void formula_describe(const struct formula_term *term, const struct event *part, char *text, size_t cap)
{
    char encoding[160], weight[16] = "";
    size_t used = strlen(text);
    event_describe_encoding(part, encoding, sizeof encoding);
    if (term->weight != 1 && term->weight != -1)
        snprintf(weight, sizeof weight, "%" PRId32 "*", abs(term->weight));
    const char *sign = used ? (term->weight < 0 ? " - " : " + ") : term->weight < 0 ? "-" : "";
    snprintf(text + used, cap - used, "%s%s%s", sign, weight, encoding);
}

static int formula_term_lacks(const struct machine *m, const char *text, const struct formula_term *term,
                              struct event *out)
{
    char why[EVENT_NOTE_MAX];
    snprintf(why, sizeof why, "%s", upmu_error());
    *out = (struct event){.summary = out->summary,
                          .unit = out->unit,
                          .papi = out->papi,
                          .perf = out->perf,
                          .class = EVENT_CORE,
                          .raw_encoding = UINT64_MAX,
                          .cpu = -1,
                          .source = ""};
    snprintf(out->note, sizeof out->note, "it is %.150s, and '%.80s' cannot be counted here", text, term->name);
    return upmu_fail(UPMU_E_UNSUPPORTED, "%s: the event is %s, and: %s", m->family->title, text, why);
}

int formula_resolve(const struct machine *m, const char *text, struct event *out)
{
    struct formula_term terms[FORMULA_TERMS_MAX];
    char codes[512] = "";
    const struct event like = {.user = true, .kernel = true};
    struct event first = {.class = EVENT_CORE};
    bool approximate = false;
    int n = formula_terms(m, text, terms);
    if (n < 0)
        return n;
    for (int i = 0; i < n; i++) {
        struct event part;
        if (formula_resolve_term(m, &terms[i], &like, &part) < 0)
            return formula_term_lacks(m, text, &terms[i], out);
        formula_describe(&terms[i], &part, codes, sizeof codes);
        approximate |= part.match != UPMU_MATCH_EXACT;
        if (i == 0)
            first = part;
    }
    first.summary = out->summary;
    first.unit = out->unit;
    first.papi = out->papi;
    first.perf = out->perf;
    first.generic = (struct arch_generic_id){0};
    first.from_table = false;
    first.match = approximate ? UPMU_MATCH_APPROXIMATE : UPMU_MATCH_EXACT;
    first.note[0] = '\0';
    first.formula = intern(text);
    first.codes = intern(codes);
    *out = first;
    return first.formula && first.codes ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory");
}
