#!/usr/bin/env bash
# Ranks that wait for each other are named while they run and afterwards, with their calls; ranks that only wait long are not.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

# The jobs end with the test, also if it fails.
finish()
{
    touch "$scratch/stop"
    wait
    rm -rf "$scratch"
}
trap finish EXIT
"mpicc.$mpi" -g -O1 -w -pthread -o deadlocks "$here/programs/deadlocks.c"

# Each program is a job of its own; all are in one recording, until there is a file named stop.
cat >start <<'EOF'
#!/usr/bin/env bash
until=$1 launcher=$2
shift 2
for program in "$@"; do
    nice -n 10 $launcher -np 2 ./deadlocks "$program" >"out.$program" 2>&1 & # $! is the launcher
done
if [ "$until" != - ]; then
    while [ ! -e "$until" ]; do
        sleep 0.05
    done
    kill $(jobs -p)
fi
wait
EOF
chmod +x start
launcher=mpirun.$mpi
[ "$mpi" = mpich ] || launcher+=" --oversubscribe --mca mpi_yield_when_idle 1"

stuck="cycle send sendrecv waitall probed collective order barrier finalize lock any"
want=$(printf '%s\n' "2 collective-mismatch:MPI_Barrier" "1 lock-and-message:MPI_Recv" "1 message-cycle:MPI_Barrier" \
    "2 message-cycle:MPI_Recv" "1 message-cycle:MPI_Send" "1 message-cycle:MPI_Sendrecv" "1 message-cycle:MPI_Ssend" \
    "1 message-cycle:MPI_Waitall" "1 wildcard-knot:MPI_Recv")
if [ "$mpi" = mpich ]; then # whose ranks never give way: one of each kind, or the others hardly run
    stuck="cycle collective lock any"
    want=$(printf '1 %s\n' collective-mismatch:MPI_Barrier lock-and-message:MPI_Recv message-cycle:MPI_Recv wildcard-knot:MPI_Recv)
fi
# shellcheck disable=SC2086 # the words of the list
"$upmu" record --mpi --deadlocks live -o stuck -- ./start stop "$launcher" $stuck >out 2>err &
recorder=$!
# found FILE: kind and function of each deadlock's first thread
found()
{
    awk '/^deadlock/ { kind = substr($2, 2, length($2) - 2) }
        /^  rank 0 .* is in / && kind { sub(/.* is in /, ""); sub(/[ ,].*/, ""); print kind ":" $0; kind = "" }' "$1" |
        sort | uniq -c | awk '{ print $1, $2 }'
}
for ((i = 0; i < 1200; i++)); do
    [ "$(grep -c '^deadlock .*across MPI ranks' live 2>/dev/null)" != "$(wc -w <<<"$stuck")" ] || break
    if ! kill -0 $recorder 2>/dev/null; then
        break
    fi
    sleep 0.1
done
touch stop
wait $recorder || true
[ "$want" = "$(found live)" ] || tail -n 4 out.* err >&2
is "deadlocks of running ranks" "$want" "$(found live)"
grep -q '#0 .*receive_from at .*deadlocks.c' live || fail "no call stacks: $(cat live)"
grep -q 'waits for lock .*, held by thread' live || fail "no holder of the lock: $(cat live)"

# Afterwards the same, also sends that MPI might have buffered: that their ranks ran is kept.
"$upmu" deadlock stuck >text && fail "status 0"
is "deadlocks of a recording" "$want" "$(found text)"
"$upmu" deadlock --json stuck >json || [ $? = 3 ] || fail "no JSON"
python3 - <<'PYTHON' || fail "$(head -c 3000 json)"
import json
all = json.load(open("json"))["mpi_deadlocks"]
lock, = [d for d in all if d["kind"] == "lock-and-message"]
assert [(t["rank"], t["function"], t["wait"]) for t in lock["threads"]] == [
    (0, "MPI_Recv", None), (0, None, "lock-block"), (1, "MPI_Recv", None)], lock
assert lock["threads"][1]["holder"] == lock["threads"][0]["tid"]
assert all and not any(t["behind"] for d in all for t in d["threads"])
assert json.load(open("json"))["deadlocks"] == []
PYTHON

# A standard send counts as blocked once its process has run, which may be long after the search for deadlocks began.
rm stop
"$upmu" record --mpi --deadlocks live3 -o stopped -- ./start stop "$launcher" stopped >out 2>err &
recorder=$!
is_stopped()
{
    local pid
    pid=$(cat "stopped.$1" 2>/dev/null) && [ -n "$pid" ] && [[ $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) = T* ]]
}
while kill -0 $recorder 2>/dev/null && ! { is_stopped 0 && is_stopped 1; }; do
    sleep 0.1
done
sleep 3 # or less than the search takes: then this finds nothing wrong
found_stopped=$(cat live3)
kill -CONT "$(cat stopped.0)" "$(cat stopped.1)"
for ((i = 0; i < 600; i++)); do
    [ ! -s live3 ] || break
    sleep 0.1
done
touch stop
wait $recorder || true
is "deadlock of ranks that are stopped" "" "$found_stopped"
is "deadlock of ranks that run again" "1 message-cycle:MPI_Send" "$(found live3)"

# Long waits without a deadlock.
"$upmu" record --mpi --deadlocks live2 -o healthy -- ./start - "$launcher" late poll thread >out 2>err ||
    grep -q 'in signal handlers' err || fail "$(cat err)" # UCX takes locks in mmap(), which pthread_create() calls
is "deadlocks of healthy ranks" "" "$(grep MPI live2 || true)"
"$upmu" deadlock healthy >text || fail "a deadlock of healthy ranks: $(cat text)"
