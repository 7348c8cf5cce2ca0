#!/usr/bin/env bash
# Fifty million calls in mode trace, half of them of a function that calls another one: none lost, at most 16 bytes each, reported in
# 15 s within 500 MiB. A fifth of them again with leaves that take longer, which only the first nodes of a tree have space for.
#
#     bench/bench_events.sh UPMU [--short] [--no-bars] [--json] [--no-heading]
#
# Time is CPU time, memory the largest resident set. In the short form there are half a million calls, and the time has no bar.
# Exit status: 0 all bars met, 1 one missed or a program failed, 77 skipped.
set -euo pipefail

upmu=${1:?usage: bench_events.sh UPMU [--short] [--no-bars] [--json] [--no-heading]}
shift
calls=50000000 bars=1 json=0 heading=1 short=0
for option; do
    case $option in
    --short) calls=500000 short=1 ;;
    --no-bars) bars=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_events.sh: unknown option $option" >&2
        exit 2
        ;;
    esac
done
command -v gcc >/dev/null || { echo "skipped, because gcc is not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/calls.c" <<'C'
#include <stdlib.h>
__attribute__((noinline)) static void leaf(long spin)
{
    for (; spin >= 0; spin--)
        __asm__ volatile("");
}
__attribute__((noinline)) static void middle(long spin)
{
    leaf(spin);
    __asm__ volatile("");
}
__attribute__((noinline)) static void work(long n, long spin)
{
    for (n /= 2; n > 0; n--)
        middle(spin);
}
int main(int argc, char **argv)
{
    work(argc > 1 ? atol(argv[1]) - 2 : 0, argc > 2 ? atol(argv[2]) : 0);
    return 0;
}
C
gcc -g -O2 -finstrument-functions "$tmp/calls.c" -o "$tmp/calls"
# recorded NAME CALLS [SPIN]
recorded()
{
    "$upmu" record --function-events -o "$tmp/$1" -- "$tmp/calls" "${@:2}" >"$tmp/out" 2>"$tmp/err" ||
        { echo "bench_events FAILED: $(cat "$tmp/err")" >&2; exit 1; }
}
recorded short_leaves "$calls"
recorded longer_leaves $((calls / 5)) 1000
CALLS=$calls BARS=$bars JSON=$json HEADING=$heading SHORT=$short python3 - "$upmu" "$tmp/short_leaves" "$tmp/longer_leaves" <<'PY'
import json, os, resource, subprocess, sys
upmu, short_leaves, longer_leaves = sys.argv[1:]
calls, bars, as_json, heading, short = (int(os.environ[k]) for k in ("CALLS", "BARS", "JSON", "HEADING", "SHORT"))
def report(recording):
    return json.loads(subprocess.run([upmu, "report", "--functions", "--json", recording], stdout=subprocess.PIPE, check=True).stdout)
d = report(short_leaves)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
longer = report(longer_leaves)
rows = [("calls without an event", calls - d["events"] / 2, 0, "calls"), ("bytes of a call", d["event_bytes"] / calls, 16, "bytes"),
        ("bytes of a call, longer leaves", longer["event_bytes"] / longer["calls"], 16, "bytes"),
        ("report, CPU time", used.ru_utime + used.ru_stime, None if short else 15, "s"),
        ("report, memory", used.ru_maxrss / 1024, 500, "MiB")]
missed = 0
if heading and not as_json:
    print("%-32s %12s %-6s %10s  %s" % ("mode trace, %d calls" % calls, "", "", "bar", "verdict"))
for name, value, bar, unit in rows:
    verdict = "-" if bar is None or not bars else "met" if value <= bar else "MISSED"
    missed |= verdict == "MISSED"
    if as_json:
        print(json.dumps({"bench": "events", "name": name, "value": value, "bar": bar, "unit": unit, "verdict": verdict}))
    else:
        print("%-32s %12.2f %-6s %10s  %s" % (name, value, unit, "" if bar is None else bar, verdict))
sys.exit(missed)
PY
