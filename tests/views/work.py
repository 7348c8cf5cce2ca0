# SPDX-License-Identifier: MIT
"""Work in the page: links, addresses, back and forward, lanes, search, and a part of the recording in all views."""
import json
import sys
from browser import Browser

work = sys.argv[1]
page = f"{work}/crowd.html"
PAUSE = "new Promise((done) => setTimeout(done, 450))"  # the address follows what is shown

SUMS = """(m) => ({
    threads: m.threads.map((t) => [t.blocked_ns, Object.entries(t.waits).map(([k, w]) => [k, w.count + w.unfinished, w.total_ns + w.unfinished_ns])
        .filter((w) => w[1] > 0).sort()]),
    objects: m.objects.map((o) => [o.waits.count + o.waits.unfinished, o.waits.total_ns + o.waits.unfinished_ns]),
    pairs: m.pairs.reduce((n, p) => n + p[3], 0), blocked: m.blocked.reduce((n, p) => n + p[5], 0),
    regions: m.regions.map((r) => [r.name, r.wall_ns]).sort(), path: m.paths.reduce((n, p) => n + p.run_ns + p.wake_ns + p.unknown_ns, 0)})"""


def text(b, selector):
    return b.run(f"document.querySelector({json.dumps(selector)}).innerText")


def address(b):
    b.run(PAUSE)
    return b.run("location.hash")


def sums(b, begin=None, end=None):
    """Sums of the recording, or of the part that all views show after its selection."""
    if begin is not None:
        b.run(f"upmuReport.setCut({begin}, {end})")
    found = b.run(f"({SUMS})(upmuReport.{'model' if begin is not None else 'recording'})")
    b.run("upmuReport.setCut()")
    return found


def close(a, b, slack):
    return abs(a - b) <= slack


def parts(b):
    """The sums of the whole as a part are those of the recording; those of two halves add up to it."""
    length = b.run("upmuReport.recording.length")
    whole, all_of_it = sums(b), sums(b, -1, length + 1)
    first, second = sums(b, -1, length / 2), sums(b, length / 2, length + 1)
    slack = 1000 + length * 1e-6
    assert sum(t[0] for t in whole["threads"]) > 0
    for i, t in enumerate(whole["threads"]):
        assert close(t[0], all_of_it["threads"][i][0], slack), (t, all_of_it["threads"][i])
        assert [w[0] for w in t[1]] == [w[0] for w in all_of_it["threads"][i][1]], (t, all_of_it["threads"][i])
        assert close(t[0], first["threads"][i][0] + second["threads"][i][0], slack), (t, i)
    for i, o in enumerate(whole["objects"]):
        assert o[0] == all_of_it["objects"][i][0] and close(o[1], all_of_it["objects"][i][1], slack), (o, i)
    # Each wait of a thread is one for a thread, known or not: the recording leaves out joins of threads that had ended.
    assert close(all_of_it["pairs"], sum(t[0] for t in all_of_it["threads"]), slack * 10), all_of_it["pairs"]
    assert whole["pairs"] <= all_of_it["pairs"] + slack and close(whole["blocked"], all_of_it["blocked"], slack * 10)
    for key in ("pairs", "blocked"):
        assert close(all_of_it[key], first[key] + second[key], slack * 10), key
    assert close(all_of_it["path"], first["path"] + second["path"], slack), "path"
    for name, ns in whole["regions"]:
        part = dict(all_of_it["regions"])[name]
        assert name == "(thread)" or close(ns, part, slack * 10), (name, ns, part)
    # By hand: a measured stretch, then its button; every view follows, and the notice leads back.
    b.view("timeline")
    box = b.run("(() => { const r = upmuReport.timeline.screen.canvas.getBoundingClientRect(); return [r.left, r.top, r.width]; })()")
    b.drag(box[0] + 400, box[1] + 60, box[0] + 600, box[1] + 60, modifiers=8)
    b.run("[...document.querySelectorAll('.side .button')].find((x) => x.textContent === 'Show it in all views').click()")
    b.frame()
    assert b.run("document.body.dataset.view") == "overview" and "All sums and tables are of" in text(b, "#notices")
    assert "Selected" in text(b, "#overview") and "cutFrom=" in address(b)
    part = b.run("upmuReport.model.length")
    assert 0 < part < length / 2
    b.view("regions")
    b.run("[...document.querySelectorAll('#notices .button')].find((x) => x.textContent === 'Whole recording').click()")
    b.frame()
    assert "Recorded" in text(b, "#overview") and "All sums" not in text(b, "#notices")


def addresses(b):
    b.view("overview")
    b.run("document.querySelector('#overview tbody tr.link').click()")  # a thread
    b.frame()
    assert b.run("document.body.dataset.view") == "timeline" and "thread=" in b.run("location.hash")
    title = text(b, ".side h3")
    b.run("upmuReport.timeline.canvas, upmuReport.timeline.next(1)")
    b.frame()
    chosen = address(b)
    assert "chosen=" in chosen, chosen
    # The holder of a lock is a link to its lane, or its hold.
    b.run("upmuReport.timeline.searching.set('mutex')")
    for _ in range(50):
        b.run("upmuReport.timeline.next(1, true)")
        if b.run("[...document.querySelectorAll('.side dt')].some((x) => x.textContent === 'Held by')"):
            break
    before = address(b)
    holder = b.run("""(() => { const d = [...document.querySelectorAll('.side .facts div')].find((x) => x.firstChild.textContent === 'Held by');
        const a = d && d.querySelector('a'); if (!a) return null; const name = a.textContent; a.click(); return name; })()""")
    if holder:
        b.frame()
        assert holder in text(b, ".side"), (holder, text(b, ".side"))
        b.run("history.back()")
        b.run(PAUSE)
        assert address(b) == before, (address(b), before)
        b.run("history.forward()")
        b.run(PAUSE)
        assert holder in text(b, ".side")
    # A fresh page at the same address shows the same.
    b.run("upmuReport.timeline.zoom(0.3)")
    b.run("upmuReport.timeline.setOption('sort', 'blocked')")
    there = address(b)
    view = b.run("upmuReport.timeline.view")
    side = text(b, ".side")
    b.open(page, there.lstrip("#"))
    again = b.run("upmuReport.timeline.view")
    assert close(view["from"], again["from"], 2) and close(view["to"], again["to"], 2), (view, again)
    assert text(b, ".side") == side and b.run("upmuReport.timeline.options.sort") == "blocked", text(b, ".side")
    # Nonsense in an address is passed over.
    b.open(page, "timeline?from=x&chosen=waits.999999999&sort=bogus&q=%E0%A4%A&pinned=t9999.x&thread=77777")
    assert not b.complaints(), b.complaints()
    assert title


def lanes(b):
    names = "upmuReport.timeline.layout.lanes.filter((l) => l.thread).map((l) => l.thread.index)"
    b.open(page, "timeline")
    for key, value in (("blocked", "-t.blocked_ns"), ("active", "t.blocked_ns - t.life"), ("name", "t.label"), ("", "t.begin")):
        b.run(f"upmuReport.timeline.setOption('sort', '{key}')")
        order = b.run(f"{names}.map((i) => {{ const t = upmuReport.recording.threads[i]; return {value}; }})")
        assert order == sorted(order) and len(order) == b.run("upmuReport.recording.threads.length"), (key, order)
    # As if the first thread had done nothing but wait for the others.
    b.run("(() => { const t = upmuReport.recording.threads[0]; t.waits = {join: {count: 1, total_ns: t.life, max_ns: t.life, unfinished: 0, unfinished_ns: 0}}; })()")
    b.run("upmuReport.timeline.setOption('busy', true)")
    left = b.run(names)
    assert 0 not in left and len(left) + 1 == len(order), left
    b.run("upmuReport.timeline.setOption('busy', false)")
    # A click on a lane's name shows what is known of it, and pins it.
    y = b.run("(() => { const t = upmuReport.timeline, l = t.layout.lanes.filter((x) => x.thread)[2]; return t.screen.canvas.getBoundingClientRect().top + 24 + l.y + l.height / 2; })()")
    x = b.run("upmuReport.timeline.screen.canvas.getBoundingClientRect().left + 60")
    third = b.run(names)[2]
    b.click(x, y)
    assert text(b, ".side h3") == b.run(f"upmuReport.recording.threads[{third}].label") and "Waited for" in text(b, ".side")
    b.run("[...document.querySelectorAll('.side .button')].find((x) => x.textContent === 'Pin to the top').click()")
    b.frame()
    assert b.run(names)[0] == third and b.run("upmuReport.timeline.layout.lanes[0].title") == "Pinned"
    assert f"pinned=t{third}" in address(b)
    # From lane to lane by the keyboard, at the same moment.
    b.run("upmuReport.timeline.screen.canvas.focus()")
    b.key("n")
    lane = """(() => { const t = upmuReport.timeline, kind = t.chosen.row.table.name === "holds" && t.chosenLane === "object" ? "object" : "thread";
        return t.layout.lanes.findIndex((l) => l.kind === kind && l.strips.some((s) => s.rows.includes(t.chosen.row))); })()"""
    first = b.run(lane)
    b.key("j")
    second = b.run(lane)
    assert second > first, (first, second)
    b.key("k")
    assert first <= b.run(lane) < second, (first, second)


def search(b):
    name = b.run("upmuReport.recording.stackFrames(1).find((f) => f.file).name")
    b.open(page, f"timeline?q={name}")
    words = text(b, ".found")
    assert "function" in words, words
    assert "Functions" in text(b, ".side") and "waited in and below it" in text(b, ".side")
    b.run("upmuReport.timeline.searching.set('no such name anywhere')")
    assert text(b, ".found") == "nothing"


def colors(b):
    """Forty locks have colors of their own; those after them share one. How many were waited for is up to the machine."""
    colors = b.run("""(() => {
        const waits = {count: 1, total_ns: 1, max_ns: 1, unfinished: 0, unfinished_ns: 0};
        const objects = Array.from({length: 45}, () => ({type: "mutex", address: "0x1", name: "m", waits}));
        upmuReport.recording.constructor.prototype.nameObjects.call({objects, byTid: new Map()});
        return objects.map((o) => o.color); })()""")
    assert len(set(colors[:40])) == 40 and len(set(colors[40:])) == 1 and colors[40] not in colors[:40], colors
    locks = b.run("""upmuReport.recording.objects.filter((o) => o.waits.count + o.waits.unfinished > 0 && o.type !== "thread" && !o.call)
        .map((o) => o.color)""")
    assert len(set(locks)) == len(locks) > 0, locks


def events(b):
    b.open(page, "events")
    n = b.run("upmuReport.recording.tables.waits.n + upmuReport.recording.tables.regions.n + upmuReport.recording.marks.length")
    assert n > 1000 and b.run("upmuReport.events.n") == n, n
    assert b.run("document.querySelectorAll('#events .event-rows > *').length") < 80, "elements of visible rows only"
    begins = b.run("[...upmuReport.events.order].map((at) => { const t = upmuReport.events; return upmuReport.recording.tables[['waits', 'holds', 'regions'][t.table[at]]].begin[t.index[at]]; })")
    assert begins == sorted(begins)
    b.run("upmuReport.events.scroller.scrollTop = 1e9")
    b.frame()
    assert b.run("[...document.querySelectorAll('#events .event')].pop().getAttribute('aria-rowindex')") == str(n)
    b.run("upmuReport.events.toggle('holds')")
    assert b.run("upmuReport.events.n") == n + b.run("upmuReport.recording.tables.holds.n")
    b.run("upmuReport.events.look('no such name')")
    assert b.run("upmuReport.events.n") == 0
    thread = b.run("upmuReport.recording.threads[1].label")
    b.run(f"upmuReport.events.look({json.dumps(thread)})")
    some = b.run("upmuReport.events.n")
    assert 0 < some < n
    # The begin of an event is a link to it in the timeline.
    lasted = b.run("document.querySelector('#events .event-rows .event span:nth-child(2)').textContent")
    b.run("document.querySelector('#events .event-rows a').click()")
    b.frame()
    assert b.run("document.body.dataset.view") == "timeline" and lasted in text(b, ".side"), (lasted, text(b, ".side"))


with Browser() as b:
    b.open(page)
    assert not b.complaints(), b.complaints()
    parts(b)
    addresses(b)
    lanes(b)
    search(b)
    colors(b)
    events(b)
    assert not b.complaints(), b.complaints()
print("links, addresses, lanes, search and parts are right")
