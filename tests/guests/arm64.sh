#!/usr/bin/env bash
# An arm64 machine whose PMU counts exactly: libupmu on the real perf_event_open of a Debian kernel under emulation. What sync
# tracing records there is read and judged here.
#
#     arm64.sh FOLDER UPMU [SUITE]     FOLDER keeps what is downloaded and built; UPMU is the command of this machine; SUITE is the
#                                      Debian release whose kernel is booted, by default this machine's own
#
# GUEST_PART=N in the environment: only every N-th case of group_truth.
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

need qemu-system-aarch64 qemu-system-arm
need cpio cpio
sync_command "$2"

work_begin
suite=${3-$(release)}
kernel_package arm64 "$suite" linux-image-cloud-arm64
cross_build aarch64 guest_init guest_arm64 guest_kernel_door guest_remedies guest_sync guest_true guest_group_truth
work_end

programs=$build/tests/guests/programs
base=$guests/trees/arm64
mkdir -p "$base/bin"
cp "$programs/guest_true" "$base/bin/true"
sync_libraries /usr/aarch64-linux-gnu/lib
initramfs "$guests/arm64-$suite.cpio" "$programs/guest_init" counters="$programs/guest_arm64" \
    kernel_door="$programs/guest_kernel_door" group_truth="$programs/guest_group_truth" \
    remedies="$programs/guest_remedies" sync="$programs/guest_sync"
boot "arm64-$suite" 300 qemu-system-aarch64 -M virt -cpu cortex-a72 -smp 1 -m 256 -icount shift=$shift,sleep=off \
    -kernel "$kernel" -initrd "$guests/arm64-$suite.cpio" -append "console=ttyAMA0 quiet panic=-1 guest_shift=$shift${GUEST_PART:+ guest_part=$GUEST_PART}"
sync_judge "arm64-$suite"
