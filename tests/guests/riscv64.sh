#!/usr/bin/env bash
# Two riscv64 machines: one whose PMU filters user and kernel mode (Sscofpmf), and one whose PMU does not, as on most boards
# of today. The emulated address translation counts misses of the TLBs, the only events of this kind that are true here.
#
# What sync tracing records on the first is read and judged here.
#
#     riscv64.sh FOLDER UPMU     FOLDER keeps what is downloaded and built; UPMU is the command of this machine
set -euo pipefail
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guests/cross.sh
. "$here/cross.sh"
# shellcheck source=tests/guests/boot.sh
. "$here/boot.sh"
# shellcheck source=tests/guests/sync.sh
. "$here/sync.sh"

# Cycles per instruction are two to the power of it.
shift=1

need cpio cpio
sync_command "$2"

work_begin
kernel_package riscv64 trixie linux-image-riscv64
cross_build riscv64 guest_init guest_riscv64 guest_sync
emulator_tools qemu-riscv qemu-system-riscv opensbi
work_end

programs=$build/tests/guests/programs
initramfs "$guests/riscv64-without-filter.cpio" "$programs/guest_init" counters="$programs/guest_riscv64"
base=$guests/trees/riscv64
sync_libraries /usr/riscv64-linux-gnu/lib
initramfs "$guests/riscv64.cpio" "$programs/guest_init" counters="$programs/guest_riscv64" sync="$programs/guest_sync"

# machine NAME CPU FILTER
machine()
{
    boot "$1" 120 "${tool[@]}" "$tools/usr/bin/qemu-system-riscv64" -L "$tools/usr/share/qemu" -L "$tools/usr/lib/ipxe/qemu" \
        -bios "$tools/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin" \
        -M virt -cpu "$2" -smp 1 -m 256 -icount shift=$shift,sleep=off -kernel "$kernel" -initrd "$guests/$1.cpio" \
        -append "console=ttyS0 quiet panic=-1 guest_shift=$shift guest_filter=$3"
}

machine riscv64 rv64,sscofpmf=on 1
sync_judge riscv64
machine riscv64-without-filter rv64 0
