#!/usr/bin/env bash
# The ten functions with the most inclusive time come in the order that callgrind has for the same program.
#     order.sh SOURCES LIBRARIES
set -euo pipefail
sources=$1 libs=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
command -v valgrind >/dev/null || { echo "skipped, because valgrind is not installed"; exit 77; }
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# Each level does twice the work of those below it together, in many calls; level2() and spin() have several callers.
cat >order.c <<'C'
#define OWN __attribute__((noinline))

static volatile unsigned sink;

OWN static void spin(unsigned n)
{
    unsigned x = n;
    for (unsigned i = 0; i < n; i++)
        x = x * 2654435761u + i;
    sink = x;
}

#define LEVEL(name, below, rounds) \
    OWN static void name(void)     \
    {                              \
        below();                   \
        spin(rounds);              \
    }

OWN static void level0(void)
{
    sink++;
}
LEVEL(level1, level0, 100)
LEVEL(level2, level1, 200)
LEVEL(level3, level2, 400)
LEVEL(level4, level3, 800)
LEVEL(level5, level4, 1600)
LEVEL(level6, level5, 3200)
LEVEL(level7, level6, 6400)
LEVEL(level8, level7, 12800)
LEVEL(level9, level8, 25600)

int main(void)
{
    for (int i = 0; i < 100; i++) {
        level9();
        spin(51200);
    }
    for (int i = 0; i < 20; i++)
        level2();
    return 0;
}
C
"$cc" -g -O1 -finstrument-functions order.c -o order
valgrind --tool=callgrind --callgrind-out-file=out.callgrind ./order 2>valgrind.log || fail "valgrind: $(cat valgrind.log)"
for i in 1 2 3 4 5; do # the least of each function: what interrupts the program makes one run longer
    UPMU_FUNC_CSV=run$i LD_PRELOAD=$libs/libupmu_func.so.0 ./order
done
callgrind_annotate --inclusive=yes --threshold=100 out.callgrind >annotated
python3 - <<'PY'
import csv, glob, re

theirs = []
for line in open("annotated"):
    found = re.match(r" *([\d,]+) .*:([a-z0-9]+)(?: \[|$)", line)
    if found and re.fullmatch(r"main|spin|level[1-9]", found[2]) and found[2] not in theirs:
        theirs.append(found[2])
mine = {}
for path in glob.glob("run?.functions.csv"):
    for r in csv.DictReader(open(path, newline="")):
        mine[r["name"]] = min(float(r["inclusive_ms"]), mine.get(r["name"], 1e99))
ours = sorted(mine, key=lambda f: -mine[f])[:10]
print(ours, {f: mine[f] for f in ours})
assert len(theirs) >= 10, theirs
assert ours == theirs[:10], (ours, theirs)
PY
