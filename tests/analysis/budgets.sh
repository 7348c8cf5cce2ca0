# SPDX-License-Identifier: MIT
# Files that would cost a reader hours or all memory: it stops within its budget and reports that.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
cp "$SCENE" "$work/scene"
"$UPMU" record -m all -o "$work/rec" -- "$work/scene" >/dev/null 2>&1 || fail "recording ended with $?"
patience=60

# A stream with a hole of 500 GB behind its last packet: as if a killed process had reserved it.
cp -r "$work/rec" "$work/hole"
stream=$(find "$work/hole" -name stream_0001)
if truncate -s 500G "$stream" 2>"$work/err"; then
    for words in "report" "dump" "export -f jsonl" "deadlock" "repair" "report"; do
        # shellcheck disable=SC2086
        expect 0 timeout "$patience" "$UPMU" $words "$work/hole"
    done
    printf 'x' >>"$stream"
    truncate -s 500G "$stream"
    printf 'x' >>"$stream"
    expect 1 timeout "$patience" "$UPMU" dump "$work/hole"
    has err "no packet begins here"
else
    echo "no sparse file of 500 GB, because: $(cat "$work/err")"
fi

# 250,000 packets without an event: the report asks for each process many times, and reads the heads of its packets once.
cp -r "$work/rec" "$work/heads"
python3 - "$(find "$work/heads" -name stream_0001)" <<'PYTHON' || fail "the packets could not be written"
import struct, sys
head = bytearray(open(sys.argv[1], "rb").read(136))
struct.pack_into("<QQ", head, 40, 136 * 8, 136 * 8)
struct.pack_into("<Q", head, 96, 0)
with open(sys.argv[1], "wb") as f:
    for i in range(250000):
        struct.pack_into("<Q", head, 56, i)
        f.write(head)
PYTHON
for words in "report --json" "report" "deadlock"; do
    # shellcheck disable=SC2086
    timeout "$patience" "$UPMU" $words "$work/heads" >"$work/out" 2>"$work/err" || [ $? -eq 1 ] || fail "$words: not within $patience s"
done

# Compressed debug information that claims to inflate to 8 GB.
cp "$SCENE" "$work/packed"
objcopy --compress-debug-sections=zlib "$work/packed" || fail "objcopy: $?"
"$UPMU" record -m all -o "$work/bomb" -- "$work/packed" >/dev/null 2>&1 || fail "recording of the packed program ended with $?"
expect 0 "$UPMU" report "$work/bomb"
has out "pay_at_till scene.c:"
python3 - "$work/packed" <<'PYTHON' || fail "the section headers could not be changed"
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
size, n = struct.unpack_from("<HH", data, 58)
changed = 0
for i in range(n):
    name, kind, flags, addr, offset = struct.unpack_from("<IIQQQ", data, shoff + i * size)
    if flags & 0x800:
        struct.pack_into("<Q", data, offset + 8, 8 << 30)
        changed += 1
assert changed
open(sys.argv[1] + ".new", "wb").write(data)
PYTHON
mv "$work/packed.new" "$work/packed"
expect 0 timeout "$patience" "$UPMU" report "$work/bomb"
has out "pay_at_till"
has_not out "pay_at_till scene.c:"
expect 0 "$UPMU" report --json "$work/bomb"
has out "more than the limit of 512 MiB"

# A debug link to a sparse file of 500 GB, which no build-id confirms.
cp "$SCENE" "$work/linked"
objcopy --remove-section .note.gnu.build-id "$work/linked"
objcopy --only-keep-debug "$work/linked" "$work/linked.debug"
objcopy --strip-debug --add-gnu-debuglink="$work/linked.debug" "$work/linked"
"$UPMU" record -m all -o "$work/link" -- "$work/linked" >/dev/null 2>&1 || fail "recording of the linked program ended with $?"
expect 0 "$UPMU" report "$work/link"
has out "pay_at_till scene.c:"
if truncate -s 500G "$work/linked.debug" 2>"$work/err"; then
    expect 0 timeout "$patience" "$UPMU" report --json "$work/link"
    has out "its checksum is needed, and it has more than 1024 MiB"
fi
finish
