#!/usr/bin/env bash
# Calls, messages, bytes and peers of all kinds of calls are those that the program has counted itself.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

"mpicc.$mpi" -g -O1 -w -fPIC -shared -o liblate.so "$here/programs/late.c"
"mpicc.$mpi" -g -O1 -w -pthread -o truth "$here/programs/truth.c" -L. -llate -Wl,-rpath,"$PWD"
cat >compare.py <<'PYTHON'
import collections, json, sys

NOT_IN_TABLE = {"MPI_Comm_set_errhandler", "MPI_Query_thread", "MPI_Test_cancelled"}
name, ranks = sys.argv[1], int(sys.argv[2])
job, = json.load(open("json"))["jobs"]
events = json.load(open("chrome"))["traceEvents"]
calls, sent, received = collections.Counter(), collections.Counter(), collections.Counter()
for rank in range(ranks):
    for line in open(f"{name}.{rank}"):
        what, *peer, n, size = line.split()
        if what == "sent":
            sent.update({(rank, int(peer[0]), "messages"): int(n), (rank, int(peer[0]), "bytes"): int(size)})
        elif what == "received":
            received.update({(int(peer[0]), rank, "messages"): int(n), (int(peer[0]), rank, "bytes"): int(size)})
        elif what not in NOT_IN_TABLE:
            calls[what] += int(n)
assert sent == received, (sent, received)  # the program's own
assert {f["name"]: f["calls"] for f in job["functions"]} == calls, (job["functions"], calls)
assert (job["unmatched"], job["reversed"], job["partial"]) == (0, 0, 0), job
for r in job["ranks_recorded"]:
    ours = [sum(n for (a, b, what), n in sent.items() if (a, b)[end] == r["rank"] and what == kind) for end in (0, 1) for kind in ("messages", "bytes")]
    assert [r["sent"], r["sent_bytes"], r["received"], r["received_bytes"]] == ours and r["messages_of_unknown_size"] == 0, (r, ours)

# Each message from a rank to another one; what was received is as long as what was sent there.
rank_of = {r["pid"]: r["rank"] for r in job["ranks_recorded"]}
arrows, open_spans, began, wrong = collections.Counter(), collections.defaultdict(list), {}, []
sizes = collections.defaultdict(list)  # of sends, by thread
for line in open("dump"):
    words = line.split()
    if words[3:4] == ["mpi-leave"] and words[5] in ("call=MPI_Send", "call=MPI_Isend"):
        sizes[int(words[2])].append(int(dict(w.split("=") for w in words[5:])["bytes"]))
for e in events:
    stack = open_spans[e["pid"], e.get("tid")]
    if e["ph"] == "B":
        stack.append(e)
        if e["name"] in ("MPI_Send", "MPI_Isend"):
            e["bytes"] = sizes[e["tid"]].pop(0)
    elif e["ph"] == "E":
        stack.pop()
    elif e["ph"] == "s":
        began[e["id"]] = stack[-1]
    elif e["ph"] == "f":
        pair = e["args"]["from rank"], rank_of[e["pid"]]
        size = e["args"].get("bytes", 0)
        arrows.update({(*pair, "messages"): 1, (*pair, "bytes"): size})
        if began[e["id"]].get("bytes", size) != size:
            wrong.append((began[e["id"]], e))
assert +arrows == +sent and not wrong, (arrows, sent, wrong)
if name == "late":
    waits = {(w["pattern"], w["function"], w["rank"], w["cause"]): w["ns"] for w in job["waits"]}
    assert waits["late-sender", "MPI_Mprobe", 1, 0] > 50e6 and waits["late-receiver", "MPI_Ssend", 0, 1] > 50e6, waits
print(name, sum(calls.values()), "calls", job["messages"], "messages")
PYTHON

# test NAME RANKS PROGRAM...
test_programs()
{
    local name=$1 ranks=$2
    shift 2
    record "r_$name" "$ranks" ./truth "$name" "$@"
    "$upmu" report --mpi --json "r_$name" >json
    "$upmu" export -f chrome -o chrome "r_$name" 2>err || fail "$name: $(cat err)"
    "$upmu" dump "r_$name" >dump
    python3 compare.py "$name" "$ranks" || fail "$name: $("$upmu" report --mpi "r_$name")"
}
ranks=3
[ "$mpi" = openmpi ] || ranks=2 # whose ranks never give way
test_programs mprobe $ranks mprobe
test_programs late $ranks late
test_programs threads 2 threads
test_programs messages $ranks persistent collectives some cancel replace null line
test_programs comms $ranks comms inter idup neighbors
is "communicators that are not followed" 0 "$("$upmu" report --mpi r_comms | grep -c "not followed" || true)"
test_programs counted $ranks rma files partitioned session
