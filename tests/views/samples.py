# SPDX-License-Identifier: MIT
"""Samples in the page: a strip in each thread's lane, and what holders executed while others waited."""
import bisect
import json
import sys
from browser import Browser
from data import Page

work = sys.argv[1]
path = f"{work}/locks.html"
page = Page(path)
facts = page.facts["samples"]


def samples_by_thread():
    """(time, function) of the samples of each thread."""
    rows, ns, paths = page.numbers("samples.rows"), page.numbers("samples.ns"), page.numbers("samples.path")
    found, at = {}, 0
    for thread, n in zip(rows[::2], rows[1::2]):
        now, mine = 0, []
        for k in range(at, at + n):
            now += ns[k]
            mine.append((now, facts["functions"][facts["paths"][paths[k] - 1][1]][0]))
        found[thread] = mine
        at += n
    assert at == len(ns) > 0
    return found


SAMPLES = samples_by_thread()


def executed(thread, begin, end):
    mine = SAMPLES.get(thread, [])
    names = [f for _, f in mine[bisect.bisect_left(mine, (begin, "")):] if _ <= end]
    return {name: names.count(name) for name in names}


def waits_for_lock(b):
    """(number of the span, holder, begin of the hold, moment of its release) of the waits whose holder is known."""
    return b.run("""(() => { const m = upmuReport.recording, w = m.tables.waits;
        return [...w.begin.keys()].filter((i) => w.holder[i] && !m.objects[w.what[i] - 1].calm)
            .map((i) => [i, w.holder[i] - 1, w.begin[i] - Math.max(0, w.since[i] - 1), w.begin[i] + w.ns[i] - (w.waker[i] === w.holder[i] ? w.wakerNs[i] : 0)]); })()""")


def details(b):
    """Details of a wait have the samples of its holder from the acquisition to the release, by function."""
    with_samples = 0
    for index, holder, begin, end in waits_for_lock(b)[:40]:
        b.run(f"""(() => {{ const t = upmuReport.timeline, row = t.m.tables.waits.rows.find((r) => r.from <= {index} && {index} < r.to);
            t.choose(row, {index}); }})()""")
        rows = b.run("""(() => { const title = [...document.querySelectorAll('.side h4')].find((x) => x.textContent === 'Executed by the holder meanwhile');
            return title && [...title.nextElementSibling.querySelectorAll('tbody tr')].map((r) => [r.cells[0].querySelector('i').nextSibling.textContent, Number(r.cells[1].textContent)]); })()""")
        expected = executed(holder, begin, end)
        if not expected:
            assert rows is None, rows
            continue
        with_samples += 1
        assert rows and sum(n for _, n in rows) <= sum(expected.values()), (rows, expected)
        for name, n in rows:
            assert expected[name] == n, (index, rows, expected)
    assert with_samples > 0


def strip(b):
    """Where a thread has samples its strip is painted, far from them it is not; a click shows the samples there."""
    b.run("upmuReport.timeline.showAll()")
    b.frame()
    length = b.run("upmuReport.recording.length")
    thread = max(SAMPLES, key=lambda t: len(SAMPLES[t]))
    middle = SAMPLES[thread][len(SAMPLES[thread]) // 2][0]
    b.run(f"upmuReport.timeline.show({middle - length * 0.05}, {middle + length * 0.05})")
    b.frame()
    pixels = b.run(f"""(() => {{ const t = upmuReport.timeline, lane = t.layout.ofThread.get({thread}), s = lane.strips.find((x) => x.kind === "sample"),
        c = t.screen.canvas, scale = c.width / c.clientWidth, y = (24 + lane.y + s.y + s.height / 2 - t.scroller.scrollTop) * scale,
        line = c.getContext("2d").getImageData(0, Math.round(y), c.width, 1).data;
        const colors = new Map(), color = (x) => line.slice(4 * x, 4 * x + 3).join();
        for (let x = Math.round(196 * scale); x < c.width; x++) colors.set(color(x), (colors.get(color(x)) || 0) + 1);
        const plain = [...colors].reduce((a, b) => (b[1] > a[1] ? b : a))[0].split(",").map(Number);
        return {{x0: 196 * scale, width: c.width - 196 * scale, y: y / scale, scale,
            painted: [...Array(c.width).keys()].map((x) => [0, 1, 2].some((k) => Math.abs(line[4 * x + k] - plain[k]) > 4))}}; }})()""")
    view = b.run("upmuReport.timeline.view")
    x_of = [pixels["x0"] + (ns - view["from"]) / (view["to"] - view["from"]) * pixels["width"] for ns, _ in SAMPLES[thread]
            if view["from"] < ns < view["to"]]
    assert x_of
    for x in x_of:
        near = pixels["painted"][max(197, int(x) - 5):int(x) + 6]
        assert any(near), (x, near)
    far = [x for x in range(int(pixels["x0"]) + 20, int(pixels["x0"] + pixels["width"]) - 20) if all(abs(x - s) > 12 for s in x_of)]
    painted = [x for x in far if pixels["painted"][x]]
    assert len(painted) <= len(far) / 5 + 20, (len(painted), len(far))  # the grid and arrows cross the strip
    # A click on a sample: its function and call path.
    box = b.run("(() => { const r = upmuReport.timeline.screen.canvas.getBoundingClientRect(); return [r.left, r.top]; })()")
    x = x_of[len(x_of) // 2] / pixels["scale"]
    b.mouse("mouseMoved", box[0] + x, box[1] + pixels["y"])
    b.frame()
    assert "sample" in b.run("document.querySelector('#timeline .tip').innerText")
    b.click(box[0] + x, box[1] + pixels["y"])
    side = b.run("document.querySelector('.side').innerText")
    names = {f for ns, f in SAMPLES[thread]}
    assert "Most frequent call path" in side and any(name in side for name in names), side
    # A stretch of time has the samples of all threads.
    b.run(f"(() => {{ const t = upmuReport.timeline; t.range = {{a: 0, b: {length}}}; t.showRange(); }})()")
    all_of_it = {}
    for t in SAMPLES:
        for name, n in executed(t, 0, length).items():
            all_of_it[name] = all_of_it.get(name, 0) + n
    most = max(all_of_it.values())
    assert "Executed in it" in b.run("document.querySelector('.side').innerText")
    first = b.run("""(() => { const title = [...document.querySelectorAll('.side h4')].find((x) => x.textContent === 'Executed in it');
        return Number(title.nextElementSibling.querySelector('tbody tr').cells[1].textContent); })()""")
    assert first == most, (first, all_of_it)


def search(b):
    """A sampled function is found, and the lanes keep its samples."""
    name = max((n for f in SAMPLES.values() for n in {x for _, x in f}), key=lambda n: sum(x == n for f in SAMPLES.values() for _, x in f))
    b.run(f"upmuReport.timeline.searching.set({json.dumps(name)})")
    n = sum(x == name for f in SAMPLES.values() for _, x in f)
    side = b.run("document.querySelector('.side').innerText")
    assert f"{name}: {n}\u00a0sample" in side.replace(",", "").replace("\u202f", ""), (side, n)
    b.run("upmuReport.timeline.searching.set('')")


def flames(b):
    """The flame graphs of samples: CPU time has their weight, wall time is that of all threads' lives; idle threads can be hidden."""
    b.view("regions")

    def shown(title):
        b.run(f"[...document.querySelectorAll('#regions .button')].find((x) => x.textContent === {json.dumps(title)}).click()")
        return b.run("upmuReport.flame_shown.root.ns")

    weight = sum(page.numbers("samples.weight")) * facts["every"]
    assert abs(shown("CPU time by samples") - weight) <= weight / 1e6, weight
    lives = b.run("upmuReport.recording.threads.reduce((ns, t) => ns + t.life, 0)")
    wall = shown("Wall time: samples and waits")
    assert abs(wall - lives) <= lives / 50, (wall, lives)
    names = b.run("(() => { const all = []; (function walk(n) { all.push(n); n.children.forEach(walk); })(upmuReport.flame_shown.root); return all.map((n) => [n.name, Boolean(n.lock)]); })()")
    assert any(lock and name.startswith("wait for mutex") for name, lock in names), names
    assert not any("start_thread" in name for name, _ in names), names  # samples and waits of a function are one box
    assert any(name == "preempted, or in a wait that is not recorded" for name, lock in names), names
    b.view("timeline")


with Browser() as b:
    b.open(path, "timeline")
    details(b)
    strip(b)
    search(b)
    flames(b)
    assert not b.complaints(), b.complaints()
