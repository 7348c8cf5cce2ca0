#!/usr/bin/env bash
# late_module.sh BIN LIB: stacks cost a thread as before once it has called a module that was loaded late.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

[ "$(uname -m)" = x86_64 ] || { echo "skipped, because stacks are remembered on x86-64 alone"; exit 77; }
record "$scratch/trace" all "$bin/sync_late_module" "$bin/libsync_late_module_plugin.so" >"$scratch/out" || fail "$(cat "$scratch/out")"
events "$scratch/trace" "$scratch/events"
read -r before after <"$scratch/out"
echo "a recorded signal took $before ns, and $after ns after a module was loaded and called"
# By libgcc, 12 frames take ten times as long or more.
[ "$after" -lt $((before * 4)) ] || fail "a stack costs $after ns instead of $before"
