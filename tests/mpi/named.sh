#!/usr/bin/env bash
# Deadlocks across ranks are named within 2 s (by the pace of the machine) of the last call that closes them.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"
seconds=2

"mpicc.$mpi" -g -O1 -w -pthread -o deadlocks "$here/programs/deadlocks.c"
cat >times.py <<'PYTHON'
# times.py HERE SECONDS UPMU PROGRAM LAUNCHER...: seconds from the begin of the last rank's last call to the message
import os, signal, subprocess, sys, time
here, seconds, upmu, program, *launcher = sys.argv[1:]
sys.path.insert(0, here + "/..")
import pace
job = subprocess.Popen([upmu, "record", "--mpi", "--deadlocks", f"live.{program}", "-o", f"r.{program}", "--", *launcher, "./deadlocks", program],
                       stdout=subprocess.DEVNULL, stderr=open("err", "w"))
live = f"live.{program}"
while not (os.path.exists(live) and "across MPI ranks" in open(live).read()):
    assert job.poll() is None, "the job ended: " + open("err").read()
    time.sleep(0.002)
named = os.stat(live).st_mtime
dump = subprocess.run([upmu, "dump", f"r.{program}"], capture_output=True, text=True).stdout
last = max(float(line.split()[0]) for line in dump.splitlines() if " mpi-enter " in line or " lock-block " in line)
job.send_signal(signal.SIGTERM)
job.wait(60)
took, bar = named - last, float(seconds) * pace.slower_and_busier()
print(f"{program}: named after {took:.2f} s")
assert 0 < took <= bar, (took, bar)
PYTHON
launcher=(mpirun.mpich -np 2) some="cycle"
[ "$mpi" = mpich ] || launcher=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -np 2) some="cycle lock"
# The others are as fast: send sendrecv waitall probed collective order barrier any finalize, and lock with MPICH.
for program in ${PROGRAMS-$some}; do
    python3 -B times.py "$here" $seconds "$upmu" $program "${launcher[@]}" || fail "$program: $(tail -3 err)"
done
