#!/usr/bin/env bash
# The deadlock corpus, each case recorded in a process of its own.
#
# A deadlock must be reported while it lasts, with the right kind, and again after the process is killed. A case without one
# must end without a report.
#
#     corpus.sh UPMU CORPUS EXPECTED DIR [CASE...]     one of them: corpus.sh --one UPMU CORPUS DIR CASE KIND ORDER
set -euo pipefail
# Built with AddressSanitizer, the library is preloaded before the sanitizer's own; and programs end with what they have.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}detect_deadlocks=0" # that is our part here

live_max_ms=120000 # it hangs; what it took is printed
jobs=6

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

fail() {
    echo "FAIL $name: $1"
    [ -s "$err" ] && sed 's/^/    /' "$err" | head -20
    if kill -0 "$recorder" 2>/dev/null; then end_case; fi
    exit 1
}

# Waits until the case is reported as a deadlock; sets live_ms.
await_report() {
    local begin
    until [ -s "$pidfile" ]; do
        kill -0 "$recorder" 2>/dev/null || fail "it did not begin"
        sleep 0.02
    done
    begin=$(now_ms)
    until grep -q "^$word \[" "$err"; do
        kill -0 "$recorder" 2>/dev/null || fail "it ended without a deadlock"
        [ $(($(now_ms) - begin)) -lt $live_max_ms ] || fail "not reported within $live_max_ms ms"
        sleep 0.1
    done
    live_ms=$(($(now_ms) - begin))
}

# end_tree PID: and its children, and theirs, all stopped first, so that none sees another one's end.
end_tree() {
    local all=$1 more=$1
    while [ -n "$more" ]; do
        # shellcheck disable=SC2086
        kill -STOP $more 2>/dev/null || true
        more=$(for pid in $more; do cat "/proc/$pid/task/"*/children 2>/dev/null || true; done)
        all="$all $more"
    done
    # shellcheck disable=SC2086
    kill -9 $all 2>/dev/null || true
}

# All processes of the case, the recorder's children and theirs, are ours to end. Of some cases the recorder goes first, so
# that it can put nothing in order, and what is found comes from a process that is still on its way out.
end_case() {
    local pid
    if [ $((${#name} % 2)) = 1 ]; then kill -9 "$recorder"; fi
    pid=$(cat "$pidfile" 2>/dev/null) || { kill -9 "$recorder"; return; }
    end_tree "$pid"
    rm -f "/dev/shm/sem.upmu-hard-$pid"-*
    wait "$recorder" 2>/dev/null || true
}

check_kind() {
    local text=$1 what=$2
    grep -q "^$word \[" <<<"$text" || fail "$what reports no deadlock"
    grep -qv "^$word \[$kind\]" < <(grep -E '^(deadlock|stalled) \[' <<<"$text") &&
        fail "$what reports: $(grep -E '^(deadlock|stalled) \[' <<<"$text" | head -3), expected $kind"
    grep '#0 .*lib/sync_trace' <<<"$text" && fail "$what shows a function of the recorder as the call site"
    return 0
}

# The report begins with the worst class.
check_order() {
    local worst
    worst=$(sed -n 's/^lock order \[\([a-z-]*\)\].*/\1/p' <<<"$1" | head -1)
    [ "${worst:--}" = "$order" ] || fail "the worst order of locks is ${worst:-none}, expected $order: $1"
}

one() {
    upmu=$1 corpus=$2 dir=$3/$4 name=$4 kind=$5 order=$6
    err=$dir.err pidfile=$dir.pid live_ms=-
    local rc=0 text word=deadlock status=3
    if [ "$kind" = all-asleep ]; then word=stalled status=4; fi
    rm -rf "$dir" "$err" "$pidfile"
    "$upmu" record -o "$dir" -- "$corpus" "$name" "$pidfile" >"$dir.out" 2>"$err" &
    recorder=$!
    if [ "$kind" = - ]; then
        wait "$recorder" || fail "the program ended with status $?"
        grep -Eq '^(deadlock|stalled)' "$err" && fail "reported a deadlock that is none"
        text=$("$upmu" deadlock "$dir" 2>&1) || rc=$?
        [ $rc -eq 0 ] || [ $rc -eq 3 ] || fail "upmu deadlock: $rc: $text"
        grep -Eq '^(deadlock|stalled) \[' <<<"$text" && fail "found a deadlock that is none: $text"
    else
        await_report
        check_kind "$(cat "$err")" "upmu record"
        end_case
        text=$("$upmu" deadlock "$dir" 2>&1) || rc=$?
        [ $rc -eq $status ] || fail "upmu deadlock after the end: $rc: $text"
        check_kind "$text" "upmu deadlock after the end"
    fi
    check_order "$text"
    echo "ok $name $kind $order $live_ms"
    rm -rf "$dir" "$err" "$pidfile" "$dir.out"
}

if [ "$1" = --one ]; then
    shift
    one "$@"
    exit 0
fi

upmu=$1 corpus=$2 expected=$3 dir=$4
shift 4
only=" $* "
rm -rf "$dir"
mkdir -p "$dir"
grep -v '^#' "$expected" | while read -r name kind order; do
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || continue
    echo "$name $kind $order"
done >"$dir/list"
[ -s "$dir/list" ] || { echo "no case to run"; exit 1; }
rc=0
xargs -P "$jobs" -L 1 bash "$0" --one "$upmu" "$corpus" "$dir" <"$dir/list" >"$dir/result" || rc=$?
cat "$dir/result"
n=$(wc -l <"$dir/list")
ok=$(grep -c '^ok ' "$dir/result" || true)
echo "$ok of $n cases; slowest report $(awk '/^ok/ && $5 != "-" && $5 > m {m = $5} END {print m + 0}' "$dir/result") ms"
[ "$rc" -eq 0 ] && [ "$ok" -eq "$n" ]
