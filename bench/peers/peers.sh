#!/usr/bin/env bash
# Cost of libupmu beside that of other tools, on the same programs, run alternately: one table per kind of work.
#
#     bench/peers/peers.sh [--build DIR] [--runs N] [--short] [GROUP...]     GROUP: locks, calls, heap, samples, counters, commands
#     bench/peers/peers.sh titles                                            titles of the tables, in their order
#
# Prints, for each tool and operation, the median CPU time of one operation and the ratio to the same work without a tool in the same
# run: median, and in brackets the least and greatest of N runs (default 3); or why a tool cannot be run. Tools are Debian 12's: binutils
# (gprofng, gprof), lttng-tools with liblttng-ust1, uftrace, eztrace, valgrind, gcc (ThreadSanitizer), heaptrack, linux-perf,
# libpapi-dev with libpfm4-dev, likwid. --short: a hundredth of the times, only to see that it works.
# `bench/run.sh --peers` writes the tables to docs/benchmarks.md.
# Exit status: 0, 1 if a tool that is installed cannot run the program, 2 for wrong arguments.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build/release runs=3 part=1 titles=0 groups=()
while [ $# -gt 0 ]; do
    case $1 in
    --build)
        build=${2:?--build wants a folder}
        shift
        ;;
    --runs)
        runs=${2:?--runs wants a number}
        shift
        ;;
    --short) part=100 runs=1 ;;
    locks | calls | heap | samples | counters | commands) groups+=("$1") ;;
    titles) titles=1 ;;
    *)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
        [ "$1" = --help ] && exit 0
        exit 2
        ;;
    esac
    shift
done
[ ${#groups[@]} -gt 0 ] || groups=(locks calls heap samples counters commands)

while IFS='=' read -r name _; do
    case $name in UPMU_*) unset "$name" ;; esac
done < <(env)

build=$(realpath "$build")
subject=$build/bench/peers_subject
upmu=$build/tools/upmu/upmu
for program in "$subject" "$upmu"; do
    [ -x "$program" ] && continue
    echo "bench/peers/peers.sh: no $program; build it with -DUPMU_BUILD_BENCH=ON -DUPMU_BUILD_TOOLS=ON" >&2
    exit 2
done
scratch=$(mktemp -d)
lttng_daemon=''
# The session daemon ends its consumer daemons itself on SIGTERM.
finish()
{
    if [ -n "$lttng_daemon" ]; then
        kill "$lttng_daemon" 2>/dev/null || true
        wait "$lttng_daemon" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# shellcheck source=bench/peers/tools.sh
. bench/peers/tools.sh

# What is run in each group: the cases, how often, and the tools; the first tool is what the others are compared with.
declare -A cases=([locks]='pair contended cond sem pool' [calls]=calls [heap]=blocks [samples]=work [counters]=region [commands]=true)
declare -A times=([pair]=4000000 [contended]=1000000 [cond]=40000 [sem]=40000 [pool]=40000 [calls]=20000000
    [blocks]=3000000 [work]=100000 [region]=60000 [true]=40)
declare -A tools=(
    [locks]='untraced upmu_off upmu_contended upmu_holders upmu_all upmu_ring gprofng lttng uftrace eztrace drd helgrind tsan'
    [calls]='untraced hooks upmu_functions upmu_function_events gprof uftrace_pg callgrind'
    [heap]='untraced upmu_heap heaptrack massif dhat'
    [samples]='untraced upmu_samples perf_record gprofng_samples'
    [counters]='floor upmu papi papi_hl likwid'
    [commands]='bare upmu_stat perf_stat upmu_record')
[ $part -eq 1 ] || cases[locks]='pair cond'
declare -A slow=([helgrind]=500 [drd]=100 [uftrace]=20 [uftrace_pg]=20 [lttng]=20 [eztrace]=20 [tsan]=20 [gprofng]=5 [callgrind]=20 [massif]=20
    [dhat]=20 [heaptrack]=10 [papi_hl]=10)
declare -A title=(
    [locks]='Lock tracing: CPU ns of an operation'
    [calls]='Calls of functions: CPU ns of a call'
    [heap]='Allocations: CPU ns of a pair of malloc() and free()'
    [samples]='Samples with call stacks, a thousand a second: CPU ns of a piece of computation'
    [counters]='Four software events, read before and after: CPU ns of a pair'
    [commands]='A command that does nothing: CPU ns of one, with all processes of the tool')
declare -A label=([untraced]='no tool' [hooks]='-finstrument-functions, no tool' [upmu_off]='libupmu_sync, off'
    [upmu_contended]='upmu, contended' [upmu_holders]='upmu, holders (default)' [upmu_all]='upmu, all' [upmu_ring]='upmu, all, ring'
    [gprofng]='gprofng -s on' [lttng]='LTTng-UST pthread wrapper' [uftrace]='uftrace, library calls' [eztrace]='eztrace -t pthread'
    [drd]='valgrind drd' [helgrind]='valgrind helgrind' [tsan]='ThreadSanitizer' [upmu_functions]='upmu --functions'
    [upmu_function_events]='upmu --function-events, ring' [gprof]='gprof (-pg)' [uftrace_pg]='uftrace (-pg)'
    [callgrind]='valgrind callgrind' [upmu_heap]='upmu --heap' [heaptrack]='heaptrack' [massif]='valgrind massif'
    [dhat]='valgrind dhat' [upmu_samples]='upmu -F 999' [perf_record]='perf record -F 999 -g' [gprofng_samples]='gprofng -p 1'
    [floor]='two reads of a group' [upmu]='upmu region' [papi]='PAPI_read(), twice' [papi_hl]='PAPI_hl_region_begin(), _end()'
    [likwid]='likwid-perfctr -m' [bare]='no tool' [upmu_stat]='upmu stat' [perf_stat]='perf stat' [upmu_record]='upmu record')

if [ $titles -eq 1 ]; then
    for group in "${groups[@]}"; do
        echo "${title[$group]}"
    done
    exit
fi

able()
{
    ! declare -F "why_not_$1" >/dev/null || [ -z "$("why_not_$1")" ]
}

status=0
# run GROUP: results go to $scratch/results: CASE TOOL NS RATIO
run()
{
    local group=$1 what tool n ns bare run able_tools=()
    for tool in ${tools[$group]}; do
        able "$tool" || continue
        able_tools+=("$tool")
        if declare -F "start_$tool" >/dev/null; then "start_$tool"; fi
    done
    for ((run = 0; run < runs; run++)); do
        for what in ${cases[$group]}; do
            bare=''
            for tool in ${able_tools[@]+"${able_tools[@]}"}; do
                n=$((times[$what] / part / ${slow[$tool]:-1} + 1))
                if ! ns=$("tool_$tool" "$what" "$n"); then
                    echo "bench/peers/peers.sh: $tool cannot run '$what': $(tail -n 3 "$scratch/err")" >&2
                    status=1
                    continue
                fi
                [ -n "$bare" ] || bare=$ns
                echo "$what $tool $ns $bare" | awk '{ print $1, $2, $3, $3 / ($4 > 0 ? $4 : 1) }' >>"$scratch/results"
            done
        done
    done
}

# cell CASE TOOL: "39 (2.41; 2.30 to 2.52)"
cell()
{
    awk -v what="$1" -v tool="$2" '
        function sort(a, n, i, j, t) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && a[j - 1] > a[j]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
        }
        $1 == what && $2 == tool { ns[++n] = $3; ratio[n] = $4 }
        END {
            if (!n) { print "failed"; exit }
            sort(ns, n); sort(ratio, n); m = int((n + 1) / 2)
            printf ns[m] < 100 ? "%.1f" : "%.0f", ns[m]
            printf " (%.2f; %.2f to %.2f)\n", ratio[m], ratio[1], ratio[n]
        }' "$scratch/results"
}

table()
{
    local group=$1 what tool row why
    printf '\n### %s\n\nMeasured on %s.\n\n| Tool |' "${title[$group]}" "$(date -u +%Y-%m-%d)"
    printf ' %s |' ${cases[$group]}
    printf '\n| --- |'
    # shellcheck disable=SC2086 # one per case
    printf ' ---: |%.0s' ${cases[$group]}
    echo
    for tool in ${tools[$group]}; do
        row="| ${label[$tool]} |"
        why=''
        ! declare -F "why_not_$tool" >/dev/null || why=$("why_not_$tool")
        for what in ${cases[$group]}; do
            if [ -n "$why" ]; then
                row="$row $why |"
                why='-'
            else
                row="$row $(cell "$what" "$tool") |"
            fi
        done
        echo "$row"
    done
}

: >"$scratch/results"
for group in "${groups[@]}"; do
    run "$group"
    table "$group"
done
exit $status
