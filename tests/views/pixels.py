# SPDX-License-Identifier: MIT
"""The canvas of the timeline at random zooms against the thread states in the page's data, pixel by pixel."""
import json
import math
import random
import sys
from browser import Browser
from data import Page

ZOOMS = 80
SEED = 20220
UNFINISHED, NEAR = 1, 3
CALM = {"cond", "join", "sem", "barrier", "futex", "sleep", "poll", "signal", "read", "write", "child"}
KINDS = ["mutex", "cond", "sem", "custom", "join", "rwlock", "spin", "barrier", "once", "futex", "sleep", "poll",
         "signal", "read", "write", "child"]
RUNNING, PREEMPTED, BLOCKED = 1, 2, 3

PREPARE = """(() => {
    // Bare states: nothing that is drawn over or under them.
    CanvasRenderingContext2D.prototype.fillText = () => {};
    const t = upmuReport.timeline;
    for (const part of ["drawGrid", "drawEnds", "drawArrows"]) t[part] = () => {};
    const style = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    const probe = document.createElement("canvas").getContext("2d");
    const rgb = (css) => { probe.fillStyle = css; probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3); };
    return {lane: rgb(style("lane")), run: rgb(style("run")), warn: rgb(style("warn")),
        objects: t.m.objects.map((o) => rgb(o.color)), other: rgb("#868e96"),
        width: t.screen.canvas.clientWidth - 196, length: t.m.length,
        threads: t.layout.lanes.filter((l) => l.thread).map((l) => ({index: l.thread.index, begin: l.thread.begin,
            end: l.thread.end, scheduled: l.thread.runRows.length > 0}))};
})()"""

# The uppermost line and the line in the middle of each state strip that is in the window.
SHOT = """(() => {
    const t = upmuReport.timeline, c = t.screen.canvas, x = c.getContext("2d"), top = t.scroller.scrollTop - 24;
    const line = (y) => Array.from(x.getImageData(196, y, c.clientWidth - 196, 1).data);
    return {view: t.view, lines: t.layout.lanes.filter((l) => l.thread).map((l) => {
        const s = l.strips[0], y = l.y - top + s.y;
        return y + s.height > c.clientHeight ? null : [line(y + 1), line(y + Math.floor(s.height / 2))];
    })};
})()"""


def spans_of(page, table, thread, column, depth):
    """[(begin, end, value of the column, share of the time, flags)] of a thread, in the order of time."""
    spans = page.spans(table)
    values = page.numbers(f"{table}.{column}")
    kinds = page.numbers("waits.kind") if table == "waits" else [0] * len(spans)
    return [(s[2], s[2] + s[3], values[i], s[5] / s[3] if s[3] else 1, s[6], KINDS[kinds[i]])
            for i, s in enumerate(spans) if s[0] == thread and (depth is None or s[1] == depth)]


def blend(over, under, alpha):
    return [o * alpha + u * (1 - alpha) for o, u in zip(over, under)]


def covering(spans, a, b):
    """The span that covers all of [a, b]; None if there is none in it; False if it is not so simple."""
    met = [s for s in spans if s[0] <= b and s[1] >= a]
    if not met:
        return None
    return met[0] if len(met) == 1 and met[0][0] <= a and met[0][1] >= b else False


def expected(look, thread, waits, runs, a, b):
    """(name, color at the upper edge, color in the middle) of a column of pixels; None where it is mixed."""
    wait, run = covering(waits, a, b), covering(runs, a, b)
    if wait is False or a < thread["begin"] or b > thread["end"]:
        return None
    if wait:
        if wait[4] & UNFINISHED or wait[3] < 1:
            return None
        fill = look["objects"][wait[2] - 1] if wait[2] else look["other"]
        color = blend(fill, look["lane"], 0.3 if wait[5] in CALM else 1)
        return "waits", color, color
    if not thread["scheduled"]:
        return "alive", look["lane"], look["run"]
    if run is False or (run and (run[3] < 1 or run[2] == 0)):
        return None
    state = run[2] if run else BLOCKED
    middle = {RUNNING: look["run"], PREEMPTED: look["warn"], BLOCKED: look["run"]}[state]
    return {RUNNING: "runs", PREEMPTED: "preempted", BLOCKED: "blocked"}[state], look["lane"], middle


def far(a, b):
    return max(abs(x - y) for x, y in zip(a, b)) > 6


def zooms(look, ends):
    """Views around the ends of spans, from 100 ns to the whole recording; each shows little beyond the recording."""
    rest = random.Random(SEED)
    for _ in range(ZOOMS):
        span = math.exp(rest.uniform(math.log(100), math.log(look["length"])))
        begin = rest.choice(ends) - span * rest.uniform(-0.3, 1.3)
        yield begin, begin + span


def check(b, page):
    look = b.run(PREPARE)
    of = {t["index"]: (spans_of(page, "waits", t["index"], "what", 0), spans_of(page, "runs", t["index"], "what", None))
          for t in look["threads"]}
    ends = [at for waits, runs in of.values() for s in waits + runs for at in s[:2]]
    seen, wrong = {}, []
    for begin, end in zooms(look, ends):
        b.run(f"upmuReport.timeline.show({begin!r}, {end!r})")
        b.frame()
        shot = b.run(SHOT)
        view = shot["view"]
        scale = look["width"] / (view["to"] - view["from"])
        for thread, lines in zip(look["threads"], shot["lines"]):
            waits, runs = of[thread["index"]]
            for x in range(NEAR, int(look["width"]) - NEAR, 7) if lines else ():
                ns = [view["from"] + (x + 0.5 + by) / scale for by in (-NEAR, NEAR)]
                wanted = expected(look, thread, waits, runs, *ns)
                if not wanted:
                    continue
                found = [line[4 * x:4 * x + 3] for line in lines]
                seen[wanted[0]] = seen.get(wanted[0], 0) + 1
                if far(found[0], wanted[1]) or far(found[1], wanted[2]):
                    wrong.append((wanted, found, thread["index"], x, view))
    return seen, wrong


def pages(work, names):
    with Browser(1440, 1400) as b:
        for name in names:
            b.open(f"{work}/{name}.html", "timeline")
            seen, wrong = check(b, Page(f"{work}/{name}.html"))
            print(name, json.dumps(seen), len(wrong), "wrong")
            for one in wrong[:5]:
                print("  ", one)
            assert not wrong, f"{len(wrong)} pixels of {name} differ from the data, seed {SEED}"
            assert seen.get("waits", 0) > 200 and len(seen) > 1, seen
            assert not b.complaints(), b.complaints()


# A row of spans, some of them wide, drawn by the page and added up here span by span, at several zooms: {per zoom: whether bins were
# used, and by how much the ink differs, by 20 pixels}. Spans that share a pixel are as dark as they cover of it, in five steps.
BINS = """(() => { const n = 60000, width = 1000, t = {begin: new Float64Array(n), ns: new Float64Array(n), idle: new Float64Array(n),
        flags: new Uint8Array(n), more: new Uint32Array(n)}, row = {table: t, from: 0, to: n}, found = [];
    let now = 0, seed = 7;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let i = 0; i < n; i++) { t.begin[i] = now; t.ns[i] = i % 5000 ? 1 + random() * 3 : 30000; now += t.ns[i] + random() * 8; }
    for (const part of [1, 0.7, 0.3, 0.1, 0.01]) {
        const view = {from: 0.2 * now * (1 - part), to: 0.2 * now * (1 - part) + now * part}, scale = width / (view.to - view.from),
            canvas = document.createElement("canvas"), wanted = new Float64Array(width / 20), ink = new Float64Array(width / 20);
        canvas.width = width; canvas.height = 1;
        const c = canvas.getContext("2d"), pen = new upmuReport.pen(c, view, 0, width);
        pen.row(row, 0, 1, () => ({fill: "#000000", ink: "#000000"}));
        const data = c.getImageData(0, 0, width, 1).data;
        for (let x = 0; x < width; x++) ink[Math.floor(x / 20)] += data[4 * x + 3] / 255;
        for (let x = 0; x < width; x++) { const a = view.from + x / scale, b = a + 1 / scale; let cover = 0, any = false, whole = false;
            for (let i = 0; i < n; i++) { if (t.begin[i] > b) break; const end = t.begin[i] + t.ns[i]; if (end < a) continue;
                if (t.ns[i] * scale >= 1.5) { cover += Math.min(b, end) - Math.max(a, t.begin[i]); whole = true; }
                else if (t.begin[i] >= a && t.begin[i] < b) { cover += t.ns[i]; any = true; } }
            const share = Math.min(1, cover * scale);
            wanted[Math.floor(x / 20)] += whole ? share : any ? 0.28 + 0.72 * Math.max(1, Math.ceil(share * 5)) / 5 : 0; }
        found.push([upmuReport.binsFor(row, scale) !== null, Math.max(...wanted.map((w, k) => Math.abs(w - ink[k])))]); }
    return found; })()"""


def bins(page):
    """Bins of spans have the ink of their spans."""
    with Browser() as b:
        b.open(page)
        found = b.run(BINS)
        assert [used for used, _ in found] == [True, True, False, False, False], found
        assert all(differs < 2 for _, differs in found), found


bins(f"{sys.argv[1]}/{sys.argv[2]}.html")
pages(sys.argv[1], sys.argv[2:])
