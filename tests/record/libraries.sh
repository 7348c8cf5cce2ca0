# SPDX-License-Identifier: MIT
# Libraries that only symbols need are loaded for symbols only, and a missing one is named.
. "$(dirname "$0")/lib.sh"

LD_DEBUG=files LD_DEBUG_OUTPUT=$work/loaded expect 0 "$UPMU" record -m all -o one -- "$WORKER" 20
cat "$work"/loaded.* >"$work/all"
grep -q 'file=libupmu_analysis' "$work/all" || fail "the loader's list: $(head "$work/all")"
! grep -E 'file=lib(dw|elf|ncurses|ncursesw|tinfo)\.' "$work/all" || fail "loaded for upmu record"
"$UPMU" report --json one >json || fail "report: $?"
grep -q '"function": *"[a-z]' json || fail "no function has a name"

lib=$(dirname "$PRELOAD")
mkdir lib
cp "$lib"/libupmu.so.0 "$lib"/libupmu_analysis.so.0 "$lib"/libupmu_sync.so.0 lib
LD_LIBRARY_PATH=$work/lib "$UPMU" report --json one >json 2>err || fail "report without libdw: $?, $(cat err)"
grep -q 'libdw cannot be opened: .*/lib/upmu/elfutils.so: ' json || fail "the missing library is not named"
# Each view, and each command that shows symbols, has the cause once; `upmu doctor` has a row.
problem='functions, lines and names of variables are not shown: libdw cannot be opened: .*/lib/upmu/elfutils.so: .*\. Install elfutils'
without() {
    expect "$1" env LD_LIBRARY_PATH="$work/lib" "$UPMU" "${@:2}"
}
without 0 report one
[ "$(grep -c "^  $problem" out)" -eq 1 ] || fail "head of the report: $(head out)"
empty err
for command in "report -v timeline one" "export -f folded -o folded one" "deadlock one"; do
    # shellcheck disable=SC2086
    without 0 $command
    [ "$(grep -c "^upmu: $problem" err)" -eq 1 ] || fail "$command: $(cat err)"
done
expect 0 "$UPMU" report one
! grep -q "not shown" out || fail "nothing is missing: $(head out)"
mkdir -p lib/upmu
echo garbage >lib/upmu/elfutils.so
without 0 report one
[ "$(grep -c "^  $problem" out)" -eq 1 ] || fail "a broken library: $(head out)"
run env LD_LIBRARY_PATH="$work/lib" "$UPMU" doctor --json
cp out missing.json
run "$UPMU" doctor --json
python3 - missing.json out <<'PYTHON' || fail "upmu doctor has no rows of the libraries"
import json, sys
missing, here = ({f["topic"]: f for f in json.load(open(name))["findings"]} for name in sys.argv[1:])
for topic, library in (("symbols", "elfutils.so"), ("terminal", "curses.so")):
    assert missing[topic]["state"] == "limited" and library in missing[topic]["text"] and missing[topic]["remedy"], missing
    assert here[topic]["state"] in ("ok", "limited") and library in here[topic]["text"], here
PYTHON
rm -r lib/upmu
expect 1 env LD_LIBRARY_PATH="$work/lib" "$UPMU" record -c 1 -e uprobe:/bin/true:main -o two -- true
grep -q '^upmu: libdw cannot be opened: ' err || fail "sampler: $(cat err)"

# A library that the preloaded one needs, as libatomic on riscv64: the program does not start, and the cause is named.
compiler=$(command -v cc || command -v gcc || true)
if [ -n "$compiler" ]; then
    echo 'int needed(void) { return 1; }' >needed.c
    echo 'int needed(void); int upmu_sync_begin(void) { return needed(); }' >needs.c
    "$compiler" -shared -fPIC -Wl,-soname,libneeded.so.1 -o libneeded.so.1 needed.c
    "$compiler" -shared -fPIC -o lib/libupmu_sync.so.0 needs.c -L. -l:libneeded.so.1
    rm libneeded.so.1
    expect 127 env LD_LIBRARY_PATH="$work/lib" "$UPMU" record -o needs -- true
    grep -q '^upmu: nothing was recorded: the library cannot be loaded into the command: libneeded.so.1: ' err || fail "the cause: $(cat err)"
fi
finish
