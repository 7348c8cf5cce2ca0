#!/usr/bin/env bash
# A LoongArch machine, whose emulator has no PMU: it is recognized, and the kernel's own events are counted.
#
#     loong64.sh FOLDER     FOLDER keeps what is downloaded and built
set -euo pipefail
# shellcheck source=tests/guests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/guests/cross.sh
. "$here/cross.sh"
# shellcheck source=tests/guests/boot.sh
. "$here/boot.sh"

need cpio cpio
need zstd zstd

# The image is an EFI program with the kernel inside, packed by zstd, which the emulator does not unpack: the place and the
# length of the packed kernel are 32-bit numbers at bytes 8 and 12.
unpack_kernel()
{
    local from length
    read -r from length < <(od -A n -t u4 -j 8 -N 8 "$1")
    tail -c "+$((from + 1))" "$1" | head -c "$length" | zstd -dcq >"$1.unpacked.part" || fail "cannot unpack $1"
    mv "$1.unpacked.part" "$1.unpacked"
}

work_begin
kernel_package loong64 sid linux-image-loong64
[ -s "$kernel.unpacked" ] || unpack_kernel "$kernel"
cross_build loong64 guest_init guest_recognize
emulator_tools qemu-loongarch qemu-system-misc
work_end

initramfs "$guests/loong64.cpio" "$build/tests/guests/programs/guest_init" \
    recognize="$build/tests/guests/programs/guest_recognize"
# Without firmware there is no table of the keyboard controller, whose driver would stop the kernel.
boot loong64 120 "${tool[@]}" "$tools/usr/bin/qemu-system-loongarch64" -L "$tools/usr/share/qemu" \
    -M virt -cpu la464 -smp 1 -m 1G -kernel "$kernel.unpacked" -initrd "$guests/loong64.cpio" \
    -append "console=ttyS0 panic=-1 quiet initcall_blacklist=i8042_init guest_page=16384 guest_family=la464 guest_pmu=0"
