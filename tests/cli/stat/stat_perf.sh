# SPDX-License-Identifier: MIT
# upmu stat and perf stat around the same process, nested both ways: they must count the same, in the same CSV form.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../attach.sh"
command -v perf >/dev/null || skip "perf is not installed"
perf stat -x, -o "$work/probe" -e page-faults true 2>/dev/null || skip "perf stat does not work here"
[ -z "${SANITIZED:-}" ] || skip "a sanitizer in upmu would be counted by the perf outside"

events=page-faults,task-clock
field() { # FILE EVENT -> value
    awk -F, -v e="$2" '$3 == e || $3 == e ":u" { print $1 }' "$1"
}

# compare LABEL INNER OUTER: the outer one counts the inner one's own work as well.
compare() {
    python3 - "$@" <<'PYTHON' || fail "$1"
import sys
label, inner_faults, outer_faults, inner_clock, outer_clock = sys.argv[1], *map(float, sys.argv[2:])
print(f"{label}: page-faults {inner_faults:.0f} inside, {outer_faults:.0f} outside; "
      f"task-clock {inner_clock:.2f} ms inside, {outer_clock:.2f} ms outside")
# The constants are what starting perf or upmu itself costs: about 1,000 faults and 7 ms for perf.
assert 0 <= outer_faults - inner_faults <= 0.01 * inner_faults + 2000, "page-faults"
assert -0.02 * inner_clock <= outer_clock - inner_clock <= 0.02 * inner_clock + 25, "task-clock"
PYTHON
}

perf stat -x, -o "$work/outer" -e $events -- "$UPMU" stat --csv -o "$work/inner" -e $events -- "$LOAD" touch 100000 ||
    fail "perf around upmu"
compare "upmu in perf" "$(field "$work/inner" page-faults)" "$(field "$work/outer" page-faults)" \
    "$(field "$work/inner" task-clock)" "$(field "$work/outer" task-clock)"
"$UPMU" stat --csv -o "$work/outer" -e $events -- perf stat -x, -o "$work/inner" -e $events -- "$LOAD" touch 100000 ||
    fail "upmu around perf"
compare "perf in upmu" "$(field "$work/inner" page-faults)" "$(field "$work/outer" page-faults)" \
    "$(field "$work/inner" task-clock)" "$(field "$work/outer" task-clock)"

# The child of both nestings did the same, and was counted the same: within 2. Another process that maps the same file pages at
# that moment costs the child a fault of its own now and then, so that the least of several runs counts.
child_faults() { # WORDS...: faults that the inner one counts
    "$@" -- setarch -R "$LOAD" touch 4000 >/dev/null 2>&1 || fail "$*"
    child=$(field "$work/inner" page-faults)
}
ours='' theirs=''
for _ in $(seq 20); do
    child_faults perf stat -x, -o "$work/outer" -e page-faults -- "$UPMU" stat --csv -o "$work/inner" -e page-faults
    [ -n "$ours" ] && [ "$ours" -le "$child" ] || ours=$child
    child_faults "$UPMU" stat --csv -o "$work/outer" -e page-faults -- perf stat -x, -o "$work/inner" -e page-faults
    [ -n "$theirs" ] && [ "$theirs" -le "$child" ] || theirs=$child
    same=$([ $((ours - theirs)) -le 2 ] && [ $((theirs - ours)) -le 2 ] && echo yes || echo no)
    [ $same = no ] || break
done
echo "page-faults of the child: $ours by upmu in perf, $theirs by perf in upmu"
[ $same = yes ] || fail "the child's page-faults: $ours and $theirs"

# Both count the same process at the same time: the same events to within 2, in whichever order they came.
for first in upmu perf; do
    load_start 4 1000
    for tool in $first $([ $first = upmu ] && echo perf || echo upmu); do
        case $tool in
        upmu) "$UPMU" stat --csv -o "$work/ours" -e page-faults,context-switches,cpu-migrations -p $load & upmu=$! ;;
        perf) perf stat -x, -o "$work/theirs" -e page-faults,context-switches,cpu-migrations -p $load 2>/dev/null & perf=$! ;;
        esac
    done
    counting $upmu 15
    counting $perf 15
    load_go
    wait $upmu $perf
    for event in page-faults context-switches cpu-migrations; do
        a=$(field "$work/ours" $event) b=$(field "$work/theirs" $event)
        case $a$b in *[!0-9]* | "") fail "$event: '$a', '$b'" ;; esac
        echo "$event of one process: $a by upmu, $b by perf"
        [ $((a - b)) -le 2 ] && [ $((b - a)) -le 2 ] || fail "$event of one process: $a by upmu, $b by perf"
    done
done

# Alone, each on its own run of the same work: the faults agree to one in a hundred.
"$UPMU" stat --csv -o "$work/ours" -e page-faults "$LOAD" touch 20000 || fail "upmu alone"
perf stat -x, -o "$work/theirs" -e page-faults "$LOAD" touch 20000 || fail "perf alone"
awk -v a="$(field "$work/ours" page-faults)" -v b="$(field "$work/theirs" page-faults)" \
    'BEGIN { exit !(a > 20000 && a / b > 0.99 && a / b < 1.01) }' || fail "page-faults alone differ"

# The same number of fields, for numbers and for what has none, with and without -r.
for repeat in "" "-r 2"; do
    "$UPMU" stat $repeat --csv -o "$work/ours" -e page-faults,task-clock true || fail "upmu $repeat"
    perf stat $repeat -x, -o "$work/theirs" -e page-faults,task-clock true || fail "perf $repeat"
    ours=$(awk -F, 'NF > 1 { print NF }' "$work/ours" | sort -u)
    theirs=$(awk -F, 'NF > 1 { print NF }' "$work/theirs" | sort -u)
    [ "$ours" = "$theirs" ] || fail "upmu writes $ours fields, perf $theirs ($repeat)"
    units_ours=$(awk -F, 'NF > 1 { print $2, $3 }' "$work/ours")
    units_theirs=$(awk -F, 'NF > 1 { print $2, $3 }' "$work/theirs")
    [ "$units_ours" = "$units_theirs" ] || fail "units or names differ: '$units_ours', '$units_theirs'"
done
finish
