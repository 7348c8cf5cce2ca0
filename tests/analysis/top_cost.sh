# SPDX-License-Identifier: MIT
# upmu top costs the process that it watches less than a hundredth of its CPU time: the least of several runs, with and
# without it by turns.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer decides how fast this is"

python3 - "$UPMU" "$SCENE" "$work" <<'PYTHON' || fail "the cost of upmu top"
import json, os, shutil, subprocess, sys, time
upmu, scene, work = sys.argv[1:]
RUNS, PAIRS = 7, "40000000"

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
    assert clock["standing"] == "exact", clock
    return clock["value"] / 1e9

alone, watched = [], []
for _ in range(RUNS):
    alone.append(cpu_seconds(False))
    watched.append(cpu_seconds(True))
print(f"CPU time alone {min(alone):.4f} s, watched ten times a second {min(watched):.4f} s: "
      f"{(min(watched) / min(alone) - 1) * 100:+.2f} %")
assert min(watched) < min(alone) * 1.01, (sorted(alone), sorted(watched))
PYTHON
finish
