# SPDX-License-Identifier: MIT
# Metrics: per CPU, in groups, by name among events, of users' own, and of sockets with the kernel's units.
. "$(dirname "$0")/lib.sh"

# What a CPU can compute is by its own pairs of events.
expect 0 "$UPMU" list -m --cpu 3a3000 --json
json "$work/out" '
m = {x["name"]: x for x in d["metrics"]}
assert m["l1d-miss-ratio"]["events"] == "l1d-store-miss,l1d-store" and not m["l1d-miss-ratio"]["lacks"], m["l1d-miss-ratio"]
assert "no pair of events for loads" in m["l1d-miss-ratio"]["summary"]
assert m["l1d-hit-ratio"]["formula"] == "100 * (l1d-store - l1d-store-miss) / l1d-store"
assert "GS464E" in m["topdown-retiring"]["lacks"], m["topdown-retiring"]
g = {x["name"]: x for x in d["groups"]}
assert g["topdown"]["metrics"] == "" and "l1d-hit-ratio" in g["cache"]["metrics"], g
'
expect 0 "$UPMU" list -m --cpu sw831 --json
json "$work/out" '
m = {x["name"]: x for x in d["metrics"]}
assert m["cache-miss-ratio"]["events"] == "cache-misses,cache-references" and not m["cache-miss-ratio"]["lacks"]
'
expect 0 "$UPMU" list -m --cpu skylake --json
json "$work/out" '
m = {x["name"]: x for x in d["metrics"]}
g = {x["name"]: x for x in d["groups"]}
assert g["topdown"]["metrics"].count(",") == 3 and "native::UOPS_ISSUED.ANY" in g["topdown"]["events"], g["topdown"]
assert not m["topdown-backend"]["lacks"] and m["l1d-miss-ratio"]["lacks"] == None
'
expect 0 "$UPMU" list -m --cpu zen4
has out "native::ex_ret_ops / (6 * cycles)"
expect 0 "$UPMU" explain --cpu sw831 cache-miss-ratio
has out "100 * cache-misses / cache-references"

# By name among events, and in groups: software events count everywhere.
expect 0 "$UPMU" stat -e cpus-used,page-faults-per-second "$LOAD" touch 10
has err "task-clock"
has err "page-faults / wall-time"
has_not err "ipc"
expect 0 "$UPMU" plan --cpu sw831 -e cache-miss-ratio,ipc --json
json "$work/out" '
assert [e["name"] for e in d["entries"]] == ["cache-misses", "cache-references", "instructions", "cycles"], d["entries"]
assert d["entries"][0]["group"] == d["entries"][1]["group"], d["entries"]
'
# An event of a metric is not counted again under another of its names.
expect 0 "$UPMU" plan --cpu sw831 -e ipc,PAPI_TOT_INS,cpu-cycles --json
json "$work/out" '
assert [e["name"] for e in d["entries"]] == ["instructions", "cycles"], d["entries"]
'
expect 0 "$UPMU" plan --cpu zen3 -e PAPI_TOT_INS:u,ipc:u,instructions:k --json
json "$work/out" '
assert [e["name"] for e in d["entries"]] == ["instructions:u", "cycles:u", "instructions:k"], d["entries"]
'
expect 0 "$UPMU" stat -g clock "$LOAD" touch 10
has err "cpus-used"
expect 1 "$UPMU" stat -g clocks "$LOAD" touch 10
has err "no group of metrics 'clocks'; known groups:"
expect 1 "$UPMU" stat -e icp "$LOAD" touch 10
has err "did you mean 'ipc'?"

# Of a user's own.
printf 'faults-per-switch = page-faults / (context-switches + 1) # mine\n' >"$work/mine"
expect 0 "$UPMU" stat --metrics-file "$work/mine" -e faults-per-switch "$LOAD" touch 10
has err "faults-per-switch"
has err "context-switches"
expect 0 env UPMU_METRICS="$work/mine" "$UPMU" list -m faults-per-switch
has out "page-faults / (context-switches + 1)"
# A metric that was asked for has a row even without a number.
printf 'nothing = page-faults / (page-faults - page-faults)\n' >"$work/zero"
expect 0 "$UPMU" stat --metrics-file "$work/zero" -e nothing "$LOAD" touch 10
grep -Eq '^ +- +nothing .* not counted: divided by 0' "$work/err" || { fail "no row for a division by 0"; show >&2; }
printf 'good = page-faults\nbad = page-faults +\n' >"$work/wrong"
expect 1 "$UPMU" stat --metrics-file "$work/wrong" -e good "$LOAD" touch 10
has err "$work/wrong:2: formula 'page-faults +'"
expect 1 env UPMU_METRICS="$work/wrong" "$UPMU" list -m
has err "UPMU_METRICS: $work/wrong:2:"
expect 1 "$UPMU" list -m --metrics-file "$work/none"
has err "cannot read the metrics"
UPMU_EVENTS=cpus-used UPMU_REPORT=json UPMU_OUTPUT="$work/report" "$TRACED" "$work/trace" end >/dev/null 2>&1
grep -q 'task-clock' "$work/report" || { fail "a metric in UPMU_EVENTS"; cat "$work/report" >&2; }

# Energy by socket, with the unit that the kernel gives: two sockets of a machine as rapl.c describes them.
cp -r "$MACHINES/intel_skx" "$work/machine"
power="$work/machine/sys/bus/event_source/devices/power"
mkdir -p "$power/events" "$power/format"
echo 22 >"$power/type"
echo 0,18 >"$power/cpumask"
echo 'config:0-7' >"$power/format/event"
echo 'event=0x02' >"$power/events/energy-pkg"
echo '2.3283064365386962890625e-10' >"$power/events/energy-pkg.scale"
echo Joules >"$power/events/energy-pkg.unit"
expect 0 env UPMU_FSROOT="$work/machine" "$UPMU" explain power/energy-pkg/
has out "in Joules"
has out "CPUs       0,18"
has out "encoding   power:0x2"
expect 0 env UPMU_FSROOT="$work/machine" "$UPMU" explain --json power/energy-pkg/
json "$work/out" '
e = d["event"]
assert abs(e["scale"] - 2.3283064365386962890625e-10) < 1e-22 and e["scale_unit"] == "Joules" and e["cpus"] == "0,18", e
'
expect 0 env UPMU_FSROOT="$work/machine" "$UPMU" list -n -m --json
json "$work/out" '
m = {x["name"]: x for x in d["metrics"]}
g = {x["name"]: x for x in d["groups"]}
assert not m["power-package"]["lacks"] and m["power-package"]["unit"] == "W" and m["power-memory"]["lacks"], m
assert g["energy"] == {**g["energy"], "metrics": "power-package", "events": "power/energy-pkg/"}, g["energy"]
'
finish
