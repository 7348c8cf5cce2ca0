/* SPDX-License-Identifier: MIT */
/* Wait sums and counter values in the page's JSON. */
#include "export/html/html.h"

void html_value(struct textbuf *b, const char *key, uint64_t n)
{
    if (n == UPMU_NO_VALUE)
        json_null(b, key);
    else
        json_uint(b, key, n);
}

void html_string(struct textbuf *b, const char *key, const char *text)
{
    json_string(b, key, text ? text : "");
}

void html_wait_sum(struct textbuf *b, const char *key, const struct upmu_wait_sum *w)
{
    json_array(b, key);
    json_uint(b, NULL, w->count);
    json_uint(b, NULL, w->total_ns);
    json_uint(b, NULL, w->max_ns);
    json_uint(b, NULL, w->unfinished);
    json_uint(b, NULL, w->unfinished_ns);
    json_array_end(b);
}

void html_counted(struct textbuf *b, const struct upmu_value *v)
{
    json_array(b, NULL);
    html_value(b, NULL, export_has_number(v) ? v->value : UPMU_NO_VALUE);
    json_string(b, NULL, upmu_status_name(v->status));
    json_array_end(b);
}

void html_counts(struct textbuf *b, const char *key, const struct upmu_overview_count *counts, size_t n)
{
    json_array(b, key);
    for (size_t i = 0; i < n; i++)
        html_counted(b, &counts[i].sum);
    json_array_end(b);
}
