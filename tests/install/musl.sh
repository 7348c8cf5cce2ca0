#!/usr/bin/env bash
# musl.sh SOURCE: with another C library than glibc the build is refused at configuration, with the reason.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

source=$1
# As musl has it: <features.h> does not define __GLIBC__.
mkdir "$scratch/include"
echo '#define _Noreturn_of_another_libc 1' >"$scratch/include/features.h"
if CFLAGS="-I$scratch/include" cmake -S "$source" -B "$scratch/build" -G Ninja >"$scratch/log" 2>&1; then
    fail "a C library that is not glibc is accepted"
fi
tr -s ' \n' ' ' <"$scratch/log" >"$scratch/line"
for text in "libupmu needs the GNU C library" "musl" "Build on or for a glibc system"; do
    grep -qF "$text" "$scratch/line" || fail "no '$text' in: $(cat "$scratch/log")"
done
echo "refused, with the reason"
