# SPDX-License-Identifier: MIT
# A report of ten million events takes at most 3 s and 300 MiB beyond the pages of the trace's files, and at most a fifth
# of the time babeltrace2 needs to count them.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "$SANITIZED" ] || skip "a sanitizer decides how fast this is"
free=$(df -k --output=avail "$work" | tail -1)
[ "$free" -gt 1000000 ] || skip "$work has no space for a trace of ten million events"

"$UPMU" record --mode all -o "$work/many" -- "$SCENE" many 8 625000 >/dev/null 2>"$work/record" || {
    fail "recording ended with $?"; cat "$work/record" >&2
}
# Of the memory the part that is no mapped file; of the time what the processor worked, whatever else it has to do.
PYTHONPATH=$CLI/.. PYTHONDONTWRITEBYTECODE=1 python3 - "$UPMU" "$work/many" <<'PYTHON' || fail "speed or memory"
import json, os, shutil, subprocess, sys, time
import pace
upmu, trace = sys.argv[1:]

def cpu_time(argv, watch=None):
    """(seconds of processor time, standard output) of a command that succeeds."""
    with open(os.path.join(os.path.dirname(trace), "out"), "w+b") as out:
        child = subprocess.Popen(argv, stdout=out)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG if watch else 0)
            if pid:
                break
            watch(child.pid)
            time.sleep(0.01)
        assert status == 0, (argv, status)
        child.returncode = 0
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, out.read()

peak = 0
def note_memory(pid):
    global peak
    try:
        status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
        peak = max(peak, int(status.get("RssAnon", "0 kB").split()[0]) / 1024)
    except (OSError, ValueError):
        pass

REPORT = [upmu, "report", "--json", "--top", "1", trace]
seconds, report = cpu_time(REPORT, note_memory)
events = json.loads(report)["totals"]["events"]
slower = 1
for _ in range(7): # other programs on the machine slow both measurements
    slower = max(slower, pace.slower())
    seconds = min(seconds, cpu_time(REPORT)[0])
    if seconds <= 3.0 * slower:
        break
print(f"{events} events: {seconds:.2f} s, at most {peak:.0f} MiB beyond mapped files; this machine is {slower:.2f} times as slow "
      "as the one of the bar")
assert events >= 10_000_000, events
assert 0 < peak <= 300, peak
assert seconds <= 3.0 * slower, f"{seconds:.2f} s, {slower:.2f} times as slow"
if shutil.which("babeltrace2"):
    # Alternately, so that other load slows both; the minimum of several runs is compared.
    theirs = float("inf")
    for _ in range(4):
        theirs = min(theirs, cpu_time(["babeltrace2", trace, "--component=sink.utils.counter"])[0])
        seconds = min([seconds] + [cpu_time(REPORT)[0] for _ in range(3)])
        if theirs >= 5 * seconds:
            break
    print(f"babeltrace2's counter: {theirs:.2f} s, {theirs / seconds:.1f} times as long")
    assert theirs >= 5 * seconds
PYTHON
finish
