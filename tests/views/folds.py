# SPDX-License-Identifier: MIT
"""Locks of one creation site are one row of the overview, with the sums of all, as in the report; so are the static lock of a library
that is loaded again and again, and calls of processes of one program, whose main threads have its name."""
import json
import subprocess
import sys
from browser import Browser

upmu, work = sys.argv[1:]
report = json.loads(subprocess.run([upmu, "report", "--json", f"{work}/pool"], check=True, capture_output=True).stdout)
mutexes = [o for o in report["objects"] if o["type"] == "mutex" and o["waits"]["count"]]
assert len(mutexes) == 12 and len({o["group"] for o in mutexes}) == 1 and "make_lock pool.c:" in mutexes[0]["group"], mutexes
with Browser() as b:
    b.open(f"{work}/pool.html")
    # The table of locks has eight columns, that of the critical path six.
    rows = b.run("""[...document.querySelectorAll('#overview tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()))
        .filter((r) => r.length === 8 && r[0].startsWith('mutex '))""")
    assert len(rows) == 1 and rows[0][0] == f"mutex {mutexes[0]['group']} (12)", rows
    assert rows[0][2] == str(sum(o["waits"]["count"] for o in mutexes)), rows
    b.run("[...document.querySelectorAll('#overview tbody tr.link')].find((r) => r.cells[0].innerText.trim().startsWith('mutex ')).click()")
    b.frame()
    assert b.run("document.body.dataset.view") == "timeline"  # at the first of them
    b.open(f"{work}/loads.html")
    # Of the tables that begin with objects, that of the critical path has each lock.
    names = b.run("""[...document.querySelectorAll('#overview table')].find((t) => t.rows[0].cells[1].innerText.trim() === 'Waited in all')
        .innerText.split('\\n').map((line) => line.split('\\t')[0].trim()).filter((name) => name.startsWith('mutex library_lock'))""")
    assert names == ["mutex library_lock (12)"] * 2, names
    # Of the waits in mode counts only the number is known.
    b.open(f"{work}/counted.html")
    rows = b.run("""[...document.querySelectorAll('#overview tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()))
        .filter((r) => r.length === 8 && r[0].startsWith('mutex '))""")
    assert len(rows) == 1 and rows[0][1].startswith("\u2265") and rows[0][2] == "12", rows
    b.open(f"{work}/many.html")
    names = b.run("[...document.querySelectorAll('#overview tbody tr')].map((r) => r.cells[0].innerText.trim())")
    assert names.count("sleep \u00b7 sleep (4)") == 1 and "child process \u00b7 bash" in names, names
    assert len([n for n in names if n.startswith("sleep ") and n[6:].isdigit()]) == 4, names
    key = b.run("[...document.querySelectorAll('#overview .key span')].map((s) => s.innerText.trim())")
    assert key[:2] == ["child process \u00b7 bash", "others"], key
    assert not b.complaints(), b.complaints()
