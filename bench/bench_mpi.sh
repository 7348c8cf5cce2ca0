#!/usr/bin/env bash
# Calls of MPI by one rank to itself, recorded by upmu record --mpi, beside the same program alone: nanoseconds added to each. With --job,
# what is added to the start of jobs of 4 and 64 ranks, until MPI_Init() has returned in rank 0, and to MPI_Finalize().
#
#     bench/bench_mpi.sh UPMU [--mpi openmpi|mpich] [--job] [--short] [--no-bars] [--json] [--no-heading]
#
# The program runs alternately alone, with libupmu_mpi preloaded but off, recorded into a ring without stacks and with them, and under
# eztrace where it is installed; the least of each counts, but of what is off the median, beside the median alone: MPI_Iprobe() takes 33 to
# 36 ns from process to process, which is more than is added, so that the least may be that of a rare process. "message" is MPI_Irecv,
# MPI_Isend and two MPI_Wait: per call. The first row is what two time stamps alone add to a call. Bars of the short form are three times
# as high.
# Exit status: 0 all bars met, 1 one missed or a program failed, 77 skipped.
set -euo pipefail

upmu=${1:?usage: bench_mpi.sh UPMU [--mpi NAME] [--job] [--short] [--no-bars] [--json] [--no-heading]}
shift
rounds=12 bars=1 json=0 heading=1 slack=1 mpi=openmpi job=0
while [ $# -gt 0 ]; do
    case $1 in
    --mpi)
        mpi=${2:?--mpi wants a name}
        shift
        ;;
    --job) job=1 ;;
    --short) rounds=3 slack=3 ;;
    --no-bars) bars=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_mpi.sh: unknown option $1" >&2
        exit 2
        ;;
    esac
    shift
done
for tool in mpicc.$mpi mpirun.$mpi; do
    command -v "$tool" >/dev/null || { echo "skipped, because $tool is not installed"; exit 77; }
done
source=$(dirname "${BASH_SOURCE[0]}")/mpi/calls.c
unset "${!UPMU_@}" "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" LD_PRELOAD
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"mpicc.$mpi" -O2 -o "$tmp/calls" "$source"

if [ "$mpi" = openmpi ]; then
    launcher=(mpirun.openmpi --oversubscribe)
    [ $job -eq 0 ] || launcher+=(--mca mpi_yield_when_idle 1) # else each poll is a system call
else
    launcher=(mpirun.mpich)
fi

# start RANKS COMMAND...
start()
{
    local ranks=$1
    shift
    "${launcher[@]}" -np "$ranks" "$@"
}

start_recorded()
{
    local ranks=$1
    shift
    rm -rf "$tmp/recording"
    "$upmu" record --mpi -o "$tmp/recording" -- "${launcher[@]}" -np "$ranks" "$@"
}

# keep FILE COMMAND...: append what it prints
keep()
{
    local file=$1
    shift
    "$@" >>"$tmp/$file" 2>"$tmp/err" || { echo "bench_mpi FAILED: $*: $(tail -5 "$tmp/err")" >&2; exit 1; }
}

recorded()
{
    local ranks=$1
    shift
    rm -rf "$tmp/recording"
    start "$ranks" "$upmu" record --mpi -o "$tmp/recording" "$@"
}

measure_calls()
{
    local preloaded eztrace=
    preloaded=$("$upmu" record --mpi -o "$tmp/where" -- sh -c "tr '\\0' '\\n' </proc/self/environ" 2>/dev/null | sed -n 's/^LD_PRELOAD=//p')
    command -v eztrace.preload >/dev/null && eztrace=1
    for _ in $(seq "$rounds"); do
        keep bare start 1 "$tmp/calls" calls
        keep off start 1 env LD_PRELOAD="$preloaded" "$tmp/calls" calls
        keep plain recorded 1 --no-stacks --ring 16M -- "$tmp/calls" calls
        keep stacks recorded 1 --ring 16M -- "$tmp/calls" calls
        keep growing recorded 1 --no-stacks -- "$tmp/calls" calls
        [ -z "$eztrace" ] || keep eztrace start 1 eztrace.preload -t "$mpi" -o "$tmp/eztrace_trace" "$tmp/calls" calls
        rm -rf "$tmp/eztrace_trace" "$tmp/recording"
    done
}

measure_jobs()
{
    for _ in $(seq "$((rounds < 5 ? 1 : 5))"); do
        for ranks in 4 64; do
            keep "job$ranks.bare" start "$ranks" "$tmp/calls" start "$(date +%s%N)"
            keep "job$ranks.recorded" start_recorded "$ranks" "$tmp/calls" start "$(date +%s%N)"
        done
    done
}

if [ $job -eq 1 ]; then measure_jobs; else measure_calls; fi
BARS=$bars JSON=$json HEADING=$heading SLACK=$slack MPI=$mpi python3 - "$tmp" <<'PY'
import json, os, statistics, sys
bars, as_json, heading, slack = (int(os.environ[k]) for k in ("BARS", "JSON", "HEADING", "SLACK"))
mpi, tmp = os.environ["MPI"], sys.argv[1]
CALLS = {"message": 4}  # of each line
WAYS = {"off": ("preloaded, off", 3), "plain": ("recorded without stacks", 30), "stacks": ("recorded with stacks", 100),
        "growing": ("without stacks, growing file", None), "eztrace": ("eztrace", None)}
NOT_EVENTS = "Comm_rank"  # counted


def measured(name, of_all=min):
    """Of each call, the least of the processes, or another value of all."""
    out = {}
    for line in open(f"{tmp}/{name}") if os.path.exists(f"{tmp}/{name}") else ():
        words = line.split()
        if len(words) == 2:  # not a tool's own output
            out.setdefault(words[0], []).append(float(words[1]) / CALLS.get(words[0], 1))
    return {call: of_all(values) for call, values in out.items()}


missed = 0


def row(name, value, floor, bar, unit):
    global missed
    added = value - floor
    verdict = "-" if bar is None or not bars else "met" if added <= bar * slack else "MISSED"
    missed |= verdict == "MISSED"
    if as_json:
        print(json.dumps({"bench": "mpi", "name": f"{mpi} {name}", unit: value, f"floor_{unit}": floor, "added": added, "bar": bar,
                          "verdict": verdict}))
    else:
        print("%-58s %9.1f %9.1f %9.1f %8s  %s" % (f"{mpi}: {name}", value, floor, added, "" if bar is None else "%.1f" % bar, verdict))


def title(what, unit):
    if heading and not as_json:
        print("%-58s %9s %9s %9s %8s  %s" % (what, unit, "bare " + unit, "added", "bar", "verdict"))


bare = measured("bare")
if bare:
    title("MPI call, one rank to itself", "ns")
    row("Comm_rank between two time stamps: the floor", bare.pop("stamps"), bare["Comm_rank"], None, "ns")
other = {name: ns - bare[name] for name, ns in measured("eztrace").items() if name in bare}
for way, (text, bar) in WAYS.items():
    of_all = statistics.median if way == "off" else min
    floor = measured("bare", of_all)
    for name, ns in measured(way, of_all).items():
        if name == "stamps":  # measured alone
            continue
        most = bar
        if bar and way != "off" and name in other and name != NOT_EVENTS:
            most = min(bar, other[name] / 5) if way == "plain" else bar
        row(f"{name}, {text}", ns, floor[name], most, "ns")
if bare and not other and not as_json:
    print("%-58s skipped, because eztrace is not installed" % f"{mpi}: eztrace")
jobs = [r for r in (4, 64) if measured(f"job{r}.bare")]
if jobs:
    title("MPI job, rank 0", "ms")
for ranks in jobs:
    before, after = measured(f"job{ranks}.bare"), measured(f"job{ranks}.recorded")
    for call, bar in ("start", {4: 50, 64: 500}[ranks]), ("MPI_Finalize", {4: None, 64: 300}[ranks]):
        row(f"{call}, {ranks} ranks", after[call] / 1e6, before[call] / 1e6, bar, "ms")
sys.exit(missed)
PY
