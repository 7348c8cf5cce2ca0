# SPDX-License-Identifier: MIT
# upmu stat -I: the intervals are of their time, their sum is the total, for each thread as well.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../attach.sh"

# A command that works in steps, so that the intervals differ.
steps='for i in 1 2 3 4; do "$0" touch 300; sleep 0.06; done'
expect 0 "$UPMU" stat -I 50 --json -o "$work/lines" -e page-faults,task-clock,context-switches sh -c "$steps" "$LOAD"
python3 - "$work/lines" <<'PYTHON' || { fail "intervals of a command"; cat "$work/lines" >&2; }
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
*intervals, whole = lines
assert whole["schema"] == "upmu-stat" and all(i["schema"] == "upmu-stat-interval" for i in intervals)
assert [i["interval"] for i in intervals] == list(range(len(intervals))) and len(intervals) >= 4
ends = [i["end_s"] for i in intervals]
assert ends == sorted(ends) and ends[0] >= 0.05 and abs(ends[-1] - whole["elapsed_s"]) < 1e-6, ends
for k, e in enumerate(whole["events"]):
    parts = [i["events"][k]["value"] for i in intervals]
    if e["status"] == "exact" and e["source"] == "perf_event":
        assert sum(p or 0 for p in parts) == e["value"], (e, parts)
    elif e["source"] == "rusage":
        assert all(p is None for p in parts) or len(parts) == 1, (e, parts)
assert whole["events"][0]["value"] > 1200
PYTHON

# CSV: the end of the interval before perf's fields, then the summary.
expect 0 "$UPMU" stat -I 50 --csv -o "$work/csv" -e page-faults sh -c "$steps" "$LOAD"
awk -F, '$1 == "summary" { whole = $2; next } $2 != "<not counted>" { sum += $2 } $1 <= last { exit 2 } { last = $1 }
    END { exit !(NR > 3 && whole > 1200 && sum == whole) }' "$work/csv" || { fail "CSV"; cat "$work/csv" >&2; }

# Text: titles once, a line for each interval.
expect 0 "$UPMU" stat -I 50 -e page-faults sh -c "$steps" "$LOAD"
[ "$(grep -c 'TIME s' "$work/err")" -eq 1 ] || { fail "titles"; show >&2; }
[ "$(grep -Ec '^ +[0-9]+\.[0-9]{6} +[0-9]+ +page-faults +exact$' "$work/err")" -ge 4 ] || { fail "rows"; show >&2; }
grep -q "Counts of 'sh" "$work/err" || { fail "no total"; show >&2; }

# Threads, and a number of intervals.
"$LOAD" spin 2 600 >"$work/ready" &
load=$!
wait_until 60 grep -q ready "$work/ready" || fail "load did not start"
expect 0 timeout 60 "$UPMU" stat -I 40 --interval-count 3 --per-thread --json -o "$work/lines" -e task-clock -p $load
python3 - "$work/lines" <<'PYTHON' || { fail "intervals of threads"; cat "$work/lines" >&2; }
import json, sys
*intervals, whole = [json.loads(l) for l in open(sys.argv[1])]
assert len(intervals) == 3, len(intervals)
for m, member in enumerate(whole["members"]):
    parts = [i["members"][m]["events"][0]["value"] or 0 for i in intervals]
    assert sum(parts) == (member["events"][0]["value"] or 0), (member, parts)
for i in intervals + [whole]:
    values = [m["events"][0]["value"] for m in i["members"] if m["events"][0]["value"] is not None]
    assert (sum(values) if values else None) == i["events"][0]["value"], i # on a busy machine no thread may have run
PYTHON

# A signal ends the last interval early, and the total is written.
"$UPMU" stat -I 600000 --json -o "$work/lines" -e task-clock -p $load &
upmu=$!
counting $upmu 3
kill -TERM $upmu
wait $upmu || fail "stat -I ended with $? after a signal"
[ "$(wc -l <"$work/lines")" -eq 2 ] || { fail "no interval or no total after a signal"; cat "$work/lines" >&2; }
kill $load

# The kernel accounts a command when it ends: until then its user time is not counted, and -v names no counter for it.
expect 0 "$UPMU" stat -x, -I 100 -o "$work/report" -e user-time -- sleep 0.35
! grep -q 'not supported' "$work/report" || fail "an interval of user-time: $(cat "$work/report")"
grep -q '<not counted>,msec,user-time' "$work/report" || fail "no interval of user-time: $(cat "$work/report")"
grep -Eq '^summary,[0-9.]+,msec,user-time' "$work/report" || fail "no sum of user-time: $(cat "$work/report")"
expect 0 "$UPMU" stat -v -e user-time -- true
has_not err "on a counter"
finish
