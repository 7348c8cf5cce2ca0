#!/usr/bin/env bash
# Shows libupmu at work, from a fresh clone: a multi-threaded program with regions compresses some hundred MB of real
# data, its table and its trace are shown; then `upmu stat`, `upmu record` and `upmu report` show the counters and
# locks of a program without libupmu.
#
#     scripts/demo.sh [EVENTS]     EVENTS: what the regions count, by default what every kernel can count and what
#                                  this machine may have besides
#
# Works from a bare Debian 12 with git, as root or with sudo (scripts/deps.sh). Everything it makes is in build/demo,
# but for the packages. UPMU_DEMO_MB sets the amount of data (300).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
events=${1-task-clock,context-switches,page-faults,instructions,cycles,l1d-load-miss}
megabytes=${UPMU_DEMO_MB-300}
binaries=build/release
upmu=$binaries/tools/upmu/upmu
work=build/demo
corpus=$work/corpus
packed=$work/corpus.bz2
trace=$work/trace
recording=$work/recording
record_events=task-clock,page-faults,context-switches

if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; else bold='' plain=''; fi

heading()
{
    printf '\n%s== %s%s\n' "$bold" "$*" "$plain"
}

die()
{
    printf 'demo: %s\n' "$*" >&2
    exit 1
}

# show COMMAND...: print the command, then run it
show()
{
    printf '%s$ %s%s\n' "$bold" "$*" "$plain"
    "$@"
}

build()
{
    local log=$work/build.log
    # What the tests and benchmarks need is not needed here.
    if ! { cmake --preset release -DUPMU_BUILD_TESTS=OFF -DUPMU_BUILD_BENCH=OFF &&
        cmake --build --preset release --parallel "$(nproc)" --target upmu_command upmu_sync_shared example_demo; } >"$log" 2>&1; then
        cat "$log" >&2
        die "the build failed (its output is above and in $log)"
    fi
    echo "$upmu and $binaries/examples/demo are there"
}

# Real data of this system: text, code and tables as they come in /usr, in an order that is the same each time.
make_corpus()
{
    local bytes=$((megabytes * 1000000)) size
    if [ -f "$corpus" ] && [ "$(stat -c %s "$corpus")" -eq "$bytes" ]; then
        echo "$corpus is there already: $megabytes MB of this system's /usr"
        return
    fi
    # Messages of tar do not matter: head closes the pipe when it has enough, and files may vanish meanwhile.
    { tar -C /usr --sort=name -cf - share include lib bin 2>/dev/null || true; } | head -c "$bytes" >"$corpus"
    size=$(stat -c %s "$corpus")
    [ "$size" -ge 10000000 ] || die "/usr of this system gave only $size bytes to work on"
    echo "$corpus: $((size / 1000000)) MB of this system's /usr"
}

# The events of the trace, counted by our reader and by one that is not ours.
count_trace()
{
    local dump=$work/trace.txt ours theirs
    echo "Every begin and end of every thread is in $trace:"
    find "$trace" -type f ! -name '.*' -printf '  %P (%s bytes)\n' | LC_ALL=C sort
    "$upmu" dump "$trace" >"$dump" || die "our own trace cannot be read"
    ours=$(wc -l <"$dump")
    echo "upmu dump lists $ours events (in $dump); two of them, cut to fit:"
    sed -n '$p' "$dump" | cut -c 1-150 | sed 's/^/  /'
    grep -m 1 ' mark ' "$dump" | cut -c 1-150 | sed 's/^/  /'
    if command -v babeltrace2 >/dev/null; then
        theirs=$(babeltrace2 "$trace" | wc -l)
        [ "$theirs" -eq "$ours" ] || die "babeltrace2 reads $theirs events, upmu $ours"
        echo "babeltrace2 reads as many."
    fi
}

# What pbzip2 packs while it is recorded must be what it packs untouched.
record_pbzip2()
{
    rm -rf "$recording"
    printf '%s$ %s%s\n' "$bold" "upmu record -e $record_events -o $recording -- pbzip2 -k -c -p$(nproc) $corpus" "$plain"
    "$upmu" record -e "$record_events" -o "$recording" -- pbzip2 -k -c "-p$(nproc)" "$corpus" >"$packed.recorded" ||
        die "pbzip2 failed"
    pbzip2 -k -c "-p$(nproc)" "$corpus" | cmp - "$packed.recorded" || die "recorded, pbzip2 packs otherwise than alone"
    rm -f "$packed.recorded"
    echo "What it packed is what it packs unrecorded."
    show "$upmu" report --top 5 "$recording" || die "the recording cannot be read"
}

record_demo()
{
    rm -rf "$recording.own"
    head -c 40000000 "$corpus" >"$corpus.part"
    show "$upmu" record -e "$record_events" -o "$recording.own" -- "$binaries/examples/demo" "$corpus.part" "$packed.part" ||
        die "the program failed"
    show "$upmu" report --top 3 "$recording.own" || die "the recording cannot be read"
}

main()
{
    local start=$SECONDS
    heading "1. Packages"
    scripts/deps.sh demo
    mkdir -p "$work"

    heading "2. Build"
    build

    heading "3. Data"
    make_corpus

    heading "4. A program with regions, over libbz2 (examples/demo)"
    rm -rf "$trace"
    show env UPMU_EVENTS="$events" UPMU_REPORT=text UPMU_TRACE="$trace" "$binaries/examples/demo" "$corpus" "$packed" ||
        die "the program failed"

    heading "5. Its trace"
    [ -d "$trace" ] || die "there is no trace in $trace"
    count_trace

    heading "6. A program without libupmu: pbzip2 unpacks what ours has packed"
    echo "Its output is compared with the data, byte for byte, while upmu counts."
    printf '%s$ %s%s\n' "$bold" "upmu stat -- pbzip2 -dc -p$(nproc) $packed | cmp - $corpus" "$plain"
    "$upmu" stat -- pbzip2 -dc "-p$(nproc)" "$packed" | cmp - "$corpus" ||
        die "what came back is not what went in"
    echo "What came back is what went in."

    heading "7. Where the threads of a program without libupmu wait: pbzip2 packs the data"
    record_pbzip2

    heading "8. Locks, regions and counters on one timeline, with source lines: our program again, on less data"
    record_demo

    heading "Done in $((SECONDS - start)) s"
    echo "Next: $upmu doctor   what this machine can count, and how to fix what it cannot"
    echo "      $upmu list     every event by name"
    echo "      docs/guide/regions.md                  regions in your own program"
}

main "$@"
