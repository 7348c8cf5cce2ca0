# shellcheck shell=bash disable=SC2154,SC2034 # scratch, subject, upmu, build and lttng_daemon are those of peers.sh
# Tools of peers.sh, by group. tool_NAME CASE TIMES prints the CPU nanoseconds of one operation; why_not_NAME, if there is one, prints
# why the tool cannot be run here, or nothing; start_NAME runs once before. Standard error goes to $scratch/err.
# Needs: build, scratch, subject, upmu.

# number COMMAND...: the line with the subject's number, among what the tool prints
number()
{
    "$@" 2>"$scratch/err" | grep -E '^[0-9]+\.[0-9]+$'
}

missing()
{
    command -v "$1" >/dev/null || echo "not installed"
}

fresh() # DIR: a name that is free; tools refuse a directory that exists
{
    rm -rf "${scratch:?}/$1"
    echo "$scratch/$1"
}

tool_untraced() { number "$subject" "$@"; }

# ------------------------------------------------------------------------------------------------------------- locks

preload=$build/lib/libupmu_sync.so.0
traced()
{
    UPMU_TRACE=$(fresh trace) UPMU_SYNC=$1 LD_PRELOAD=$preload number "$subject" "$2" "$3"
}
tool_upmu_off() { LD_PRELOAD=$preload number "$subject" "$@"; }
tool_upmu_contended() { traced contended "$@"; }
tool_upmu_holders() { traced holders "$@"; }
tool_upmu_all() { traced all "$@"; }
tool_upmu_ring() { UPMU_TRACE_POLICY=ring:1M traced all "$@"; }

why_not_gprofng() { missing gprofng; }
tool_gprofng() { number gprofng collect app -p off -s on -o "$(fresh experiment.er)" "$subject" "$@"; }

wrapper=$(ldconfig -p | awk '/liblttng-ust-pthread-wrapper/ { found = $NF } END { print found }')
why_not_lttng() { if [ -z "$wrapper" ]; then echo "not installed"; else missing lttng; fi; }
# The tools run in subshells, so the daemon is started here, where its number is kept for finish(). Without --no-sessiond each
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
        lttng --no-sessiond create peers --output="$(fresh lttng)" &&
            lttng --no-sessiond enable-event -u 'lttng_ust_pthread:*' &&
            lttng --no-sessiond start
    } >"$scratch/err" 2>&1 || return
    LD_PRELOAD=$wrapper "$subject" "$@" | grep -E '^[0-9]+\.[0-9]+$'
    lttng --no-sessiond destroy peers >>"$scratch/err" 2>&1
}

why_not_uftrace() { missing uftrace; }
tool_uftrace() { number uftrace record --force -d "$(fresh uftrace)" "$subject" "$@"; }

why_not_eztrace() { missing eztrace; }
tool_eztrace() { number eztrace -t pthread -o "$(fresh eztrace)" "$subject" "$@"; }

valgrind_tool()
{
    local tool=$1
    shift
    number valgrind --quiet --tool="$tool" "$subject" "$@"
}
why_not_helgrind() { missing valgrind; }
tool_helgrind() { valgrind_tool helgrind "$@"; }
why_not_drd() { missing valgrind; }
tool_drd() { valgrind_tool drd "$@"; }

why_not_tsan() { [ -x "${subject}_tsan" ] || echo "not built (gcc's libtsan)"; }
tool_tsan() { TSAN_OPTIONS=second_deadlock_stack=1:report_bugs=0 number "${subject}_tsan" "$@"; }

# ------------------------------------------------------------------------------------------------- calls of functions

tool_hooks() { number "${subject}_hooks" "$@"; }
tool_upmu_functions() { number "$upmu" record --functions -o "$(fresh functions)" -- "${subject}_hooks" "$@"; }
tool_upmu_function_events() { number "$upmu" record --function-events --ring 16M -o "$(fresh functions)" -- "${subject}_hooks" "$@"; }
tool_gprof() { (cd "$scratch" && number "${subject}_pg" "$@"); }
why_not_uftrace_pg() { missing uftrace; }
tool_uftrace_pg() { number uftrace record --no-libcall -d "$(fresh uftrace)" "${subject}_pg" "$@"; }
why_not_callgrind() { missing valgrind; }
tool_callgrind() { number valgrind --quiet --tool=callgrind --callgrind-out-file="$scratch/callgrind" "$subject" "$@"; }

# ----------------------------------------------------------------------------------------------------------- the heap

tool_upmu_heap() { number "$upmu" record --heap -o "$(fresh heap)" -- "$subject" "$@"; }
why_not_heaptrack() { missing heaptrack; }
tool_heaptrack() { number heaptrack -o "$scratch/heaptrack" "$subject" "$@"; }
why_not_massif() { missing valgrind; }
tool_massif() { number valgrind --quiet --tool=massif --massif-out-file="$scratch/massif" "$subject" "$@"; }
why_not_dhat() { missing valgrind; }
tool_dhat() { number valgrind --quiet --tool=dhat --dhat-out-file="$scratch/dhat" "$subject" "$@"; }

# ------------------------------------------------------------------------------------------------------------ samples

tool_upmu_samples() { number "$upmu" record -F 999 -o "$(fresh samples)" -- "$subject" "$@"; }
why_not_perf_record() { missing perf; }
tool_perf_record() { number perf record -q -e task-clock -F 999 --call-graph fp -o "$scratch/perf.data" "$subject" "$@"; }
why_not_gprofng_samples() { missing gprofng; }
tool_gprofng_samples() { number gprofng collect app -p 1 -o "$(fresh experiment.er)" "$subject" "$@"; }

# ----------------------------------------------------------------------------------------------------------- counters

counters=$build/bench/peers_counters
papi_counters()
{
    LD_PRELOAD=$build/bench/libpeers_papi_shim.so number "$counters" "$1" "$2"
}
why_not_papi() { [ -e "$build/bench/libpeers_papi_shim.so" ] || echo "not built (libpapi-dev, libpfm4-dev)"; }
why_not_floor()
{
    "$counters" floor 1 >/dev/null 2>"$scratch/why" || cat "$scratch/why"
}
tool_floor() { number "$counters" floor "$2"; }
why_not_upmu() { why_not_floor; }
tool_upmu() { number "$counters" upmu "$2"; }
tool_papi() { papi_counters papi "$2"; }
why_not_papi_hl() { why_not_papi; }
tool_papi_hl() { papi_counters papi_hl "$2"; }
why_not_likwid()
{
    if ! command -v likwid-perfctr >/dev/null; then
        echo "not installed"
    else
        likwid-perfctr -e 2>&1 | grep -m 1 -oE 'Unsupported ([A-Za-z0-9]+ )*Processor|Cannot .*' || true
    fi
}
tool_likwid()
{
    likwid-perfctr -C 0 -g CLOCK -m "$counters" floor "$2" 2>"$scratch/err" | grep -E '^[0-9]+\.[0-9]+$'
}

# ----------------------------------------------------------------------------------------------------------- commands

# each TIMES COMMAND...: CPU nanoseconds of one of so many runs, of all its processes
each()
{
    local times=$1 i
    shift
    {
        TIMEFORMAT='%U %S'
        time for ((i = 0; i < times; i++)); do
            "$@" >/dev/null 2>"$scratch/err" || exit
        done
    } 2>"$scratch/time"
    awk -v n="$times" '{ printf "%.2f\n", ($1 + $2) * 1e9 / n }' "$scratch/time"
}
tool_bare() { each "$2" /bin/true; }
why_not_upmu_stat() { why_not_floor; }
tool_upmu_stat() { each "$2" "$upmu" stat -e task-clock,page-faults -- /bin/true; }
why_not_perf_stat() { missing perf; }
tool_perf_stat() { each "$2" perf stat -e task-clock,page-faults /bin/true; }
record_true() { "$upmu" record -o "$(fresh command)" -- /bin/true; }
tool_upmu_record() { each "$2" record_true; }
