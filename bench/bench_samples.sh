#!/usr/bin/env bash
# Samples of upmu record -F 999 beside what the program prints of itself: rate, shares, place in waits and regions, and cost.
#
#     bench/bench_samples.sh UPMU [--short] [--no-bars] [--json] [--no-heading]
#
# Shares and rate are of two threads with 5000 samples. A sample of a thread of OpenMP is in the right place if it is in the region of the
# phase that the program was in, and in one of its waits just when the runtime spins, by the address alone. The cost is the
# CPU time of a fixed work, alone, sampled, and with the same event but no reader (samples/floor.c: the kernel's part) alternately; the
# least of each counts.
# Exit status: 0 all bars met, 1 one missed or a program failed, 77 skipped.
set -euo pipefail

upmu=${1:?usage: bench_samples.sh UPMU [--short] [--no-bars] [--json] [--no-heading]}
shift
short=0 bars=1 json=0 heading=1
for option; do
    case $option in
    --short) short=1 ;;
    --no-bars) bars=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_samples.sh: unknown option $option" >&2
        exit 2
        ;;
    esac
done
command -v gcc >/dev/null || { echo "skipped, because gcc is not installed"; exit 77; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
upmu=$(realpath "$upmu")
unset "${!UPMU_@}" "${!OMP_@}" LD_PRELOAD
export OMP_WAIT_POLICY=active OMP_NUM_THREADS=2 DEBUGINFOD_URLS=
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
gcc -O1 -g -fno-omit-frame-pointer -fopenmp "$here/samples/subject.c" -o subject -pthread 2>err ||
    { echo "skipped, because gcc cannot link OpenMP: $(head -1 err)"; exit 77; }
gcc -O2 -D_GNU_SOURCE "$here/samples/floor.c" -o floor

# record DIR ARGUMENT...: of upmu record; what the program prints is in DIR.out
record()
{
    local dir=$1 status=0
    shift
    "$upmu" record -o "$dir" "$@" >"$dir.out" 2>err || status=$?
    ! grep -q perf_event_paranoid err || { echo "skipped, because $(grep -m 1 perf_event_paranoid err)"; exit 77; }
    [ $status -eq 0 ] || { echo "bench_samples FAILED: $(cat err)" >&2; exit 1; }
}

ms=2600 phase=3000 work=6000000000 rounds=5
[ $short -eq 0 ] || { ms=200 phase=100 work=200000000 rounds=1; }
record shares -F 999 -- ./subject shares 2 $ms
"$upmu" report --samples --json shares >shares.json
record waits --openmp -F 999 -- ./subject waits $phase
for stacks in user machine; do
    "$upmu" export -f firefox --of samples --stacks $stacks -o waits.$stacks waits
done
for _ in $(seq "$rounds"); do
    ./subject fixed $work >>alone.out
    rm -rf fixed
    record fixed -F 999 -- ./subject fixed $work
    cat fixed.out >>sampled.out
    ./floor 999 ./subject fixed $work >>floor.out 2>err || { echo "bench_samples FAILED: $(cat err)" >&2; exit 1; }
done
SHORT=$short BARS=$bars JSON=$json HEADING=$heading python3 "$here/samples/judge.py"
