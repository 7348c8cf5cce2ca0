# SPDX-License-Identifier: MIT
# The views of upmu report. Each filter of the timeline must give what the same filter gives on the list of all rows, done
# here by hand.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

"$UPMU" record --mode all -e page-faults -o "$work/all" -- "$SCENE" >/dev/null 2>&1 || fail "recording ended with $?"
"$UPMU" record -o "$work/stuck" -- "$SCENE" stuck >/dev/null 2>&1
[ $? -eq 142 ] || fail "the deadlock was not ended by its alarm"
"$UPMU" record --mode all -o "$work/many" -- "$SCENE" many 3 2000 >/dev/null 2>&1 || fail "recording of many"

# The whole list: everything that is known of the scene is in it, in the order of begins.
expect 0 "$UPMU" report --view timeline --json "$work/all"
cp "$work/out" "$work/rows"
json "$work/rows" '
rows = d["rows"]
assert d["matched"] == d["rows_in_recording"] == len(rows) and d["skipped"] == 0
assert [r["row"] for r in rows] == list(range(1, len(rows) + 1))
assert all(a["begin_ns"] <= b["begin_ns"] for a, b in zip(rows, rows[1:]))
assert d["begin_ns"] < rows[0]["begin_ns"] # the recording had begun
def of(kind, **what):
    return [r for r in rows if r["kind"] == kind and all((r["object"] or {}).get(k) == v for k, v in what.items())]
wait = of("wait", name="the till")
assert len(wait) == 1, wait
wait = wait[0]
assert wait["thread"]["name"] == "customer" and wait["holder"]["name"] == "keeper" and wait["waits_for"] == "mutex"
assert wait["event"] == "lock-block" and wait["ended"] and 40e6 < wait["end_ns"] - wait["begin_ns"] < 60e9
assert [f["function"] for p in wait["stack"] for f in p["functions"]][:2] == ["pay_at_till", "customer"], wait["stack"]
assert wait["holder_site"]["functions"][0]["function"] == "keep_till", wait
assert [r["thread"]["name"] for r in of("acquire", name="the till")] == ["keeper"]
assert [r["thread"]["name"] for r in of("release", name="the till")] == ["keeper", "customer"]
region = [r for r in of("region") if r["text"] == "shopping"][0]
assert region["begin_ns"] <= wait["begin_ns"] and wait["end_ns"] <= region["end_ns"] and region["ended"]
assert [c["name"] for c in region["counters"]] == ["page-faults"] and region["counters"][0]["value"]["status"] == "exact"
assert [r["event"] for r in of("thread")].count("thread-create") == 2
assert {r["text"] for r in of("thread") if r["event"] == "thread-name"} == {"keeper", "customer"}
assert len(of("wait", type="barrier")) == 2 and len([r for r in rows if r["waits_for"] == "join"]) == 2
'

# Filters against the list; the window cuts through the wait for the till.
python3 - "$UPMU" "$work/all" "$work/rows" <<'PYTHON' || fail "filters"
import json, subprocess, sys
upmu, trace, rows = sys.argv[1:]
all_rows = json.load(open(rows))
begin, rows = all_rows["begin_ns"], all_rows["rows"]

def ask(*args):
    out = subprocess.run([upmu, "report", "--view", "timeline", "--json", *args, trace], capture_output=True, text=True)
    assert out.returncode == 0, (args, out.stderr)
    return json.loads(out.stdout)

def check(args, keep):
    d, wanted = ask(*args), [r for r in rows if keep(r)]
    assert d["rows"] == wanted, (args, [r["row"] for r in d["rows"]], [r["row"] for r in wanted])
    assert d["matched"] == len(wanted) and d["rows_in_recording"] == len(rows), args
    assert 0 < len(wanted) < len(rows), (args, len(wanted))

wait = [r for r in rows if r["kind"] == "wait" and (r["object"] or {}).get("name") == "the till"][0]
def is_of(name): return lambda r: r["thread"]["name"] == name
def about(r): return (r["object"] or {}).get("name") == "the till"
def typed(*types): return lambda r: (r["object"] or {}).get("type") in types
def window(a, b): return lambda r: r["end_ns"] >= begin + a and r["begin_ns"] <= begin + b
check(["--thread", "keeper"], is_of("keeper"))
check(["--thread", str(wait["thread"]["tid"])], is_of("customer"))
check(["--lock", "the till"], about)
check(["--lock", wait["object"]["address"]], about)
check(["--type", "wait"], lambda r: r["kind"] == "wait")
check(["--type", "wait,release"], lambda r: r["kind"] in ("wait", "release"))
check(["--type", "barrier"], typed("barrier"))
check(["--type", "wait,mutex"], lambda r: r["kind"] == "wait" and typed("mutex")(r))
check(["--thread", "customer", "--lock", "the till", "--type", "wait"], lambda r: r is wait)
check(["--event", str(wait["row"])], lambda r: r is wait)
middle = (wait["begin_ns"] + wait["end_ns"]) // 2 - begin
late = wait["end_ns"] + 1 - begin
seconds = lambda ns: "%.9f" % (ns / 1e9)
check(["--from", seconds(middle)], window(middle, 1 << 62))
check(["--to", seconds(middle)], window(0, middle))
check(["--from", seconds(middle), "--to", seconds(middle)], window(middle, middle))
check(["--from", seconds(middle), "--thread", "customer"], lambda r: window(middle, 1 << 62)(r) and is_of("customer")(r))
assert wait["row"] in [r["row"] for r in ask("--from", seconds(middle))["rows"]]
assert wait["row"] not in [r["row"] for r in ask("--from", seconds(late))["rows"]]
# Pages put together are the list, also within a window whose first rows began before it.
for extra in [], ["--from", seconds(middle)], ["--type", "wait"]:
    whole, pages, page = ask(*extra)["rows"], [], 1
    while True:
        part = ask("--top", "2", "--page", str(page), *extra)
        assert part["matched"] == len(whole) and part["skipped"] == len(pages)
        pages += part["rows"]
        page += 1
        if len(part["rows"]) < 2:
            break
    assert pages == whole, extra
PYTHON

expect 0 "$UPMU" report --view timeline "$work/all"
grep -qE "thread-start +thread [0-9]+ \(main\)" "$work/out" || fail "no name of the thread that created one"
grep -q "customer .* waits for  *mutex the till .* held by [0-9]* keeper .* pay_at_till scene.c:" "$work/out" ||
    fail "the wait for the till in the text"
has out "page 1: 1 to"
grep -q "main  *waits for the end of  *thread [0-9]* (keeper)" "$work/out" || fail "the thread that is joined, with its name"
expect 2 "$UPMU" report --view timeline --top 5 --page 9999999 "$work/many"
has err "--page 9999999: the last page is "
empty out
last=$(sed -n 's/.* the last page is //p' "$work/err")
expect 0 "$UPMU" report --view timeline --top 5 --page "$last" "$work/many"
has_not out " more: "
expect 2 "$UPMU" report --view timeline --top 5 --page $((last + 1)) "$work/many"
expect 0 "$UPMU" report --json --view timeline --top 5 --page $((last + 1)) "$work/many"
json "$work/out" 'assert d["rows"] == [] and d["matched"] > 5, d'
expect 2 "$UPMU" report --view timeline --page 2 --type cond "$work/many"
has err "--page 2: the last page is 1"
expect 0 "$UPMU" report --view timeline --top 5 --page 2 "$work/many"
has out "page 2: 6 to 10"
has out "page 3"
[ "$(grep -c '^ *[0-9]* *[0-9]*\.[0-9]\{9\}' "$work/out")" -eq 5 ] || fail "a page of five rows has five"
row=$(python3 -c '
import json, sys
print([r["row"] for r in json.load(open(sys.argv[1]))["rows"] if r["waits_for"] == "mutex"][0])' "$work/rows")
expect 0 "$UPMU" report --view timeline --event "$row" "$work/all"
has out "Row $row: waits for mutex the till"
has out " keeper, acquired at keep_till scene.c:"
has out "pay_at_till scene.c:"
has out "customer scene.c:"

# Two waits that never end last up to the end of the recording.
expect 0 "$UPMU" report --view timeline --json --type wait,mutex "$work/stuck"
json "$work/out" '
assert len(d["rows"]) == 2 and not any(r["ended"] for r in d["rows"]), d["rows"]
assert all(r["end_ns"] > r["begin_ns"] or r is d["rows"][-1] for r in d["rows"])
'
expect 0 "$UPMU" report --view deadlock "$work/stuck"
has out "2 threads wait for each other"
expect 0 "$UPMU" report --view deadlock --json "$work/stuck"
json "$work/out" 'assert d["schema"] == "upmu-deadlock", d["schema"]'
expect 0 "$UPMU" report --view regions "$work/all"
has out "shopping"
has_not out "Waits between threads"
expect 0 "$UPMU" report --view regions --json "$work/all"
json "$work/out" 'assert [r["name"] for r in d["regions"] if r["name"][0] != "("] == ["shopping"] and "objects" not in d'
expect 0 "$UPMU" report --view regions "$work/stuck"
has out "No regions"

# Missing and malformed arguments.
expect 1 "$UPMU" report --view timeline --thread keper "$work/all"
has err "did you mean 'keeper'"
empty out
expect 1 "$UPMU" report --view timeline --lock 0x1 "$work/all"
has err "no lock or variable"
expect 1 "$UPMU" report --view timeline --event 1000000 "$work/all"
has err "--event 1000000: there is no such row"
expect 2 "$UPMU" report --view tree "$work/all"
has err "overview, timeline, deadlock, regions, functions, samples, mpi, openmp and heap"
expect 2 "$UPMU" report --thread keeper "$work/all"
has err "view timeline"
expect 2 "$UPMU" report --view timeline --type wait,lunch "$work/all"
has err "lunch"
expect 2 "$UPMU" report --view timeline --from x "$work/all"
expect 2 "$UPMU" report --view timeline --from -1 "$work/all"
expect 2 "$UPMU" report --view timeline --from 2 --to 1 "$work/all"
expect 2 "$UPMU" report --view timeline --page 0 "$work/all"
expect 1 "$UPMU" report --view timeline "$work/nowhere"
expect 1 "$UPMU" report --view deadlock "$work/nowhere"
finish
