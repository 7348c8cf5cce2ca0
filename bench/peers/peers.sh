#!/usr/bin/env bash
# Cost of sync tracing beside that of other tools, on the same program, run alternately.
#
#     bench/peers/peers.sh [--build DIR] [--runs N] [--short]
#
# Prints the CPU nanoseconds of one operation and the ratio to untraced: the least of N runs (default 3), or why a tool
# cannot be run. On Debian 12 they are in: binutils (gprofng), lttng-tools liblttng-ust1 (lttng), uftrace,
# valgrind, gcc (ThreadSanitizer). --short: a hundredth of the times, only to see that it works.
# Exit status: 0, 1 if a tool that is installed cannot run the program, 2 for wrong arguments.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build/release runs=3 part=1
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
    *)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
        [ "$1" = --help ] && exit 0
        exit 2
        ;;
    esac
    shift
done

while IFS='=' read -r name _; do
    case $name in UPMU_*) unset "$name" ;; esac
done < <(env)

build=$(realpath "$build")
subject=$build/bench/peers_subject
preload=$build/lib/libupmu_sync.so.0
[ -x "$subject" ] || { echo "bench/peers/peers.sh: no $subject; build it with -DUPMU_BUILD_BENCH=ON" >&2; exit 2; }
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

cases=(pair contended cond sem pool)
declare -A times=([pair]=20000000 [contended]=4000000 [cond]=200000 [sem]=200000 [pool]=200000)

# Each tool: tool_NAME CASE TIMES runs the subject under it and prints what the subject prints. why_not_NAME prints why it
# cannot be run, or nothing. start_NAME, if there is one, runs once before.
traced()
{
    rm -rf "$scratch/trace"
    UPMU_TRACE=$scratch/trace UPMU_SYNC=$1 LD_PRELOAD=$preload "$subject" "$2" "$3"
}
tool_untraced() { "$subject" "$@"; }
tool_upmu_off() { LD_PRELOAD=$preload "$subject" "$@"; }
tool_upmu_contended() { traced contended "$@"; }
tool_upmu_holders() { traced holders "$@"; }
tool_upmu_all() { traced all "$@"; }
tool_upmu_ring() { UPMU_TRACE_POLICY=ring:1M traced all "$@"; }

why_not_gprofng() { command -v gprofng >/dev/null || echo "not installed"; }
tool_gprofng()
{
    rm -rf "$scratch/experiment.er"
    gprofng collect app -p off -s on -o "$scratch/experiment.er" "$subject" "$@" 2>"$scratch/err" | grep -E '^[0-9.]+$'
}

wrapper=$(ldconfig -p | awk '/liblttng-ust-pthread-wrapper/ { found = $NF } END { print found }')
why_not_lttng()
{
    if [ -z "$wrapper" ] || ! command -v lttng >/dev/null; then
        echo "not installed"
    fi
}
# The tools run in subshells, so the daemon is started here, where its number is kept for finish. Without --no-sessiond each
# lttng command would start a daemon that outlives this script.
start_lttng()
{
    export LTTNG_HOME=$scratch
    lttng-sessiond --no-kernel --quiet >/dev/null 2>&1 &
    lttng_daemon=$!
    for _ in $(seq 100); do
        ! lttng --no-sessiond list >/dev/null 2>&1 || break
        sleep 0.1
    done
}
tool_lttng()
{
    {
        lttng --no-sessiond create peers --output="$scratch/lttng" &&
            lttng --no-sessiond enable-event -u 'lttng_ust_pthread:*' &&
            lttng --no-sessiond start
    } >"$scratch/err" 2>&1 || return
    LD_PRELOAD=$wrapper "$subject" "$@"
    lttng --no-sessiond destroy peers >>"$scratch/err" 2>&1
    rm -rf "$scratch/lttng"
}

why_not_uftrace() { command -v uftrace >/dev/null || echo "not installed"; }
tool_uftrace()
{
    uftrace record --force -d "$scratch/uftrace" "$subject" "$@" 2>"$scratch/err" | grep -E '^[0-9.]+$'
    rm -rf "$scratch/uftrace"
}

why_not_helgrind() { command -v valgrind >/dev/null || echo "not installed"; }
tool_helgrind() { valgrind --quiet --tool=helgrind "$subject" "$@" 2>"$scratch/err"; }

why_not_tsan() { [ -x "${subject}_tsan" ] || echo "not built (gcc's libtsan)"; }
tool_tsan() { TSAN_OPTIONS=second_deadlock_stack=1:report_bugs=0 "${subject}_tsan" "$@" 2>"$scratch/err"; }

tools=(untraced upmu_off upmu_contended upmu_holders upmu_all upmu_ring gprofng lttng uftrace helgrind tsan)
declare -A slow=([helgrind]=500 [uftrace]=20 [lttng]=20 [tsan]=20 [gprofng]=5) best=()

able()
{
    ! declare -F "why_not_$1" >/dev/null || [ -z "$("why_not_$1")" ]
}

for tool in "${tools[@]}"; do
    if able "$tool" && declare -F "start_$tool" >/dev/null; then
        "start_$tool"
    fi
done

status=0
for ((run = 0; run < runs; run++)); do
    for what in "${cases[@]}"; do
        for tool in "${tools[@]}"; do
            able "$tool" || continue
            n=$((times[$what] / part / ${slow[$tool]:-1} + 10))
            if ! ns=$("tool_$tool" "$what" "$n"); then
                echo "bench/peers/peers.sh: $tool cannot run '$what': $(tail -n 3 "$scratch/err")" >&2
                status=1
                continue
            fi
            best[$tool.$what]=$(printf '%s\n' "$ns" "${best[$tool.$what]:-$ns}" | sort -g | head -n 1)
        done
    done
done

printf '%-16s' 'CPU ns each'
printf '%20s' "${cases[@]}"
echo
for tool in "${tools[@]}"; do
    printf '%-16s' "${tool/_/, }"
    if able "$tool"; then
        for what in "${cases[@]}"; do
            awk -v ns="${best[$tool.$what]:-}" -v bare="${best[untraced.$what]}" \
                'BEGIN { printf "%20s", ns == "" ? "failed" : sprintf("%.0f (%.2fx)", ns, ns / bare) }'
        done
    else
        printf '  %s' "$("why_not_$tool")"
    fi
    echo
done
exit $status
