#!/usr/bin/env bash
# Builds and runs the tests: the checks of the source, then the test suite in three builds: gcc, clang with AddressSanitizer and
# UndefinedBehaviorSanitizer, gcc with ThreadSanitizer.
#
#     scripts/test.sh [PART...]     PART: quick, checks, release, debug, clang, asan, tsan
#
# Without PART all but quick, debug and clang are run: 15 to 20 minutes on 2 processors, two to three times that in a virtual machine
# whose page faults are slow. "quick" is for the time between two edits: units and single behaviors in the release build, under 90
# seconds once that is built. tests/README.md lists what runs where.
#
# Works from a bare Debian 12 with git, as root or with sudo (scripts/deps.sh). The last line is
#     N passed, N failed, N skipped
# over everything; the exit status is 0 only if nothing failed. Logs stay in build/PART.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=$(nproc)
results=$(mktemp)
trap 'rm -f "$results"' EXIT

if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; else bold='' plain=''; fi

heading()
{
    printf '\n%s== %s%s\n' "$bold" "$*" "$plain"
}

# note OUTCOME PART NAME [WHY]: one line for the summary
note()
{
    local IFS=$'\t'
    printf '%s\n' "$*" >>"$results"
}

# check NAME COMMAND...: a check of the source; its output is shown
check()
{
    local name=$1
    shift
    heading "checks: $name"
    if "$@"; then
        note passed checks "$name"
        echo "fine"
    else
        note failed checks "$name" "see its output above"
    fi
}

# Files of a kind in the tree, zero-terminated; build folders left out.
sources()
{
    local dir args=()
    for dir in include lib tools examples tests bench; do
        [ ! -d "$dir" ] || args+=("$dir")
    done
    find "${args[@]}" -type f \( "$@" \) -print0 | LC_ALL=C sort -z
}

check_format()
{
    sources -name '*.c' -o -name '*.h' -o -name '*.cpp' | xargs -0 -n 100 -P "$jobs" clang-format --dry-run -Werror
}

shell_files()
{
    find scripts .ci -type f \( -name '*.sh' -o -path .ci/run \) -print0
    sources -name '*.sh'
}

check_shell()
{
    local found
    found=$(find bench -maxdepth 1 -name '*.sh' ! -perm -u+x) # bench/run.sh starts them by their names
    [ -z "$found" ] || { echo "not executable: $found"; return 1; }
    shell_files | xargs -0 -n 20 -P "$jobs" shellcheck --severity=warning
}

# Under pipefail, grep -q behind a pipe fails now and then: it ends at the first match, and CMD by SIGPIPE if it writes on.
check_pipes()
{
    local found
    found=$(shell_files | xargs -0 grep -nE '[^|]\| *grep -[a-zA-Z]*q' || true)
    [ -z "$found" ] || { printf '%s\nwrite: grep -q PATTERN < <(CMD)\n' "$found"; return 1; }
}

# clang-tidy's count of warnings it suppressed in system headers is noise; everything else is shown. Fuzz targets
# compile most files a second time; once is enough here. The longest come first so that no processor is left waiting.
# max-nodes is how far the static analyzer follows a function's paths: 10,000 take a third of the time of 75,000, which
# scripts/analyze.sh uses.
check_tidy()
{
    # The event tables are made by the build; the sources of the library include them.
    { cmake --preset clang && cmake --build --preset clang --target upmu_event_tables; } >build/clang-configure.log 2>&1 ||
        { cat build/clang-configure.log; return 1; }
    mkdir -p build/tidy
    python3 -c 'import json, sys
print(json.dumps(list({e["file"]: e for e in reversed(json.load(sys.stdin))}.values())))' \
        <build/clang/compile_commands.json >build/tidy/compile_commands.json
    find lib -name '*.c' -printf '%s\t%p\0' | LC_ALL=C sort -z -rn | cut -z -f 2 |
        xargs -0 -n 1 -P "$jobs" clang-tidy --quiet -p build/tidy --extra-arg=-Xclang --extra-arg=-analyzer-config \
            --extra-arg=-Xclang --extra-arg=max-nodes=10000 2> >(grep -v 'warnings generated\.$' >&2)
}

run_checks()
{
    check format check_format
    check includes scripts/check-includes.sh
    check words python3 scripts/check-words.py
    check shellcheck check_shell
    check pipes check_pipes
    check clang-tidy check_tidy
}

# A step of a preset; on failure its log is shown and the preset ends there.
step()
{
    local preset=$1 name=$2 log=build/$1/$2.log
    shift 2
    mkdir -p "build/$preset"
    if "$@" >"$log" 2>&1; then
        return 0
    fi
    cat "$log"
    note failed "$preset" "$name" "see its output above and $log"
    return 1
}

# left_out PRESET: a regular expression of the labels that are not run in it; empty where all are
left_out()
{
    case $1 in
    quick) echo '^(script|bench|slow)$' ;;
    clang) echo '^(once|bench|command|denied)$' ;;
    asan) echo '^(once|bench)$' ;;
    tsan) echo '^(once|bench|one-thread|denied)$' ;;
    esac
}

# Sanitizers stop at the first finding and fail the test; ASan's leak check needs no ptrace rights in our own process.
run_tests()
{
    ASAN_OPTIONS=${ASAN_OPTIONS-detect_stack_use_after_return=1} \
        UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1:halt_on_error=1} \
        TSAN_OPTIONS=${TSAN_OPTIONS-halt_on_error=1:second_deadlock_stack=1} \
        ctest --preset "$@"
}

# repeat_alone PRESET: what failed beside other tests is run three times with nothing beside it. Passed each time, it is listed as
# unsteady, to be looked into, and does not fail the run: a machine may be too busy for one test in a hundred. More
# than fifteen failures are not that.
repeat_alone()
{
    local preset=$1 outcomes=build/$1/outcomes names name
    names=$(sed -n 's/^failed\t\(.*\)\tsee its output above$/\1/p' "$outcomes")
    [ -n "$names" ] && [ "$(wc -l <<<"$names")" -le 15 ] || return 0
    wait_for_builder
    heading "$preset: what failed, alone"
    for name in $names; do
        run_tests "$preset" -R "^${name//./\\.}\$" --repeat until-fail:3 --no-tests=error || continue
        sed -i "s/^failed\t\($name\)\t.*/passed\t\1\nunsteady\t\1\tfailed beside other tests, passed three times alone/" "$outcomes"
    done
}

# preset_of PART
preset_of()
{
    if [ "$1" = quick ]; then echo release; else echo "$1"; fi
}

# build_part PART: configures and builds it
build_part()
{
    local preset bench=ON
    preset=$(preset_of "$1")
    case $1 in
    checks) return 0 ;;
    asan | tsan) bench=OFF ;; # they measure, which is meaningless there
    esac
    # Tests are named here in full, since a cached build folder may have been made without them.
    step "$preset" configure cmake --preset "$preset" -DUPMU_WERROR=ON -DUPMU_BUILD_TESTS=ON -DUPMU_BUILD_TOOLS=ON \
        -DUPMU_BUILD_EXAMPLES=ON -DUPMU_BUILD_BENCH=$bench &&
        step "$preset" build cmake --build --preset "$preset" --parallel "$jobs"
}

# test_part PART: runs the tests of what build_part has built
test_part()
{
    local part=$1 preset junit status=0 without at_once=$((jobs * 2)) # much of a test is waiting
    [ "$part" != release ] || at_once=$((jobs + 1))                   # and some measure
    preset=$(preset_of "$part")
    without=$(left_out "$part")
    junit=build/$preset/junit.xml
    heading "$preset: tests"
    if [ -n "$without" ]; then
        printf 'not run here, but in release, by their labels %s: %s\n' "$without" \
            "$(ctest --preset "$preset" -N -L "$without" | sed -n 's/^Total Tests: //p') tests"
    fi
    rm -f "$junit" "$junit.bench"
    run_tests "$preset" -LE "${without:-^bench\$}" -j "$at_once" --output-junit "$PWD/$junit" \
        --test-output-size-passed 65536 || status=$?
    if [ -z "$without" ]; then # what measures, when nothing is built any more
        wait_for_builder
        run_tests "$preset" -L '^bench$' -j "$jobs" --output-junit "$PWD/$junit.bench" \
            --test-output-size-passed 65536 || status=$?
    fi
    if [ ! -s "$junit" ]; then
        note failed "$preset" ctest "it wrote no result (status $status)"
        return 0
    fi
    touch "$junit.bench"
    awk -f scripts/junit-summary.awk "$junit" "$junit.bench" >"build/$preset/outcomes"
    # The two witnesses must agree, or a failure could hide between them.
    if [ $status -ne 0 ] && ! grep -q '^failed' "build/$preset/outcomes"; then
        note failed "$preset" ctest "it ended with status $status though no test is listed as failed"
    fi
    [ -s "build/$preset/outcomes" ] || note failed "$preset" ctest "it ran no test"
    repeat_alone "$preset"
    sed "s/^\([a-z]*\)\t/\1\t$preset\t/" "build/$preset/outcomes" >>"$results"
}

# The process that builds the parts after the first, or empty; the status of each build is in build/PART.built
builder=

# build_all PART...: builds them one after the other
build_all()
{
    local part status
    for part in "$@"; do
        status=0
        build_part "$part" || status=$?
        echo "$status" >"build/$part.built"
    done
}

# wait_for_builder: until nothing is built beside the tests
wait_for_builder()
{
    [ -z "$builder" ] || wait "$builder" || true
}

# wait_for_build PART: the exit status is that of its build
wait_for_build()
{
    while [ ! -s "build/$1.built" ] && kill -0 "$builder" 2>/dev/null; do
        sleep 0.2
    done
    [ -s "build/$1.built" ] || note failed "$(preset_of "$1")" build "it was ended"
    [ "$(cat "build/$1.built" 2>/dev/null)" = 0 ]
}

# run_part PART NEXT...: builds PART and runs its tests. The other parts are built meanwhile, with the lowest priority: much of a
# test is waiting, and some have to run alone.
run_part()
{
    local part=$1
    shift
    if [ "$part" = checks ]; then
        run_checks # they leave no processor idle
        return 0
    fi
    heading "$(preset_of "$part"): configure and build"
    if [ -z "$builder" ]; then
        build_all "$part"
        (renice -n 19 "$BASHPID" >/dev/null && build_all "$@") &
        builder=$!
    fi
    if wait_for_build "$part"; then test_part "$part"; fi
}

count()
{
    grep -c "^$1	" "$results" || true
}

# list OUTCOME TITLE: a block of the summary, left out when empty
list()
{
    [ "$(count "$1")" -gt 0 ] || return 0
    echo "$2:"
    awk -F '\t' -v outcome="$1" '$1 == outcome { printf "  %-8s %-36s %s\n", $2, $3, $4 }' "$results"
}

# list_skipped: which tests each reason left out
list_skipped()
{
    [ "$(count skipped)" -gt 0 ] || return 0
    echo "skipped, because"
    awk -F '\t' '$1 == "skipped" { key = $2 ": " $4; if (!(key in names)) order[++n] = key; names[key] = names[key] " " $3 }
        END { for (i = 1; i <= n; i++) print "  " order[i] "\n" names[order[i]] }' "$results" |
        while IFS= read -r line; do
            if [[ $line = "  "* ]]; then echo "$line"; else fold -s -w 110 <<<"${line# }" | sed 's/^/      /; s/ *$//'; fi
        done
}

summary()
{
    heading "summary"
    awk -F '\t' '{ n[$2, $1]++; if (!seen[$2]++) part[++parts] = $2 }
        END { for (i = 1; i <= parts; i++) printf "%-8s %4d passed, %d failed, %d skipped\n", part[i],
                  n[part[i], "passed"], n[part[i], "failed"], n[part[i], "skipped"] }' "$results"
    list_skipped
    list partly "passed, with a part skipped, because"
    list unsteady "unsteady (fails now and then: to be looked into)"
    list failed "FAILED"
    printf '%d passed, %d failed, %d skipped\n' "$(count passed)" "$(count failed)" "$(count skipped)"
    [ "$(count failed)" -eq 0 ] && [ "$(count passed)" -gt 0 ]
}

# debian_python: makes the python3 for which deps.sh installs packages the first in PATH. Another one lacks them, and that of a version
# manager is a shell script, which takes ten times as long to start; the tests start python3 some thousand times.
debian_python()
{
    [ -x /usr/bin/python3 ] || return 0
    mkdir -p build/bin
    ln -sf /usr/bin/python3 build/bin/python3
    PATH=$PWD/build/bin:$PATH
}

# processor_seconds: of everything that this script ran and has ended
processor_seconds()
{
    # Files of /proc are read by the shell itself; fields 16 and 17 are the ticks of its children.
    local stat
    read -r -a stat </proc/$$/stat
    echo $(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}

# took PART SECONDS PROCESSOR-SECONDS: how long a part took, on this machine and on any
took()
{
    printf '%s took %d min %02d s; %d min %02d s of processor time\n' "$1" $(($2 / 60)) $(($2 % 60)) $(($3 / 60)) $(($3 % 60))
}

main()
{
    local part since worked
    [ $# -gt 0 ] || set -- checks release asan tsan
    for part in "$@"; do
        case $part in
            quick | checks | release | debug | clang | asan | tsan) ;;
            *)
                sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
                exit 2
                ;;
        esac
    done
    scripts/deps.sh test
    mkdir -p build
    debian_python
    rm -f build/*.built
    while [ $# -gt 0 ]; do
        since=$SECONDS worked=$(processor_seconds)
        run_part "$@"
        took "$1" $((SECONDS - since)) $(($(processor_seconds) - worked))
        shift
    done
    summary
}

main "$@"
