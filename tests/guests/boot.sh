# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034 # variables go from file to file
# A guest: an initramfs with our programs, the emulator, and the guest's own word on how it went. Sourced after lib.sh.

# initramfs FILE INIT PROGRAM...: PROGRAM is FILE or NAME=FILE; they are run in the order of their names. A folder $base,
# if it is set, is the rest of the file system.
initramfs()
{
    local image=$1 init=$2 program tree
    shift 2
    tree=$(mktemp -d)
    [ -z "${base-}" ] || cp -a "$base/." "$tree"
    mkdir -p "$tree"/{proc,sys,dev,tmp,tests}
    cp "$init" "$tree/init"
    for program in "$@"; do
        cp "${program#*=}" "$tree/tests/$(basename "${program%%=*}")"
    done
    (cd "$tree" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) >"$image"
    rm -rf "$tree"
}

# boot NAME SECONDS EMULATOR ARG...: the guest's console goes to $guests/logs/NAME.console; its tests are the script's
boot()
{
    local name=$1 seconds=$2 status=0
    local console=$guests/logs/$name.console
    shift 2
    mkdir -p "$guests/logs"
    timeout --kill-after=5 "$seconds" "$@" -display none -serial stdio -monitor none -no-reboot -nic none \
        </dev/null >"$console" 2>"$console.errors" || status=$?
    tr -d '\r' <"$console" | sed -n '/^GUEST-RUN/,/^GUEST-EXIT/{/^GUEST-\(FILE\|DATA\)/!p}'
    if ! grep -q '^GUEST-EXIT 0$' < <(tr -d '\r' <"$console"); then
        grep -q '^GUEST-EXIT' "$console" || tail -n 40 "$console" "$console.errors" >&2
        echo "the emulator's status is $status; the whole console is in $console" >&2
        fail "the guest $name did not end well"
    fi
}
