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
    bool *idle; /* by node: a thread that waits for nearly all of its life; NULL: not of wall time */
    uint32_t n_idle;
};

static const char script[] =
    "<script><![CDATA[\n"
    "const all=document.documentElement,rects=[...all.querySelectorAll('g[data-x]')];\n"
    "function show(x0,w0,depth){for(const g of rects){const x=+g.dataset.x,w=+g.dataset.w,d=+g.dataset.d;\n"
    " if(g.dataset.h){g.style.display='none';continue;}\n"
    " const above=d<depth&&x<=x0+1e-9&&x+w>=x0+w0-1e-9,inside=d>=depth&&x>=x0-1e-9&&x+w<=x0+w0+1e-9;\n"
    " g.style.display=above||inside?'':'none';if(!above&&!inside)continue;\n"
    " const a=above?0:(x-x0)/w0*1200,b=above?1200:w/w0*1200,r=g.children[1],t=g.children[2];\n"
    " r.setAttribute('x',a);r.setAttribute('width',Math.max(b-.5,.1));r.style.opacity=above?.5:1;\n"
    " const n=g.dataset.n,fit=Math.floor(b/7)-1;t.setAttribute('x',a+3);\n"
    " t.textContent=fit<3?'':n.length<=fit?n:n.slice(0,fit-2)+'..';}}\n"
    "for(const g of rects)g.addEventListener('click',()=>show(+g.dataset.x,+g.dataset.w,+g.dataset.d));\n"
    "const idle=rects.filter(g=>g.dataset.i).map(g=>[+g.dataset.x,+g.dataset.w]),fold=all.querySelector('#idle');\n"
    "for(const g of rects)g.dataset.was=g.dataset.x+' '+g.dataset.w;\n"
    "let folded=false;\n"
    "function foldIdle(){folded=!folded;const gone=folded?idle:[],sum=gone.reduce((s,g)=>s+g[1],0);\n"
    " if(sum>.9999){folded=false;return;}\n"
    " for(const g of rects){const [x,w]=g.dataset.was.split(' ').map(Number),d=+g.dataset.d;\n"
    "  g.dataset.h=d&&gone.some(([a,b])=>x>=a-1e-9&&x+w<=a+b+1e-9)?1:'';\n"
    "  g.dataset.x=(x-gone.reduce((s,[a,b])=>a+b<=x+1e-9?s+b:s,0))/(1-sum);g.dataset.w=d?w/(1-sum):1;}\n"
    " fold.children[2].textContent=fold.dataset[folded?'show':'hide'];show(0,1,0);}\n"
    "if(fold)fold.addEventListener('click',foldIdle);\n"
    "all.addEventListener('keydown',e=>{if(e.key==='Escape')show(0,1,0);if(e.key==='i'&&fold)foldIdle();});\n"
    "]]></script>\n";

/* Why a thread is where it is, with a color for each: of CPU time and waits they differ a little by name. */
enum graph_reason { REASON_CPU, REASON_LOCK, REASON_EVENT, REASON_CALL, REASON_SLEEP, REASON_NO_CPU, REASONS };
static const struct graph_reason_row {
    const char *title;
    unsigned char color[3], spread[3];
} reasons[REASONS] = {
    [REASON_CPU] = {"CPU", {0xc8, 0x70, 0x40}, {0x1f, 0x3f, 0x1f}},
    [REASON_LOCK] = {"lock", {0xc8, 0x50, 0x90}, {0x0f, 0x1f, 0x1f}},
    [REASON_EVENT] = {"signal, post, end", {0x60, 0xa0, 0xd8}, {0x1f, 0x1f, 0x0f}},
    [REASON_CALL] = {"I/O, call", {0x50, 0xb8, 0x88}, {0x1f, 0x0f, 0x1f}},
    [REASON_SLEEP] = {"sleep", {0xb8, 0xc4, 0xdc}, {0x07, 0x07, 0x0f}},
    [REASON_NO_CPU] = {"preempted, not recorded", {0xb4, 0xb4, 0xb4}, {0x0f, 0x0f, 0x0f}},
};

static bool graph_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* By the name of a frame: "wait for mutex m". */
static enum graph_reason graph_reason(const char *name)
{
    static const char *const locks[] = {"mutex ", "rwlock ", "spin ",           "lock ",       "once ",
                                        "futex ", "QMutex ", "QReadWriteLock ", "absl::Mutex "};
    static const char *const events[] = {"cond ", "sem ", "barrier ", "thread "};
    static const char *const rests[] = {"[preempted", "[in a wait that", "[while recording was stopped]"};
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        if (graph_begins(name, rests[i]))
            return REASON_NO_CPU;
    if (graph_begins(name, "[OMP wait: "))
        return REASON_EVENT;
    if (!graph_begins(name, "wait for "))
        return REASON_CPU;
    name += strlen("wait for ");
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        if (graph_begins(name, locks[i]))
            return REASON_LOCK;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (graph_begins(name, events[i]))
            return REASON_EVENT;
    return graph_begins(name, "sleep") ? REASON_SLEEP : REASON_CALL;
}

/* A color per reason, varied by the name. */
static void flamegraph_color(char out[8], const char *name)
{
    const struct graph_reason_row *r = &reasons[graph_reason(name)];
    uint32_t h = 2166136261u;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        h = (h ^ *c) * 16777619u;
    snprintf(out, 8, "#%02x%02x%02x", (r->color[0] + (h & r->spread[0])) & 0xff,
             (r->color[1] + (h >> 8 & r->spread[1])) & 0xff, (r->color[2] + (h >> 16 & r->spread[2])) & 0xff);
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
        flamegraph_color(fill, name);
    textbuf_printf(b, "<g data-x=\"%.9f\" data-w=\"%.9f\" data-d=\"%u\"%s data-n=\"", x, width, (unsigned)depth,
                   g->idle && g->idle[node] ? " data-i=\"1\"" : "");
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

/* Threads that wait for more than 99 % of their life, as those of a pool without work: the reader may fold them. */
static int flamegraph_find_idle(struct graph *g)
{
    const double share = 0.99;
    const struct tree *t = &g->job->tree;
    size_t columns = tree_columns(t);
    uint64_t *waited = calloc(t->n_nodes, sizeof *waited);
    g->idle = calloc(t->n_nodes, sizeof *g->idle);
    for (uint32_t i = 1; waited && i < t->n_nodes; i++)
        if (t->labels[t->nodes[i].label].kind == TREE_WAIT && tree_nearest(t, t->nodes[i].parent, TREE_WAIT) == 0)
            waited[tree_nearest(t, i, TREE_THREAD)] += g->sums[i * columns];
    for (uint32_t i = 1; waited && g->idle && i < t->n_nodes; i++) {
        uint64_t ns = g->sums[i * columns];
        g->idle[i] =
            t->labels[t->nodes[i].label].kind == TREE_THREAD && ns > 0 && (double)waited[i] > share * (double)ns;
        g->n_idle += g->idle[i];
    }
    int rc = waited && g->idle ? 0 : export_no_memory();
    free(waited);
    return rc;
}

/* What the colors mean, and the switch that folds idle threads. */
static void flamegraph_legend(struct graph *g)
{
    enum { LEGEND_X = 560, SQUARE = 10, GAP = 14 };
    struct textbuf *b = &g->job->out;
    unsigned x = LEGEND_X;
    for (size_t i = 0; i < REASONS; i++) {
        const struct graph_reason_row *r = &reasons[i];
        textbuf_printf(b,
                       "<rect x=\"%u\" y=\"9\" width=\"%d\" height=\"%d\" fill=\"#%02x%02x%02x\"/><text x=\"%u\" "
                       "y=\"18\">%s</text>\n",
                       x, SQUARE, SQUARE, r->color[0], r->color[1], r->color[2], x + GAP, r->title);
        x += GAP + LETTER * (unsigned)strlen(r->title) + GAP;
    }
    if (g->n_idle == 0)
        return;
    const char *threads = g->n_idle == 1 ? "thread" : "threads";
    textbuf_printf(
        b,
        "<g id=\"idle\" data-hide=\"fold %u idle %s (i)\" data-show=\"show %u idle %s (i)\"><title>threads that "
        "wait for more than 99 %% of their life</title><rect x=\"%d\" y=\"23\" width=\"220\" height=\"15\" "
        "fill=\"#e8e4d8\"/><text x=\"%d\" y=\"34\">fold %u idle %s (i)</text></g>\n",
        (unsigned)g->n_idle, threads, (unsigned)g->n_idle, threads, (int)LEGEND_X, LEGEND_X + 4, (unsigned)g->n_idle,
        threads);
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
    if (g->idle)
        flamegraph_legend(g);
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
    if (rc == 0 && g.sums && job->wall && !job->base)
        rc = flamegraph_find_idle(&g);
    if (rc == 0)
        rc = g.sums && x ? flamegraph_draw(&g, x) : export_no_memory();
    difference_free(&difference);
    free(g.idle);
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
