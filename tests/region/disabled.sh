#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# disabled.sh OBJECT LIBRARY: a file compiled with UPMU_DISABLE needs nothing of libupmu; and libupmu needs little of a
# program's thread-local storage, so that dlopen() finds room for it.
set -euo pipefail

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

nm "$1" | grep -q disabled_work || fail "$1 is not the file compiled"
! nm -u "$1" | grep -i upmu || fail "libupmu is still needed"
# A sanitizer has thread-local variables of its own.
[ -z "${SANITIZED:-}" ] || { echo "skipped, because a sanitizer changes the library's thread-local storage"; exit 77; }
tls=$(readelf -lW "$2" | awk '$1 == "TLS" { print $6 }')
[ -n "$tls" ] || fail "no thread-local storage found in $2"
[ $((tls)) -le 64 ] || fail "$((tls)) bytes of thread-local storage"
