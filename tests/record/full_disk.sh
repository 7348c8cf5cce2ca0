# SPDX-License-Identifier: MIT
# On a full disk the command continues, recorded events are kept, and the exit status is 1.
. "$(dirname "$0")/lib.sh"
mkdir disk
mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null || skip "no small file system can be mounted here"
trap 'umount disk; rm -rf "$work"' EXIT

expect 1 "$UPMU" record --mode all --stack-depth 64 -o disk/trace "$WORKER" 1500
has out ready
has err "the disk is full (ENOSPC)"
grep -qE '[1-9][0-9]* lost' err || fail "summary: $(cat err)"
at_least 100 disk/trace "release pid"
# The command's own failure is not hidden behind ours.
rm -rf disk/trace
expect 9 "$UPMU" record --mode all -o disk/trace sh -c '"$1" 1500; exit 9' sh "$WORKER"

# No space at all.
rm -rf disk/trace
mkdir disk/trace
head -c 1000000 /dev/zero >disk/filler 2>/dev/null
expect 1 "$UPMU" record -o disk/trace "$WORKER" 3
has out ready
has err "nothing was recorded: the disk"

# Space for the trace, but for no event: all are lost, counted and reported. How much that is depends on the size of the metadata.
for size in 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104; do
    umount disk
    mount -t tmpfs -o size=${size}k tmpfs disk
    expect 1 "$UPMU" record --mode all -o disk/trace "$WORKER" 100
    has out ready
    ! grep -q '^upmu: 0 records .* [1-9][0-9]* lost' err || break
done
grep -q '^upmu: 0 records .* [1-9][0-9]* lost' err || fail "no size has space for the trace alone: $(cat err)"
has err "the disk is full (ENOSPC)"
finish
