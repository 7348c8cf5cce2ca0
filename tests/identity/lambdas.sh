# SPDX-License-Identifier: MIT
# Threads of the C++ library are called by the lambda or the class they run, inlined or not, with and without debug information.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

names() {
    expect 0 "$UPMU" record --stack-depth 40 -o "$work/rec" -- "$1"
    expect 0 "$UPMU" report --json "$work/rec"
    python3 - "$work/out" "$2" <<'PYTHON' || fail "$1"
import json, re, sys
report, wanted = json.load(open(sys.argv[1])), sys.argv[2].split("|")
names = sorted(t["name"] for t in report["threads"])
assert len(names) == len(set(names)), names # also of two lambdas in one line, whose columns are the compiler's
assert sorted(re.sub(r"(\{lambda:\d+):\d+}", r"\1:N}", name) for name in names) == sorted(wanted), names
numbered = [o["name"] for o in report["objects"] if "first use" in (o["name"] or "")]
assert not [n for n in numbered if n.endswith(" #2")], numbered
PYTHON
    rm -rf "$work/rec"
}
lambda_line=$(grep -n "std::thread lambda" "$SOURCE" | cut -d: -f1)
same_line=$(grep -n "in one line" "$SOURCE" | cut -d: -f1)
task_line=$(grep -n "std::async" "$SOURCE" | cut -d: -f1)
symbols="main|main::{lambda()#1}|main::{lambda()#2}|main::{lambda()#3}|main::{lambda()#4}|(anonymous namespace)::Server"
lines="main|main::{lambda:$lambda_line}|main::{lambda:$task_line}|main::{lambda:$same_line:N}|main::{lambda:$same_line:N}|(anonymous namespace)::Server"
if grep -qF "main::\$_0" < <(nm -C "$BIN/identity_lambdas_O0"); then # Clang numbers lambdas, with debug information, too
    symbols="main|main::\$_0|main::\$_1|main::\$_2|main::\$_3|(anonymous namespace)::Server"
    lines=$symbols
fi
names "$BIN/identity_lambdas_O0" "$symbols" # functions that are not inlined have symbols
names "$BIN/identity_lambdas_O2" "$lines"
for level in O0 O2; do
    objcopy --strip-debug "$BIN/identity_lambdas_$level" "$work/lambdas"
    names "$work/lambdas" "$symbols"
done

# In a stack, and as the place of a lock.
expect 0 "$UPMU" record -o "$work/rec" -- "$BIN/identity_lambdas_O2"
expect 0 "$UPMU" report "$work/rec"
[ "$lines" = "$symbols" ] || has out "main::{lambda:$lambda_line}::operator() lambdas.cpp:$((lambda_line + 1)) (inlined)"
finish
