#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# disabled.sh PROGRAM LIBRARY HEADER SOURCE: a program built with UPMU_DISABLE uses every function of region.h, runs, and
# needs no libupmu; and libupmu needs little thread-local storage, so that dlopen() works.
set -euo pipefail

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

for name in $(grep -oP 'UPMU_API[^;]*?\Kupmu_\w+(?=\()' "$3" | grep -v '_$' | sort -u); do
    grep -q "\b$name(" "$4" || fail "$(basename "$4") does not call $name of region.h"
done
"$1" || fail "the program ended with status $?"
! nm "$1" | grep -E ' [UT] upmu_' || fail "libupmu is still needed"
# A sanitizer has thread-local variables of its own.
[ -z "${SANITIZED:-}" ] || { echo "skipped, because a sanitizer changes the library's thread-local storage"; exit 77; }
tls=$(readelf -lW "$2" | awk '$1 == "TLS" { print $6 }')
[ -n "$tls" ] || fail "no thread-local storage found in $2"
[ $((tls)) -le 64 ] || fail "$((tls)) bytes of thread-local storage"
