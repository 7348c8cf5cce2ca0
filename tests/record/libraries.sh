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
expect 1 env LD_LIBRARY_PATH="$work/lib" "$UPMU" record -c 1 -e uprobe:/bin/true:main -o two -- true
grep -q '^upmu: libdw cannot be opened: ' err || fail "sampler: $(cat err)"
finish
