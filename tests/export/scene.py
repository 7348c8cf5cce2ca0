# SPDX-License-Identifier: MIT
"""One wait of known length, with its holder, found in every format. Arguments: WAITS REGIONS, prefixes of the files."""
import os
import re
import sys
import formats as f

waits, regions = sys.argv[1:]
MS = 1e6
wait, region = "wait for mutex the till", "shopping"


def is_wait(ns):
    return 40 * MS < ns < 5000 * MS


# Timelines: the wait is within its region and names the holder of the lock.
spans, names, events = f.chrome(regions + ".chrome")
w = [s for s in spans if s[0] == wait]
r = [s for s in spans if s[0] == region]
assert len(w) == 1 and len(r) == 1 and w[0][3] == r[0][3], (w, r)
assert is_wait((w[0][2] - w[0][1]) * 1e3) and r[0][1] <= w[0][1] and w[0][2] <= r[0][2]
assert names[w[0][3]].startswith("customer "), names
assert w[0][4]["holder"].startswith("keeper ") and w[0][4]["at"].startswith("pay_at_till scene.c:"), w
assert w[0][4]["acquired at"].startswith("keep_till scene.c:"), w
assert r[0][4]["page-faults"] >= 0 and r[0][4]["task-clock"] > 0, r
assert any(e["ph"] == "C" and e["name"] == "task-clock" for e in events)

slices, arrows = f.perfetto(regions + ".perfetto.txt")
p = [s for s in slices if s[0] == wait]
exact = p[0][2] - p[0][1]
assert len(p) == 1 and abs(exact / 1e3 - (w[0][2] - w[0][1])) < 0.01, p
assert 'string_value: "keeper ' in f.text(regions + ".perfetto.txt")
assert len(arrows) >= 1, "no arrow from the release to the waiter"

# Profiles: the same wait below its call stack, and below its region.
for suffix, read in (("folded", f.folded), ("speedscope", f.speedscope)):
    stacks = {k: v for k, v in read(f"{waits}.{suffix}").items() if k[-1] == wait}
    assert len(stacks) == 1, stacks
    (path, ns), = stacks.items()
    assert path[0].startswith("customer ") and path[-3:-1] == ("customer", "pay_at_till"), path
    assert abs(ns - exact) < 1000, (ns, exact)
    inside = {k: v for k, v in read(f"{regions}.{suffix}").items() if k[-1] == wait}
    (path, ns), = inside.items()
    assert path[-2] == region and abs(ns - exact) < 1000, path

samples, types, labels = f.pprof(waits + ".pprof.txt")
(path, values), = ((k, v) for k, v in samples.items() if k[-1] == wait)
assert types[0] == "waits" and types[-1] == "wait" and values[0] == 1 and abs(values[-1] - exact) < 1000
assert path[-3:-1] == ("customer", "pay_at_till"), path
assert labels[path]["wait"] == wait and labels[path]["thread"].startswith("customer ") and "region" not in labels[path], labels
samples, types, labels = f.pprof(regions + ".pprof.txt")
assert types[1:4] == ["task-clock", "page-faults", "context-switches"], types

(of,) = (v for k, v in labels.items() if k[-1] == wait)
assert of["region"] == region and of["wait"] == wait, of

# OpenTelemetry: a profile for each type, the thread as an attribute.
profiles = f.otlp(waits + ".otlp.txt")
assert list(profiles)[:2] == ["wait", "waits"], list(profiles)
(path, ns), = ((k, v) for k, v in profiles["wait"].items() if k[-1] == wait)
assert path[0][0] == "thread.name" and path[0][1].startswith("customer ") and path[1] == ("upmu.wait", wait), path
assert path[-3:-1] == ("customer", "pay_at_till") and abs(ns - exact) < 1000, (path, ns)
assert [v for k, v in profiles["waits"].items() if k[-1] == wait] == [1]
assert "task-clock" in f.otlp(regions + ".otlp.txt")

# Firefox: the wait as a marker with its holder, and as a weighted sample with its stack.
stacks, markers = f.firefox(waits + ".firefox")
(m,) = (m for m in markers if m["name"] == wait)
assert m["thread"].startswith("customer ") and m["holder"].startswith("keeper ") and m["category"] == "Wait", m
assert m["at"].startswith("pay_at_till scene.c:") and m["acquired"].startswith("keep_till scene.c:"), m
assert abs((m["end"] - m["begin"]) * MS - exact) < 1000 and m["phase"] == 1, m
(path, ms), = ((k, v) for k, v in stacks.items() if k[-1] == wait)
assert path[-3:-1] == ("customer", "pay_at_till") and abs(ms * MS - exact) < 1000, (path, ms)
(m,) = (m for m in markers if m["name"] == region)
assert re.fullmatch(r"task-clock \d+, page-faults \d+, context-switches \d+", m["counters"]), m
stacks, markers = f.firefox(regions + ".firefox")
assert [k for k in stacks if k[-2:] == (region, wait)], stacks

annotated = f.text(waits + ".callgrind.txt")
assert "wait_ns" in annotated and wait in annotated and "pay_at_till" not in annotated.split(wait)[0].split("PROGRAM")[0]
assert f"{int(exact):,}"[:4] in annotated, annotated
assert "page-faults" in f.text(regions + ".callgrind.txt")

boxes = dict(f.svg(waits + ".flamegraph"))
assert wait in boxes and "pay_at_till" in boxes, boxes

# Tables: every event once, with the same facts.
rows, lines = f.table(regions + ".csv"), f.lines(regions + ".jsonl")
assert len(rows) == len(lines) and [r["time_ns"] for r in rows] == [str(e["time_ns"]) for e in lines]
block = [r for r in rows if r["kind"] == "lock-block" and r["object"] == "mutex the till"]
assert len(block) == 1 and block[0]["holder_site"].startswith("keep_till scene.c:"), block
got = [e for e in lines if e["kind"] == "lock-acquired" and e.get("object") == "mutex the till"]
assert len(got) == 1 and abs(got[0]["time_ns"] - int(block[0]["time_ns"]) - exact) < 1000
stack = [e for e in lines if e["kind"] == "lock-block" and e.get("object") == "mutex the till"][0]["stack"]
assert stack[0].startswith("pay_at_till scene.c:") and stack[1].startswith("customer scene.c:"), stack
begin = [e for e in lines if e["kind"] == "begin" and e["text"] == region][0]
assert begin["counters"]["task-clock"]["status"] == "exact" and begin["counters"]["task-clock"]["value"] > 0
print("the wait of", round(exact / MS, 1), "ms is in every format")

# Lists of places: where the customer waited, and where the keeper took what it waited for.
source = f.text(os.path.dirname(os.path.abspath(__file__)) + "/../analysis/scene.c").split("\n")


def line_in(function, call):
    start = next(i for i, text in enumerate(source) if function + "(void)" in text)
    return next(i for i in range(start, len(source)) if call in source[i]) + 1


for suffix, mark in (("tasks", "\twarn\t"), ("gcc", ": warning: ")):
    lines = [text for text in f.text(f"{waits}.{suffix}").split("\n") if "mutex the till" in text]
    assert len(lines) == 2 and all(mark in text for text in lines), lines
    cut = (lambda text: text.split("\t")[:2]) if suffix == "tasks" else (lambda text: text.split(":")[:2])
    places = {int(cut(text)[1]): text for text in lines}
    assert all(cut(text)[0].endswith("/scene.c") for text in lines), lines
    waited = places[line_in("pay_at_till", "pthread_mutex_lock")]
    taken = places[line_in("keep_till", "pthread_mutex_lock")]
    assert f"mutex the till: 1 wait here, {exact / 1e6:.3f} ms" in waited, (waited, exact)
    assert "mutex the till: acquired here, 1 wait of others meanwhile" in taken, taken
