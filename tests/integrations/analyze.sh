# SPDX-License-Identifier: MIT
# Start, Stop and Detect Deadlock as an IDE calls them, and lists that its editor understands.
# shellcheck shell=bash source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
PATH=$(dirname "$UPMU"):$PATH
export PATH
analyze=$KITS/qtcreator/upmu-analyze
mkdir "$work/build folder"
build="$work/build folder"
files=$build/upmu

# A viewer that keeps what it is given.
cat >"$work/viewer" <<END
#!/bin/sh
[ "\$1" = -client ] && cp "\$2" "$work/shown"
END
chmod +x "$work/viewer"
export QTCREATOR=$work/viewer

expect 2 "$analyze"
expect 2 "$analyze" start "$build"
expect 1 "$analyze" start "" "$SCENE"
has err "no project"
expect 1 "$analyze" start "$build" ""
has err "no program"
expect 1 "$analyze" start "$build" "$work/nowhere"
has err "cannot be run"
expect 1 "$analyze" stop "$build"
has err "no recording"

expect 0 env UPMU_ARGUMENTS=stuck "$analyze" start "$build" "$SCENE" "$work"
has out "is being recorded"
found_deadlock() {
    "$analyze" deadlock "$build" >"$work/out" 2>"$work/err" && grep -q "^deadlock: 2 threads" "$work/out"
}
wait_until 60 found_deadlock || fail "no deadlock while the program runs: $(cat "$work/out" "$work/err")"
cmp -s "$files/deadlock.tasks" "$work/shown" || fail "the viewer was given another list"
if kill -0 "$(cat "$files/pid")" 2>/dev/null; then
    expect 1 "$analyze" start "$build" "$SCENE"
    has err "is already running"
fi
expect 0 "$analyze" stop "$build"
has out "locations are in the list of issues"
# A program that has ended may still be a zombie.
! pgrep -f "$SCENE stuck" >/dev/null || fail "the program still runs"
cmp -s "$files/issues.tasks" "$work/shown" || fail "the viewer was given another list"

# The list is one that Qt Creator reads, and lines of both kinds are in it.
awk -F'\t' 'NF != 4 || $3 !~ /^(warn|unknown)$/ || $2 !~ /^-?[0-9]+$/ { exit 1 }' "$files/issues.tasks" ||
    fail "no list of tasks: $(cat "$files/issues.tasks")"
grep -q "scene.c	[0-9]*	warn	deadlock: 2 threads" "$files/issues.tasks" || fail "no deadlock in the list"
grep -q "scene.c	[0-9]*	warn	mutex .*: 1 wait here" "$files/issues.tasks" || fail "no wait in the list"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["traceEvents"]' "$files/timeline.json" || fail "no timeline"

# What Visual Studio Code makes of upmu's lines.
"$UPMU" deadlock --format gcc "$files/recording" >"$work/deadlock.gcc" || [ $? -eq 3 ] || fail "deadlock ended with $?"
expect 0 "$UPMU" export -f gcc -o "$work/waits.gcc" "$files/recording"
python3 - "$KITS/vscode/tasks.json" "$work/deadlock.gcc" "$work/waits.gcc" <<'END' || fail "the patterns of tasks.json"
import json, re, sys
tasks = {t["label"]: t for t in json.load(open(sys.argv[1]))["tasks"]}
for label, path in (("upmu: detect deadlock", sys.argv[2]), ("upmu: record", sys.argv[3])):
    pattern = tasks[label]["problemMatcher"]["pattern"]
    lines = [l.rstrip("\n") for l in open(path) if "scene.c" in l]
    found = [re.match(pattern["regexp"], l) for l in lines]
    assert lines and all(found), lines
    assert any(m.group(pattern["severity"]) == "warning" for m in found), lines
    assert all(m.group(pattern["file"]).endswith("/scene.c") and int(m.group(pattern["line"])) > 0 for m in found)
END
finish
