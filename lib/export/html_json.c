/* SPDX-License-Identifier: MIT */
/* JSON for the page: a comma comes by itself where something stands before. Room: export. Before it: html_facts.c and its
 * neighbours; after it: base/textbuf. */
#include "export/html.h"

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
