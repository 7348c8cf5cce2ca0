#!/usr/bin/env bash
# perf as the independent witness: it counts a command of known length on the arm64 machine of arm64.sh, and libupmu the
# same.
#
#     arm64_perf.sh FOLDER     FOLDER keeps what is downloaded and built
set -euo pipefail
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guests/cross.sh
. "$here/cross.sh"
# shellcheck source=tests/guests/boot.sh
. "$here/boot.sh"

shift=1

need qemu-system-aarch64 qemu-system-arm
need cpio cpio

work_begin
kernel_package arm64 "$(release)" linux-image-cloud-arm64
debian_tree "$guests/trees/perf-arm64" arm64 "$(release)" linux-perf ||
    skip "the Debian mirror of this machine does not give perf for arm64"
cross_build aarch64 guest_init guest_agree guest_loop
work_end

# perf and the libraries it needs, of which those of the scripting languages are the largest part.
base=$guests/trees/perf-arm64
programs=$build/tests/guests/programs
cp "$programs/guest_loop" "$base/loop"
initramfs "$guests/arm64-perf.cpio" "$programs/guest_init" agree="$programs/guest_agree"
boot arm64-perf 180 qemu-system-aarch64 -M virt -cpu cortex-a72 -smp 1 -m 2048 -icount shift=$shift,sleep=off \
    -kernel "$kernel" -initrd "$guests/arm64-perf.cpio" \
    -append "console=ttyAMA0 quiet panic=-1 guest_shift=$shift"
