#!/usr/bin/env bash
# scripts/check-includes.sh accepts a tree whose arrows are right and names file and line of each wrong one.
set -euo pipefail

check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# put FILE LINE...: a file of the tree
put()
{
    local file=$tree/$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$@" >"$file"
}

# refuses FILE:LINE WORDS: the check fails and names the place; afterwards the file is gone again
refuses()
{
    local out place=$1 words=$2
    if out=$(bash "$check" "$tree" 2>&1); then
        fail "accepted: $place ($words)"
    fi
    grep -qF "$place: " <<<"$out" || fail "no line for $place in: $out"
    grep -qF "$words" <<<"$out" || fail "'$words' is not in: $out"
    [ "$(wc -l <<<"$out")" -eq 1 ] || fail "more than one complaint about $place: $out"
    rm "$tree/${place%%:*}"
}

mkdir "$tree/lib"
cp "$(dirname "$check")/../lib/modules.txt" "$tree/lib/"
put include/upmu/upmu.h '#include <stdint.h>' '#include "upmu/api.h"'
put lib/base/error.c '#include "base/error.h"' '#include "upmu/upmu.h"'
put lib/core/set/set.c '#include "core/kernel_ops.h"' '#include "base/error.h"'
put lib/region/region_sched.c '#include "trace/write/writer.h"' '#include "core/set/set.h"'
put lib/deadlock/graph/blocked.c '#include "base/map.h"'
put lib/deadlock/inspect/inspect_stack.c '#include "analysis/public.h"' '#include <sys/syscall.h>'
put lib/arch/x86/intel.c '#include "core/arch_ops.h"' '#include "arch/x86/native.h"' '#include "arch/row.h"'
put lib/kernel/perf.c '#include <linux/perf_event.h>' '#include "core/kernel_ops.h"'
put tools/upmu/ui/command.h '#include "upmu/trace.h"'
put tools/upmu/main.c '#include "ui/command.h"' '#include "upmu/trace.h"' '#include "base/text/json.h"'
put tests/unit/x.c '#include "core/set/set.h"' '#include "kernel/parts.h"'
bash "$check" "$tree" || fail "a healthy tree was refused"

put lib/core/bad.c 'int x;' '#include "kernel/parts.h"'
refuses lib/core/bad.c:2 'module core must not include "kernel/parts.h"'
put lib/core/bad.c '#include "arch/x86/native.h"'
refuses lib/core/bad.c:1 'module core must not include "arch/x86/native.h"'
put lib/core/bad.c '#  include <linux/perf_event.h>'
refuses lib/core/bad.c:1 'module core must not include <linux/perf_event.h>'
put lib/core/bad.c '#include <sys/syscall.h>'
refuses lib/core/bad.c:1 'module core must not include <sys/syscall.h>'
put lib/core/set_more.c '#include "trace/write/writer.h"'
refuses lib/core/set_more.c:1 'module core must not include "trace/write/writer.h"'
put lib/arch/arm/bad.c '#include "core/arch_ops.h"' '' '#include "arch/x86/native.h"'
refuses lib/arch/arm/bad.c:3 'of another vendor'
put lib/arch/x86/bad.c '#include "core/kernel_ops.h"'
refuses lib/arch/x86/bad.c:1 'module arch must not include "core/kernel_ops.h"'
put lib/arch/x86/bad.c '#include <linux/perf_event.h>'
refuses lib/arch/x86/bad.c:1 'module arch must not include <linux/perf_event.h>'
put lib/base/bad.h '#include "core/set/set.h"'
refuses lib/base/bad.h:1 'module base must not include "core/set/set.h"'
put lib/kernel/bad.c '#include "core/names/registry.h"'
refuses lib/kernel/bad.c:1 'module kernel must not include "core/names/registry.h"'
put lib/trace/read/bad.c '#include "trace/write/writer.h"'
refuses lib/trace/read/bad.c:1 'module trace/read must not include "trace/write/writer.h"'
put lib/deadlock/graph/bad.c '#include "analysis/public.h"'
refuses lib/deadlock/graph/bad.c:1 'module deadlock/graph must not include "analysis/public.h"'
put lib/deadlock/bad.c '#include <sys/syscall.h>'
refuses lib/deadlock/bad.c:1 'module deadlock must not include <sys/syscall.h>'
put lib/sync_trace/bad.c '#include "region/region.h"'
refuses lib/sync_trace/bad.c:1 'module sync_trace must not include "region/region.h"'
put tools/upmu/bad.c '#include "base/map.h"'
refuses tools/upmu/bad.c:1 'module tools must not include "base/map.h"'
put examples/bad.c '#include "base/text/json.h"'
refuses examples/bad.c:1 'module outside must not include "base/text/json.h"'
put include/upmu/bad.h '#include "base/error.h"'
refuses include/upmu/bad.h:1 'module include must not include "base/error.h"'
put include/upmu/bad.h '#include <linux/perf_event.h>'
refuses include/upmu/bad.h:1 'module include must not include <linux/perf_event.h>'
put lib/newmodule/file.c 'int x;'
refuses lib/newmodule/file.c:1 'no row in lib/modules.txt'

seq 801 | sed 's,.*,/* & */,' >"$tree/lib/core/long.c"
refuses lib/core/long.c:801 'more than 800 lines'
seq 801 | sed 's,.*,/* & */,' >"$tree/lib/arch/x86/intel_native.c"
refuses lib/arch/x86/intel_native.c:801 'more than 800 lines'

put lib/base/README.md '# lib/base'
for number in $(seq 31); do put "lib/base/file$number.c" 'int x;'; done
if out=$(bash "$check" "$tree" 2>&1); then fail "a folder of 32 files was accepted"; fi
grep -qF 'lib/base:1: 32 source files, more than 30' <<<"$out" || fail "no line for lib/base in: $out"
rm "$tree"/lib/base/file*.c

for number in $(seq 4); do put "lib/core/plan/file$number.c" 'int x;'; done
if out=$(bash "$check" "$tree" 2>&1); then fail "a folder of 4 files without a README.md was accepted"; fi
[ "$out" = 'lib/core/plan:1: 4 source files and no README.md: what is the folder for, and what may not be in it?' ] || fail "$out"
put lib/core/plan/README.md '# lib/core/plan'
bash "$check" "$tree" || fail "a folder of 4 files with a README.md was refused"

empty=$tree/empty
mkdir "$empty"
status=0
bash "$check" "$empty" 2>/dev/null || status=$?
[ $status -eq 2 ] || fail "an empty tree gave status $status, not 2"
echo "check-includes refuses every wrong arrow"
