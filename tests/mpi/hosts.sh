#!/usr/bin/env bash
# The ranks of a host are in a directory of their own: whatever reads or controls a recording finds them, also those of several
# hosts, and those that are not by host.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -o subject "$here/programs/subject.c"
record r 2 ./subject calls
host=$(basename r/*/)
ranks=(r/"$host"/*)
is "directories of ranks" 2 "${#ranks[@]}"
[ -f r/mpi-summary.json ] || fail "the job's table is not in the recording: $(find r)"

# inspect DIR: what the report, the page, other formats and the reader have of it
inspect()
{
    "$upmu" report --mpi --json "$1" | grep -v '"dir":'
    "$upmu" export -f chrome -o "$1.json" "$1" 2>/dev/null >/dev/null
    grep -o '"MPI_[A-Za-z]*"' "$1.json" | sort | uniq -c
    "$upmu" report --html "$1.html" "$1" >/dev/null 2>&1
    [ -s "$1.html" ] || echo "no page"
    "$upmu" deadlock "$1" >/dev/null 2>&1 || echo "deadlocks: $?"
    "$upmu" dump "$1" | wc -l
    if command -v babeltrace2 >/dev/null; then babeltrace2 "$1" | wc -l; fi
}
cp -a r flat && mv flat/"$host"/* flat/ && rmdir flat/"$host"
cp -a r several && mkdir several/other && mv several/"$(basename "${ranks[1]}" | sed "s#^#$host/#")" several/other
inspect r >by_host
grep -q MPI_Send by_host || fail "no calls: $(cut -c 1-500 by_host)"
inspect flat >without
cmp by_host without || fail "other results without directories of hosts: $(diff by_host without | cut -c 1-500)"
inspect several >with
cmp by_host with || fail "other results of two hosts: $(diff by_host with | cut -c 1-500)"
"$upmu" repair r >/dev/null || fail "repair"
"$upmu" report --mpi r/"$host" >/dev/null || fail "the ranks of one host"

# Another reader has the events of all ranks in the order of time, at the same times.
if command -v babeltrace2 >/dev/null; then
    babeltrace2 --clock-seconds --no-delta r 2>/dev/null |
        sed -nE 's/^\[([0-9.]+)\] .* (mpi_(env|comm|enter|start)): \{ tid = ([0-9]+),.*/\1 \4 \2/p' >theirs
    "$upmu" dump r | awk '$4 ~ /^mpi-(env|comm|enter|start)$/ { sub("-", "_", $4); print $1, $3, $4 }' >ours
    is "order of time" "" "$(cut -d' ' -f1 theirs | sort -c -n 2>&1)"
    is "ranks" 2 "$(cut -d' ' -f2 theirs | sort -u | wc -l)"
    [ "$(wc -l <theirs)" -gt 100 ] || fail "babeltrace2 has $(wc -l <theirs) events"
    # MPI_Isend and the like are one record, which our reader gives as two events; the readers round ticks to nanoseconds, each in its way.
    python3 - <<'PYTHON' || fail "babeltrace2 has events at other times"
def events(file):
    for line in open(file):
        time, tid, name = line.split()
        yield int(time.replace(".", "")), tid, name
ours = {(t + d, tid, name) for t, tid, name in events("ours") for d in (-1, 0, 1)}
assert not (other := [e for e in events("theirs") if e not in ours]), other
PYTHON
    [ "$(awk '$2 != last { n++; last = $2 } END { print n }' theirs)" -gt 10 ] || fail "the ranks are not merged"
else
    echo "merged order: skipped, because babeltrace2 is not installed"
fi

# While it runs: status, a mark in all ranks, a snapshot.
run 2 "$upmu" record --mpi -o running -- ./subject asleep >out 2>err &
for ((i = 0; i < 300; i++)); do
    [ "$("$upmu" ctl running status 2>/dev/null | grep -c 'record')" -ge 2 ] && break
    sleep 0.1
done
"$upmu" ctl running mark here >status 2>&1 || fail "ctl: $(cat status) $(find running)"
"$upmu" ctl running snapshot copy >status 2>&1 || fail "snapshot: $(cat status)"
is "processes of the snapshot" 2 "$(find copy -name metadata | wc -l)"
touch wake
wait $! || fail "the job ended with $?: $(cat err)"
is "marks" 2 "$("$upmu" dump running | grep -c "mark.*here")"
