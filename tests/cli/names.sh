# SPDX-License-Identifier: MIT
# Names of events as users bring them from perf: tracepoints, groups in braces, modifiers; and the remedies in their messages.
. "$(dirname "$0")/lib.sh"

# Clocks have no modes: no number that would be that of all of them.
expect 0 "$UPMU" stat -e page-faults,task-clock:u,cpu-clock:k true
has err "'task-clock:u': a clock runs in all modes"
has err "unsupported: cpu-clock:k"
expect 0 "$UPMU" stat -e task-clock:u true
has err "unsupported: task-clock:u"
expect 0 "$UPMU" explain task-clock:k
has out "user-time or system-time"

expect 1 "$UPMU" explain cycles:S
has err "perf uses it for sampling"
expect 0 "$UPMU" explain --cpu kx-6000 cycles:G
has out "counts guests and host together"
expect 0 "$UPMU" explain --cpu zen3 cycles:uG
has out "cycles:uG"

# A group in braces is kept together or refused.
expect 0 "$UPMU" plan --cpu sw831 -e '{cycles,instructions},branch-misses'
has out "'cycles' and 'instructions' need the same counter"
grep -Eq '^ *1 +branch-misses ' "$work/out" || fail "branch-misses beside a refused group"
expect 0 "$UPMU" plan --cpu sw831 -e 'instructions,{cycles,branch-misses}:u' --json
json "$work/out" '
e = d["entries"]
assert [x["name"] for x in e[:3]] == ["instructions", "cycles:u", "branch-misses:u"], e
assert e[1]["group"] == e[2]["group"] != e[0]["group"], e
'
expect 1 "$UPMU" plan -e '{cycles,{instructions}}'
has err "cannot hold another group"
expect 1 "$UPMU" stat -e '{page-faults' true
has err "closing '}' is missing"
expect 0 "$UPMU" stat -e '{page-faults,task-clock}' true
has err "page-faults"

# Tracepoints: in a mount namespace of our own, so that tracefs can come and go.
[ "$(id -u)" -eq 0 ] || skip "only root can mount tracefs; all else passed: $failures failures"
cat >"$work/inside.sh" <<'INSIDE'
set -u
umount /sys/kernel/tracing 2>/dev/null
umount /sys/kernel/debug 2>/dev/null
"$UPMU" explain sched:sched_switch >"$work/unmounted"
remedy=$(sed -n "s/.*Run '\(.*\)' as root.*/\1/p" "$work/unmounted")
$remedy || { echo "cannot mount"; exit 77; }
"$UPMU" stat -e sched:sched_switch,context-switches --csv sleep 0.01 2>"$work/counted"
"$UPMU" explain sched:sched_swich 2>"$work/close"
mkdir -p "$work/bin"
cp "$UPMU" "$work/bin/upmu"
for lib in ${UPMU_LIBS//:/ }; do cp "$lib" "$work/bin/$(basename "$lib" | sed 's/\(\.so\.[0-9]*\).*/\1/')"; done
chmod -R a+rX "$work"
as_nobody() { LD_LIBRARY_PATH=$work/bin setpriv --reuid=65534 --regid=65534 --clear-groups "$work/bin/upmu" "$@"; }
# All mounts of tracefs share their options: they are put back at the end.
before=$(stat -c 'mode=%a,gid=%g' /sys/kernel/tracing)
trap 'mount -o remount,$before /sys/kernel/tracing' EXIT
mount -o remount,mode=700,gid=0 /sys/kernel/tracing
as_nobody explain sched:sched_switch 2>"$work/unreadable"
as_nobody stat --csv -e page-faults:u,sched:sched_switch true 2>"$work/beside"
as_nobody stat -e page-faults:u,sched:sched_switch true 2>"$work/beside.text"
remedy=$(sed -n "s/.*as root, '\(mount [^']*\)'.*/\1/p" "$work/unreadable")
$remedy
as_nobody explain sched:sched_switch >"$work/readable"
INSIDE
export UPMU UPMU_LIBS work
unshare -m bash "$work/inside.sh" >"$work/out" 2>&1
status=$?
[ "$status" -ne 77 ] || { [ "$failures" -eq 0 ] || finish; skip "tracefs cannot be mounted here"; }
[ "$status" -eq 0 ] || { fail "inside ended with $status"; cat "$work/out" >&2; }
grep -q "which is not mounted" "$work/unmounted" || { fail "unmounted tracefs"; cat "$work/unmounted" >&2; }
grep -Eq '^[1-9][0-9]*,,sched:sched_switch' "$work/counted" || { fail "sched_switch is not counted"; cat "$work/counted" >&2; }
grep -q "did you mean 'sched:sched_switch'" "$work/close" || { fail "no suggestion"; cat "$work/close" >&2; }
grep -q "this user may not read" "$work/unreadable" || { fail "unreadable tracefs: $(cat "$work/unreadable")"; cat "$work/unreadable" >&2; }
# It is refused, and the other events are counted.
grep -Eq '^[1-9][0-9]*,,page-faults:u' "$work/beside" || { fail "an unreadable tracepoint ends all"; cat "$work/beside" >&2; }
grep -q "refused: sched:sched_switch" "$work/beside.text" && grep -q "this user may not read" "$work/beside.text" ||
    { fail "no reason of the tracepoint"; cat "$work/beside.text" >&2; }
grep -q "tracepoint:0x" "$work/readable" || { fail "the remedy does not help"; cat "$work/readable" >&2; }
finish
