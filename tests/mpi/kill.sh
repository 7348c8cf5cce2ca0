#!/usr/bin/env bash
# A rank is killed at a random moment, in whatever call it is: every call that has returned is in the recording, of all ranks, and the
# report has how each of them ended.
#
#     kill.sh DIR UPMU MPI [KILLS]
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"
kills=${4:-3}
ranks=3
[ "$mpi" = openmpi ] || ranks=2 # they spin

mpicc.$mpi -g -O1 -w -o kill "$here/programs/kill.c"
cat >killer.py <<'PYTHON'
import json, os, random, signal, struct, subprocess, sys, time

upmu, ranks, kills, launcher = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
RANKS_MAX, seen, calls = 8, {}, 0
seed = int(os.environ.get("KILL_SEED", random.randrange(1 << 30)))
print("seed", seed)
random.seed(seed)


def shared():
    words = struct.unpack("=16q", open("shared", "rb").read(16 * 8))
    return words[:ranks], words[RANKS_MAX:RANKS_MAX + ranks]


for i in range(kills):
    open("shared", "wb").write(bytes(16 * 8))
    subprocess.run(["rm", "-rf", "recording"], check=True)
    job = subprocess.Popen([upmu, "record", "--mpi", "-o", "recording", "--", *launcher, "./kill", "shared"],
                           stdout=subprocess.DEVNULL, stderr=open("err", "w"))
    while 0 in shared()[0]:
        assert job.poll() is None, "the job ended: " + open("err").read()
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.4))
    victim = random.randrange(ranks)
    os.kill(shared()[0][victim], signal.SIGKILL)
    status = job.wait(60)
    assert status != 0, "a killed job ended with 0"
    report = subprocess.run([upmu, "report", "--mpi", "--json", "recording"], check=True, capture_output=True).stdout
    found, = json.loads(report)["jobs"]
    rows = found["ranks_recorded"]
    returned = shared()[1]
    assert [r["rank"] for r in rows] == list(range(ranks)), rows
    for row, n in zip(rows, returned):
        assert n <= row["calls"] <= n + 1, (i, "of", n, "calls that have returned", row)
        assert row["end"] in ("killed", "exited"), row
        assert row["in_call"] is None or row["calls"] == n + 1 or row["calls"] == n, row
    assert rows[victim]["end"] == "killed", rows[victim]
    dumped = subprocess.run([upmu, "dump", "recording"], check=True, capture_output=True)
    wrong = [line for line in dumped.stderr.splitlines() if b"has no proper end" not in line]
    assert not wrong, wrong
    seen[rows[victim]["in_call"]] = seen.get(rows[victim]["in_call"], 0) + 1
    calls += sum(returned)
print(kills, "kills,", calls, "calls; the rank that was killed was in", seen)
PYTHON
if [ "$mpi" = openmpi ]; then
    launcher=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np "$ranks")
else
    launcher=(mpirun.mpich -np "$ranks")
fi
python3 killer.py "$upmu" "$ranks" "$kills" "${launcher[@]}" || fail "$(tail -5 err)"
