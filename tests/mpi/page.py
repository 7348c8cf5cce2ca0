# SPDX-License-Identifier: MIT
"""The pages of jobs whose calls, messages and waits are known, in Chromium."""
import json
from browser import Browser


def job(name):
    return json.load(open(f"{name}.json"))["jobs"][0]


def text(b, selector):
    return b.run(f"document.querySelector({json.dumps(selector)}).innerText")


def pixels(b, color, x0, x1, y0, y1):
    """Pixels of the lanes that are nearly of a color, in a rectangle of the canvas."""
    return b.run(f"""(() => {{ const c = upmuReport.timeline.screen.canvas.getContext("2d"), [x, y] = [Math.floor({x0}), Math.floor({y0})],
        d = c.getImageData(x, y, Math.max(1, Math.ceil({x1}) - x), Math.max(1, Math.ceil({y1}) - y)).data, want = {json.dumps(color)}; let n = 0;
        for (let i = 0; i < d.length; i += 4) n += [0, 1, 2].every((k) => Math.abs(d[i + k] - want[k]) < 24);
        return n; }})()""")


def same_numbers(b):
    """Calls and messages of the page are those of the report."""
    report = job("calls")
    m = b.run("""(() => { const m = upmuReport.model, c = m.tables.calls, calls = {};
        for (let i = 0; i < c.n; i++) calls[callNameOf(i)] = (calls[callNameOf(i)] || 0) + c.more[i] + 1;
        function callNameOf(i) { return m.mpi.names[c.what[i] - 1]; }
        return {calls, ranks: m.mpi.ranks.map((r) => [r.rank, r.time, r.mpi, r.wait]), messages: m.messages.begin.length,
            sent: [...m.messages.from].map((t) => m.threads[t - 1].label), bytes: [...m.messages.bytes].reduce((a, n) => a + n - 1, 0)}; })()""")
    functions = {f["name"]: f["calls"] for f in report["functions"] if f["ns"] > 0}
    found = {k: v for k, v in m["calls"].items() if k not in ("MPI_Init", "MPI_Finalize")}
    assert {k: functions.get(k) for k in found} == found and len(found) > 12, (functions, found)
    assert m["calls"]["MPI_Finalize"] == 2
    assert m["ranks"] == [[r["rank"], r["time_ns"], r["mpi_ns"], r["wait_ns"]] for r in report["ranks_recorded"]], m["ranks"]
    assert m["messages"] == report["messages"] == 60 and set(m["sent"]) == {"rank 0", "rank 1"}, m["messages"]
    assert m["bytes"] == sum(r["received_bytes"] for r in report["ranks_recorded"]), m["bytes"]


def lanes(b):
    """A head for the host, which folds; a lane for each rank, with its calls."""
    b.view("timeline")
    titles = "upmuReport.timeline.layout.lanes.map((l) => l.title)"
    assert [t for t in b.run(titles) if t.startswith("rank")] == ["rank 0", "rank 1"], b.run(titles)
    b.run("upmuReport.timeline.fold(upmuReport.timeline.layout.lanes[0].key)")
    assert not [t for t in b.run(titles) if t.startswith("rank")], b.run(titles)
    b.run("upmuReport.timeline.fold(upmuReport.timeline.layout.lanes[0].key)")
    assert "60\u00a0messages" in text(b, ".range"), text(b, ".range")
    b.run("upmuReport.timeline.search.value = 'Waitall'; upmuReport.timeline.searching.look('Waitall')")
    assert "20\u00a0calls" in text(b, ".found"), text(b, ".found")
    b.run("upmuReport.timeline.searching.set('')")


CHOOSE = """(([name, least]) => { const t = upmuReport.timeline, c = t.m.tables.calls;
    for (const row of c.rows) for (let i = row.from; i < row.to; i++)
        if (t.m.mpi.names[c.what[i] - 1] === name && c.waitNs[i] >= least) { t.show(c.begin[i] - c.ns[i] * 0.5, c.begin[i] + c.ns[i] * 1.5); t.choose(row, i);
            const lane = (a) => { const l = t.layout.ofThread.get(a), s = l.strips.find((s) => s.kind === "call"); return [l.y + s.y + 24, s.height]; };
            const x = (ns) => 196 + ((ns - t.view.from) / (t.view.to - t.view.from)) * (t.screen.canvas.clientWidth - 196);
            return {begin: x(c.begin[i]), end: x(c.begin[i] + c.ns[i]), wait: c.waitNs[i], at: lane(row.a), other: lane(c.rows.find((r) => r !== row).a)}; } })"""


def late_sender(b):
    """The wait of the longest receive: its place, its reason, and links to the call of the sender."""
    b.open("late.html", "timeline")
    wait = max(w["max_ns"] for w in job("late")["waits"] if w["pattern"] == "late-sender")
    at = b.run(f"{CHOOSE}(['MPI_Recv', {wait}])")
    b.frame()
    side = text(b, ".side")
    for word in ("MPI_Recv", "MPI_COMM_WORLD", "2\u00a0ranks", "late sender", "Waited for", "rank 0", "Tag", "Bytes", "Messages", "waits.c:"):
        assert word in side, (word, side)
    assert at["wait"] == wait
    y, height = at["at"]
    red = pixels(b, [0xe0, 0x31, 0x31], at["begin"] + 4, at["end"] - 4, y + height - 2, y + height - 1)
    assert red > 0.8 * (at["end"] - at["begin"] - 8) * wait / (wait + 2e6) - 2, (red, at)
    # The chosen call's message is an arrow in the color of links, from the upper lane to this one.
    above, below = sorted([at["at"], at["other"]])
    accent = [int(n) for n in b.run("getComputedStyle(document.querySelector('.side a')).color").strip("rgb()").split(",")]
    arrow = pixels(b, accent, 196, at["end"] + 40, above[0] + above[1] + 1, below[0] - 1)
    assert arrow > 5, arrow
    b.run("[...document.querySelectorAll('.side dt')].find((e) => e.textContent === 'Waited for').nextSibling.querySelector('a').click()")
    b.frame()
    assert "MPI_Send" in text(b, ".side h3"), text(b, ".side")
    assert "rank 1" in text(b, ".side") and "\u2192" in text(b, ".side"), text(b, ".side")


def strip(b):
    """The strip of blocked threads has the waits within MPI calls, as much of them as the calls have."""
    b.open("late.html", "timeline")
    drawn, waited = b.run("""(() => { const t = upmuReport.timeline, m = t.m, layer = t.layers.find((l) => l.title === "MPI waits"), c = m.tables.calls;
        return [layer ? layer.sum.reduce((n, v) => n + v, 0) * (m.shown.to - m.shown.from) / layer.sum.length : 0,
                c.waitNs.reduce((n, ns, i) => n + Math.min(ns, c.ns[i]), 0)]; })()""")
    assert waited > 0 and abs(drawn / waited - 1) < 0.01, (drawn, waited)


def band(b):
    """A collective call joins the lanes of its ranks, and lists them: the last one first."""
    b.open("band.html", "timeline")
    longest = max((w for w in job("band")["waits"] if w["function"] == "MPI_Allreduce"), key=lambda w: w["max_ns"])
    waited, last = longest["rank"], 1 - longest["rank"]
    at = b.run(f"{CHOOSE}(['MPI_Allreduce', {longest['max_ns']}])")
    b.frame()
    side = text(b, ".side")
    for word in ("MPI_Allreduce", "2 of 2", "needs data of all ranks", "Began after the first"):
        assert word in side, (word, side)
    rows = b.run("[...document.querySelectorAll('.side tbody tr')].map((r) => r.innerText)")
    assert len(rows) == 2 and rows[0].startswith(f"rank {last}") and rows[1].startswith(f"rank {waited}"), rows
    y = at["at"][0] - 5 if at["at"] > at["other"] else sum(at["at"]) + 5  # beside the call that lasted, towards the other lane
    lane = b.run("(() => { const c = upmuReport.timeline.screen.canvas.getContext('2d'), d = c.getImageData(%d, %d, 1, 1).data; return [d[0], d[1], d[2]]; })()"
                 % (at["end"] * 0.9 + at["begin"] * 0.1, y))
    assert lane[0] > lane[1] + 20 and lane[2] > lane[1] + 20, lane  # violet


def path(b):
    """The job's critical path: the steps and sums of the report, drawn in the lanes of ranks."""
    b.open("late.html")
    found = job("late")["critical_path"]
    steps = b.run("upmuReport.model.paths.map((p) => [p.job, p.steps, p.end - p.begin])")
    assert steps == [[True, found["steps_all"], found["steps"][-1]["end_ns"] - found["steps"][0]["begin_ns"]]], (steps, found)
    words = text(b, "#overview")
    assert "Critical path of the MPI job" in words and "before MPI_Send" in words and "waits.c:" in words, words
    b.view("timeline")
    b.run("upmuReport.timeline.setPath(true)")
    b.frame()
    assert "Critical path in view" in text(b, ".side") and "rank 0" in text(b, ".side"), text(b, ".side")


with Browser() as b:
    b.open("calls.html")
    same_numbers(b)
    assert "Ranks of MPI" in text(b, "#overview"), text(b, "#overview")
    lanes(b)
    b.view("events")
    b.run("upmuReport.events.look('allgather')")
    assert "2\u00a0events" in text(b, "#events .found") and "MPI_Allgather" in text(b, "#events .event-rows"), text(b, "#events")
    late_sender(b)
    strip(b)
    band(b)
    path(b)
    b.open("late.html", "timeline?lang=zh")
    b.run(f"{CHOOSE}(['MPI_Recv', 40e6])")
    b.view("overview")
    assert not b.run("[...upmuReport.untranslated]"), b.run("[...upmuReport.untranslated]")
    assert not b.complaints(), b.complaints()
print("the page has the ranks, their calls and messages")
