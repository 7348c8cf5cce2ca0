# shellcheck shell=bash
# Programs built with -finstrument-functions: the calls that they report against those recorded.

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# compilers: of gcc and clang those that are here, as "C C++" per line
compilers()
{
    command -v gcc g++ >/dev/null && echo "gcc g++"
    command -v clang clang++ >/dev/null && echo "clang clang++"
    return 0
}

# judge WHAT CSV_PREFIX <LINES: every line "calls NAME N", "edge CALLER CALLEE N" and "none NAME" must be true
judge()
{
    python3 - "$@" <<'PY' || exit 1
import csv, sys
what, prefix, lines = sys.argv[1], sys.argv[2], open(sys.argv[3])
calls, edges, bad, n = {}, {}, 0, 0
with open(prefix + ".functions.csv", newline="") as f:
    for r in csv.DictReader(f):
        name = r["name"].replace(" ", "")
        calls[name] = calls.get(name, 0) + int(r["calls"])
        inclusive, exclusive, children = (float(r[k]) for k in ("inclusive_ms", "exclusive_ms", "children_ms"))
        if not (0 <= exclusive and abs(inclusive - exclusive - children) < max(inclusive, exclusive) + 1e-6):
            print(what, "times do not add up:", r)
            bad = 1
with open(prefix + ".edges.csv", newline="") as f:
    for r in csv.DictReader(f):
        pair = r["caller"].replace(" ", ""), r["callee"].replace(" ", "")
        edges[pair] = edges.get(pair, 0) + int(r["count"])
def names(words):  # C++ names have spaces
    text = " ".join(words)
    for cut in range(1, len(words)):
        yield "".join(words[:cut]), "".join(words[cut:])
for line in lines:
    kind, *words = line.split()
    if kind == "calls":
        n += 1
        name, want = "".join(words[:-1]), int(words[-1])
        if calls.get(name, 0) != want:
            print(what, "calls of", name, "are", calls.get(name, 0), "instead of", want)
            bad = 1
    elif kind == "edge":
        n += 1
        want = int(words[-1])
        got = max(edges.get(pair, 0) for pair in names(words[:-1]))
        if got != want:
            print(what, "edge", words[:-1], "has", got, "instead of", want)
            bad = 1
    elif kind == "none":
        n += 1
        if words[0] in calls:
            print(what, words[0], "was not called")
            bad = 1
if n == 0:
    print(what, "the program reported nothing")
sys.exit(bad or n == 0)
PY
}
