#!/usr/bin/env bash
# Calls as spans, and messages as arrows, in timelines of other tools.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"
proto=$1/../export

mpicc.$mpi -g -O1 -w -o subject "$here/programs/subject.c"
record r 2 ./subject calls
"$upmu" export -f chrome -o chrome.json r 2>err || fail "chrome: $(cat err)"
"$upmu" report --mpi --json r >report.json
python3 - <<'PYTHON' || fail "chrome: $(head -c 3000 chrome.json)"
import collections, json
events = json.load(open("chrome.json"))["traceEvents"]
job, = json.load(open("report.json"))["jobs"]
half = {p: [e for e in events if e["ph"] == p] for p in "sf"}
sent, received = ({e["id"]: e for e in half[p]} for p in "sf")
assert len(half["s"]) == len(half["f"]) == len(sent) == len(received) == job["messages"] == 60, (len(sent), len(received))
assert sent.keys() == received.keys() and all(received[i]["ts"] >= sent[i]["ts"] for i in sent)
rank = {r["pid"]: r["rank"] for r in job["ranks_recorded"]}
for i in sent:
    s, f = sent[i], received[i]
    assert (rank[s["pid"]], rank[f["pid"]]) == (f["args"]["from rank"], s["args"]["to rank"]), (s, f)
    assert (s["args"]["tag"], s["args"].get("bytes")) == (f["args"]["tag"], f["args"].get("bytes")), (s, f)
open_spans, calls = collections.defaultdict(list), collections.Counter()
for e in events:  # each arrow is within a call: sorted, and properly nested
    stack = open_spans[e["pid"], e["tid"]]
    if e["ph"] == "B":
        stack.append(e)
        calls[e["name"]] += e["cat"] == "mpi"
    elif e["ph"] == "E":
        stack.pop()
    elif e["ph"] in "sf":
        assert stack and stack[-1]["cat"] == "mpi", e
functions = {f["name"]: f["calls"] for f in job["functions"]}
assert calls["MPI_Send"] == functions["MPI_Send"] and calls["MPI_Bcast"] == functions["MPI_Bcast"], calls
PYTHON

"$upmu" export -f perfetto -o perfetto r 2>err || fail "perfetto: $(cat err)"
command -v protoc >/dev/null || { echo "the arrows of Perfetto: skipped, because protoc is not installed"; exit 0; }
protoc --decode=Trace -I "$proto" "$proto/perfetto.proto" <perfetto >text
is "arrows that begin" 60 "$(grep -c '^ *flow_ids:' text)"
is "arrows that end" 60 "$(grep -c '^ *terminating_flow_ids:' text)"
grep -q 'send to rank 1' text && grep -q 'received from rank 0' text || fail "arrows without ranks"
