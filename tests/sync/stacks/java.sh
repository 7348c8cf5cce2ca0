#!/usr/bin/env bash
# java.sh UPMU: waits for a Java monitor have the names of methods in their stacks, from the map that `upmu record` keeps: a compiled one by
# name, an interpreted one as its interpreter.
set -euo pipefail
upmu=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

skip()
{
    echo "skipped, because $*"
    exit 77
}

for command in java javac; do
    command -v $command >/dev/null || skip "$command is not installed"
done
flags=(-Xbatch -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -Xmx256m)
java "${flags[@]}" -version >/dev/null 2>&1 || skip "this java does not write a map: $(java -version 2>&1 | head -1)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset "${!UPMU_@}" LD_PRELOAD
export DEBUGINFOD_URLS=
javac -d . "$here/Locks.java"

"$upmu" record -o recording -- java "${flags[@]}" -cp . Locks >out 2>err || fail "record: $(cat err)"
map=/tmp/perf-$(cat out).map
grep -q 'void Locks.compiled()' "$map" || fail "the method was not compiled: $(ls -l "$map")"
rm -f "$map" # the recording has its own
"$upmu" report --json recording >json
python3 - <<'PY'
import json

stacks = [(o.get("longest") or {}).get("waiter_stack") or [] for o in json.load(open("json"))["objects"]]
for stack in stacks:
    for f in stack:
        f["name"] = f["functions"][0]["function"] if f["functions"] else None
monitors = [s for s in stacks if any(f["name"] and f["name"].startswith("ObjectMonitor::enter") for f in s)]
assert len(monitors) == 2, [[f["name"] for f in s] for s in monitors]


def generated(stack):
    """The names of its generated code, from the innermost on."""
    frames = [f for f in stack if f["kind"] == "jit"]
    assert frames and all(f["module"].startswith("recording/") for f in frames), stack
    return [f["name"] for f in frames]


names = sorted(map(generated, monitors), key=lambda n: "void Locks.compiled()" in n)
interpreted, compiled = names
assert interpreted[0] == "Interpreter" and "void Locks.compiled()" not in interpreted, interpreted
assert "void Locks.compiled()" in compiled, compiled
assert compiled[compiled.index("void Locks.compiled()") + 1] == "Interpreter", compiled  # Thread.run()
PY
