/* SPDX-License-Identifier: MIT */
/* CTF metadata of a stream. */
#include "trace/read/meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/read/lexer.h"
#include "upmu/trace.h"
#include "upmu/upmu.h"

/** `name = value;` of the env block. */
struct entry {
    const char *name;
    const char *text; /* NULL for numbers */
    uint64_t number;
    bool negative;
};

/** A field of an event, before its meaning is looked up. */
struct field {
    uint32_t class_id;
    enum schema_type type; /* SCHEMA_TYPES: not known */
    const char *name;
    uint64_t count; /* 0: no array */
    bool sequence;  /* its length is the field before */
};

/** A class of events, before its meaning is looked up. */
struct named_class {
    const char *name;
    size_t first_field, n_fields; /* others may lie between them in a damaged text */
};

/** State of the parser. */
struct parse {
    struct lexer lex;
    struct meta *m;
    const char *file;
    bool no_memory;
    bool too_much;
    struct entry *env;
    size_t n_env, cap_env;
    struct field *fields;
    size_t n_fields, cap_fields;
    struct named_class *classes; /* by id, beside those of the result */
    size_t cap_classes;
    const char *uuid;
    const char *byte_order;
    const char *clock_uuid;
    bool have_clock;
};

/* Grow an array so that one more item fits; NULL without memory, or beyond the limit for damaged texts. */
static void *parse_grow(struct parse *p, void *array, size_t *cap, size_t used, size_t item)
{
    if (used < *cap)
        return array;
    size_t want = *cap ? *cap * 2 : 32;
    void *more = want <= META_ITEMS_MAX ? reallocarray(array, want, item) : NULL;
    p->too_much |= want > META_ITEMS_MAX;
    p->no_memory |= !more;
    if (more)
        *cap = want;
    return more;
}

/* ----------------------------------------------------------------------------------------------------- blocks */

/* `name = value ;` with the lexer behind the '='. @return false if there is no plain value. */
static bool parse_value(struct lexer *l, struct entry *e)
{
    struct token t = l->now;
    if (t.kind != TOKEN_STRING && t.kind != TOKEN_NUMBER && t.kind != TOKEN_NAME)
        return false;
    e->text = t.kind == TOKEN_NUMBER ? NULL : t.text;
    e->number = t.number;
    e->negative = t.negative;
    lexer_next(l);
    return lexer_pass(l, ';');
}

typedef void (*entry_fn)(struct parse *p, const struct entry *e);

/* `{ name = value; ... } ;` Other statements are skipped. */
static void parse_block(struct parse *p, entry_fn each)
{
    struct lexer *l = &p->lex;
    if (!lexer_pass(l, '{'))
        return lexer_skip_statement(l);
    while (l->now.kind != TOKEN_END && !lexer_is(l, '}')) {
        struct entry e = {.name = l->now.text};
        bool named = l->now.kind == TOKEN_NAME;
        lexer_next(l);
        if (named && lexer_pass(l, '=') && parse_value(l, &e))
            each(p, &e);
        else
            lexer_skip_statement(l);
    }
    lexer_skip_statement(l); /* stops at the brace */
    lexer_pass(l, '}');
    lexer_pass(l, ';');
}

static void env_entry(struct parse *p, const struct entry *e)
{
    struct entry *env = parse_grow(p, p->env, &p->cap_env, p->n_env, sizeof *env);
    if (!env)
        return;
    p->env = env;
    env[p->n_env++] = *e;
}

static void trace_entry(struct parse *p, const struct entry *e)
{
    if (strcmp(e->name, "uuid") == 0)
        p->uuid = e->text;
    else if (strcmp(e->name, "byte_order") == 0)
        p->byte_order = e->text;
}

static int64_t entry_signed_number(const struct entry *e)
{
    uint64_t n = e->number > INT64_MAX ? INT64_MAX : e->number;
    return e->negative ? -(int64_t)n : (int64_t)n;
}

static void clock_entry(struct parse *p, const struct entry *e)
{
    struct clock_map *c = &p->m->clock;
    if (e->text) {
        if (strcmp(e->name, "uuid") == 0)
            p->clock_uuid = e->text;
    } else if (strcmp(e->name, "freq") == 0) {
        c->hz = e->number;
    } else if (strcmp(e->name, "offset_s") == 0) {
        c->offset_s = entry_signed_number(e);
    } else if (strcmp(e->name, "offset") == 0) {
        c->offset = e->number;
    }
}

static void parse_clock(struct parse *p, size_t begin)
{
    parse_block(p, clock_entry);
    p->m->clock_begin = begin;
    p->m->clock_end = p->lex.now.begin;
    p->have_clock = true;
}

/* ----------------------------------------------------------------------------------------------------- events */

static void parse_add_field(struct parse *p, const struct field *f)
{
    struct field *fields = parse_grow(p, p->fields, &p->cap_fields, p->n_fields, sizeof *fields);
    if (!fields)
        return;
    p->fields = fields;
    struct named_class *c = &p->classes[f->class_id];
    c->first_field = c->n_fields ? c->first_field : p->n_fields;
    c->n_fields++;
    fields[p->n_fields++] = *f;
}

static bool field_is_length(enum schema_type type)
{
    return type == SCHEMA_U8 || type == SCHEMA_U16 || type == SCHEMA_U32;
}

/* `n]` or `name]` with the lexer behind the '['. A sequence's length must be the field right before it. */
static void parse_length(struct parse *p, struct field *f)
{
    struct lexer *l = &p->lex;
    const struct field *before = p->n_fields ? &p->fields[p->n_fields - 1] : NULL;
    if (l->now.kind == TOKEN_NAME) {
        f->sequence = before && before->class_id == f->class_id && field_is_length(before->type) &&
                      before->count == 0 && !before->sequence && strcmp(before->name, l->now.text) == 0;
        f->count = f->sequence ? 0 : UINT64_MAX;
    } else {
        f->count = l->now.kind == TOKEN_NUMBER && !l->now.negative ? l->now.number : UINT64_MAX;
    }
    lexer_next(l);
    if (!lexer_pass(l, ']'))
        f->type = SCHEMA_TYPES;
}

/* `struct { type name; type name[n]; type name[length]; ... }`. Any other form is a field of unknown type. */
static void parse_fields(struct parse *p, uint32_t id)
{
    struct lexer *l = &p->lex;
    struct field unknown = {.class_id = id, .type = SCHEMA_TYPES, .name = ""};
    if (!lexer_is_name(l, "struct")) {
        parse_add_field(p, &unknown);
        return;
    }
    lexer_next(l);
    if (!lexer_pass(l, '{')) {
        parse_add_field(p, &unknown);
        return;
    }
    while (l->now.kind == TOKEN_NAME) {
        struct field f = {.class_id = id, .type = schema_type_named(l->now.text, strlen(l->now.text))};
        lexer_next(l);
        f.name = l->now.kind == TOKEN_NAME ? l->now.text : "";
        lexer_next(l);
        if (lexer_pass(l, '['))
            parse_length(p, &f);
        if (!lexer_is(l, ';'))
            f.type = SCHEMA_TYPES;
        parse_add_field(p, &f);
        lexer_skip_statement(l);
    }
    if (!lexer_pass(l, '}'))
        parse_add_field(p, &unknown);
}

/* Both tables of classes, for ids up to this one at least. */
static bool parse_grow_classes(struct parse *p, size_t id)
{
    enum { CLASSES_FIRST = 64 };
    size_t before = p->cap_classes, want = before ? before * 2 : CLASSES_FIRST;
    while (want <= id)
        want *= 2;
    struct meta_class *classes = reallocarray(p->m->classes, want, sizeof *classes);
    p->m->classes = classes ? classes : p->m->classes;
    struct named_class *named = classes ? reallocarray(p->classes, want, sizeof *named) : NULL;
    p->no_memory |= !named;
    if (!named)
        return false;
    memset(&classes[before], 0, (want - before) * sizeof *classes);
    memset(&named[before], 0, (want - before) * sizeof *named);
    p->classes = named;
    p->cap_classes = want;
    return true;
}

static struct meta_class *parse_class_of(struct parse *p, uint64_t id)
{
    if (id >= META_CLASSES_MAX || (id >= p->cap_classes && !parse_grow_classes(p, (size_t)id)))
        return NULL;
    return &p->m->classes[id];
}

/* An event block. The id must precede the fields, as in our own metadata. */
static void parse_event(struct parse *p)
{
    struct lexer *l = &p->lex;
    const char *name = NULL;
    uint64_t id = UINT64_MAX;
    if (!lexer_pass(l, '{'))
        return lexer_skip_statement(l);
    while (l->now.kind != TOKEN_END && !lexer_is(l, '}')) {
        struct entry e = {.name = l->now.kind == TOKEN_NAME ? l->now.text : ""};
        lexer_next(l);
        if (strcmp(e.name, "fields") == 0 && lexer_pass(l, ':') && lexer_pass(l, '=') && parse_class_of(p, id))
            parse_fields(p, (uint32_t)id);
        else if (lexer_pass(l, '=') && parse_value(l, &e)) {
            if (strcmp(e.name, "name") == 0)
                name = e.text;
            else if (strcmp(e.name, "id") == 0 && !e.text)
                id = e.number;
            continue;
        }
        lexer_skip_statement(l);
    }
    lexer_pass(l, '}');
    lexer_pass(l, ';');
    struct meta_class *c = parse_class_of(p, id);
    if (c && name && !c->defined) {
        c->defined = true;
        p->classes[id].name = name;
    }
}

static void parse_all(struct parse *p)
{
    struct lexer *l = &p->lex;
    lexer_next(l);
    while (l->now.kind != TOKEN_END) {
        size_t begin = l->now.begin;
        bool env = lexer_is_name(l, "env"), clock = lexer_is_name(l, "clock"), trace = lexer_is_name(l, "trace"),
             event = lexer_is_name(l, "event");
        lexer_next(l);
        if (env)
            parse_block(p, env_entry);
        else if (trace)
            parse_block(p, trace_entry);
        else if (clock)
            parse_clock(p, begin);
        else if (event)
            parse_event(p);
        else
            lexer_skip_statement(l);
        /* Consume an unmatched brace, or the loop would not end. */
        lexer_pass(l, '}');
    }
}

/* ---------------------------------------------------------------------------------------------------- meaning */

static const struct entry *env_find(const struct parse *p, const char *name)
{
    for (size_t i = 0; i < p->n_env; i++)
        if (strcmp(p->env[i].name, name) == 0)
            return &p->env[i];
    return NULL;
}

static const char *env_text(const struct parse *p, const char *name)
{
    const struct entry *e = env_find(p, name);
    return e && e->text ? e->text : "";
}

static uint64_t env_number(const struct parse *p, const char *name)
{
    const struct entry *e = env_find(p, name);
    return e && !e->text && !e->negative ? e->number : 0;
}

static int parse_failed(const struct parse *p, const char *what)
{
    return upmu_fail(UPMU_E_FORMAT, "\"%s\": %s", p->file, what);
}

/* 32 hexadecimal digits, with any number of dashes between them. */
static bool parse_uuid(const char *text, uint8_t *uuid)
{
    static const char digits[] = "0123456789abcdef";
    enum { DIGITS = 2 * CTF_UUID_BYTES };
    unsigned n = 0;
    for (; text && *text; text++) {
        const char *d = strchr(digits, *text);
        if (*text == '-')
            continue;
        if (!d || n == DIGITS)
            return false;
        unsigned v = (unsigned)(d - digits);
        uuid[n / 2] = (uint8_t)(n % 2 ? (unsigned)uuid[n / 2] << 4 | v : v);
        n++;
    }
    return n == DIGITS;
}

static int meta_take_identity(struct parse *p)
{
    const char *our_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be";
    if (strcmp(env_text(p, "tracer_name"), "upmu") != 0)
        return parse_failed(p, "this is not the metadata of a libupmu trace");
    uint64_t major = env_number(p, "schema_major");
    if (major > SCHEMA_MAJOR)
        return upmu_fail(UPMU_E_VERSION, "\"%s\": format version %llu is newer than %d, the newest this library reads",
                         p->file, (unsigned long long)major, SCHEMA_MAJOR);
    if (major == 0)
        return parse_failed(p, "no format version");
    if (major < SCHEMA_MAJOR)
        return upmu_fail(UPMU_E_VERSION, "\"%s\": format version %llu is older than %d, the oldest this library reads",
                         p->file, (unsigned long long)major, SCHEMA_MAJOR);
    if (!p->byte_order || !parse_uuid(p->uuid, p->m->uuid))
        return parse_failed(p, "no byte order or no uuid");
    if (strcmp(p->byte_order, our_order) != 0)
        return upmu_fail(UPMU_E_VERSION,
                         "\"%s\": recorded on a machine of the other byte order (%s). Read it on such a machine.",
                         p->file, p->byte_order);
    struct meta *m = p->m;
    m->pid = (int32_t)env_number(p, "pid");
    m->host = env_text(p, "hostname");
    m->command = env_text(p, "command");
    m->kernel = env_text(p, "kernel");
    m->start_ns = env_number(p, "start_ns");
    m->complete = env_number(p, "complete") == 1;
    m->stopped = (uint32_t)env_number(p, "stopped");
    m->packets = env_number(p, "packets");
    m->sched_note = env_text(p, "sched_note");
    m->futex_note = env_text(p, "futex_note");
    m->snapshot = env_text(p, "snapshot");
    m->ring_bytes = env_number(p, "ring_packet_bytes");
    if (m->ring_bytes != 0 && (m->ring_bytes < CTF_RING_BYTES_MIN || m->ring_bytes > CTF_PACKET_BYTES_MAX))
        return parse_failed(p, "the packet length of the ring is out of range");
    m->portable_clock = strcmp(env_text(p, "clock_source"), CLOCK_MAP_PORTABLE) == 0;
    return 0;
}

/* The clock of another host. The points themselves are in the clock block already, but for those of a process that was killed. */
static void meta_take_reference(struct parse *p)
{
    struct clock_reference *r = &p->m->reference;
    uint64_t points = env_number(p, "reference_points");
    if (points < 1 || points > 2)
        return;
    r->points = (uint32_t)points;
    r->error_ns = env_number(p, "reference_error_ns");
    r->raw_ns = env_number(p, "reference_raw_ns");
    snprintf(r->host, sizeof r->host, "%s", env_text(p, "reference_host"));
    r->at[0].tick = env_number(p, "reference_0_tick");
    r->at[0].ns = env_number(p, "reference_0_ns");
    r->at[0].round_ns = env_number(p, "reference_0_round_ns");
    r->at[1].tick = env_number(p, "reference_1_tick");
    r->at[1].ns = env_number(p, "reference_1_ns");
    r->at[1].round_ns = env_number(p, "reference_1_round_ns");
    if (points == 1) {
        p->m->origin.tick = r->at[0].tick;
        p->m->origin.raw_ns = r->raw_ns;
        p->m->origin.realtime_ns = r->at[0].ns;
    }
}

static int meta_take_clock(struct parse *p)
{
    struct meta *m = p->m;
    if (!p->have_clock || m->clock.hz == 0)
        return parse_failed(p, "no clock, or its frequency is 0");
    if (p->clock_uuid)
        snprintf(m->clock_uuid, sizeof m->clock_uuid, "%s", p->clock_uuid);
    m->origin = (struct clock_triple){
        .tick = env_number(p, "origin_tick"),
        .raw_ns = env_number(p, "origin_raw_ns"),
        .monotonic_ns = env_number(p, "origin_monotonic_ns"),
        .realtime_ns = env_number(p, "origin_realtime_ns"),
        .width = (uint32_t)env_number(p, "origin_width"),
    };
    meta_take_reference(p);
    return 0;
}

static int meta_take_counters(struct parse *p, const char **fields)
{
    struct meta *m = p->m;
    uint64_t n = env_number(p, "counter_count");
    if (n > META_COUNTERS_MAX)
        return parse_failed(p, "too many counters");
    m->n_counters = (size_t)n;
    m->counters = calloc(m->n_counters + 1, sizeof *m->counters);
    if (!m->counters)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", p->file);
    for (size_t i = 0; i < m->n_counters; i++) {
        char key[40];
        snprintf(key, sizeof key, "counter_%zu_name", i);
        m->counters[i] = env_text(p, key);
        snprintf(key, sizeof key, "counter_%zu_field", i);
        fields[i] = env_text(p, key);
        if (!fields[i][0])
            return parse_failed(p, "a counter has no field");
    }
    return 0;
}

/* Traces of this version have the classes in the order of the schema. */
static const struct schema_class *schema_named(const char *name, uint32_t id)
{
    if (id < SCHEMA_IDS && strcmp(schema_classes[id].name, name) == 0)
        return &schema_classes[id];
    for (size_t i = 0; i < SCHEMA_IDS; i++)
        if (strcmp(schema_classes[i].name, name) == 0)
            return &schema_classes[i];
    return NULL;
}

/* The schema's field for a field of the trace; flat counters are found by name. */
static const struct schema_field *schema_field_of(const struct parse *p, const struct schema_class *c,
                                                  const char *const *counter_fields, const char *name,
                                                  uint32_t *counter)
{
    for (size_t i = 0; i < c->n_fields; i++) {
        const struct schema_field *f = &c->fields[i];
        *counter = 0;
        if (f->name[0] && strcmp(f->name, name) == 0)
            return f;
        if (f->shape != SCHEMA_FLAT_COUNTERS || name[0] != '_')
            continue;
        for (; *counter < p->m->n_counters; ++*counter)
            if (strcmp(counter_fields[*counter], name + 1) == 0)
                return f;
    }
    return NULL;
}

/* Whether a field of this type and count can fill the slot. */
static bool field_fits(const struct field *f, enum schema_slot slot, size_t n_counters)
{
    if (slot == SCHEMA_SKIP)
        return true;
    if (slot == SCHEMA_FRAMES)
        return f->sequence && schema_type_bytes(f->type) == sizeof(uint64_t);
    if (f->sequence)
        return false;
    if (slot == SCHEMA_NAME || slot == SCHEMA_BUILD_ID)
        return f->type == SCHEMA_STRING && f->count == 0;
    if (slot == SCHEMA_VALUE || !schema_slot_is_of_counters(slot))
        return f->type != SCHEMA_STRING && f->count == 0;
    return f->type != SCHEMA_STRING && (f->count == 0 || f->count == n_counters);
}

/* `known`: the schema's class of the same name, NULL if it has none */
static bool bind_field(struct parse *p, const struct field *f, const struct schema_class *known,
                       const char *const *counter_fields)
{
    struct meta *m = p->m;
    struct meta_class *c = &m->classes[f->class_id];
    struct meta_op *op = &m->ops[c->first_op + c->n_ops];
    const struct schema_field *meaning = NULL;
    if (f->type == SCHEMA_TYPES || f->count > META_ARRAY_MAX ||
        (f->type == SCHEMA_STRING && (f->count || f->sequence))) {
        c->readable = false;
        return true;
    }
    *op = (struct meta_op){.type = f->type, .slot = SCHEMA_SKIP, .sequence = f->sequence};
    op->step = f->count ? (uint32_t)schema_type_bytes(f->type) : 0;
    op->count = f->count ? (uint32_t)f->count : 1;
    if (known)
        meaning = schema_field_of(p, known, counter_fields, f->name, &op->first);
    if (meaning)
        op->slot = meaning->slot;
    c->n_ops++;
    c->has_raw |= op->slot == SCHEMA_RAW;
    c->has_values |= op->slot == SCHEMA_VALUE;
    c->fixed =
        c->fixed && f->type != SCHEMA_STRING && !f->sequence && f->count == 0 && !schema_slot_is_of_counters(op->slot);
    return field_fits(f, op->slot, m->n_counters);
}

/*
 * Packed counters, as in the short forms of regions, which are read as often as locks: all values, then a byte each of status and
 * cause, then one time or one for each.
 * @return the number of ops before them; 0: something else
 */
static size_t class_packed(const struct meta_class *c, const struct meta_op *ops, size_t n_counters)
{
    size_t first = c->n_ops - n_counters - 3;
    if (n_counters == 0 || c->n_ops < n_counters + 4)
        return 0;
    const struct meta_op *op = &ops[first];
    for (size_t i = 0; i < n_counters; i++, op++)
        if (op->slot != SCHEMA_VALUE || op->first != i || schema_type_bytes(op->type) != sizeof(uint64_t))
            return 0;
    bool packed = op[0].slot == SCHEMA_VALUE_STATUS && op[0].type == SCHEMA_STATUS && op[0].count == n_counters &&
                  op[1].slot == SCHEMA_CAUSE && op[1].type == SCHEMA_I8 && op[1].count == n_counters &&
                  op[2].slot == SCHEMA_TIME && op[2].type == SCHEMA_U64;
    return packed ? first : 0;
}

static void lay_out_class(struct meta_class *c, struct meta_op *ops, size_t n_counters)
{
    const uint32_t needed = 1u << SCHEMA_VALUE_STATUS | 1u << SCHEMA_CAUSE | 1u << SCHEMA_TIME;
    struct meta_op *run = NULL;
    uint32_t slots = 0;
    size_t values = 0;
    for (struct meta_op *op = ops; op < ops + c->n_ops; op++) {
        slots |= schema_slot_is_of_counters(op->slot) ? 1u << op->slot : 0;
        values += op->slot == SCHEMA_VALUE;
        if (op->type == SCHEMA_STRING || op->sequence) {
            run = NULL;
            continue;
        }
        run = run ? run : op;
        op->at = run->run_bytes;
        run->run_bytes += op->count * schema_type_bytes(op->type);
    }
    c->whole = values == n_counters && !c->has_raw && (slots & needed) == needed;
    c->packed = c->has_raw ? 0 : class_packed(c, ops, n_counters);
    c->named = c->packed == 1 && ops[0].type == SCHEMA_STRING && ops[0].slot == SCHEMA_NAME;
}

static int bind_classes(struct parse *p, const char *const *counter_fields)
{
    struct meta *m = p->m;
    m->ops = calloc(p->n_fields + 1, sizeof *m->ops);
    if (!m->ops)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", p->file);
    size_t next_op = 0;
    for (uint32_t id = 0; id < p->cap_classes; id++) {
        struct meta_class *c = &m->classes[id];
        const struct named_class *named = &p->classes[id];
        if (!c->defined)
            continue;
        const struct schema_class *known = schema_named(named->name, id);
        c->kind = known ? known->kind : 0;
        c->object_type = known ? known->object_type : UPMU_OBJECT_NONE;
        c->flags = known ? known->flags : 0;
        c->readable = c->fixed = true;
        c->first_op = next_op;
        size_t left = named->n_fields;
        for (size_t i = named->first_field; left > 0; i++) { /* a class without fields may have no table of them */
            const struct field *f = &p->fields[i];
            if (f->class_id != id)
                continue;
            if (!bind_field(p, f, known, counter_fields))
                return parse_failed(p, "a field has the wrong type or length");
            left--;
        }
        lay_out_class(c, &m->ops[c->first_op], m->n_counters);
        next_op += c->n_ops;
        m->n_classes = id + 1;
    }
    return 0;
}

static int meta_take_all(struct parse *p)
{
    const char *counter_fields[META_COUNTERS_MAX];
    if (p->too_much)
        return parse_failed(p, "too many fields");
    if (p->no_memory)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", p->file);
    int rc = meta_take_identity(p);
    if (rc == 0)
        rc = meta_take_clock(p);
    if (rc == 0)
        rc = meta_take_counters(p, counter_fields);
    if (rc == 0)
        rc = bind_classes(p, counter_fields);
    return rc;
}

int meta_parse(struct meta *m, const char *text, size_t len, const char *name)
{
    memset(m, 0, sizeof *m);
    struct parse p = {.m = m, .file = name};
    m->strings = malloc(len + 1);
    int rc = 0;
    if (!m->strings)
        rc = upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", name);
    if (rc == 0) {
        p.lex = (struct lexer){.text = text, .len = len, .pool = m->strings};
        parse_all(&p);
        rc = meta_take_all(&p);
    }
    free(p.env);
    free(p.fields);
    free(p.classes);
    if (rc != 0)
        meta_free(m);
    return rc;
}

void meta_free(struct meta *m)
{
    free(m->strings);
    free(m->classes);
    free(m->ops);
    free(m->counters);
    memset(m, 0, sizeof *m);
}
