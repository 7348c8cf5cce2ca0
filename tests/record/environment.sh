# SPDX-License-Identifier: MIT
# Unknown UPMU_ variables: named once with the nearest known name where recording is switched on, and all by upmu doctor.
. "$(dirname "$0")/lib.sh"

once()
{
    [ "$(grep -c 'unknown variable' "$1")" -eq 1 ] || fail "$2: not once in: $(cat "$1")"
    grep -qF "unknown variable UPMU_SYNC_STACK is ignored, did you mean UPMU_SYNC_STACKS?" "$1" || fail "$2: $(cat "$1")"
}

export UPMU_SYNC_STACK=3
touch stop
# In the note of the report.
expect 0 env UPMU_REPORT=text UPMU_OUTPUT=table "$REGIONS" stop
once table "report"
empty err
# Without a report: one line.
expect 0 env UPMU_TRACE=trace "$REGIONS" stop
once err "trace"
expect 0 env UPMU_SYNC=all LD_PRELOAD="$PRELOAD" "$WORKER" 5
once err "lock tracing"
[ "$(wc -l <err)" -eq 1 ] || fail "more than one line: $(cat err)"
# Without recording nothing is printed.
expect 0 "$REGIONS" stop
empty err
expect 0 env LD_PRELOAD="$PRELOAD" "$WORKER" 5
empty err
# Variables that are not similar to a known name may be another program's: upmu doctor names them, too.
unset UPMU_SYNC_STACK
expect 0 env UPMU_HOME_OF_MINE=x UPMU_TRACE=trace2 "$REGIONS" stop
empty err
UPMU_HOME_OF_MINE=x UPMU_TRACE_POLIC=y "$UPMU" doctor >out 2>err || true
has out "unknown variable UPMU_HOME_OF_MINE is ignored"
has out "did you mean UPMU_TRACE_POLICY?"
"$UPMU" doctor >out 2>err || true
has_not out "unknown variable"
finish
