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
    # On a narrow screen times are whole: the table scrolls sideways, the page does not.
    b.size(390, 844)
    b.frame()
    cut = b.run("[...document.querySelectorAll('#events .event-rows .event')].filter((e) => [0, 1].some((i) => e.children[i].scrollWidth > e.children[i].clientWidth)).length")
    assert cut == 0 and b.run("document.documentElement.scrollWidth") == 390, cut
    b.size(1440, 900)
    b.frame()
    # The begin of an event is a link to it in the timeline.
    lasted = b.run("document.querySelector('#events .event-rows .event span:nth-child(2)').textContent")
    b.run("document.querySelector('#events .event-rows a').click()")
    b.frame()
    assert b.run("document.body.dataset.view") == "timeline" and lasted in text(b, ".side"), (lasted, text(b, ".side"))


def flames(b):
    """Each way to show the flame graph has the same sum; bottom-up it begins with what is innermost."""
    boxes = "upmuReport.flame_shown.root.children.map((n) => [n.name, n.ns])"
    m = b.run("""(() => { const m = upmuReport.recording, of = (at, name) => { const sums = {}; for (const row of m.blocked)
        sums[name(row[at])] = (sums[name(row[at])] || 0) + row[5]; return sums; };
        return {threads: of(0, (i) => m.threads[i].label), locks: of(3, (i) => m.objects[i].title)}; })()""")
    whole = sum(m["threads"].values())
    for up in (0, 1):
        for split in ("", "thread", "lock"):
            b.run(f"history.replaceState(null, '', '#regions?of=blocked&split={split}&up={up}'), upmuReport.arrive()")
            found = dict(b.run(boxes))
            assert sum(found.values()) == whole > 0, (up, split, found)
            if split:
                assert found == m[split + "s"], (up, split, found)
            elif up:
                assert found == {f"wait for {name}": ns for name, ns in m["locks"].items()}, found
    b.run("document.querySelector('#regions .bar-tools select').value = 'thread'")
    b.run("document.querySelector('#regions .bar-tools select').dispatchEvent(new Event('change'))")
    b.run("[...document.querySelectorAll('#regions .button')].find((x) => x.textContent === 'Wall time by region').click()")
    assert address(b).split("?")[1] == "of=regions&split=thread&up=1", address(b)
    own = b.run("""(() => { const by = {}, visit = (n) => { by[n.name] = (by[n.name] || 0) + n.ns; }; for (const t of upmuReport.flame_shown.root.children)
        t.children.forEach(visit); return [by, upmuReport.flame_shown.root.ns]; })()""")
    assert "item" in own[0] and 0 < own[0]["item"] < own[1], own


def functions(b):
    """Functions that wait are those of the program: no wrapper of a lock, and no start of a thread."""
    b.view("regions")
    wrappers = set(b.run("upmuReport.recording.frames.map((f, i) => upmuReport.recording.frame(i)).filter((f) => f.wrapper).map((f) => f.name)"))
    shown = b.run("""[...[...document.querySelectorAll('#regions .panel')].find((p) => p.textContent.startsWith('Functions that wait'))
        .querySelectorAll('td.name')].map((td) => td.textContent)""")
    assert "pass" in shown and wrappers and not wrappers & set(shown), (shown, wrappers)


def compare(b):
    """A page of two recordings has the differences of `upmu report --diff`."""
    b.open(f"{work}/both.html", "")
    assert b.run("document.body.dataset.view") == "compare" and not b.complaints(), b.complaints()
    diff = json.load(open(f"{work}/both.json"))
    panels = b.run("""Object.fromEntries([...document.querySelectorAll('#compare .panel')].map((p) => [p.firstChild.textContent,
        (p.querySelector('.more') && p.querySelector('.more').click(), [...p.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent)))]))""")
    ns = lambda text: 0 if text in ("0", "\u2013") else float(text.split("\u202f")[0]) * {"s": 1e9, "ms": 1e6, "\u00b5s": 1e3, "ns": 1}[text.split("\u202f")[-1]]
    number = lambda text: 0 if text == "\u2013" else int(text.replace("\u202f", ""))
    locks = {row[0]: row[1:] for row in panels["Locks and what else was waited for"]}
    named = [x for x in diff["locks"] if x["type"] == "mutex"]
    assert len(named) == 6, named
    for lock in named:
        row = locks.get(f"mutex {lock['name']}", ["0", "0", "0"] * 3)
        for i, side in enumerate(("old", "new")):
            x = lock[side] or {"waited_ns": 0, "waits": 0, "held_on_path_ns": 0}
            for at, key in ((0, "waited_ns"), (6, "held_on_path_ns")):
                assert close(ns(row[at + i]), x[key], 1 + x[key] * 1e-3), (lock, row)
            assert number(row[3 + i]) == x["waits"], (lock, row)
    regions = {row[0]: row[1:] for row in panels["Regions"]}
    for region in diff["regions"]:
        if region["name"] != "(thread)":
            row = regions[region["name"]]
            assert (number(row[3]), number(row[4])) == (region["old"]["count"], region["new"]["count"]), (region, row)
    threads = {row[0]: row[1:] for row in panels["Threads"]}
    assert threads["worker 05"][2] == "gone" and threads["main"][2] not in ("gone", "new"), threads
    # The graph: widths of one side; what the other side has beside it is counted.
    sums = b.run("[upmuReport.base, upmuReport.recording].map((m) => m.blocked.reduce((n, x) => n + x[5], 0))")
    for before in (False, True):
        root = b.run("(({ns, other}) => [ns, other])(upmuReport.flame_shown.root)")
        assert root == (sums if before else sums[::-1]), (root, sums)
        if not before:
            b.run("[...document.querySelectorAll('#compare .button')].find((x) => x.textContent === 'Widths of before').click()")
    assert address(b) == "#compare?before=1", address(b)
    b.open(page, "compare")
    assert b.run("document.body.dataset.view") == "overview" and b.run("document.getElementById('tab-compare').hidden")


# The path as 10,000 steps: in its first half three threads in turn, in its second half one of ten steps in a fourth.
MANY_HOPS = """(() => { const m = upmuReport.recording, path = m.paths[0], n = 10000,
    row = {begin: [], ns: [], kind: [], thread: [], waker: [], object: []};
    for (let i = 0; i < n; i++) {
        row.begin.push((i * m.length) / n); row.ns.push(m.length / n); row.kind.push(i % 7 ? 0 : 1);
        row.thread.push(i < n / 2 ? 1 + i % 3 : i % 10 ? 4 : 5); row.waker.push(i ? 1 : 0); row.object.push(i % 7 ? 0 : 1); }
    Object.assign(path, {row, merged: null, steps: n, hops: n, early: 0, begin: 0, end: m.length}); })()"""

# For a share of the view's width, how many pixels of each thread's strip have the color of the path.
INK = """((share) => { const t = upmuReport.timeline, canvas = t.screen.canvas, c = canvas.getContext("2d"), found = [];
    const parts = [1, 3, 5].map((i) => parseInt(getComputedStyle(document.documentElement).getPropertyValue("--accent").trim().slice(i, i + 2), 16));
    for (const thread of [1, 2, 3, 4, 5]) {
        const lane = t.layout.ofThread.get(thread), s = lane.strips[0],
            part = c.getImageData(196 + (canvas.clientWidth - 196) * share, 24 + lane.y + s.y, 40, s.height).data;
        let n = 0;
        for (let i = 0; i < part.length; i += 4) n += parts.every((v, k) => Math.abs(part[i + k] - v) < 6);
        found.push(n / (part.length / 4)); }
    return found; })"""


def paths(b):
    """Sums of a path and of its parts, and ten thousand hops at two zooms."""
    b.open(page)
    words = b.run("[...document.querySelectorAll('#overview .panel')].find((x) => x.firstChild.textContent === 'Critical path').textContent")
    assert "Without it, shorter by" in words and "Hops to it" in words, words
    m = b.run("""(() => { const r = upmuReport, at = (m) => m.paths[0].objects.filter((o) => o.held_ns + o.wakes > 0)
        .map((o) => [o.object, o.held_ns, o.wakes, o.wake_ns]).sort(); const whole = at(r.recording);
        r.setCut(-1, r.recording.length + 1); const part = at(r.model); r.setCut(); return [whole, part]; })()""")
    whole, part = ({o[0]: o[1:] for o in side} for side in m)
    assert whole, m
    for o in {**whole, **part}:  # a hold of a few nanoseconds may be in one of them only
        (held, *wakes), (part_held, *part_wakes) = whole.get(o, [0, 0, 0]), part.get(o, [0, 0, 0])
        assert wakes == part_wakes and close(held, part_held, 1000 + held * 1e-3), (o, m)
    b.run(MANY_HOPS)
    b.run("upmuReport.show('timeline', {path: true})")
    b.frame()
    side = b.run("document.querySelector('.side').textContent")
    assert "Critical path in view" in side and "hops" in side, side
    # Too dense for lines: each lane has as much ink as its thread has of the path.
    left, right = b.run(f"{INK}(0.2)"), b.run(f"{INK}(0.8)")
    assert all(0.1 < n < 0.5 for n in left[:3]) and left[3:] == [0, 0], left
    assert right[:3] == [0, 0, 0] and right[3] > 0.5 and 0 < right[4] < 0.2, right
    # From hop to hop, near enough for lines; then the details of one.
    b.run("upmuReport.timeline.screen.canvas.focus()")
    b.key("]")
    i = b.run("upmuReport.timeline.hop.i")
    b.key("]")
    assert b.run("upmuReport.timeline.hop.i") == i + 1
    side = b.run("document.querySelector('.side').textContent")
    assert "On the critical path" in side and "Woken by" in side, side
    at = b.run("(() => { const t = upmuReport.timeline, s = t.hop.path.merged, i = t.hop.i; return [s.ns[i] / (t.view.to - t.view.from), s.thread.length]; })()")
    assert at[0] * 1000 > 5, at  # wide enough to be seen
    merged = b.run("upmuReport.recording.paths[0].merged.ns.reduce((a, n) => a + n, 0) / upmuReport.recording.length")
    assert close(merged, 1, 1e-6) and 5000 + 900 < at[1] < 5000 + 1100, (merged, at)
    b.key("Escape")
    assert "Critical path in view" in text(b, ".side")


with Browser() as b:
    b.open(page)
    assert not b.complaints(), b.complaints()
    parts(b)
    addresses(b)
    lanes(b)
    search(b)
    colors(b)
    events(b)
    flames(b)
    functions(b)
    paths(b)
    compare(b)
    assert not b.complaints(), b.complaints()
print("links, addresses, lanes, search, parts and the critical path are right")
