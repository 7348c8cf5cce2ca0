#!/usr/bin/env bash
# environment.sh BIN LIB UPMU: an invalid environment is reported at the start and does not change the program; upmu record
# fails.
set -euo pipefail
bin=$1 lib=$2 upmu=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=$bin/sync_kinds_plain
cd "$scratch"

# refused TEXT VAR=VALUE...: the program runs as without libupmu, and one line has the reason why nothing is recorded
refused()
{
    local text=$1
    shift
    env "$@" "$program" >out 2>err || fail "$*: the program ended with status $?: $(cat err)"
    grep -qx 'kinds: all done' out || fail "$*: it printed $(cat out)"
    [ "$(wc -l <err)" -eq 1 ] || fail "$*: not one line: $(cat err)"
    grep -q "^libupmu: locks are not recorded: .*$text" err || fail "$*: $(cat err)"
}

refused "UPMU_SYNC=contendet is not known. Use holders," UPMU_SYNC=contendet LD_PRELOAD="$preload"
refused "UPMU_SYNC=paused:al is not known" UPMU_SYNC=paused:al LD_PRELOAD="$preload"
refused "UPMU_SYNC_STACKS=257 is neither" UPMU_SYNC=all UPMU_SYNC_STACKS=257 LD_PRELOAD="$preload"
refused "UPMU_SYNC_SAMPLE=0 is neither" UPMU_SYNC=all UPMU_SYNC_SAMPLE=0 LD_PRELOAD="$preload"
refused "in LD_PRELOAD name libupmu_sync.so.0 before libc" UPMU_SYNC=all LD_PRELOAD="libc.so.6 $preload"
[ -z "$(find . -name metadata)" ] || fail "a trace was made: $(find . -name metadata)"

# No recording requested: no message.
for order in "$preload" "libc.so.6 $preload"; do
    env LD_PRELOAD="$order" UPMU_SYNC= "$program" >out 2>err || fail "idle behind '$order': status $?: $(cat err)"
    [ ! -s err ] || fail "idle behind '$order': $(cat err)"
done

status=0
UPMU_SYNC_STACKS=many "$upmu" record -o recording -- "$program" >out 2>err || status=$?
[ $status -eq 1 ] || fail "upmu record ended with status $status: $(cat err)"
grep -q "^libupmu: locks are not recorded: UPMU_SYNC_STACKS=many" err || fail "upmu record: no reason: $(cat err)"
grep -q "locks could not be recorded" err || fail "upmu record is content: $(cat err)"
status=0
"$upmu" record -m paused:all -o other -- "$program" >out 2>err || status=$?
[ $status -eq 2 ] || fail "upmu record takes a mode that is none: status $status"
echo "what cannot be recorded is reported"
