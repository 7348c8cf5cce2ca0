#!/usr/bin/env bash
# The file of a thread's calls is sparse, and the kernel does not read it ahead: that takes milliseconds of the thread's first call.
#     sparse.sh SOURCES UPMU
set -euo pipefail
sources=$1 upmu=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
"$cc" -O1 -finstrument-functions "$sources/sparse.c" -o sparse -pthread
"$upmu" record --functions -o recording -- ./sparse >out 2>err || fail "status $?, $(cat out err)"
read -r resident _ pages <out || fail "no file of calls is mapped: $(cat err)"
[ "$pages" -ge 1024 ] || fail "the file has $pages pages only"
[ "$resident" -le 40 ] || fail "$resident of $pages pages are in memory"
echo "$resident of $pages pages are in memory"
