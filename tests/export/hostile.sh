# SPDX-License-Identifier: MIT
# No output of any command sends what a terminal obeys, whatever names a program and its files have; CSV cells are no formulas,
# and numbers stay numbers.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
folder=$work/$(printf 'dir \033[31m \302\233 \233 \342\200\256')
mkdir "$folder" || exit 1
cd "$work" || exit 1

# safe FILE WHAT: valid UTF-8 without controls but line breaks and tabs
safe() {
    python3 - "$1" <<'PYTHON' || fail "$2 is not safe for a terminal"
import sys, unicodedata
for n, line in enumerate(open(sys.argv[1], "rb").read().split(b"\n")):
    text = line.decode("utf-8")
    bad = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\t\r\u00ad"]
    assert not bad, (n, text, bad)
PYTHON
}

"$UPMU" record -m all -e page-faults -o "$folder/trace" -- "$HOSTILE" >"$work/out" 2>"$work/err" || fail "recording ended with $?"
safe err "the recorder's summary"
UPMU_REPORT=text UPMU_EVENTS=page-faults "$HOSTILE" 2>"$work/regions"
grep -q 'esc' "$work/regions" || fail "no table of regions"
safe regions "the table of regions"
for words in "report" "report --json" "report --view timeline" "report --view timeline --json" "report --view regions" \
             "report --view deadlock" "deadlock" "deadlock --json" "dump" "dump --json" "repair" "report --html -" \
             "export -f csv" "export -f jsonl" "export -f chrome" "export -f folded" "export -f callgrind" "export -f speedscope" \
             "export -f firefox" \
             "export -f gcc" "export -f tasks" "export -f flamegraph"; do
    # shellcheck disable=SC2086
    "$UPMU" $words "$folder/trace" >"$work/out" 2>"$work/err" || fail "'$words' ended with $?"
    [ -s "$work/out" ] || fail "'$words' wrote nothing"
    safe out "'$words'"
    safe err "the messages of '$words'"
done
for words in "report" "export -f csv" "dump" "repair" "deadlock" "ctl stop" "report --html $(printf 'a\233')/b"; do
    # shellcheck disable=SC2086
    "$UPMU" $words "$folder/nothing $(printf '\033]0;x\a')" >"$work/out" 2>"$work/err" && fail "'$words' of nothing succeeded"
    safe out "'$words' of nothing"
    safe err "the error of '$words'"
    ! grep -q "Try 'upmu" "$work/err" || [ "$words" = "ctl stop" ] || fail "'$words' was not tried: $(cat "$work/err")"
done
"$UPMU" report "$(printf -- '--\033[31m\233')" 2>"$work/err"
safe err "the error of an option"
# On a terminal the only color codes are those of upmu.
TERM=xterm script -qec "'$UPMU' report '$folder/trace'" /dev/null >"$work/out" 2>&1
python3 - "$work/out" <<'PYTHON' || fail "a terminal gets other codes than ours"
import re, sys
text = open(sys.argv[1], "rb").read()
assert b"\x1b[1m" in text, "no color on a terminal"
assert b"\x1b[31mred" not in text
assert not re.search(rb"\x1b(?!\[(0|1|2|31|32|33)m)|\x9b31m", text), text
PYTHON

expect 0 "$UPMU" export -f csv "$folder/trace"
cp "$work/out" "$work/table"
python3 - "$work/table" <<'PYTHON' || fail "a cell of the table is a formula, or a number is none"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8", newline=""), strict=True))
texts = {r["text"] for r in rows}
assert {"'=cmd|' /C calc'!A0", "'+1+2", "'-1+2", "'@SUM(1)", "plain \u00e9", "esc \\x1b[31mred"} <= texts, texts
for r in rows:
    assert not any(v[:1] in "=+@" and v for v in r.values()), r
    int(r["time_ns"]), int(r["pid"])
PYTHON
finish
