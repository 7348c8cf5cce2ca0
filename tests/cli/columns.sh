# SPDX-License-Identifier: MIT
# Names of wide characters and combining marks do not shift the columns of tables, in any locale.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
cd "$work" || exit 1

names=(ascii 漢字漢字漢字 한글 ｆｕｌｌ $'e\xcc\x81e\xcc\x81' 🦊🦊)
for name in "${names[@]}"; do cp "$(command -v sleep)" "$name"; done
expect 0 "$UPMU" record -o wide -- sh -c 'for program; do "./$program" 0.01; done; :' sh "${names[@]}"
for locale in C C.UTF-8; do
    expect 0 env LC_ALL=$locale "$UPMU" report wide
    PYTHONIOENCODING=utf-8 python3 - out "$SOURCE/tools/upmu/text" "${names[@]}" <<'PYTHON' || fail "the tables under LC_ALL=$locale: $(cat out)"
import re, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])
import ranges
columns = lambda text: sum(1 if ord(c) < 0x80 else ranges.width(ord(c)) for c in text)
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
title = next(i for i, line in enumerate(lines) if re.match(" *THREAD .* LIFETIME ", line))
end = columns(lines[title][:lines[title].index("LIFETIME") + len("LIFETIME")])
seen = set()
for line in lines[title + 1:]:
    if not re.match(r" *\d+ ", line):
        break
    lifetime = next(m for m in re.finditer(r" (?:>= )?[\d.]+ [mun]?s(?= |$)", line))
    assert columns(line[:lifetime.end()]) == end, (line, columns(line[:lifetime.end()]), end)
    seen.update(name for name in sys.argv[3:] if name in line)
assert seen == set(sys.argv[3:]), seen
PYTHON
done

# The table of the command is that of its generator, where Python has the same version of Unicode.
python3 -B "$SOURCE/tools/upmu/text/ranges.py" >ranges.h
if [ "$(sed -n 2p ranges.h)" = "$(sed -n 2p "$SOURCE/tools/upmu/text/ranges.h")" ]; then
    cmp ranges.h "$SOURCE/tools/upmu/text/ranges.h" || fail "ranges.h is not what ranges.py writes"
fi
finish
