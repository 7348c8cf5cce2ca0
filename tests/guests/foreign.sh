#!/usr/bin/env bash
# libupmu built for another instruction set, warnings being errors, and its tests run there by an emulator of programs:
# all that needs no performance counters, which such an emulator does not have.
#
#     foreign.sh FOLDER ISA [EXCEPT]     ISA: aarch64, riscv64, mips64el, loong64, alpha
#
# EXCEPT is a pattern of tests to leave out.
set -euo pipefail
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guests/cross.sh
. "$here/cross.sh"

isa=$2

# The tests of lib/kernel open events, which an emulator of programs cannot; arm64.sh runs them. There is no libpfm4
# of a foreign instruction set here. An emulator's tick is the wall clock, which is steered and moves in steps: foreign.tick
# takes the place of the clock's own tests.
except='^unit\.(kernel\.(perf|spawn)|arch\.libpfm4|base\.clock)$'
[ -z "${3-}" ] || except="$except|$3"
# Threads, signals, thread-local storage of a library that is loaded late, the tick, and sync tracing.
regions=(dlopen cancel errno handler misuse pause readback signals)
chosen="^(unit\\.|foreign\\.|sync\\.|region\\.($(IFS='|'; echo "${regions[*]}"))$)"

work_begin
cross_build "$isa" tests/unit/{base,arch,kernel,core,region,trace}/all tests/sync/all tests/guests/programs/all \
    "${regions[@]/#/region_}" region_plugin upmu_shared upmu_static upmu_sync_shared upmu_func_shared
work_end

need "${emulator%%;*}" qemu-user
log=$guests/logs/$isa-tests.log
ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure -R "$chosen" -E "$except" >"$log" 2>&1 ||
    { cat "$log" >&2; fail "tests of libupmu fail on $isa"; }
! grep -q '(Skipped)' "$log" || { cat "$log" >&2; fail "tests were skipped on $isa that can run there"; }
grep 'tests passed' "$log"

# Calls of functions without hooks: programs are built by the cross compiler, which is clang for loong64.
IFS=';' read -ra words <<<"$emulator"
compiler=$(sed -n 's/^set(CMAKE_C_COMPILER \(.*\))$/\1/p' "$root/cmake/toolchains/$isa.cmake")
if [ "$isa" = loong64 ]; then
    printf '#!/bin/sh\nexec %s --target=loongarch64-linux-gnu --sysroot=%s -fuse-ld=lld-19 "$@"\n' "$compiler" "$guests/sysroots/loong64" >"$build/clang"
    chmod +x "$build/clang"
    compiler=$build/clang
fi
bash "$root/tests/func/wrap.sh" "$root/tests/func" "$build/lib" none "$compiler" "${words[@]}" || fail "calls of functions without hooks on $isa"
