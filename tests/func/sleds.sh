#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions built with clang's -fxray-instrument: patched in and out while they are called, and recorded as others are.
#     sleds.sh SOURCES LIBRARIES INCLUDES...
set -euo pipefail
sources=$1 libs=$2
shift 2
includes=("${@/#/-I}")
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
skip()
{
    echo "skipped, because $*"
    exit 77
}
command -v clang clang++ >/dev/null || skip "clang is not installed"
flags=(-g -O1 -fno-inline -fno-optimize-sibling-calls -fxray-instrument -fxray-instruction-threshold=1)
echo 'int main(void) { return 0; }' >probe.c
clang "${flags[@]}" -c probe.c 2>err || skip "clang has no XRay here: $(cat err)"

# run NAME PROGRAM [ARG...]: preloaded
run()
{
    local name=$1
    shift
    UPMU_FUNC_CSV=$name LD_PRELOAD=$libs/libupmu_func.so.0 "$@" >"$name.out" 2>"$name.err" || fail "$name: status $?"
    [ ! -s "$name.err" ] || fail "$name: $(cat "$name.err")"
    judge "$name:" "$name" "$name.out"
}

clang "${flags[@]}" -c "$sources/subject.c" -o subject.o
clang subject.o -o subject -pthread -ldl
if [ "$(uname -m)" != x86_64 ]; then
    UPMU_FUNC_CSV=refused LD_PRELOAD=$libs/libupmu_func.so.0 ./subject jump >/dev/null 2>err
    grep -q 'functions built with -fxray-instrument are recorded on x86-64 only' err || fail "$(cat err)"
    exit 0
fi

# Linked without clang's own runtime, and with it if it is installed.
for mode in recursion jump jump_same jump_beside storm other_stack threads many_threads ends; do
    run "$mode" ./subject "$mode"
done
if clang -fxray-instrument subject.o -o with_runtime -pthread -ldl 2>/dev/null; then
    run runtime ./with_runtime recursion
    XRAY_OPTIONS='patch_premain=true xray_mode=xray-basic verbosity=0' UPMU_FUNC_CSV=foreign \
        LD_PRELOAD=$libs/libupmu_func.so.0 ./with_runtime jump >/dev/null 2>err
    grep -q 'that another runtime of XRay has patched are not recorded' err || fail "$(cat err)"
fi
run forks ./subject forks
child=$(sed -n 's/^child //p' forks.out)
sed -n 's/^in-child //p' forks.out >child.out
judge "forks, child:" "forks.$child" child.out
clang++ "${flags[@]}" -c "$sources/throws.cpp" -o throws.o
clang++ throws.o -o throws
run throws ./throws
for which in first second; do
    clang "${flags[@]}" -fPIC "-DFUNCTION=${which}_plugin" -c "$sources/plugin.c" -o plugin.o
    clang -shared plugin.o -o "$which.so"
done
run plugins ./subject plugins ./first.so ./second.so
clang -g -O2 "$sources/subject.c" -o host -pthread -ldl
run host ./host plugins ./first.so ./second.so
! grep -q main host.functions.csv || fail "the host is not instrumented"

# Opened by a name, which the program's own path is searched for: its calls are missing up to the next dlopen(), or the end.
mkdir named
echo 'int named(int a) { return a + 1; }' >named.c
clang "${flags[@]}" -fPIC -c named.c -o named.o
clang -shared named.o -o named/libnamed.so
cat >opens.c <<'SOURCE'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *handle = dlopen("libnamed.so", RTLD_NOW);
    int (*f)(int) = handle ? (int (*)(int))dlsym(handle, "named") : 0;
    int rc = !f || f(1) != 2 || (argc > 1 && !dlopen(argv[1], RTLD_NOW)) || f(1) != 2;
    return rc;
}
SOURCE
clang -g opens.c -o opens -ldl "-Wl,-rpath,$PWD/named,--enable-new-dtags"
for other in '' libm.so.6; do
    UPMU_FUNC_CSV=named LD_PRELOAD=$libs/libupmu_func.so.0 ./opens ${other:+"$other"} 2>err || fail "libnamed.so is not found"
    grep -q '1 modules were patched late, .*/libnamed.so for one' err || fail "nothing is missing: $(cat err)"
done
grep -q '^named,.*,1,' named.functions.csv || fail "$(cat named.functions.csv)"

# The program patches itself.
clang -g -O2 -Wall -Wextra -Werror "${includes[@]}" -fxray-instrument -fxray-instruction-threshold=1 -c "$sources/sleds.c" -o sleds.o
clang sleds.o -o sleds -pthread -ldl -L"$libs" -lupmu_func -lupmu -Wl,-rpath,"$libs" -Wl,-rpath-link,"$libs"
for mode in bytes switched child; do
    UPMU_FUNC_CSV=$mode ./sleds "$mode" >"$mode.out" 2>err || fail "$mode: $? $(cat err)"
    judge "$mode:" "$mode" "$mode.out"
done
UPMU_FUNC_CSV=threads ./sleds threads 100 2>err || fail "threads: $? $(cat err)"
status=0
UPMU_FUNC_CSV=filtered ./sleds filtered ./first.so >filtered.out 2>err || status=$?
if [ "$status" != 77 ]; then
    [ "$status" = 0 ] && grep -q 'not patched any more: the program has restricted its system calls' err || fail "filtered: $status $(cat err)"
    judge filtered filtered filtered.out
fi
status=0
UPMU_TRACE=refused ./sleds refused 2>err || status=$?
if [ "$status" != 77 ]; then # a kernel before 6.3
    [ "$status" = 0 ] && grep -q 'not patched: memory cannot be made executable: ' err || fail "refused: $status $(cat err)"
fi

# Off: nothing but the jump at the entry, and a nop that aligns the exit, is executed; the library and its variables are not there.
clang -O2 "${includes[@]}" -fxray-instrument -fxray-instruction-threshold=1 -c "$sources/sleds.c" -o off.o
objdump -d --no-show-raw-insn off.o >off.text 2>/dev/null || exit 0
python3 - <<'PY'
import re
text = open("off.text").read()
body = re.search(r"<leaf>:\n(.*?)\n\n", text, re.S)[1].split("\n")
rows = [(int(r.split(":")[0], 16), r.split("\t")[1]) for r in body]
at, executed = rows[0][0], []
while True:
    instruction = dict(rows)[at]
    executed.append(instruction)
    if instruction.startswith("ret"):
        break
    jump = re.match(r"jmp +([0-9a-f]+)", instruction)
    at = int(jump[1], 16) if jump else min(a for a, _ in rows if a > at)
assert executed[0].startswith("jmp") and not any(re.match("jmp|call", i) for i in executed[1:]), executed
assert sum("nop" in i for i in executed) <= 1, executed
PY
