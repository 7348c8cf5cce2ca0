#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions built with -fpatchable-function-entry=5 by gcc and clang: patched in and out while they are called, recorded as others are,
# with exceptions, ends of threads, stack traces and coroutines as without recording.
#     patchable.sh SOURCES LIBRARIES UPMU INCLUDES...     UPMU: the command, or none
set -euo pipefail
sources=$1 libs=$2 upmu=$3
shift 3
includes=("${@/#/-I}")
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
flags=(-g -O1 -fno-inline -fno-optimize-sibling-calls -fpatchable-function-entry=5)

# run NAME PROGRAM [ARG...]: preloaded
run()
{
    local name=$1
    shift
    UPMU_FUNC_CSV=$name LD_PRELOAD=$libs/libupmu_func.so.0 "$@" >"$name.out" 2>"$name.err" || fail "$cc $name: status $? $(cat "$name.err")"
    [ ! -s "$name.err" ] || fail "$cc $name: $(cat "$name.err")"
    judge "$cc $name:" "$name" "$name.out"
}

tried=0
while read -r cc cxx; do
    "$cc" "${flags[@]}" "$sources/subject.c" -o subject -pthread -ldl
    if [ "$(uname -m)" != x86_64 ]; then
        UPMU_FUNC_CSV=refused LD_PRELOAD=$libs/libupmu_func.so.0 ./subject jump >/dev/null 2>err
        grep -q 'or -fpatchable-function-entry are recorded on x86-64 only' err || fail "$(cat err)"
        exit 0
    fi
    # Code that depends on its address, and code that does not, is at different distances from free memory; indirect branches are
    # tracked in programs of some distributions.
    [ $tried = 0 ] && variants=("-Os" "-fno-pie -no-pie" "-fcf-protection" "-fPIE -pie") || variants=("-fno-pie -no-pie" "-fPIE -pie")
    for variant in "${variants[@]}"; do
        # shellcheck disable=SC2086
        "$cc" "${flags[@]}" $variant "$sources/subject.c" -o subject -pthread -ldl
        run recursion ./subject recursion
    done
    tried=1
    for mode in jump jump_same jump_beside other_stack threads ends; do
        run "$mode" ./subject "$mode"
    done
    run forks ./subject forks
    child=$(sed -n 's/^child //p' forks.out)
    sed -n 's/^in-child //p' forks.out >child.out
    judge "$cc forks, child:" "forks.$child" child.out
    strip subject -o stripped
    UPMU_FUNC_CSV=stripped LD_PRELOAD=$libs/libupmu_func.so.0 ./stripped recursion >/dev/null 2>err || fail "$cc stripped: status $?"
    if [ "$(tail -n +2 stripped.functions.csv | wc -l)" -le 4 ] || [ -s err ]; then
        fail "$cc stripped: $(cat err stripped.functions.csv)"
    fi

    "$cxx" "${flags[@]}" "$sources/throws.cpp" -o throws
    run throws ./throws
    "$cxx" "${flags[@]}" -rdynamic "$sources/returns.cpp" -o returns -pthread
    for mode in cancel rethrow trace moved "forced 300"; do
        # shellcheck disable=SC2086
        ./returns $mode >/dev/null || fail "$cc $mode without recording: $?"
        # shellcheck disable=SC2086
        run returns ./returns $mode
    done
    for which in first second; do
        "$cc" "${flags[@]}" -fPIC -shared "-DFUNCTION=${which}_plugin" "$sources/plugin.c" -o "$which.so"
    done
    run plugins ./subject plugins ./first.so ./second.so

    one_name=
    [ "$cc" != gcc ] || one_name="-fno-ipa-cp -fno-ipa-sra" # no copies for constants, which have names of their own
    # Plug-ins with patchable entries in a program whose sleds of XRay are patched already.
    if [ "$cc" = clang ]; then
        "$cc" -g -O1 -fno-inline -fno-optimize-sibling-calls -fxray-instrument -fxray-instruction-threshold=1 -c "$sources/subject.c" -o xray.o
        "$cc" xray.o -o xray -pthread -ldl
        run mixed ./xray plugins ./first.so ./second.so
    fi

    # The program patches itself. With optimization there are tail calls: both functions return at once.
    # shellcheck disable=SC2086
    "$cc" -g -O2 $one_name -Wall -Wextra -Werror "${includes[@]}" -DPATCHABLE -fpatchable-function-entry=5 "$sources/sleds.c" -o sleds -pthread -ldl \
        -L"$libs" -lupmu_func -lupmu -Wl,-rpath,"$libs" -Wl,-rpath-link,"$libs"
    for mode in bytes switched child; do
        UPMU_FUNC_CSV=$mode ./sleds "$mode" >"$mode.out" 2>err || fail "$cc $mode: $? $(cat err)"
        judge "$cc $mode:" "$mode" "$mode.out"
    done
    UPMU_FUNC_CSV=threads ./sleds threads 30 2>err || fail "$cc threads: $? $(cat err)"

    # Call stacks of locks have the callers, by another unwinder.
    if [ "$upmu" != none ]; then
        "$cc" "${flags[@]}" "$sources/stacks.c" -o stacks -pthread
        rm -rf stacks.recording
        "$upmu" record --functions --mode all --all-stacks -o stacks.recording -- ./stacks 2>err || fail "$cc stacks: $(cat err)"
        "$upmu" report --json stacks.recording >stacks.json
        python3 - <<'PY' || fail "$cc stacks: $(cat stacks.json)"
import json
names, d = set(), json.load(open("stacks.json"))
def walk(o):
    if isinstance(o, dict):
        for k, v in o.items():
            if k.endswith("stack") and isinstance(v, list) and v:
                frames = [f["functions"][0] for f in v]
                names.add(" ".join(f["function"] or "?" for f in frames if not f["wrapper"]))
            walk(v)
    elif isinstance(o, list):
        for x in o:
            walk(x)
walk(d)
stacks = [n for n in names if n.startswith("inner ")]
assert stacks and all(n.startswith(("inner middle first loop", "inner middle second loop")) for n in stacks), names
PY
    fi

    # A program with the unwinder of gcc in itself is refused, and runs.
    if "$cxx" "${flags[@]}" -static-libgcc "$sources/throws.cpp" -o static 2>/dev/null && grep -qi ' t _Unwind_RaiseException$' < <(nm static); then
        UPMU_FUNC_CSV=static LD_PRELOAD=$libs/libupmu_func.so.0 ./static >/dev/null 2>err || fail "$cc static: status $?"
        grep -q 'has libgcc in itself' err || fail "$cc static: $(cat err)"
    fi

    # Too short an entry, and one whose bytes are before the function, are reported as not recorded.
    for bytes in 2 7,5; do
        "$cc" "${flags[@]}" "-fpatchable-function-entry=$bytes" "$sources/subject.c" -o short -pthread -ldl
        UPMU_FUNC_CSV=short LD_PRELOAD=$libs/libupmu_func.so.0 ./short jump >/dev/null 2>err || fail "$cc $bytes: status $?"
        grep -q 'functions with a patchable entry are not recorded: it has less than five bytes' err || fail "$cc $bytes: $(cat err)"
    done

    # Off: nothing but the nops is executed.
    "$cc" -O2 "${includes[@]}" -DPATCHABLE -fpatchable-function-entry=5 -c "$sources/sleds.c" -o off.o
    objdump -d --no-show-raw-insn off.o | awk '/<leaf>:/ { on = 1; next } /^$/ { on = 0 } on { print $2 }' >off.text
    grep -q '^nop' < <(head -1 off.text) || fail "$cc: $(head -1 off.text) at the entry"
    ! grep -qE '^(call|jmp)' off.text || fail "$cc: $(cat off.text)"
done < <(compilers)
[ $tried = 1 ] || { echo "skipped, because neither gcc nor clang is installed"; exit 77; }
