#!/usr/bin/env bash
# nobody.sh LIB PROGRAM ARG...: a program linked with the library, run as a user without any right: what the kernel tells a
# thread of itself needs none.
set -euo pipefail

skip()
{
    echo "skipped, because $*"
    exit 77
}

lib=$1 program=$2
shift 2
[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
command -v setpriv >/dev/null || skip "setpriv (util-linux) is not installed"

# The build folder may be closed to that user.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cp "$program" "$place/program"
cp -L "$lib"/libupmu*.so.0 "$place"
chmod -R a+rX "$place"
cd "$place"
status=0
LD_LIBRARY_PATH=$place setpriv --reuid=65534 --regid=65534 --clear-groups "$place/program" "$@" || status=$?
exit "$status"
