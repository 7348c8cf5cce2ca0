#!/usr/bin/env bash
# Samples of threads of a team are in the callers of the thread that began the region, with each way of recording call stacks.
# shellcheck source=tests/openmp/lib.sh
. "$1/lib.sh"

"$compiler" -O2 -g -fopenmp -o spins "$here/spins.c"
for how in fp dwarf; do
    rm -rf r
    "$upmu" record --openmp -F 499 --call-graph $how -o r -- ./spins >r.out 2>r.err || { cat r.err >&2; fail "ended with $?"; }
    "$upmu" export -f folded --of samples r >profile
    "$upmu" export -f folded --of samples --stacks machine r >executed
    python3 - "$how" <<'EOF2'
import re
import sys

def read(name):
    with open(name, encoding="utf-8") as f:
        return [(x[0].split(";"), int(x[1])) for x in (line.rsplit(" ", 1) for line in f)]

user, executed = read("profile"), read("executed")
assert sum(n for _, n in user) == sum(n for _, n in executed), "the weights differ"
assert sys.argv[1] == "fp" or any(re.search("libg?omp", ";".join(p)) for p, _ in executed), "nothing of the runtime"
region = ", OMP parallel region from line [0-9]+;"
shares = {name: {} for name in ("solve", "inner", "tasks")}
inside = 0
for path, n in user:
    text = ";".join(path)
    if "spin" not in path:
        continue
    assert not re.search("_omp_fn|omp_outlined|omp_task_entry|libgomp|libomp|GOMP_|__kmp", text), text
    for name, threads in shares.items():
        if re.search(f"main;(nested;nested{region})?{name};{name}{region}", text):
            threads[path[0]] = threads.get(path[0], 0) + n
            inside += n
spins = sum(n for path, n in user if "spin" in path)
assert inside > 0.95 * spins, f"{inside} of {spins} in regions: {user}"
for name, threads in shares.items():
    assert len(threads) > 1, f"{name}: {threads}"
assert len(shares["inner"]) == 4, shares["inner"]
EOF2
done
! "$upmu" report --samples --annotate spin --stacks user r 2>err || fail "--annotate --stacks is accepted"
"$upmu" report --samples --json r >json
! grep -qE 'libg?omp|_omp_fn|omp_outlined' json || fail "functions of the runtime in the report"

# A thread that spins in the runtime waits: for the others of its region, or for the next region.
rm -rf r
OMP_WAIT_POLICY=active KMP_BLOCKTIME=infinite KMP_USE_YIELD=0 "$upmu" record --openmp -F 999 -o r -- ./spins uneven >r.out 2>r.err || { cat r.err >&2; fail "ended with $?"; }
"$upmu" export -f folded --of samples r >profile
python3 - "$runtime" <<'EOF2'
import sys

waits = {}
for line in open("profile", encoding="utf-8"):
    path, n = line.rsplit(" ", 1)
    leaf, region = path.split(";")[-1], "uneven, OMP parallel region" in path
    if leaf.startswith("[OMP"):
        waits[leaf, region] = waits.get((leaf, region), 0) + int(n)
join = "[OMP wait: join]" if sys.argv[1] == "libgomp" else "[OMP wait: implicit-barrier]"
assert waits.get((join, True)) and waits.get(("[OMP wait: idle]", False)), waits
assert sum(n for (leaf, _), n in waits.items() if leaf == "[OMP runtime]") < 0.1 * sum(waits.values()), waits
EOF2
