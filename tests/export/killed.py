# SPDX-License-Identifier: MIT
"""Ends of the regions that a killed thread left open, in each format, against the thread's end in the report."""
import json
import re
import subprocess
import sys

upmu, trace, report, rows, here = sys.argv[1:]
rows = json.load(open(rows))
begin = rows["begin_ns"]
left = {r["text"]: r["begin_ns"] - begin for r in rows["rows"] if r["kind"] == "region" and r["text"].startswith("left")}
tid = [r["thread"]["tid"] for r in rows["rows"] if r["text"] == "left open"][0]
END = [t["end_ns"] - begin for t in json.load(open(report))["threads"] if t["tid"] == tid][0]
ALONE = [r["begin_ns"] - begin for r in rows["rows"] if r["text"] == "alone"][0]
assert len(left) == 2 and max(left.values()) < END < ALONE, (left, END, ALONE)


def export(form, *more):
    return subprocess.run([upmu, "export", "-f", form, *more, trace], capture_output=True, check=True).stdout


def chrome(*window):
    """{name: (begin, end)} of the killed thread's regions."""
    found, stack = {}, []
    for e in json.loads(export("chrome", *window))["traceEvents"]:
        if e["ph"] == "B" and e["tid"] == tid:
            stack.append(e)
        elif e["ph"] == "E" and e["tid"] == tid:
            b = stack.pop()
            assert e["ts"] >= b["ts"], (b, e)
            if b["cat"] == "region":
                found[b["name"]] = (round(b["ts"] * 1000), round(e["ts"] * 1000))
    assert not stack, stack
    return found


def perfetto():
    """Ends of slices on the killed thread's track, from an independent decoder."""
    text = subprocess.run(["protoc", "--decode=Trace", "-I", here, f"{here}/perfetto.proto"], input=export("perfetto"),
                          capture_output=True, check=True).stdout.decode()
    packets = re.split(r"^packet \{$", text, flags=re.M)
    track = [re.search(r"\buuid: (\d+)", p)[1] for p in packets if re.search(rf"\btid: {tid}\b", p)][0]
    times = [int(re.search(r"\btimestamp: (\d+)", p)[1]) for p in packets
             if "TYPE_SLICE_END" in p and re.search(rf"\btrack_uuid: {track}\b", p)]
    assert len(times) >= 2, text[:2000]
    return max(times)


def firefox():
    page = json.loads(export("firefox"))
    thread = [t for t in page["threads"] if t["tid"] == tid][0]
    return max(e for e in thread["markers"]["endTime"] if e is not None)


expected = {name: (at, END) for name, at in left.items()}
assert chrome() == expected, (chrome(), expected)
assert abs(firefox() * 1e6 - END) < 1000, (firefox(), END)
assert perfetto() in (END, END + begin), (perfetto(), END)
folded = sum(int(line.rsplit(" ", 1)[1]) for line in export("folded", "--of", "regions").decode().splitlines() if "left open" in line)
assert folded == END - left["left open"], (folded, left, END)

middle = (left["left inside"] + END) // 2
after = ("--from", f"{(ALONE + 1000) / 1e9:.9f}")
assert chrome("--from", f"{middle / 1e9:.9f}") == {name: (middle, END) for name in left}
assert chrome("--to", f"{middle / 1e9:.9f}") == {name: (at, middle) for name, at in left.items()}
assert chrome(*after) == {}, chrome(*after)
assert "left" not in export("folded", "--of", "regions", *after).decode()
