# SPDX-License-Identifier: MIT
"""Exports of a time window that cuts through waits and regions, against the rows of the whole recording."""
import csv
import io
import json
import subprocess
import sys

upmu, trace, rows = sys.argv[1:]
whole = json.load(open(rows))
begin, rows = whole["begin_ns"], whole["rows"]
till = [r for r in rows if r["kind"] == "wait" and (r["object"] or {}).get("name") == "the till"][0]
# From the middle of the wait to its end, which others outlast.
FROM, TO = (till["begin_ns"] + till["end_ns"]) // 2 - begin, till["end_ns"] - begin - 1000


def export(form, *more):
    args = [upmu, "export", "-f", form, "--from", f"{FROM / 1e9:.9f}", "--to", f"{TO / 1e9:.9f}", *more, trace]
    return subprocess.run(args, capture_output=True, check=True).stdout


def cut(kind, text=None):
    """(thread, begin, end) of the rows of a kind, and with a text, as far as they are in the window."""
    of = [(r["thread"]["tid"], max(r["begin_ns"] - begin, FROM), min(r["end_ns"] - begin, TO)) for r in rows
          if r["kind"] == kind and text in (None, r["text"]) and r["end_ns"] - begin >= FROM and r["begin_ns"] - begin <= TO]
    return sorted(of)


def chrome():
    found, stacks, last = {"wait": [], "region": []}, {}, 0
    for e in json.loads(export("chrome"))["traceEvents"]:
        if e["ph"] not in "BE":
            continue
        ns = round(e["ts"] * 1000)
        assert FROM <= ns <= TO and ns >= last, (e, FROM, TO, last)
        last = ns
        if e["ph"] == "B":
            stacks.setdefault(e["tid"], []).append((ns, e["cat"], e["name"]))
            continue
        at, kind, name = stacks[e["tid"]].pop()
        if kind == "wait" or name == "shopping":
            found[kind].append((e["tid"], at, ns))
    assert not any(stacks.values()), stacks
    assert sorted(found["wait"]) == cut("wait") and len(cut("wait")) > 1, (found["wait"], cut("wait"))
    shopping = cut("region", "shopping")
    assert found["region"] == shopping and len(shopping) == 1, (found["region"], shopping)


def profile():
    waited = sum(int(line.rsplit(" ", 1)[1]) for line in export("folded", "--of", "waits").decode().splitlines())
    assert waited == sum(e - b for _, b, e in cut("wait")), (waited, cut("wait"))


def tables():
    times = [json.loads(line)["time_ns"] - begin for line in
             subprocess.run([upmu, "export", "-f", "jsonl", trace], capture_output=True, check=True).stdout.splitlines()]
    inside = [t for t in times if FROM <= t <= TO]
    assert 0 <= len(inside) < len(times)
    assert [json.loads(line)["time_ns"] - begin for line in export("jsonl").splitlines()] == inside
    table = list(csv.reader(io.StringIO(export("csv").decode())))
    assert [int(row[0]) - begin for row in table[1:]] == inside, table


chrome()
profile()
tables()
