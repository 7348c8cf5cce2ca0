/* SPDX-License-Identifier: MIT */
/* Flame graph as one SVG file: details on hover, zoom on click, no network. */
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/difference.h"

enum { WIDTH = 1200, ROW = 17, TOP = 44, LETTER = 7 };

struct graph {
    struct export_job *job;
    uint64_t *sums;
    uint64_t all;
    uint32_t deepest;
    const struct difference *difference; /* NULL: of one recording */
};

static const char script[] =
    "<script><![CDATA[\n"
    "const all=document.documentElement,rects=[...all.querySelectorAll('g[data-x]')];\n"
    "function show(x0,w0,depth){for(const g of rects){const x=+g.dataset.x,w=+g.dataset.w,d=+g.dataset.d;\n"
    " const above=d<depth&&x<=x0+1e-9&&x+w>=x0+w0-1e-9,inside=d>=depth&&x>=x0-1e-9&&x+w<=x0+w0+1e-9;\n"
    " g.style.display=above||inside?'':'none';if(!above&&!inside)continue;\n"
    " const a=above?0:(x-x0)/w0*1200,b=above?1200:w/w0*1200,r=g.children[1],t=g.children[2];\n"
    " r.setAttribute('x',a);r.setAttribute('width',Math.max(b-.5,.1));r.style.opacity=above?.5:1;\n"
    " const n=g.dataset.n,fit=Math.floor(b/7)-1;t.setAttribute('x',a+3);\n"
    " t.textContent=fit<3?'':n.length<=fit?n:n.slice(0,fit-2)+'..';}}\n"
    "for(const g of rects)g.addEventListener('click',()=>show(+g.dataset.x,+g.dataset.w,+g.dataset.d));\n"
    "all.addEventListener('keydown',e=>{if(e.key==='Escape')show(0,1,0);});\n"
    "]]></script>\n";

/* A color per name: warm for functions, blue for waits. */
static void flamegraph_color(char out[8], const char *name, bool wait)
{
    uint32_t h = 2166136261u;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        h = (h ^ *c) * 16777619u;
    unsigned a = h & 0x3f, b = h >> 8 & 0x3f;
    snprintf(out, 8, "#%02x%02x%02x", wait ? 0x60 + a : 0xc8 + a / 2, wait ? 0xa0 + b / 2 : 0x70 + b,
             wait ? 0xd8 + a / 4 : 0x40 + b / 2);
}

/* White if nothing changed; red for more time and blue for less, full if all of it came or went. */
static void flamegraph_change_color(char out[8], const struct difference_path *p)
{
    bool more = p->after > p->before;
    uint64_t larger = more ? p->after : p->before, change = more ? p->after - p->before : p->before - p->after;
    unsigned pale = larger ? 0xf0 - (unsigned)(0xa0 * (double)change / (double)larger) : 0xf0;
    snprintf(out, 8, "#%02x%02x%02x", more ? 0xf0 : pale, pale, more ? pale : 0xf0);
}

static const struct difference_path *flamegraph_change(const struct graph *g, uint32_t node)
{
    return g->difference ? &g->difference->paths[g->difference->of_node[node]] : NULL;
}

static void flamegraph_change_text(struct textbuf *b, const struct difference_path *p)
{
    if (p->before == 0)
        export_text(b, "; new");
    else
        textbuf_printf(b, "; was %.6f s, %+.1f %%", (double)p->before / 1e9,
                       100 * ((double)p->after - (double)p->before) / (double)p->before);
}

static void flamegraph_short_name(struct textbuf *b, const char *name, size_t letters)
{
    char cut[256];
    size_t len = strlen(name);
    if (letters < 3)
        return;
    if (len > letters) {
        size_t keep = letters - 2 < sizeof cut - 3 ? letters - 2 : sizeof cut - 3;
        while (keep > 0 && ((unsigned char)name[keep] & 0xc0) == 0x80)
            keep--; /* not within a character */
        snprintf(cut, sizeof cut, "%.*s..", (int)keep, name);
        name = cut;
    }
    export_xml(b, name);
}

static void flamegraph_box(struct graph *g, uint32_t node, double x, uint32_t depth)
{
    const struct tree *t = &g->job->tree;
    struct textbuf *b = &g->job->out;
    const uint64_t *sum = g->sums + node * tree_columns(t);
    const char *name = t->labels[t->nodes[node].label].name;
    double width = (double)sum[0] / (double)g->all;
    const struct difference_path *change = flamegraph_change(g, node);
    char fill[8];
    if (change)
        flamegraph_change_color(fill, change);
    else
        flamegraph_color(fill, name, strncmp(name, "wait for ", 9) == 0);
    textbuf_printf(b, "<g data-x=\"%.9f\" data-w=\"%.9f\" data-d=\"%u\" data-n=\"", x, width, (unsigned)depth);
    export_xml(b, name);
    export_text(b, "\"><title>");
    export_xml(b, name);
    textbuf_printf(b, ": %.6f s, %.2f %%, %llu times", (double)sum[0] / 1e9, 100 * width,
                   (unsigned long long)export_node_calls(g->job, node, g->sums));
    if (change)
        flamegraph_change_text(b, change);
    export_text(b, "</title>");
    textbuf_printf(b, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>", x * WIDTH,
                   TOP + depth * ROW, width * WIDTH > 0.6 ? width * WIDTH - 0.5 : 0.1, ROW - 1, fill);
    textbuf_printf(b, "<text x=\"%.2f\" y=\"%u\">", x * WIDTH + 3, TOP + depth * ROW + 12);
    flamegraph_short_name(b, name, (size_t)(width * WIDTH / LETTER) > 0 ? (size_t)(width * WIDTH / LETTER) - 1 : 0);
    export_text(b, "</text></g>\n");
}

/* Boxes narrower than a twentieth of a pixel are left out with all their children. */
static bool flamegraph_is_shown(const struct graph *g, uint32_t node)
{
    uint64_t ns = g->sums[node * tree_columns(&g->job->tree)];
    return ns > 0 && (double)ns * WIDTH / (double)g->all >= 0.05;
}

/* All nodes from the root down, without recursion: the tree may be deep. `measure` finds the depth only. */
static int flamegraph_walk(struct graph *g, double *x, bool measure)
{
    const struct tree *t = &g->job->tree;
    uint32_t depth = 0, node = 0;
    int rc = 0;
    x[0] = 0;
    while (rc == 0) {
        bool shown = flamegraph_is_shown(g, node);
        if (shown && depth > g->deepest)
            g->deepest = depth;
        if (shown && !measure) {
            flamegraph_box(g, node, x[node], depth);
            rc = export_flush(g->job);
        }
        uint32_t next = shown ? t->nodes[node].child : 0;
        if (next) {
            x[next] = x[node];
            node = next;
            depth++;
            continue;
        }
        for (; node != 0 && t->nodes[node].sibling == 0; node = t->nodes[node].parent)
            depth--;
        if (node == 0)
            break;
        next = t->nodes[node].sibling;
        x[next] = x[node] + (double)g->sums[node * tree_columns(t)] / (double)g->all;
        node = next;
    }
    return rc;
}

static void flamegraph_head_change(struct graph *g)
{
    const struct difference_path *all = flamegraph_change(g, 0);
    if (!all)
        return;
    flamegraph_change_text(&g->job->out, all);
    textbuf_printf(&g->job->out, " (%.6f s in paths that are gone)", (double)g->difference->gone / 1e9);
}

static int flamegraph_draw(struct graph *g, double *x)
{
    struct export_job *job = g->job;
    int rc = flamegraph_walk(g, x, true);
    textbuf_printf(
        &job->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
        "height=\"%u\" viewBox=\"0 0 %d %u\" tabindex=\"0\">\n<style>text{font:12px monospace;pointer-events:"
        "none}g{cursor:pointer}rect:hover{stroke:#000}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf8\"/>\n<text x=\"3\" y=\"18\">",
        WIDTH, TOP + (g->deepest + 1) * ROW + 8, WIDTH, TOP + (g->deepest + 1) * ROW + 8);
    export_text(&job->out, export_columns(job)->title);
    if (g->difference)
        export_text(&job->out, ": blue took less time than before, red more");
    textbuf_printf(&job->out, "</text>\n<text x=\"3\" y=\"34\">%.6f s in all threads", (double)g->sums[0] / 1e9);
    flamegraph_head_change(g);
    textbuf_printf(&job->out, "; %llu events lost; a click zooms, Escape goes back</text>\n",
                   (unsigned long long)job->facts->lost);
    if (rc == 0)
        rc = flamegraph_walk(g, x, false);
    export_text(&job->out, script);
    export_text(&job->out, "</svg>\n");
    return rc;
}

static int flamegraph_finish(struct export_job *job)
{
    struct difference difference = {0};
    struct graph g = {.job = job, .sums = tree_sums(&job->tree), .difference = job->base ? &difference : NULL};
    double *x = calloc(job->tree.n_nodes, sizeof *x); /* where each node begins, from 0 to 1 */
    int rc = job->base && g.sums ? difference_make(&difference, &job->base->tree, &job->tree, g.sums) : 0;
    if (g.sums)
        g.all = g.sums[0] ? g.sums[0] : 1;
    if (rc == 0)
        rc = g.sums && x ? flamegraph_draw(&g, x) : export_no_memory();
    difference_free(&difference);
    free(g.sums);
    free(x);
    return rc;
}

const struct export_format export_flamegraph = {
    .name = "flamegraph",
    .suffix = "svg",
    .summary = "flame graph as one SVG file for any browser",
    .compares = true,
    .wants_tree = true,
    .finish = flamegraph_finish,
};
