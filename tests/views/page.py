# SPDX-License-Identifier: MIT
"""The page of a known program: numbers of `upmu report --json`, mouse and keyboard actions."""
import json
import os
import re
import subprocess
import sys
from browser import Browser

work = sys.argv[1]
report = json.load(open(f"{work}/scene.json"))
page = f"{work}/scene.html"


def text(b, selector):
    return b.run(f"document.querySelector({json.dumps(selector)}).innerText")


def same_numbers(b):
    m = b.run("""(() => { const m = upmuReport.model; return {
        threads: m.threads.map((t) => [t.tid, t.blocked_ns, t.end - t.begin]),
        objects: m.objects.filter((o) => o.waits.count).map((o) => [o.title, o.waits.count, o.waits.total_ns]),
        waits: [...m.tables.waits.ns].reduce((a, n) => a + n, 0), regions: m.tables.regions.n, events: m.totals.events}; })()""")
    assert m["events"] == report["totals"]["events"], (m["events"], report["totals"]["events"])
    blocked = {t["tid"]: t["blocked_ns"] for t in report["threads"]}
    assert len(blocked) == len(m["threads"]) == 3 and all(blocked[tid] == ns for tid, ns, _ in m["threads"]), (blocked, m["threads"])
    till = [o for o in m["objects"] if o[0] == "mutex the till"]
    assert len(till) == 1 and till[0][1] == 1 and till[0][2] > 40e6, m["objects"]
    assert sum(o[2] for o in m["objects"]) == m["waits"], m
    assert m["regions"] == 1


def overview(b):
    words = text(b, "#overview")
    for word in ("mutex the till", "customer ", "Blocked threads over time", "Conditions of this recording", "CLOCK_MONOTONIC_RAW", "every event was kept", "Own cost", "keep_till scene.c:"):
        assert word in words or word in b.run("document.getElementById('overview').textContent"), word
    # It slept while it held the till: that lies on the path, and is no work.
    for word in ("keeper ", "was on a CPU for", "of the path is its own", "waits that no recorded thread ended", "Waited on the path"):
        assert word in words, (word, words)
    # No column is empty.
    empty = b.run("""[...document.querySelectorAll('#overview table:not(.matrix)')].flatMap((t) => [...t.tHead.rows[0].cells].filter((c, i) =>
        c.innerText && t.tBodies[0].rows.length > 1 && [...t.tBodies[0].rows].every((r) => /^\u2013?$/.test(r.cells[i]?.innerText.trim()) && !r.cells[i].firstElementChild)).map((c) => c.innerText))""")
    assert not empty, empty
    # The finding is that of the report, and its button leads to the lock in the timeline.
    assert report["findings"][0]["kind"] == "section", report["findings"]
    finding = report["findings"][0]["text"].replace("`", "")
    assert finding in words, (finding, words)
    b.run("document.querySelector('.findings .button').click()")
    wait = report["findings"][0]["end_ns"] - report["findings"][0]["begin_ns"]
    shown = b.run("upmuReport.timeline.view.to - upmuReport.timeline.view.from")
    assert b.run("document.body.dataset.view") == "timeline" and wait < shown < 2 * wait, (wait, shown)
    b.run("upmuReport.timeline.screen.canvas.focus()")
    b.key("0")  # all of it
    b.view("overview")
    # A click on a column's head sorts by it.
    first = "document.querySelector('#overview tbody td').innerText"
    b.run("[...document.querySelectorAll('#overview th button')].find((x) => x.textContent.startsWith('Thread')).click()")
    up = b.run(first)
    b.run("[...document.querySelectorAll('#overview th button')].find((x) => x.textContent.startsWith('Thread')).click()")
    assert b.run(first) != up, up
    # The same as a part: also what was held asleep.
    whole, part = b.run("""(() => { const r = upmuReport, most = (m) => Math.max(...m.paths[0].objects.map((o) => o.held_ns)), whole = most(r.recording);
        r.setCut(-1, r.recording.length + 1); const part = most(r.model); r.setCut(); return [whole, part]; })()""")
    assert whole > 1e8 and abs(whole - part) <= 1000 + whole * 1e-3, (whole, part)


def place(b, lane, strip, share):
    """The point in the window at a share of the view's time, in a strip of a lane."""
    return b.run(f"""(() => {{ const t = upmuReport.timeline, l = t.layout.lanes.find((l) => l.title.startsWith({json.dumps(lane)})),
        s = l.strips.find((s) => s.kind === {json.dumps(strip)}), box = t.screen.canvas.getBoundingClientRect();
        return [box.left + 196 + (box.width - 196) * {share}, box.top + 24 + l.y - t.scroller.scrollTop + s.y + s.height / 2]; }})()""")


def the_wait():
    """Begin and end of the wait for the till, in nanoseconds of the recording."""
    rows = json.loads(subprocess.run([os.environ["UPMU"], "report", "--view", "timeline", "--json", "--lock", "the till", "--type", "wait",
                                      f"{work}/scene"], capture_output=True, check=True).stdout)
    w, base = rows["rows"][0], rows["begin_ns"]
    return w["begin_ns"] - base, w["end_ns"] - base


def timeline(b):
    b.view("timeline")
    # A busy machine may start the threads late: the middle of the wait need not be that of the view.
    begin, end = the_wait()
    middle = b.run(f"({begin + end} / 2 - upmuReport.timeline.view.from) / (upmuReport.timeline.view.to - upmuReport.timeline.view.from)")
    b.click(*place(b, "customer", "state", middle))
    side = text(b, ".side")
    for word in ("Waiting for mutex the till", "customer ", "keeper ", "pay_at_till", "scene.c:", "Held by", "Let go by"):
        assert word in side, (word, side)
    b.click(*place(b, "mutex the till", "holder", middle))
    assert "Holding mutex the till" in text(b, ".side") and "keep_till" in text(b, ".side"), text(b, ".side")
    b.click(*place(b, "customer", "region", middle))
    side = text(b, ".side")
    assert "shopping" in side and "page-faults" in side, side
    assert re.search(r"task-clock\s+[0-9.]+\s[mnu\u00b5\u03bc]?s", side), side  # a number, not the dash of what is not known

    span = "upmuReport.timeline.view.to - upmuReport.timeline.view.from"
    whole = b.run(span)
    x, y = place(b, "customer", "state", middle)
    b.wheel(x, y, -300)
    near = b.run(span)
    assert near < whole * 0.9, (near, whole)
    began = b.run("upmuReport.timeline.view.from")
    b.drag(x, y, x - 200, y)
    assert b.run("upmuReport.timeline.view.from") > began and abs(b.run(span) - near) < 1, "a drag moves"
    b.drag(x, y, x + 150, y, modifiers=8)
    assert "measured" in text(b, ".side") and "mutex the till" in text(b, ".side"), text(b, ".side")
    by_keys(b, span, whole)

    b.run("(() => { const s = upmuReport.timeline.search; s.focus(); s.value = 'the till'; s.dispatchEvent(new Event('input')); })()")
    assert "1 lock" in text(b, ".found").replace("\u00a0", " "), text(b, ".found")
    found = set()
    for _ in range(2):  # its hold and its wait; after the last match comes the first
        b.key("Enter")
        found.add(text(b, ".side h3"))
    assert found == {"Waiting for mutex the till", "Holding mutex the till"}, found


def by_keys(b, span, whole):
    b.run("upmuReport.timeline.screen.canvas.focus()")
    b.key("0")
    assert abs(b.run(span) / whole - 1) < 0.01
    b.key("w")
    assert b.run(span) < whole * 0.8
    at = b.run("upmuReport.timeline.view.from")
    b.key("d")
    assert b.run("upmuReport.timeline.view.from") > at
    b.key("Escape")
    assert "Nothing chosen" in text(b, ".side")
    b.key("n")
    assert "Lasted" in text(b, ".side"), text(b, ".side")
    assert b.run("document.querySelector('.side').tabIndex") == 0  # it scrolls on a phone


def regions(b):
    b.view("regions")
    words = text(b, "#regions")
    assert "shopping" in words and "pay_at_till" in words, words
    b.run("[...document.querySelectorAll('#regions .button')].find((x) => x.textContent === 'Blocked time by call stack').click()")
    b.frame()
    box = b.run("(() => { const r = document.querySelector('.flame canvas').getBoundingClientRect(); return [r.left, r.top, r.width]; })()")
    b.click(box[0] + 20, box[1] + 30)
    assert "\u00b7" in text(b, ".crumbs") and "all threads" in text(b, ".crumbs"), text(b, ".crumbs")


def light_and_dark(b):
    color = "getComputedStyle(document.body).backgroundColor"
    b.dark(False)
    light = b.run(color)
    b.dark(True)
    dark = b.run(color)
    assert light != dark
    b.run("document.getElementById('theme').click()")
    assert b.run(color) == light, "the switch wins over the system"


def time_window(b):
    """The chart of a page of a stretch of time counts who is blocked then, and nothing is drawn outside."""
    begin, end = the_wait()
    a, z = ((begin * (8 - i) + end * i) // 8 for i in (3, 5))
    subprocess.run([os.environ["UPMU"], "report", "--html", f"{work}/window.html", "--from", f"{a / 1e9:.9f}", "--to", f"{z / 1e9:.9f}",
                    f"{work}/scene"], check=True)
    b.open(f"{work}/window.html")
    report = subprocess.run([os.environ["UPMU"], "report", "--json", "--from", f"{a / 1e9:.9f}", "--to", f"{z / 1e9:.9f}", f"{work}/scene"],
                            check=True, capture_output=True, text=True)
    part = json.loads(report.stdout)
    waited = {o["name"]: o["waits"]["total_ns"] for o in part["objects"] if o["name"] and o["waits"]["count"]}
    shown = b.run("Object.fromEntries(upmuReport.model.objects.filter((o) => o.name && o.waits.count).map((o) => [o.name, o.waits.total_ns]))")
    assert shown == waited and "the till" in waited, (shown, waited)
    assert b.run("upmuReport.model.findings.map((f) => f.text)") == [f["text"] for f in part["findings"]]
    blocked = b.run("document.querySelector('.chart').getAttribute('aria-label')")
    assert "at most 3 at once" in blocked, blocked  # the customer, main that joins, and the keeper that sleeps
    b.view("timeline")
    b.run(f"upmuReport.timeline.show({2 * a - z}, {2 * z - a})")
    b.frame()
    x, y = place(b, "customer", "state", 0)
    lane = b.run(f"""(() => {{ const c = upmuReport.timeline.screen.canvas, box = c.getBoundingClientRect(),
        at = (share, by) => [...c.getContext("2d").getImageData(196 + (c.clientWidth - 196) * share + by, {y} - box.top - 7, 1, 1).data].join(),
        most = (colors) => colors.sort((a, b) => colors.filter((c) => c === b).length - colors.filter((c) => c === a).length)[0];
        return [0.1, 0.5, 0.9].map((share) => most([-6, -3, 0, 3, 6].map((by) => at(share, by)))); }})()""")  # a line of the grid is one pixel
    assert lane[0] == lane[2] != lane[1], lane


def editors(b):
    """Source lines are links where the address has an editor, and the address keeps it; none for one that is not known."""
    links = "[...document.querySelectorAll('#overview td.site a')].map((e) => e.getAttribute('href'))"
    for editor, link in (("ide", r"upmu-edit:/.*/scene\.c\?line=\d+"), ("vscode", r"vscode://file/.*/scene\.c:\d+"), ("constructor", None)):
        b.open(page, f"overview?editor={editor}")
        found = b.run(links)
        assert all(re.fullmatch(link, href) for href in found) and found if link else not found, (editor, found)
        b.view("timeline")
        assert (f"editor={editor}" in b.run("location.hash")) == bool(link), b.run("location.hash")


def old_browser(b):
    b.call("Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.DecompressionStream")
    b.open(page)
    assert "cannot inflate" in text(b, "#busy"), text(b, "#busy")


with Browser() as b:
    b.open(page)
    same_numbers(b)
    overview(b)
    timeline(b)
    regions(b)
    b.view("deadlock")
    assert "No " in text(b, "#deadlock")
    light_and_dark(b)
    time_window(b)
    editors(b)
    assert not b.complaints(), b.complaints()
    old_browser(b)
print("the page shows what was recorded")
