#!/usr/bin/env bash
# Calls as regions, and messages, in OTF2, as OTF2's own reader has them.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"
for python in python3 /usr/bin/python3 ""; do # Debian's package is Debian's python3's
    [ -z "$python" ] || ! "$python" -c 'import otf2' 2>/dev/null || break
done
[ -n "$python" ] || { echo "skipped, because OTF2's Python package is not installed (Debian: python3-otf2)"; exit 77; }
command -v otf2-print >/dev/null || { echo "skipped, because otf2-print is not installed (Debian: otf2-tools)"; exit 77; }

mpicc.$mpi -g -O1 -w -o subject "$here/programs/subject.c"
record r 2 ./subject calls
"$upmu" report --mpi --json r >report.json
PYTHONPATH=$here/../../bindings/python UPMU_LIBRARY=$(dirname "$upmu")/../../lib "$python" -B -m upmu otf2 r archive >out || fail "no archive"
"$python" - <<'PYTHON' || fail "the archive is wrong"
import collections, json
import otf2
job, = json.load(open("report.json"))["jobs"]
calls, sent, received = collections.Counter(), collections.Counter(), collections.Counter()
with otf2.reader.open("archive/traces.otf2") as trace:
    for location, event in trace.events:
        if isinstance(event, otf2.events.Enter):
            calls[event.region.name] += event.region.paradigm == otf2.Paradigm.MPI
        elif isinstance(event, otf2.events.MpiSend):
            to = event.communicator.location(event.receiver)
            sent[location.group.name, to.group.name, event.msg_tag, event.msg_length] += 1
        elif isinstance(event, otf2.events.MpiRecv):
            source = event.communicator.location(event.sender)
            received[source.group.name, location.group.name, event.msg_tag, event.msg_length] += 1
assert sent == received and sum(sent.values()) == job["messages"] == 60, (sent, received)
assert {k[:2] for k in sent} == {("rank 0: ./subject calls", "rank 1: ./subject calls"), ("rank 1: ./subject calls", "rank 0: ./subject calls")}, sent
functions = {f["name"]: f["calls"] for f in job["functions"]}
for name in "MPI_Send", "MPI_Recv", "MPI_Waitall", "MPI_Bcast", "MPI_Finalize":
    assert calls[name] == functions[name], (name, calls[name], functions[name])
PYTHON
otf2-print archive/traces.otf2 >text 2>&1 || fail "otf2-print: $(tail -3 text)"
is "messages sent" 60 "$(grep -c '^MPI_SEND ' text)"
