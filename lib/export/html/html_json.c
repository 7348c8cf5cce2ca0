/* SPDX-License-Identifier: MIT */
/* JSON for the page: a comma comes by itself where something stands before. Room: export. Before it: html_facts.c and its
 * neighbours; after it: base/textbuf. */
#include "export/html/html.h"

#include <string.h>

static void separate(struct textbuf *b)
{
    char last = b->len > 0 ? b->data[b->len - 1] : '[';
    if (!strchr("[{:", last))
        textbuf_add(b, ",", 1);
}

void html_key(struct textbuf *b, const char *key)
{
    separate(b);
    textbuf_json(b, key);
    textbuf_add(b, ":", 1);
}

void html_open(struct textbuf *b, char bracket)
{
    separate(b);
    textbuf_add(b, &bracket, 1);
}

void html_close(struct textbuf *b, char bracket)
{
    textbuf_add(b, &bracket, 1);
}

void html_number(struct textbuf *b, uint64_t n)
{
    separate(b);
    export_number(b, n);
}

void html_value(struct textbuf *b, uint64_t n)
{
    if (n != UPMU_NO_VALUE) {
        html_number(b, n);
        return;
    }
    separate(b);
    export_text(b, "null");
}

void html_string(struct textbuf *b, const char *text)
{
    separate(b);
    textbuf_json(b, text ? text : "");
}

/* ----------------------------------------------------------------------------------------------- with a key */

void html_pair(struct textbuf *b, const char *key, uint64_t n)
{
    html_key(b, key);
    html_number(b, n);
}

void html_pair_value(struct textbuf *b, const char *key, uint64_t n)
{
    html_key(b, key);
    html_value(b, n);
}

void html_pair_string(struct textbuf *b, const char *key, const char *text)
{
    html_key(b, key);
    html_string(b, text);
}

void html_pair_wait(struct textbuf *b, const char *key, const struct upmu_wait_sum *w)
{
    html_key(b, key);
    html_open(b, '[');
    html_number(b, w->count);
    html_number(b, w->total_ns);
    html_number(b, w->max_ns);
    html_number(b, w->unfinished);
    html_number(b, w->unfinished_ns);
    html_close(b, ']');
}

void html_counted(struct textbuf *b, const struct upmu_value *v)
{
    html_open(b, '[');
    html_value(b, export_has_number(v) ? v->value : UPMU_NO_VALUE);
    html_string(b, upmu_status_name(v->status));
    html_close(b, ']');
}

void html_pair_counts(struct textbuf *b, const char *key, const struct upmu_overview_count *counts, size_t n)
{
    html_key(b, key);
    html_open(b, '[');
    for (size_t i = 0; i < n; i++)
        html_counted(b, &counts[i].sum);
    html_close(b, ']');
}
