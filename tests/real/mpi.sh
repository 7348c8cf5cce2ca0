#!/usr/bin/env bash
# mpi.sh UPMU NAME: real MPI programs give the same results under upmu record --mpi, their recordings have what they did, and no deadlock
# is found, neither while they run nor in the recordings of jobs that are killed at random moments.
set -euo pipefail
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
export OMP_NUM_THREADS=1
upmu=$1 name=$2 ranks=4 killed_rounds=10
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
launcher=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np "$ranks")

fail()
{
    echo "FAIL: $*" >&2
    exit 1
}

skip()
{
    echo "skipped, because $1 is not installed"
    exit 77
}

command -v mpirun.openmpi >/dev/null || skip mpirun.openmpi
case $name in
    scalapack)
        directory=$(echo /usr/lib/*/scalapack/openmpi-tests) # its programs read their input from there
        [ -d "$directory" ] || skip scalapack-mpi-test
        commands=(./xdinv ./xdqr ./xdlu)
        results() { grep -E 'tests (completed|skipped)' "$1"; }
        ;;
    lammps)
        command -v lmp >/dev/null || skip lammps
        input=$(dpkg -L lammps-examples 2>/dev/null | grep -E '/melt/in.melt(.gz)?$' | head -1 || true)
        [ -n "$input" ] || skip lammps-examples
        directory=$scratch
        zcat -f "$input" >"$scratch/in.melt"
        commands=("lmp -in in.melt -log none")
        results() { grep -E '^ +[0-9]+ +[0-9.]+ +-[0-9.]+' "$1"; } # steps with temperature and energies
        ;;
    hpcc)
        command -v hpcc >/dev/null || skip hpcc
        input=$(dpkg -L hpcc | grep -E 'hpccinf.txt' | head -1 || true)
        [ -n "$input" ] || skip "an example of hpcc's input"
        directory=$scratch
        zcat -f "$input" | sed -E 's/^[0-9 ]+( +Ns)$/600\1/; s/^[0-9 ]+( +NBs)$/64\1/; s/^[0-9 ]+( +Ps)$/2\1/; s/^[0-9 ]+( +Qs)$/2\1/' \
            >"$scratch/hpccinf.txt"
        commands=("hpcc")
        results() { grep -x 'Success=1' hpccoutf.txt && rm hpccoutf.txt; }
        ;;
    *) fail "no program $name" ;;
esac
cd "$directory"

# inspect RECORDING: what must be true of every recording
inspect()
{
    "$upmu" deadlock --json "$1" >"$scratch/json" 2>"$scratch/deadlock_err" || [ $? = 4 ] || fail "upmu deadlock: $(cat "$scratch/deadlock_err")"
    python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["mpi_deadlocks"] != [])' "$scratch/json" ||
        fail "a deadlock in $1: $(head -c 2000 "$scratch/json")"
}

for command in "${commands[@]}"; do
    recording=$scratch/recording
    # shellcheck disable=SC2086 # its words
    "${launcher[@]}" $command >"$scratch/bare" 2>&1 || fail "$command without upmu: $(tail -3 "$scratch/bare")"
    bare=$(results "$scratch/bare") || fail "$command has no results: $(tail -3 "$scratch/bare")"
    # shellcheck disable=SC2086
    "$upmu" record --mpi --deadlocks "$scratch/live" -o "$recording" -- "${launcher[@]}" $command >"$scratch/out" \
        2>"$scratch/err" || fail "$command under upmu: $(tail -3 "$scratch/err")"
    [ "$bare" = "$(results "$scratch/out")" ] || fail "$command gives other results: $(results "$scratch/out")"
    grep -q " of $ranks processes .* 0 lost" "$scratch/err" || fail "$(tail -2 "$scratch/err")"
    [ ! -s "$scratch/live" ] || fail "a deadlock of $command: $(cat "$scratch/live")"
    inspect "$recording"
    if [ "$name" = hpcc ]; then
        events=$(sed -nE 's/^upmu: ([0-9]+) records of .*/\1/p' "$scratch/err")
        [ "$events" -le $((30000 * ranks)) ] || fail "$events events of $ranks ranks"
        echo "$((events / ranks)) events per rank"
    fi
    "$upmu" report --mpi --json "$recording" >"$scratch/json"
    python3 - "$scratch/json" "$name" "$ranks" <<'PYTHON' || fail "the report on $command: $(head -c 1000 "$scratch/json")"
import json, sys
job, = json.load(open(sys.argv[1]))["jobs"]
name, ranks = sys.argv[2], int(sys.argv[3])
assert job["ranks"] == job["world"] == ranks and job["messages"] > 1000, job["messages"]
assert job["reversed"] == job["partial"] == 0, (job["reversed"], job["partial"])
assert all(r["end"] == "finalized" for r in job["ranks_recorded"])
calls = {f["name"]: f["calls"] for f in job["functions"]}
if name == "lammps":
    assert calls["MPI_Irecv"] == calls["MPI_Send"] == calls["MPI_Wait"] == 2034 * ranks, calls
print(job["messages"], "messages,", job["unmatched"], "unmatched")
PYTHON
    rm -rf "$recording"
done

# Killed at random, one after the other by the launcher: a rank that waits for one that was killed while it ran is not deadlocked.
for ((i = 0; i < killed_rounds; i++)); do
    read -ra words <<<"${commands[i % ${#commands[@]}]}"
    timeout -k 60 "$((1 + RANDOM % 3)).$((RANDOM % 10))" "${launcher[@]}" "$upmu" record --mpi -o "$scratch/killed" -- \
        "${words[@]}" >"$scratch/out" 2>&1 || true
    [ ! -d "$scratch/killed" ] || inspect "$scratch/killed"
    rm -rf "$scratch/killed"
done
