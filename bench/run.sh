#!/usr/bin/env bash
# Runs all benchmarks in full and prints one table; see bench/README.md.
#
#     bench/run.sh [--build DIR] [--json]
#     bench/run.sh --peers [--build DIR] [ARGUMENTS OF bench/peers/peers.sh]     writes docs/benchmarks.md instead
#
# Without --build the release preset is configured and built first. As root all rows can be measured; other users see why a row cannot.
# Exit status: 0 all bars met, 1 a bar missed or a benchmark failed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build='' options=() peers=0 peers_options=()
while [ $# -gt 0 ]; do
    case $1 in
    --build)
        build=${2:?--build wants a folder}
        shift
        ;;
    --json) options=(--json) ;;
    --peers)
        peers=1
        shift
        if [ "${1-}" = --build ]; then
            build=${2:?--build wants a folder}
            shift 2
        fi
        peers_options=("$@")
        break
        ;;
    *)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
        [ "$1" = --help ] && exit 0
        exit 2
        ;;
    esac
    shift
done

if [ -z "$build" ]; then
    build=build/release
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    if ! { cmake --preset release -DUPMU_BUILD_BENCH=ON -DUPMU_BUILD_TOOLS=ON && cmake --build --preset release; } >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "bench/run.sh: the release build failed" >&2
        exit 1
    fi
fi

if [ $peers -eq 1 ]; then
    exec bench/peers/page.sh docs/benchmarks.md "$build" ${peers_options[@]+"${peers_options[@]}"}
fi

# Variables of the caller would change what is measured.
while IFS='=' read -r name _; do
    case $name in UPMU_*) unset "$name" ;; esac
done < <(env)

status=0
first=1
# measure NAME COMMAND...: rows of one benchmark; the first one brings the heading
measure()
{
    local name=$1 rc=0 heading=()
    shift
    [ $first -eq 1 ] || heading=(--no-heading)
    "$@" ${options[@]+"${options[@]}"} ${heading[@]+"${heading[@]}"} || rc=$?
    first=0
    case $rc in
    0 | 77) ;;
    1) status=1 ;;
    *)
        echo "bench/run.sh: bench_$name ended with status $rc" >&2
        status=1
        ;;
    esac
}

found=0
for program in "$build"/bench/bench_*; do
    case $program in *_subject | *_subject_tsan) continue ;; esac
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then
        continue
    fi
    found=1
    measure "${program##*/bench_}" "$program"
done
if [ $found -eq 0 ]; then
    echo "bench/run.sh: no benchmark in $build/bench; build it with -DUPMU_BUILD_BENCH=ON" >&2
    exit 1
fi
measure stat bench/bench_stat.sh "$build/tools/upmu/upmu"
measure retention bench/bench_retention.sh "$build/tools/upmu/upmu"
measure events bench/bench_events.sh "$build/tools/upmu/upmu"
measure watch bench/bench_watch.sh "$build/tools/upmu/upmu"
measure openmp bench/bench_openmp.sh "$build/tools/upmu/upmu"
measure samples bench/bench_samples.sh "$build/tools/upmu/upmu"
measure mpi bench/bench_mpi.sh "$build/tools/upmu/upmu"
measure mpi bench/bench_mpi.sh "$build/tools/upmu/upmu" --job
measure python bench/sdk/bench_python.sh "$build"
measure bindings bench/sdk/bench_bindings.sh "$build"
measure packages bench/sdk/bench_packages.sh "$build"
if [ ${#options[@]} -eq 0 ]; then
    if [ $status -eq 0 ]; then echo "all bars met"; else echo "a bar was missed"; fi
fi
exit $status
