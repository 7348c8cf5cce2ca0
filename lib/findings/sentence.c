/* SPDX-License-Identifier: MIT */
/* Durations, shares, names and call sites in the sentence of a finding. */
#include <inttypes.h>
#include <string.h>

#include "findings/findings_list.h"

void sentence_duration(struct textbuf *b, uint64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double n = (double)ns / units[i].ns;
        if (n >= 1) {
            textbuf_printf(b, "%.*f %s", n >= 100 ? 0 : n >= 10 ? 1 : 2, n, units[i].unit);
            return;
        }
    }
    textbuf_printf(b, "%" PRIu64 " ns", ns);
}

void sentence_percent(struct textbuf *b, uint64_t part, uint64_t whole)
{
    double share = whole ? 100.0 * (double)part / (double)whole : 0;
    if (part > 0 && share < 0.1)
        textbuf_printf(b, "less than 0.1 %%");
    else
        textbuf_printf(b, "%.*f %%", share < 10 ? 1 : 0, share);
}

void sentence_object(struct textbuf *b, const struct upmu_overview_object *object)
{
    textbuf_printf(b, "`");
    if (object->name[0])
        textbuf_printf(b, "%s", object->name);
    else
        textbuf_printf(b, "0x%" PRIx64, object->address);
    textbuf_printf(b, "`");
}

static const char *sentence_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Past the bracket that closes the one at `p`; arrows and comparisons of operators do not occur within. */
static const char *sentence_skip(const char *p)
{
    int depth = 0;
    for (; *p; p++) {
        depth += *p == '<' || *p == '(' || *p == '[' || *p == '{' ? 1 : 0;
        depth -= *p == ')' || *p == ']' || *p == '}' || (*p == '>' && p[-1] != '-') ? 1 : 0;
        if (depth == 0)
            return p + 1;
    }
    return p;
}

/* A function in a sentence: template arguments as "<...>", parameters as "()", since C++ names can take several lines. */
static void sentence_function(struct textbuf *b, const char *name)
{
    static const char unnamed[] = "(anonymous namespace)", op[] = "operator", tag[] = "[abi:";
    const char *p = name;
    while (*p) {
        if (strncmp(p, op, sizeof op - 1) == 0 && strchr("<>=()-[]", p[sizeof op - 1])) {
            size_t n = sizeof op - 1 + strspn(p + sizeof op - 1, "<>=-[]");
            n = n == sizeof op - 1 ? n + 2 : n; /* operator() */
            textbuf_add(b, p, strnlen(p, n));
            p += strnlen(p, n);
        } else if (strncmp(p, unnamed, sizeof unnamed - 1) == 0) {
            textbuf_add(b, p, sizeof unnamed - 1);
            p += sizeof unnamed - 1;
        } else if (strncmp(p, tag, sizeof tag - 1) == 0) { /* of the C++ library's ABI */
            p = sentence_skip(p);
        } else if (*p == '<' || *p == '(') {
            textbuf_printf(b, *p == '<' ? "<...>" : "()");
            p = sentence_skip(p);
        } else {
            textbuf_add(b, p++, 1);
        }
    }
}

void sentence_site(struct textbuf *b, struct upmu_overview *overview, uint32_t process, uint64_t address,
                   uint32_t stack)
{
    struct upmu_symbol s = {.size = sizeof s};
    if (address == 0 || upmu_overview_line_at(overview, process, address, stack, &s) != 0 || (!s.function && !s.module))
        return;
    if (s.function) {
        textbuf_printf(b, " in ");
        sentence_function(b, s.function);
        if (s.file)
            textbuf_printf(b, " %s:%" PRIu32, sentence_base_name(s.file), s.line);
    } else {
        textbuf_printf(b, " at %s+0x%" PRIx64, sentence_base_name(s.module), s.offset);
    }
}

void sentence_thread(struct textbuf *b, pid_t tid, const char *name)
{
    textbuf_printf(b, "thread %ld", (long)tid);
    if (name[0])
        textbuf_printf(b, " (%s)", name);
}

void sentence_gain(struct textbuf *b, const struct upmu_finding *found)
{
    sentence_duration(b, found->gain_ns);
    textbuf_printf(b, " (");
    sentence_percent(b, found->gain_ns, found->run_ns);
    textbuf_printf(b, ")");
}
