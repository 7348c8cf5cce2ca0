# SPDX-License-Identifier: MIT
# Names that try to break a format do not.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -m all -e page-faults -o "$work/nasty" -- "$NASTY" >/dev/null 2>"$work/record" || fail "recording ended with $?"
export_all "$work/nasty" "$work/n"
decode "$work/n"
PYTHONDONTWRITEBYTECODE=1 python3 - "$HERE" "$work/n" <<'PYTHON' || fail "a name broke an export"
import sys
sys.path.insert(0, sys.argv[1])
import formats as f
n = sys.argv[2]
spans, names, events = f.chrome(n + ".chrome")
assert any(s[0] == "</text><script>alert(1)</script>" for s in spans)
assert any(s[0] == '"quoted" and \\back\\' for s in spans)
assert any(s[0] == "never ended" and s[4].get("unfinished") for s in spans)
assert any("\ufffd" in s[0] for s in spans)
f.perfetto(n + ".perfetto.txt")
stacks = f.folded(n + ".folded")
assert stacks and not any("\x1b" in p or "\n" in p for path in stacks for p in path)
boxes = f.svg(n + ".flamegraph")
assert boxes and b"<script>alert" not in open(n + ".flamegraph", "rb").read()
f.speedscope(n + ".speedscope")
sums, markers = f.firefox(n + ".firefox")
assert {'"quoted" and \\back\\', "never ended"} <= {m["name"] for m in markers}, markers
assert [m for m in markers if m["name"] == "never ended"][0]["unfinished"] and any(m["phase"] == 0 for m in markers)
assert f.otlp(n + ".otlp.txt")["wall"]
rows, lines = f.table(n + ".csv"), f.lines(n + ".jsonl")
assert len(rows) == len(lines) > 20
assert any(r["text"] == "two\nlines\r\tand\\x01\\x1b[31mmore" for r in rows)
PYTHON
# As a terminal would get it: no control character of the names goes through.
! grep -lP '\x1b' "$work"/n.chrome "$work"/n.folded "$work"/n.callgrind "$work"/n.firefox "$work"/n.jsonl || fail "an escape sequence went through"
finish
