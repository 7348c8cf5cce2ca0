#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A dump of the ABI does not change when a function moves to another source file.
#     units.sh SOURCE CC
set -euo pipefail
source=$1 cc=$2
skip()
{
    echo "skipped, because $*"
    exit 77
}
command -v abidw >/dev/null || skip "abidw is not installed (Debian: abigail-tools)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo 'struct pair { int first; long second; };' >pair.h
one='int one(const struct pair *p) { return p->first; }' two='long two(struct pair p) { return p.second; }' three='char three(const char *p) { return *p; }'
# dump NAME FIRST SECOND: of a library of two source files
dump()
{
    printf '#include "pair.h"\n%s\n' "$2" >first.c
    printf '#include "pair.h"\n%s\n' "$3" >second.c
    "$cc" -g -shared -fPIC -o lib.so first.c second.c
    abidw --no-show-locs --no-corpus-path --no-comp-dir-path --type-id-style hash --out-file "$1" lib.so
    python3 "$source/scripts/abi_units.py" "$1"
}
dump before.abi "$one $two" "$three"
dump after.abi "$one" "$three $two"
cmp before.abi after.abi
abidiff before.abi lib.so
dump other.abi "$one" "$three"
if abidiff before.abi other.abi >changes; then
    echo "FAILED: a function that is missing is no difference"
    exit 1
fi
grep -q "'function long int two" changes || { cat changes; exit 1; }
