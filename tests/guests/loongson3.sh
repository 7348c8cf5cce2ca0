#!/usr/bin/env bash
# Two Loongson-3 machines with the mainline kernel: a 3A4000, whose PMU the kernel drives though the emulator counts
# nothing in it, and a 3A1000, which the kernel drives no PMU of.
#
#     loongson3.sh FOLDER     FOLDER keeps what is downloaded and built
set -euo pipefail
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guests/cross.sh
. "$here/cross.sh"
# shellcheck source=tests/guests/boot.sh
. "$here/boot.sh"

need cpio cpio

work_begin
kernel_package mips64el "$(release)" linux-image-loongson-3
cross_build mips64el guest_init guest_recognize
emulator_tools qemu-mips qemu-system-mips
work_end

initramfs "$guests/loongson3.cpio" "$build/tests/guests/programs/guest_init" \
    recognize="$build/tests/guests/programs/guest_recognize"

# machine NAME CPU WORD...: with these words on the guest's command line
machine()
{
    local name=$1 cpu=$2
    shift 2
    boot "$name" 180 "${tool[@]}" "$tools/usr/bin/qemu-system-mips64el" -L "$tools/usr/share/qemu" \
        -M loongson3-virt -cpu "$cpu" -smp 1 -m 1G -vga none -kernel "$kernel" -initrd "$guests/loongson3.cpio" \
        -append "console=ttyS0 panic=-1 quiet guest_page=16384 $*"
}

machine loongson-3a4000 Loongson-3A4000 guest_family=gs464v guest_pmu=1
machine loongson-3a1000 Loongson-3A1000 guest_family=gs464 guest_pmu=0
