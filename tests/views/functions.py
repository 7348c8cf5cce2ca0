# SPDX-License-Identifier: MIT
"""Recorded functions in the page: flame graph of all call paths, and a table with the numbers of `upmu report --functions --json`."""
import collections
import json
import sys
from browser import Browser
from data import Page

work = sys.argv[1]
FLAME = """(() => { const all = []; (function walk(n, path) { all.push([path, n.own, n.count, n.ns, Boolean(n.rest)]);
    n.children.forEach((c) => walk(c, [...path, c.name])); })(upmuReport.flame_shown.root, []); return all; })()"""
# Rows of the table under a title, as texts.
ROWS = """(() => { const panel = [...document.querySelectorAll('#regions .panel')].find((x) => x.querySelector('h2').textContent === 'Recorded functions');
    return panel && [...panel.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.innerText)); })()"""
NOTES = """[...document.querySelectorAll('#regions .note')].map((x) => x.textContent)"""


def reported(name):
    with open(f"{work}/{name}.json", encoding="utf-8") as f:
        return json.load(f)


def open_functions(b, name):
    b.open(f"{work}/{name}.html", "regions")
    title = b.run("document.querySelector('#regions .bar-tools .button[aria-pressed=true]').textContent")
    assert title == "Time in functions by call path", title
    assert b.run("document.querySelector('#regions select').hidden")  # they are of all threads together


def rows(b, name):
    """The numbers of each function, and the table's order by a column."""
    expected = [(f["name"], f["module"].rsplit("/", 1)[1], f["calls"], f["inclusive_ns"], f["exclusive_ns"], f["min_ns"], f["max_ns"],
                 None if f["recursive"] else f["inclusive_ns"] / f["calls"]) for f in reported(name)["functions"]]
    shown = b.run("upmuReport.recording.functions.list.map((f) => [f.name, f.module, f.calls, f.inclusive, f.exclusive, f.least, f.most, f.mean])")
    assert len(expected) == len(shown) > 0, (len(expected), len(shown))
    for want, got in zip(expected, shown):
        assert want[:7] == tuple(got[:7]) and (want[7] is None) == (got[7] is None), (want, got)
        assert want[7] is None or abs(want[7] - got[7]) < 1, (want, got)
    names = [row[0].split("\n")[0] for row in b.run(ROWS)]
    assert names == [f[0] for f in expected][:25], names
    b.run("[...document.querySelectorAll('#regions th .sort')].find((x) => x.textContent === 'Calls').click()")
    calls = [int("".join(c for c in row[2].split("(")[0] if c.isdigit())) for row in b.run(ROWS)]
    assert calls == sorted((f[2] for f in expected), reverse=True)[:25], calls


def graph(b, name):
    """Each call path is a box, as wide as the time in it and below it; bottom-up the functions have their exclusive time."""
    report = reported(name)
    names, paths = [f["name"] for f in report["functions"]], [()]
    own, calls = collections.Counter(), collections.Counter()
    for p in report["paths"][1:]:
        paths.append((*paths[p["parent"]], names[p["function"]]))
        own[paths[-1]] += p["exclusive_ns"]
        calls[paths[-1]] += p["calls"]
    below = collections.Counter()
    for path, ns in own.items():
        for depth in range(len(path) + 1):
            below[path[:depth]] += ns
    boxes = b.run(FLAME)
    assert {tuple(x[0]) for x in boxes} == set(own) | {()}
    for path, ns, times, wide, rest in boxes:
        path = tuple(path)
        assert (ns, times, wide, rest) == (own[path], calls[path], below[path], False), (path, ns, times, wide)
    b.run("[...document.querySelectorAll('#regions .button')].find((x) => x.textContent === 'Bottom-up').click()")
    by_function = collections.Counter()
    for path, ns in own.items():
        by_function[path[-1]] += ns
    for path, _, _, wide, _ in b.run(FLAME):
        assert len(path) != 1 or wide == by_function[path[0]], (path, wide)


def limited(b):
    """Of more call paths than a page holds those with the longest times are shown; boxes are as wide as with all of them."""
    open_functions(b, "wide")
    report, page = reported("wide"), Page(f"{work}/wide.html")
    kept, left_out = len(page.numbers("functions.own")), page.facts["functions"]["pathsLeftOut"]
    assert kept == 65536 and kept + left_out == len(report["paths"]) - 1 > kept, (kept, left_out)
    boxes = b.run(FLAME)
    assert boxes[0][3] == sum(p["exclusive_ns"] for p in report["paths"])
    rest = [x for x in boxes if x[4]]
    assert rest and all(x[0][-1] == "short call paths, not on this page" for x in rest)
    assert sum(x[1] for x in rest) == sum(sorted(p["exclusive_ns"] for p in report["paths"][1:] if p["depth"] == 3)[:left_out])
    assert any("call paths with the shortest times are one gray box" in x for x in b.run(NOTES))
    rows(b, "wide")


def notes(b):
    """What was lost, and which part of the recording the functions are of."""
    open_functions(b, "lost")
    assert any("calls are lost, for lack of nodes" in x for x in b.run(NOTES)), b.run(NOTES)
    assert b.run("document.querySelector('#regions .note.lost') !== null")
    whole = "Recorded functions are of the whole recording."
    open_functions(b, "tree_stretch")
    assert whole in b.run(NOTES)
    open_functions(b, "events_stretch")
    assert whole not in b.run(NOTES)
    rows(b, "events_stretch")
    open_functions(b, "events")
    assert whole not in b.run(NOTES)
    b.run("upmuReport.showCut(0, 1000)")
    b.view("regions")
    assert whole in b.run(NOTES)


with Browser() as b:
    for recording in ("tree", "events"):
        open_functions(b, recording)
        rows(b, recording)
        graph(b, recording)
    limited(b)
    notes(b)
    b.open(f"{work}/never.html", "regions")
    assert "Recording of functions was never started." in b.run("document.querySelector('#regions').innerText")
    b.open(f"{work}/plain.html", "regions")
    assert b.run(ROWS) is None
    assert not b.complaints(), b.complaints()
