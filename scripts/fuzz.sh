#!/usr/bin/env bash
# Fuzzes the parsers with clang's libFuzzer, one target after the other.
#
#     scripts/fuzz.sh [-t SECONDS] [-n EXECUTIONS] [TARGET...]   SECONDS per target at most, by default 600; all targets by default
#     scripts/fuzz.sh coverage [TARGET...]         lines of the parsing modules that seeds and kept inputs execute, by target
#     scripts/fuzz.sh list                         the targets
#
# New inputs are kept in build/clang/tests/fuzz/corpus/TARGET, an input that fails in build/clang/tests/fuzz/found: replay it
# with build/clang/tests/fuzz/fuzz_TARGET FILE. Exit status: 0 no finding, 1 findings, 2 wrong use; of coverage: 1 if a target has less
# than 90 % of its lines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/clang
targets='events metrics cpuinfo suppressions jit_map module wait_state protocol recording'
seconds=600 executions=-1 least=90

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
    local target=$1 status=0 log=$build/tests/fuzz/$1.log result dictionary=()
    [ ! -f "tests/fuzz/$target.dict" ] || dictionary=(-dict="tests/fuzz/$target.dict")
    # shellcheck disable=SC2046 # two folders
    "$(program "$target")" -max_total_time="$seconds" -runs="$executions" -max_len=32768 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        ${dictionary[@]+"${dictionary[@]}"} -artifact_prefix="$build/tests/fuzz/found/$target-" $(folders "$target") >"$log" 2>&1 || status=$?
    result=fine
    [ $status -eq 0 ] || result="FOUND: $(grep -m 1 -oE 'ERROR: .*|runtime error: .*' "$log" || echo "status $status"), see $log"
    printf '%-14s %12s %10s  %s\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
        "$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | cut -c6-)" "$result"
    return $status
}

# The files of lib/ and tools/ that a target is for, as a regular expression.
parsers()
{
    case $1 in
    events) echo 'core/names/(event|event_name|event_info|name_list|registry|presets|near)[.]c|base/text/suggest[.]c' ;;
    metrics) echo 'core/formula/(expression|formula|metric_user)[.]c' ;;
    cpuinfo) echo 'arch/cpu[.]c' ;;
    suppressions) echo 'deadlock/suppress[.]c|base/text/pattern(_file)?[.]c' ;;
    jit_map) echo 'symbols/jit_map[.]c' ;;
    module) echo 'symbols/(dwarf/.*|elf_names|debug_file|function_starts|symbols)[.]c' ;;
    wait_state) echo 'deadlock/(wait_state|notes_file)[.]c|analysis/wait_state_file[.]c' ;;
    protocol) echo 'serve/json_read[.]c' ;;
    recording) echo 'trace/read/(?!bare)[a-z_]*[.]c' ;; # bare.c makes a trace without reading one
    esac
}

# coverage TARGET...: replays seeds and kept inputs in a build that counts lines
coverage()
{
    local target counted=build/fuzz-coverage failed=0 inputs program programs=(fuzz_module_seeds)
    local flags='-fprofile-instr-generate -fcoverage-mapping'
    cmake -S . -B $counted -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
        -DCMAKE_C_FLAGS="$flags -O1" -DUPMU_BUILD_TESTS=ON -DUPMU_BUILD_BENCH=OFF >/dev/null
    for target in "$@"; do
        programs+=("$(counted_program "$target")")
    done
    cmake --build $counted --parallel "$(nproc)" --target "${programs[@]}" >/dev/null
    printf '%-14s %8s %8s %8s  %s\n' target inputs lines percent 'files with least'
    for target in "$@"; do
        program=$(find $counted/tests -name "$(counted_program "$target")" -type f)
        # shellcheck disable=SC2046 # two folders
        mapfile -t inputs < <(find $(folders "$target") $counted/tests/fuzz/seeds/"$target" -type f 2>/dev/null)
        rm -f $counted/"$target".*raw
        printf '%s\0' "${inputs[@]}" | LLVM_PROFILE_FILE="$counted/$target.%p.raw" xargs -0 -n 2000 "$program" >/dev/null
        llvm-profdata-14 merge -sparse -o "$counted/$target.profile" "$counted/$target".*raw
        llvm-cov-14 export -summary-only -instr-profile "$counted/$target.profile" "$program" |
            python3 scripts/fuzz_lines.py "$target" "$(parsers "$target")" ${#inputs[@]} $least || failed=1
    done
    return $failed
}

counted_program()
{
    case $1 in
    recording) echo trace_fuzz_reader ;;
    *) echo "fuzz_$1" ;;
    esac
}

main()
{
    local target failed=0 words programs what=fuzz
    if [ "${1:-}" = list ]; then
        tr ' ' '\n' <<<"$targets"
        return
    fi
    while [ "${1:-}" = -t ] || [ "${1:-}" = -n ]; do
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
        [ "$1" = -n ] && executions=$2 || seconds=$2
        shift 2
    done
    if [ "${1:-}" = coverage ]; then
        what=coverage
        shift
    fi
    [ $# -gt 0 ] || read -ra words <<<"$targets"
    [ $# -eq 0 ] || words=("$@")
    for target in "${words[@]}"; do
        [[ " $targets " = *" $target "* ]] || usage
    done
    scripts/deps.sh test
    if [ $what = coverage ]; then
        coverage "${words[@]}"
        return
    fi
    cmake --preset clang -DUPMU_BUILD_TESTS=ON >/dev/null
    programs=(fuzz_module_seeds)
    for target in "${words[@]}"; do
        programs+=("$(basename "$(program "$target")")")
    done
    cmake --build --preset clang --parallel "$(nproc)" --target "${programs[@]}" >/dev/null
    mkdir -p "$build/tests/fuzz/found"
    printf '%-14s %12s %10s  %s\n' target executions coverage result
    for target in "${words[@]}"; do
        fuzz "$target" || failed=1
    done
    echo "${#words[@]} targets, $([ $failed -eq 0 ] && echo 'no finding' || echo 'findings, see above')"
    return $failed
}

main "$@"
