#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# as_nobody.sh LIBRARY PROGRAM ARG...: run a program that is linked with the library as a user without any right. The
# build folder may be closed to that user: program and library are copied to where they can be read.
set -euo pipefail

skip()
{
    echo "skipped, because $*"
    exit 77
}

library=$1
program=$2
shift 2
[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
command -v setpriv >/dev/null || skip "setpriv (util-linux) is not installed"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cp "$program" "$place/program"
cp "$library" "$place/libupmu.so.0"
chmod -R a+rX "$place"
cd "$place"
status=0
LD_LIBRARY_PATH=$place setpriv --reuid=65534 --regid=65534 --clear-groups "$place/program" "$@" || status=$?
exit "$status"
