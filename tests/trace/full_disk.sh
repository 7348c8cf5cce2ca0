#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A full disk, a size limit, a file system without fallocate, a read-only one: the program lives, what was written is
# read, what was lost is counted.
#     full_disk.sh SCRIBE DUMP CASE
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/trace/common.sh
. "$here/common.sh"
scribe=$1 dump=$2 case=$3
disk=$work/disk
mkdir "$disk"

# Mounts belong to this script alone.
own_mounts()
{
    if [ "${OWN_MOUNTS:-}" ]; then
        trap 'umount -R "$disk" 2>/dev/null || true; rm -rf "$work"' EXIT
        return
    fi
    rm -rf "$work" # exec leaves no trap behind
    if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
        OWN_MOUNTS=1 exec unshare --mount bash "$0" "$scribe" "$dump" "$case"
    elif unshare --user --map-root-user --mount true 2>/dev/null; then
        OWN_MOUNTS=1 exec unshare --user --map-root-user --mount bash "$0" "$scribe" "$dump" "$case"
    fi
    skip "neither root nor user namespaces: no file system can be mounted"
}

# check WRITTEN LOST RECORDING: our reader and babeltrace2 report both numbers
check()
{
    "$dump" "$3" >"$work/dumped" || fail "the recording cannot be read"
    [ "$(events "$work/dumped")" = "$1" ] || fail "$(events "$work/dumped") events were read of $1"
    grep -q "^P 0 [0-9]* 1 $1 $2 " "$work/dumped" || fail "$(grep '^P' "$work/dumped"), but $2 of $(($1 + $2)) were lost"
    command -v babeltrace2 >/dev/null || return 0
    [ "$(babeltrace2 "$3" 2>"$work/warnings" | wc -l)" = "$1" ] || fail "babeltrace2 read another number of events"
    [ "$2" = 0 ] || grep -q "discarded" "$work/warnings" || fail "babeltrace2 reports no loss"
}

# many WRITTEN LOST: the disk was neither empty nor large
many()
{
    [ "$1" -gt 1000 ] || fail "only $1 events were written"
    [ "$2" -gt 1000 ] || fail "only $2 events were lost"
}

case $case in
tmpfs)
    own_mounts
    mount -t tmpfs -o size=700k none "$disk" || skip "tmpfs cannot be mounted"
    read -r written lost < <("$scribe" fill "$disk/r" 20000) || fail "the program did not survive"
    many "$written" "$lost"
    check "$written" "$lost" "$disk/r"
    ;;
recovers)
    own_mounts
    mount -t tmpfs -o size=1700k none "$disk" || skip "tmpfs cannot be mounted"
    head -c 1000000 /dev/zero >"$disk/ballast"
    read -r written lost < <("$scribe" recover "$disk/r" "$disk/ballast") || fail "recording did not continue"
    check "$written" "$lost" "$disk/r"
    ;;
no_fallocate)
    own_mounts
    mount -t ramfs none "$disk" || skip "ramfs cannot be mounted"
    ! fallocate -n -l 4096 "$disk/probe" 2>/dev/null || skip "ramfs has learned fallocate"
    read -r written lost < <("$scribe" fill "$disk/r" 20000) || fail "the program did not survive"
    [ "$written $lost" = "20000 0" ] || fail "written $written, lost $lost"
    check "$written" "$lost" "$disk/r"
    ;;
size_limit)
    read -r written lost < <(ulimit -f 500 && "$scribe" fill "$disk/r" 20000) || fail "the program did not survive"
    many "$written" "$lost"
    check "$written" "$lost" "$disk/r"
    ;;
read_only)
    own_mounts
    "$scribe" torn "$disk/r"
    mount --bind "$disk" "$disk" || skip "no bind mount here"
    mount -o remount,bind,ro "$disk" || skip "no read-only bind mount here"
    "$dump" "$disk/r" >"$work/dumped" || fail "a read-only recording cannot be read"
    [ "$(events "$work/dumped")" = 100 ] || fail "$(events "$work/dumped") events were read of 100"
    "$dump" repair "$disk/r" >/dev/null 2>"$work/refusal" && fail "a read-only recording was repaired"
    grep -q "Read-only file system. Repair a copy" "$work/refusal" || fail "no reason: $(cat "$work/refusal")"
    cp -r "$disk/r" "$work/copy"
    grep -q '^R 1 0 1 16384$' < <("$dump" repair "$work/copy") || fail "the copy was not repaired"
    need_babeltrace
    [ "$(babeltrace2 "$work/copy" | wc -l)" = 100 ] || fail "babeltrace2 cannot read the repaired copy"
    ;;
*)
    fail "unknown case $case"
    ;;
esac
echo "fine"
