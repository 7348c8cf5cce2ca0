# SPDX-License-Identifier: MIT
# Cost of upmu top for the watched process: less than 1 % of its CPU time.
# Runs with and without upmu top alternate. A real cost shows in both minimum and median; load of the machine in one of
# them at most, so more runs follow while the result is unclear.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer decides how fast this is"

python3 - "$UPMU" "$SCENE" "$work" <<'PYTHON' || fail "the cost of upmu top"
import json, os, shutil, statistics, subprocess, sys, time
upmu, scene, work = sys.argv[1:]
RUNS, MOST_RUNS, PAIRS = 4, 28, "40000000"

def cpu_seconds(watched):
    """CPU time of the target's threads, counted by the kernel over their lives."""
    directory = os.path.join(work, "cost")
    shutil.rmtree(directory, ignore_errors=True)
    record = subprocess.Popen([upmu, "record", "-e", "task-clock", "-o", directory, "--", scene, "many", "1", PAIRS],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    looks = 0
    if watched:
        while record.poll() is None:
            child = open(f"/proc/{record.pid}/task/{record.pid}/children").read().split()
            top = child and subprocess.run([upmu, "top", "--json", "-i", "0.1", "-p", child[0]], capture_output=True)
            looks += len(top.stdout.splitlines()) if top else 0
            time.sleep(0.01)
        assert looks >= 2, "it was not watched"
    assert record.wait() == 0, record.returncode
    report = json.loads(subprocess.run([upmu, "report", "--json", directory], capture_output=True).stdout)
    life = [r for r in report["regions"] if r["name"] == "(thread)"][0]
    clock = [c for c in life["counters"] if c["name"].startswith("task-clock")][0]["sum"]
    assert clock["status"] == "exact", clock
    return clock["value"] / 1e9

alone, watched, costs = [], [], [1]
while min(costs) >= 0.01 and len(alone) < MOST_RUNS:
    for _ in range(RUNS):
        alone.append(cpu_seconds(False))
        watched.append(cpu_seconds(True))
    costs = [of(watched) / of(alone) - 1 for of in (min, statistics.median)]
print(f"CPU time of {len(alone)} runs alone {min(alone):.4f} s, watched ten times a second {min(watched):.4f} s: "
      f"{costs[0] * 100:+.2f} %, in the middle {costs[1] * 100:+.2f} %")
assert min(costs) < 0.01, (sorted(alone), sorted(watched))
PYTHON
finish
