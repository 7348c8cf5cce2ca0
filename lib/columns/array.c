/* SPDX-License-Identifier: MIT */
/*
 * Columns as arrays of the Arrow C data interface.
 *
 * A consumer may move single columns out of a batch and release them in any thread: each array holds a reference to the
 * block of its batch.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "columns/columns.h"

/* Memory of a batch: the values, and what the arrays consist of. */
struct batch_memory {
    atomic_uint references;
    char *block;
    struct column_part {
        struct ArrowArray array, dictionary;
        const void *buffers[3], *dictionary_buffers[3];
        char *text;
        int32_t *offsets;
    } * parts;
    size_t n_parts;
    struct ArrowArray **children;
    const void *validity; /* of the batch itself: none, all rows are there */
};

static void batch_memory_unref(struct batch_memory *m)
{
    if (atomic_fetch_sub(&m->references, 1) != 1)
        return;
    for (size_t i = 0; i < m->n_parts; i++) {
        free(m->parts[i].text);
        free(m->parts[i].offsets);
    }
    free(m->parts);
    free(m->children);
    free(m->block);
    free(m);
}

static void array_release_column(struct ArrowArray *a)
{
    if (a->dictionary && a->dictionary->release)
        a->dictionary->release(a->dictionary);
    a->release = NULL;
    batch_memory_unref(a->private_data);
}

static void array_release_batch(struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->n_children; i++)
        if (a->children[i]->release)
            a->children[i]->release(a->children[i]);
    a->release = NULL;
    batch_memory_unref(a->private_data);
}

static void array_keep(struct batch_memory *m, struct ArrowArray *a, void (*release)(struct ArrowArray *))
{
    a->private_data = m;
    a->release = release;
    atomic_fetch_add_explicit(&m->references, 1, memory_order_relaxed);
}

/* Texts become buffers of the array `a`: taken over if they are of this batch, copied if they are words. */
static bool array_take_texts(struct column *c, struct column_part *part)
{
    struct column_texts *t = &c->texts;
    if (c->type != COLUMN_WORD) {
        part->text = t->bytes.data;
        part->offsets = t->offsets;
        t->bytes = (struct textbuf){0};
        t->offsets = NULL;
        t->cap = 0;
        return true;
    }
    part->text = malloc(t->bytes.len + 1);
    part->offsets = malloc((t->n + 1) * sizeof *part->offsets);
    if (!part->text || !part->offsets)
        return false;
    memcpy(part->text, t->bytes.data, t->bytes.len);
    memcpy(part->offsets, t->offsets, (t->n + 1) * sizeof *part->offsets);
    return true;
}

static bool array_of_column(struct batch_memory *m, const struct columns *cs, struct column *c,
                            struct column_part *part)
{
    struct ArrowArray *a = &part->array;
    bool is_text = c->type == COLUMN_TEXT, has_dictionary = c->type == COLUMN_WORD || c->type == COLUMN_NAME;
    size_t n_texts = c->texts.n;
    if ((is_text || has_dictionary) && !array_take_texts(c, part))
        return false;
    *a = (struct ArrowArray){.length = (int64_t)cs->rows,
                             .null_count = (int64_t)column_nulls(cs, c),
                             .n_buffers = is_text ? 3 : 2,
                             .buffers = part->buffers};
    part->buffers[0] = a->null_count > 0 ? c->valid : NULL;
    part->buffers[1] = is_text ? (const void *)part->offsets : column_values(cs, c);
    part->buffers[2] = part->text;
    array_keep(m, a, array_release_column);
    if (!has_dictionary)
        return true;
    part->dictionary =
        (struct ArrowArray){.length = (int64_t)n_texts, .n_buffers = 3, .buffers = part->dictionary_buffers};
    part->dictionary_buffers[1] = part->offsets;
    part->dictionary_buffers[2] = part->text;
    array_keep(m, &part->dictionary, array_release_column);
    a->dictionary = &part->dictionary;
    return true;
}

int columns_to_array(struct columns *cs, struct ArrowArray *out)
{
    struct batch_memory *m = calloc(1, sizeof *m);
    if (!m)
        return ENOMEM;
    atomic_init(&m->references, 1);
    m->n_parts = cs->n;
    m->parts = calloc(cs->n, sizeof *m->parts);
    m->children = calloc(cs->n, sizeof(struct ArrowArray *));
    bool done = m->parts && m->children && !cs->failed;
    m->n_parts = m->parts ? cs->n : 0;
    for (size_t i = 0; done && i < cs->n; i++) {
        m->children[i] = &m->parts[i].array;
        done = array_of_column(m, cs, &cs->column[i], &m->parts[i]);
    }
    if (!done) { /* no array was handed out: one reference for all */
        atomic_store(&m->references, 1);
        batch_memory_unref(m);
        return ENOMEM;
    }
    m->block = cs->block;
    cs->block = NULL;
    *out = (struct ArrowArray){.length = (int64_t)cs->rows,
                               .n_buffers = 1,
                               .n_children = (int64_t)cs->n,
                               .buffers = &m->validity,
                               .children = m->children};
    array_keep(m, out, array_release_batch);
    batch_memory_unref(m);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- types */

static const char *const type_formats[] = {
    [COLUMN_INT32] = "i", [COLUMN_UINT32] = "I", [COLUMN_INT64] = "l", [COLUMN_UINT64] = "L",
    [COLUMN_WORD] = "c",  [COLUMN_NAME] = "i",   [COLUMN_TEXT] = "u",
};

static void schema_release(struct ArrowSchema *s)
{
    for (int64_t i = 0; s->children && i < s->n_children; i++) {
        if (s->children[i] && s->children[i]->release)
            s->children[i]->release(s->children[i]);
        free(s->children[i]);
    }
    if (s->dictionary && s->dictionary->release)
        s->dictionary->release(s->dictionary);
    free(s->dictionary);
    free(s->children);
    free((char *)s->name);
    s->release = NULL;
}

static bool schema_of_column(const struct column *c, struct ArrowSchema *s)
{
    *s = (struct ArrowSchema){.format = type_formats[c->type],
                              .name = strdup(c->name),
                              .flags = ARROW_FLAG_NULLABLE,
                              .release = schema_release};
    if (c->type != COLUMN_WORD && c->type != COLUMN_NAME)
        return s->name != NULL;
    s->dictionary = calloc(1, sizeof *s->dictionary);
    if (s->dictionary)
        *s->dictionary = (struct ArrowSchema){.format = "u", .flags = ARROW_FLAG_NULLABLE, .release = schema_release};
    return s->name && s->dictionary;
}

int columns_to_schema(const struct columns *cs, struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){.format = "+s", .name = strdup(""), .release = schema_release};
    out->children = calloc(cs->n, sizeof(struct ArrowSchema *));
    bool done = !cs->failed && out->children && out->name;
    for (size_t i = 0; done && i < cs->n; i++) {
        out->children[i] = calloc(1, sizeof(struct ArrowSchema));
        out->n_children = (int64_t)i + 1;
        done = out->children[i] && schema_of_column(&cs->column[i], out->children[i]);
    }
    if (!done)
        schema_release(out);
    return done ? 0 : ENOMEM;
}
