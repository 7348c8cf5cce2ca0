/* SPDX-License-Identifier: MIT */
/* Events out of bytes; every length is checked against what is there. Room: trace (reader); used by reader.c. */
#include "trace/decode.h"

#include <string.h>

#include "trace/ctf.h"

static size_t left(const struct decode_cursor *c)
{
    return (size_t)(c->end - c->pos);
}

static const char *decode_head(struct decode_cursor *c, uint32_t *id)
{
    if (left(c) < CTF_SHORT_HEAD_BYTES)
        return "an event head is cut off";
    *id = ctf_head_id(c->pos[0]);
    if (*id != CTF_ID_LONG) {
        uint32_t head;
        memcpy(&head, c->pos, sizeof head);
        c->pos += sizeof head;
        /* The full tick is the next one that ends in these bits. */
        uint64_t forward = (ctf_head_tick(head) - c->tick) & CTF_TICK_MASK;
        return __builtin_add_overflow(c->tick, forward, &c->tick) ? "a tick is beyond 64 bits" : NULL;
    }
    if (left(c) < CTF_LONG_HEAD_BYTES)
        return "a long event head is cut off";
    uint64_t tick;
    memcpy(id, c->pos + 1, sizeof *id);
    memcpy(&tick, c->pos + 1 + sizeof *id, sizeof tick);
    c->pos += CTF_LONG_HEAD_BYTES;
    if (tick < c->tick)
        return "time goes back";
    c->tick = tick;
    return NULL;
}

static uint64_t load(const uint8_t *p, enum schema_type type)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    int8_t i8;
    int32_t i32;
    switch (type) {
    case SCHEMA_U16:
        memcpy(&u16, p, sizeof u16);
        return u16;
    case SCHEMA_U32:
        memcpy(&u32, p, sizeof u32);
        return u32;
    case SCHEMA_I8:
        memcpy(&i8, p, sizeof i8);
        return (uint64_t)(int64_t)i8;
    case SCHEMA_I32:
        memcpy(&i32, p, sizeof i32);
        return (uint64_t)(int64_t)i32;
    case SCHEMA_U64:
    case SCHEMA_HEX64:
    case SCHEMA_TICK:
        memcpy(&u64, p, sizeof u64);
        return u64;
    default: /* one byte; strings do not come here */
        memcpy(&u8, p, sizeof u8);
        return u8;
    }
}

static void store(struct upmu_value *v, enum schema_slot slot, uint64_t x)
{
    switch (slot) {
    case SCHEMA_VALUE:
        v->value = x;
        break;
    case SCHEMA_STAND:
        v->standing = (int32_t)x;
        break;
    case SCHEMA_CAUSE:
        v->cause = (int32_t)x;
        break;
    case SCHEMA_TIME:
        v->enabled = v->running = x;
        break;
    case SCHEMA_RAW:
        v->raw = x;
        break;
    case SCHEMA_ENABLED:
        v->enabled = x;
        break;
    case SCHEMA_RUNNING:
        v->running = x;
        break;
    case SCHEMA_SKIP:
    case SCHEMA_NAME:
        break;
    }
}

static const char *decode_string(struct decode_cursor *c, const char **out)
{
    const uint8_t *nul = memchr(c->pos, '\0', left(c));
    if (!nul)
        return "a string has no end";
    *out = (const char *)c->pos;
    c->pos = nul + 1;
    return NULL;
}

static const char *decode_numbers(const struct meta *m, struct decode_cursor *c, const struct meta_op *op,
                                  struct upmu_value *values)
{
    size_t bytes = schema_type_bytes(op->type);
    if (left(c) / bytes < op->count)
        return "an event is cut off";
    for (uint32_t i = 0; op->slot != SCHEMA_SKIP && i < op->count; i++) {
        uint64_t x = load(c->pos + i * bytes, op->type);
        if (op->array || op->slot == SCHEMA_VALUE)
            store(&values[op->first + i], op->slot, x);
        else /* one number for all counters */
            for (size_t k = 0; k < m->n_counters; k++)
                store(&values[k], op->slot, x);
    }
    c->pos += op->count * bytes;
    return NULL;
}

/* The short forms leave out what follows from the standing. */
static void complete_values(const struct meta *m, struct upmu_value *values)
{
    for (size_t i = 0; i < m->n_counters; i++) {
        struct upmu_value *v = &values[i];
        if (v->standing == UPMU_EXACT)
            v->raw = v->value;
        else
            v->raw = v->enabled = v->running = 0;
    }
}

const char *decode_event(const struct meta *m, struct decode_cursor *c, struct upmu_trace_event *e,
                         struct upmu_value *values)
{
    uint32_t id;
    const char *wrong = decode_head(c, &id);
    if (wrong)
        return wrong;
    if (id >= m->n_classes || !m->classes[id].defined || !m->classes[id].readable)
        return "an event of a class the metadata does not define";
    const struct meta_class *class = &m->classes[id];
    bool has_values = false;
    e->kind = class->kind;
    e->tick = c->tick;
    e->name = "";
    for (size_t i = 0; i < m->n_counters; i++)
        values[i] = (struct upmu_value){.value = UPMU_NO_VALUE, .standing = UPMU_NOT_COUNTED};
    for (size_t i = 0; i < class->n_ops; i++) {
        const struct meta_op *op = &m->ops[class->first_op + i];
        const char *text = "";
        has_values |= op->slot == SCHEMA_VALUE;
        wrong = op->type == SCHEMA_STRING ? decode_string(c, &text) : decode_numbers(m, c, op, values);
        if (wrong)
            return wrong;
        if (op->slot == SCHEMA_NAME)
            e->name = text;
    }
    if (!class->has_raw)
        complete_values(m, values);
    e->n_values = has_values ? m->n_counters : 0;
    e->values = has_values ? values : NULL;
    return NULL;
}
