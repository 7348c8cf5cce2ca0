#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# upmu report --annotate: samples at the lines and instructions that spend the time, and what is missing is printed.
#     annotate.sh UPMU
set -euo pipefail
upmu=$1
# shellcheck source=tests/sampling/lib.sh
. "$(dirname "$0")/lib.sh"
begin
sampled
command -v objdump >/dev/null || skip "objdump is not installed"
cp "$here"/annotate.cpp "$here"/annotate.h .

# take NAME: 700 ms of samples of ./subject in the folder NAME, with its annotation and that of its caller
take()
{
    "$upmu" record -F 1999 --call-graph dwarf -o "$1" -- ./subject 700 2>err || fail "$(cat err)"
    "$upmu" report --annotate hot --json "$1" >"$1.json" 2>err || fail "$1: $(cat err)"
    "$upmu" report --annotate hot --disassembly --json "$1" >"$1.code" 2>err || fail "$1: $(cat err)"
    "$upmu" report --annotate hot --disassembly "$1" >"$1.text" 2>err || fail "$1: $(cat err)"
    "$upmu" report --annotate work::twice --json "$1" >"$1.caller" 2>err || fail "$1: $(cat err)"
}

# judge NAME MODULE: its lines and instructions add up, and the hot ones are hot
judge()
{
    python3 - "$@" <<'PY' || exit 1
import json, re, sys
name, module = sys.argv[1:]
source = open("annotate.cpp").read().split("\n")
line = lambda word: next(i for i, text in enumerate(source, 1) if f"/* {word} */" in text)
d, code, caller = (json.load(open(name + end)) for end in (".json", ".code", ".caller"))
assert d["module"].endswith("/" + module) and d["problem"] is None and d["samples"] > 100, d
assert d["samples"] > 0.9 * d["all_samples"], (d["samples"], d["all_samples"])
own = {l["line"]: l for l in d["lines"] if not l["inlined"]}
inlined = {(l["line"], l["inlined_line"]): l for l in d["lines"] if l["inlined"]}
assert sum(l["self_weight"] for l in own.values()) == d["self_weight"], name
assert sum(l["weight"] for l in own.values()) == d["weight"], name
hot, call, body = own[line("HOT")], own[line("HOT-CALL")], inlined[line("HOT-CALL"), line("HOT-INLINED")]
assert "divide" in body["inlined"] and body["inlined_file"].endswith("annotate.cpp"), body
assert call["weight"] >= body["weight"] > 0.2 * d["weight"] and hot["self_weight"] > 0.2 * d["weight"], (hot, call, body)
assert hot["self_weight"] + body["self_weight"] > 0.6 * d["weight"], (hot, body)
assert hot["text"] == source[line("HOT") - 1] and body["text"] is None
assert all(l["file"] is None or l["file"].endswith("/annotate.cpp") for l in d["lines"])
# Instructions: the same samples, in the loop with the divisions; a virtual CPU reports some instructions late or early.
rows = [i for r in code["ranges"] for i in r["instructions"] if "text" in i]
assert all(r["is_bounded"] and r["module"] == d["module"] for r in code["ranges"])
assert sum(i["self_weight"] for i in rows) == sum(r["self_weight"] for r in code["ranges"]), name
assert sum(i["self_weight"] for i in rows if i.get("is_own")) == sum(l["self_weight"] for l in d["lines"]), name
at = [n for n, i in enumerate(rows) if re.match(r"[su]?div", i["text"])]
near = sum(i["self_weight"] for n, i in enumerate(rows) if at and at[0] - 10 <= n <= at[-1] + 8)
assert near > 0.8 * d["weight"], (at, near, rows)
labels = [i["label"] for r in code["ranges"] for i in r["instructions"] if "label" in i]
assert any("work::hot" in l for l in labels), labels
# The caller has the samples below its calls, and none of its own there.
calls = [l for l in caller["lines"] if l["text"] and "/* CALL */" in l["text"]]
assert len(calls) == 2 and sum(l["weight"] for l in calls) >= 0.95 * d["weight"], caller["lines"]
assert all(l["self_weight"] <= 0.1 * l["weight"] for l in calls), calls
PY
    grep -q ' HOT \*/$' "$1.text" && grep -q '^ .* inlined: Cell::divide(unsigned long) annotate.cpp:' "$1.text" ||
        fail "$1: $(cat "$1.text")"
    grep -q '^Instructions of /.*/'"$2"', 0x[0-9a-f]* to 0x[0-9a-f]*: [0-9]* samples$' "$1.text" || fail "$1: $(cat "$1.text")"
}

# A position-independent program by one compiler, a program with a shared library by the other one, if there are two.
flags="-O2 -g -fno-optimize-sibling-calls"
compilers=$(command -v g++ clang++) || [ "$compilers" ] || skip "there is no C++ compiler"
first=$(head -n 1 <<<"$compilers") last=$(tail -n 1 <<<"$compilers")
# shellcheck disable=SC2086
"$first" $flags -fPIE -pie annotate.cpp -o subject
take pie
judge pie subject
# shellcheck disable=SC2086
"$last" $flags -fPIC -shared -DLIBRARY annotate.cpp -o libwork.so
# shellcheck disable=SC2086
"$last" $flags -no-pie -DPROGRAM annotate.cpp -o subject -L. -lwork -Wl,-rpath,"$PWD"
take shared
judge shared libwork.so

# misses STATUS MESSAGE ARGUMENT...: the status, and the message on standard error; programs are found in $path
misses()
{
    local status=$1 message=$2 got=0
    shift 2
    PATH=${path:-$PATH} "$upmu" report "$@" >out 2>err || got=$?
    [ "$got" = "$status" ] && grep -q -- "$message" err || fail "$*: $got, $(cat err out)"
}

# Without objdump, and with one that fails, prints nothing, or does not end: the source is there.
mkdir none fake
path=$PWD/none misses 1 'objdump is not installed (Debian: binutils)' --annotate hot --disassembly shared
grep -q ' HOT \*/$' out || fail "the source is missing: $(cat out)"
printf '#!/bin/sh\necho "objdump: no such machine" >&2\nexit 1\n' >fake/objdump
chmod +x fake/objdump
path=$PWD/fake:$PATH misses 1 'printed no instructions of /.*: no such machine$' --annotate hot --disassembly shared
printf '#!/bin/sh\nexec yes "  1234:	nop"\n' >fake/objdump
path=$PWD/fake:$PATH misses 1 'objdump printed more than 64 MiB' --annotate hot --disassembly shared

# The source: changed, cut, no file, gone.
sleep 1.1
touch annotate.cpp
misses 0 'annotate.cpp is newer than .*libwork.so: its lines may have moved' --annotate hot shared
head -n 20 "$here/annotate.cpp" >annotate.cpp
misses 1 'has 20 lines, but the debug information names line .*: the file was changed' --annotate hot shared
rm annotate.cpp
mkfifo annotate.cpp
misses 1 'annotate.cpp: not a regular file: lines are shown without their text' --annotate hot shared
rm annotate.cpp
misses 1 'cannot read .*annotate.cpp: No such file or directory: lines are shown without' --annotate hot shared
grep -q ' 100.0 %\|[0-9] %  *[0-9][0-9]*$' out || fail "no line numbers: $(cat out)"
cp "$here/annotate.cpp" .

# Control characters of the source do not reach the terminal.
sed 's/\/\* HOT \*\//\/* HOT \x1b[2J *\//' "$here/annotate.cpp" >annotate.cpp
misses 0 '' --annotate hot shared
! grep -q "$(printf '\033')" out && grep -q 'HOT \\x1b\[2J' out || fail "escapes: $(cat out)"

# What cannot be asked for.
misses 1 'no sample is in a function "absent"' --annotate absent shared
misses 2 '--disassembly requires --annotate' --disassembly shared
misses 2 '--annotate requires --samples' --annotate hot --functions shared
misses 2 'cannot be combined with --top' --annotate hot --top 3 shared

# Without debug information: instructions without a line, each with its share.
strip --strip-debug libwork.so
take_out=$("$upmu" report --annotate hot --disassembly shared 2>err) || fail "$(cat err)"
grep -q '^Instructions without a source line$' <<<"$take_out" || fail "$take_out"

# Another build is not disassembled, and has no lines.
"$last" -O1 -g -fPIC -shared -DLIBRARY "$here/annotate.cpp" -o libwork.so
name=$("$upmu" report --samples --json shared | python3 -c 'import json, os, sys
f = json.load(sys.stdin)["functions"][0]
print(f["name"] or "%s+0x%x" % (os.path.basename(f["module"]), f["offset"]))')
misses 1 'libwork.so is not the file that was recorded' --annotate "$name" --disassembly shared
! grep -q 'div' out || fail "instructions of another build: $(cat out)"
