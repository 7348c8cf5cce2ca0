#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each process that uses regions reports its own, once; children start clean, however they are made; a child without
# regions is silent; parent and child record to directories of their own.
set -euo pipefail
program=$1
way=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/reports"

status=0
UPMU_EVENTS=page-faults,context-switches UPMU_REPORT=json UPMU_OUTPUT="$work/reports/%p.json" UPMU_TRACE=$work/trace \
    "$program" "$way" >"$work/expected" 2>"$work/stderr" || status=$?
if [ "$status" -eq 77 ]; then
    cat "$work/expected"
    exit 77
fi
[ "$status" -eq 0 ] || { echo "FAILED: status $status"; cat "$work/stderr"; exit 1; }
[ ! -s "$work/stderr" ] || { echo "FAILED: not silent"; cat "$work/stderr"; exit 1; }

python3 - "$work" "$way" <<'END'
import json, os, sys
work, way = sys.argv[1:]
expected = {}
for line in open(work + "/expected"):
    pid, *regions = line.split(" ")
    assert pid not in expected, "two processes with pid " + pid
    # "in child=5" has a blank in its name
    expected[int(pid)] = dict(r.rsplit("=", 1) for r in line[len(pid) + 1:].strip().replace("in child", "in_child").split(" "))
reports = {}
for name in os.listdir(work + "/reports"):
    r = json.load(open(f"{work}/reports/{name}"))
    assert name == f"{r['pid']}.json", (name, r["pid"])
    reports[r["pid"]] = r
assert sorted(reports) == sorted(expected), (sorted(reports), sorted(expected))
parent = [p for p, regions in expected.items() if "before" in regions][0]
for pid, regions in expected.items():
    r = reports[pid]
    total = {row["region"].replace("in child", "in_child"): row for row in r["regions"] if row["thread"] is None}
    assert sorted(total) == sorted(regions), (pid, sorted(total), sorted(regions))
    for name, count in regions.items():
        assert count == "*" or total[name]["count"] == int(count), (pid, name, total[name]["count"], count)
        assert total[name]["open"] == 0 and total[name]["wall_ns"]["count"] == total[name]["count"], total[name]
    assert r["forked"] == (pid != parent and "spawned" not in regions), (pid, r["forked"])
    assert r["trace"] and os.path.isdir(r["trace"]), r["trace"]
traces = [r["trace"] for r in reports.values()]
assert len(set(traces)) == len(traces), traces
made = [d for d in os.listdir(work + "/trace") if os.path.isdir(os.path.join(work, "trace", d))]
assert len(made) == len(expected), (made, sorted(expected))
END
if command -v babeltrace2 >/dev/null && [ "$way" != threads ]; then
    babeltrace2 "$work/trace" >"$work/events" || { echo "FAILED: babeltrace2 refuses the recording"; exit 1; }
    [ "$(grep -c '"before"' "$work/events")" -eq 6 ] || { echo "FAILED: the parent's events"; exit 1; }
    children=$(grep -c '^[0-9]* in child=' "$work/expected" || true)
    seen=$(grep -c '"in child"' "$work/events" || true)
    [ "$seen" -ge $((10 * children)) ] || { echo "FAILED: $seen events of $children children"; exit 1; }
fi
