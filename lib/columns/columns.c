/* SPDX-License-Identifier: MIT */
/* Batches of rows in columns: memory of a batch, and texts. */
#include "columns/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/printable.h"

enum { COLUMNS_ALIGN = 64 }; /* as Arrow recommends */

static size_t columns_aligned(size_t bytes)
{
    return (bytes + COLUMNS_ALIGN - 1) & ~(size_t)(COLUMNS_ALIGN - 1);
}

size_t column_width(enum column_type type)
{
    switch (type) {
    case COLUMN_WORD:
        return 1;
    case COLUMN_TEXT:
        return 0;
    case COLUMN_INT64:
    case COLUMN_UINT64:
        return 8;
    default:
        return 4;
    }
}

/* ------------------------------------------------------------------------------------------------------ texts */

/* Adds the offset of the end of the text just written. */
static bool column_texts_end(struct column_texts *t)
{
    if (t->n + 2 > t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 64;
        int32_t *grown = reallocarray(t->offsets, cap, sizeof *grown);
        if (!grown)
            return false;
        t->offsets = grown;
        t->cap = cap;
    }
    t->offsets[0] = 0;
    t->offsets[++t->n] = (int32_t)t->bytes.len;
    return !t->bytes.failed;
}

static void column_texts_free(struct column_texts *t)
{
    textbuf_free(&t->bytes);
    free(t->offsets);
    *t = (struct column_texts){0};
}

static bool column_add_text(struct column *c, const char *text, size_t len)
{
    textbuf_add(&c->texts.bytes, text, len);
    return column_texts_end(&c->texts);
}

/* Arrow's texts are UTF-8: returns the length of `text` up to its first byte that is not. */
static size_t utf8_prefix(const char *text)
{
    size_t len = 0, n;
    while (text[len] && (n = utf8_sequence(text + len)) > 0)
        len += n;
    return len;
}

/* `text`, or `clean` with U+FFFD in place of the bytes that are not UTF-8. */
static const char *column_clean(const char *text, struct textbuf *clean)
{
    size_t good = utf8_prefix(text);
    if (!text[good])
        return text;
    for (const char *at = text; *at; at += good) {
        good = utf8_prefix(at);
        textbuf_add(clean, at, good);
        if (good == 0)
            textbuf_add(clean, "\xef\xbf\xbd", 3);
        good += good == 0;
    }
    return clean->failed ? "" : clean->data;
}

/* The first eight bytes of a text as a number; all of a shorter one, some of them twice. */
static inline uint64_t text_word(const char *text, size_t len)
{
    uint64_t word = 0;
    uint32_t first, last;
    if (len >= sizeof word) {
        memcpy(&word, text, sizeof word);
    } else if (len >= sizeof first) {
        memcpy(&first, text, sizeof first);
        memcpy(&last, text + len - sizeof last, sizeof last);
        word = (uint64_t)first << 32 | last;
    } else if (len > 0) {
        word = (uint64_t)(uint8_t)text[0] << 16 | (uint64_t)(uint8_t)text[len / 2] << 8 | (uint8_t)text[len - 1];
    }
    return word;
}

/* Names are looked up in every row: both ends, which are all of a text of 16 bytes, are compared before the rest is. */
struct column_slot {
    uint64_t first, last;
    uint32_t len;
    uint32_t text; /* its index + 1; 0: the slot is free */
};

static inline struct column_slot column_slot_of(const char *text, size_t len)
{
    const size_t step = sizeof(uint64_t);
    return (struct column_slot){.first = text_word(text, len),
                                .last = len > step ? text_word(text + len - step, step) : 0,
                                .len = (uint32_t)len};
}

static inline size_t column_hash(const struct column_slot *s, const char *text)
{
    const size_t step = sizeof(uint64_t);
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t h = (s->first ^ s->len) * odd;
    for (size_t i = step; i + step < s->len; i += step)
        h = ((h ^ h >> 32) ^ text_word(text + i, step)) * odd;
    h = ((h ^ h >> 32) ^ s->last) * odd;
    return h >> 32;
}

/* The text between both ends, of those that have one. */
static bool column_has_middle(const struct column *c, const struct column_slot *s, const char *text)
{
    const struct column_texts *t = &c->texts;
    const size_t step = sizeof(uint64_t);
    return s->len <= 2 * step ||
           memcmp(t->bytes.data + t->offsets[s->text - 1] + step, text + step, s->len - 2 * step) == 0;
}

static bool column_grow_slots(struct column *c)
{
    size_t n = c->n_slots ? c->n_slots * 2 : 256;
    struct column_slot *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < c->n_slots; i++) {
        const struct column_slot *s = &c->slots[i];
        if (!s->text)
            continue;
        size_t at = column_hash(s, c->texts.bytes.data + c->texts.offsets[s->text - 1]);
        while (slots[at & (n - 1)].text)
            at++;
        slots[at & (n - 1)] = *s;
    }
    free(c->slots);
    c->slots = slots;
    c->n_slots = n;
    return true;
}

/* The slot of a name in the dictionary of the batch, with a `text` of 0 if it is new there; NULL without memory. */
static inline struct column_slot *column_name_slot(struct column *c, const char *text, size_t len)
{
    if (c->texts.n * 2 >= c->n_slots && !column_grow_slots(c))
        return NULL;
    const struct column_slot wanted = column_slot_of(text, len);
    size_t at = column_hash(&wanted, text), mask = c->n_slots - 1;
    for (;; at++) {
        struct column_slot *s = &c->slots[at & mask];
        if (s->first == wanted.first && s->last == wanted.last && s->len == wanted.len && s->text &&
            column_has_middle(c, s, text))
            return s;
        if (!s->text) {
            *s = wanted;
            return s;
        }
    }
}

/* A name that is not yet in the dictionary as it is: the dictionary has clean texts only. */
static struct column_slot *column_add_name(struct column *c, const char *text)
{
    struct textbuf clean = {0};
    const char *utf8 = column_clean(text, &clean);
    size_t len = strlen(utf8);
    struct column_slot *slot = clean.failed ? NULL : column_name_slot(c, utf8, len);
    if (slot && slot->text == 0) {
        bool done = column_add_text(c, utf8, len);
        slot->text = (uint32_t)c->texts.n;
        slot = done ? slot : NULL;
    }
    textbuf_free(&clean);
    return slot;
}

void column_name(struct columns *cs, size_t i, const char *text)
{
    struct column *c = &cs->column[i];
    column_set(cs, i);
    const struct column_slot *slot = column_name_slot(c, text, strlen(text));
    if (slot && slot->text == 0)
        slot = column_add_name(c, text);
    cs->failed |= !slot;
    column_uint32(cs, i, slot ? slot->text - 1 : 0);
}

void column_text(struct columns *cs, size_t i, const char *text)
{
    struct column *c = &cs->column[i];
    if (c->type == COLUMN_NAME && text) {
        column_name(cs, i, text);
        return;
    }
    if (text)
        column_set(cs, i);
    else
        column_null(cs, i);
    if (c->type == COLUMN_NAME) {
        column_uint32(cs, i, 0);
    } else {
        struct textbuf clean = {0};
        const char *utf8 = text ? column_clean(text, &clean) : "";
        cs->failed |= !column_add_text(c, utf8, strlen(utf8)) || clean.failed;
        textbuf_free(&clean);
    }
}

/* ---------------------------------------------------------------------------------------------------- columns */

size_t columns_add(struct columns *cs, const char *name, enum column_type type, bool sparse)
{
    if (cs->n == cs->cap) {
        size_t cap = cs->cap ? cs->cap * 2 : 32;
        struct column *grown = reallocarray(cs->column, cap, sizeof *grown);
        cs->failed |= !grown;
        if (!grown)
            return 0;
        cs->column = grown;
        cs->cap = cap;
    }
    struct textbuf clean = {0};
    char *copy = strdup(column_clean(name, &clean));
    textbuf_free(&clean);
    cs->failed |= !copy;
    cs->column[cs->n] = (struct column){.name = copy, .type = type, .sparse = sparse};
    return cs->n++;
}

void columns_add_word(struct columns *cs, size_t column, const char *word)
{
    if (!cs->failed && !column_add_text(&cs->column[column], word, strlen(word)))
        cs->failed = true;
}

/* Begin a batch: its texts are dropped; words are numbered over all batches and stay. */
static bool column_begin(struct column *c)
{
    if (c->type == COLUMN_WORD)
        return true;
    c->texts.bytes.len = 0;
    c->texts.n = 0;
    if (c->slots)
        memset(c->slots, 0, c->n_slots * sizeof *c->slots);
    if (c->type != COLUMN_TEXT && c->type != COLUMN_NAME)
        return true;
    textbuf_add(&c->texts.bytes, "", 0); /* never NULL */
    bool done = column_texts_end(&c->texts);
    c->texts.n = 0;
    return done;
}

void column_use(struct column *c, size_t max_rows)
{
    memset(c->values, 0, max_rows * column_width(c->type));
    c->used = true;
}

bool columns_begin(struct columns *cs, size_t max_rows)
{
    size_t bits = columns_aligned((max_rows + 7) / 8), zeros = columns_aligned(max_rows * sizeof(uint64_t));
    size_t bytes = zeros;
    for (size_t i = 0; i < cs->n; i++)
        bytes += bits + columns_aligned(max_rows * column_width(cs->column[i].type));
    if (!cs->failed && (!cs->block || max_rows != cs->max_rows)) {
        free(cs->block);
        cs->block = aligned_alloc(COLUMNS_ALIGN, bytes + COLUMNS_ALIGN);
    }
    cs->failed |= !cs->block;
    if (cs->failed)
        return false;
    cs->rows = 0;
    cs->max_rows = max_rows;
    char *at = cs->block;
    for (size_t i = 0; i < cs->n; i++) {
        struct column *c = &cs->column[i];
        c->valid = (uint8_t *)at;
        c->values = at + bits;
        c->used = !c->sparse;
        memset(c->valid, c->sparse ? 0 : 0xff, bits);
        at += bits + columns_aligned(max_rows * column_width(c->type));
        cs->failed |= !column_begin(c);
    }
    cs->zeros = memset(at, 0, zeros);
    return !cs->failed;
}

/* Bits of the values that are not 0, of `n` of 4 or 8 bytes, at most 64. */
static uint64_t column_known_bits(const void *values, size_t width, size_t n)
{
    const uint64_t *wide = values;
    const uint32_t *narrow = values;
    uint64_t zeros = 0;
    for (size_t i = n; width == sizeof *wide && i > 0; i--)
        zeros += zeros + (wide[i - 1] < 1);
    for (size_t i = n; width == sizeof *narrow && i > 0; i--)
        zeros += zeros + (narrow[i - 1] < 1);
    return ~zeros;
}

void column_null_zeros(const struct columns *cs, size_t i)
{
    const struct column *c = &cs->column[i];
    size_t width = column_width(c->type), n;
    for (size_t row = 0; row < cs->rows; row += n) {
        n = cs->rows - row < 64 ? cs->rows - row : 64;
        uint64_t bits = column_known_bits((const char *)c->values + row * width, width, n);
        memcpy(c->valid + row / 8, &bits, sizeof bits);
    }
}

size_t column_nulls(const struct columns *cs, const struct column *c)
{
    size_t set = 0, whole = cs->rows / 64 * 8;
    for (size_t i = 0; i < whole; i += sizeof(uint64_t)) {
        uint64_t bits;
        memcpy(&bits, c->valid + i, sizeof bits);
        set += (size_t)__builtin_popcountll(bits);
    }
    for (size_t row = whole * 8; row < cs->rows; row++)
        set += c->valid[row / 8] >> row % 8 & 1u;
    return cs->rows - set;
}

size_t columns_text_bytes(const struct columns *cs)
{
    size_t bytes = 0;
    for (size_t i = 0; i < cs->n; i++)
        bytes += cs->column[i].texts.bytes.len;
    return bytes;
}

void columns_free(struct columns *cs)
{
    for (size_t i = 0; i < cs->n; i++) {
        free(cs->column[i].name);
        free(cs->column[i].slots);
        column_texts_free(&cs->column[i].texts);
    }
    free(cs->column);
    free(cs->block);
    *cs = (struct columns){0};
}
