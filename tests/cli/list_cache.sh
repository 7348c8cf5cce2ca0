# SPDX-License-Identifier: MIT
# What upmu list remembers of its trials: where, for whom, and what makes it worthless.
. "$(dirname "$0")/lib.sh"
cache=$XDG_CACHE_HOME/upmu

# seen: how often page-faults were seen, according to upmu list WORDS...
seen() {
    expect 0 "$UPMU" list --json "$@" page-faults
    python3 -c 'import json, sys
print(next(e["seen"] for e in json.load(open(sys.argv[1]))["events"] if e["name"] == "page-faults"))' "$work/out"
}

# rewrite CODE: changes `lines` of the cache with Python code, and makes its checksum good again.
rewrite() {
    python3 - "$cache/trials" "$1" <<'PYTHON' || fail "cannot rewrite the cache"
import sys
path, code = sys.argv[1:]
lines = open(path).read().split("\n")[:-2]
exec(code)
body = "".join(line + "\n" for line in lines)
total = 0xcbf29ce484222325
for byte in body.encode():
    total = (total ^ byte) * 0x100000001b3 % 2**64
open(path, "w").write(body + "end %d %x\n" % (len(lines) - 2, total))
PYTHON
}
pretend='lines = [l.replace("0\t" + l.split("\t")[1] + "\tpage-faults\t", "0\t123456789\tpage-faults\t")
         if "\tpage-faults\t" in l else l for l in lines]'

# Looking up only writes nothing; trying does, for this user alone.
expect 0 "$UPMU" list --no-probe
[ ! -e "$XDG_CACHE_HOME" ] || fail "--no-probe made a cache"
first=$(seen)
[ "$first" -gt 0 ] || fail "page-faults were not seen: $first"
[ "$(stat -c %a "$cache")" = 700 ] || fail "the folder is open to others: $(stat -c %a "$cache")"
[ "$(stat -c %a "$cache/trials")" = 600 ] || fail "the file is open to others"
head -n 1 "$cache/trials" | grep -qx 'upmu-trials 1' || fail "title: $(head -n 1 "$cache/trials")"

# It is believed while nothing changed, and not with --refresh, which mends it.
rewrite "$pretend"
[ "$(seen)" = 123456789 ] || fail "the cache was not used"
[ "$(seen --refresh)" != 123456789 ] || fail "--refresh believed the cache"
[ "$(seen)" != 123456789 ] || fail "--refresh did not rewrite the cache"
expect 2 "$UPMU" list --refresh --no-probe

# One byte more or less, the rest of it, another title or other surroundings: ignored, and rewritten.
damage() {
    case $1 in
        byte) rewrite "$pretend"; sed -i 's/123456789/123456780/' "$cache/trials" ;;
        tail) rewrite "$pretend"; head -c -4 "$cache/trials" >"$work/t"; cat "$work/t" >"$cache/trials" ;;
        end) rewrite "$pretend"; sed -i '$d' "$cache/trials" ;;
        empty) : >"$cache/trials" ;;
        noise) head -c 5000 /dev/urandom >"$cache/trials" ;;
        title) rewrite "$pretend; lines[0] = 'upmu-trials 2'" ;;
        boot) rewrite "$pretend; k = lines[1].split(' '); k[3] = k[3][::-1]; lines[1] = ' '.join(k)" ;;
        user) rewrite "$pretend; k = lines[1].split(' '); k[2] = str(int(k[2]) + 1); lines[1] = ' '.join(k)" ;;
        paranoid) rewrite "$pretend; k = lines[1].split(' '); k[4] = str(int(k[4]) - 5); lines[1] = ' '.join(k)" ;;
        container) rewrite "$pretend; k = lines[1].split(' '); k[6] += '1'; lines[1] = ' '.join(k)" ;;
        encoding) rewrite "$pretend; lines = [l.replace('software:0x2', 'software:0x3') for l in lines]" ;;
        row) rewrite "$pretend; lines[3] = 'nonsense'" ;;
    esac
}
for how in byte tail end empty noise title boot user paranoid container encoding row; do
    damage "$how"
    got=$(seen)
    [ "$got" -gt 0 ] && [ "$got" -lt 123456780 ] || fail "damage '$how' was believed: $got"
    empty err
    got=$(seen)
    tail -n 1 "$cache/trials" | grep -Eq '^end [0-9]+ [0-9a-f]+$' || fail "not rewritten after '$how'"
done

# A folder that others may enter, and links, are not used.
rewrite "$pretend"
chmod 755 "$cache"
[ "$(seen)" != 123456789 ] || fail "believed a folder that is open to others"
chmod 700 "$cache"
mv "$cache/trials" "$work/elsewhere"
ln -s "$work/elsewhere" "$cache/trials"
cp "$work/elsewhere" "$work/before"
[ "$(seen)" != 123456789 ] || fail "followed a link to a file"
cmp -s "$work/elsewhere" "$work/before" || fail "wrote through a link"
rm -rf "$cache"
mkdir -m 700 "$work/folder"
cp "$work/before" "$work/folder/trials"
ln -s "$work/folder" "$cache"
[ "$(seen)" != 123456789 ] || fail "followed a link to a folder"
cmp -s "$work/folder/trials" "$work/before" || fail "wrote through a link to a folder"
rm "$cache"
if [ "$(id -u)" -eq 0 ]; then
    seen >/dev/null
    rewrite "$pretend"
    chown -R nobody "$cache"
    [ "$(seen)" != 123456789 ] || fail "believed another user's folder"
    rm -rf "$cache"
fi

# No folder to write to is no reason to fail.
expect 0 env XDG_CACHE_HOME=/proc/no/such "$UPMU" list page-faults
empty err
expect 0 env -u XDG_CACHE_HOME -u HOME "$UPMU" list page-faults
empty err
finish
