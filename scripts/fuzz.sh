#!/usr/bin/env bash
# Fuzzes the parsers with clang's libFuzzer, one target after the other.
#
#     scripts/fuzz.sh [-t SECONDS] [TARGET...]     SECONDS per target, by default 600; all targets by default
#     scripts/fuzz.sh list                         the targets
#
# New inputs are kept in build/clang/tests/fuzz/corpus/TARGET, an input that fails in build/clang/tests/fuzz/found: replay it
# with build/clang/tests/fuzz/fuzz_TARGET FILE. Exit status: 0 no finding, 1 findings, 2 wrong use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/clang
targets='events metrics cpuinfo suppressions jit_map module wait_state recording'
seconds=600

usage()
{
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

# program TARGET, folders TARGET: the fuzzer, and its corpus with the seeds
program()
{
    case $1 in
    recording) echo "$build/tests/trace/trace_fuzz_reader_live" ;;
    *) echo "$build/tests/fuzz/fuzz_$1_live" ;;
    esac
}

folders()
{
    case $1 in
    recording) echo "$build/tests/trace/corpus tests/trace/seeds" ;;
    *) echo "$build/tests/fuzz/corpus/$1 $build/tests/fuzz/seeds/$1" ;;
    esac
}

fuzz()
{
    local target=$1 status=0 log=$build/tests/fuzz/$1.log result
    # shellcheck disable=SC2046 # two folders
    "$(program "$target")" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/tests/fuzz/found/$target-" $(folders "$target") >"$log" 2>&1 || status=$?
    result=fine
    [ $status -eq 0 ] || result="FOUND: $(grep -m 1 -oE 'ERROR: .*|runtime error: .*' "$log" || echo "status $status"), see $log"
    printf '%-14s %12s %10s  %s\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
        "$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | cut -c6-)" "$result"
    return $status
}

main()
{
    local target failed=0 words programs
    if [ "${1:-}" = list ]; then
        tr ' ' '\n' <<<"$targets"
        return
    fi
    if [ "${1:-}" = -t ]; then
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
        seconds=$2
        shift 2
    fi
    [ $# -gt 0 ] || read -ra words <<<"$targets"
    [ $# -eq 0 ] || words=("$@")
    for target in "${words[@]}"; do
        [[ " $targets " = *" $target "* ]] || usage
    done
    scripts/deps.sh test
    cmake --preset clang -DUPMU_BUILD_TESTS=ON >/dev/null
    programs=(fuzz_module_seed)
    for target in "${words[@]}"; do
        programs+=("$(basename "$(program "$target")")")
    done
    cmake --build --preset clang --parallel "$(nproc)" --target "${programs[@]}" >/dev/null
    mkdir -p "$build/tests/fuzz/found"
    printf '%-14s %12s %10s  %s\n' target executions coverage result
    for target in "${words[@]}"; do
        fuzz "$target" || failed=1
    done
    return $failed
}

main "$@"
