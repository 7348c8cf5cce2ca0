#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# relocations.sh LIBRARY: libupmu.so has few relative relocations. Each process that loads it computes them when it starts, and
# has its own copy of each page with one. 2,933 are in tables written by hand; a pointer in each of the 3,261 rows of
# events that are generated would be over the bound.
set -euo pipefail
library=$1 bound=3500

command -v readelf >/dev/null || { echo "skipped, because readelf is not installed"; exit 77; }
relocations=$(readelf -rW "$library")
count=$(grep -c '_RELATIVE ' <<<"$relocations") ||
    { echo "skipped, because $library has its relative relocations in another form"; exit 77; }
[ "$count" -le $bound ] || { echo "FAILED: $library has $count relative relocations, $bound are allowed" >&2; exit 1; }
echo "$count relative relocations, at most $bound"
