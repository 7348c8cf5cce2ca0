# SPDX-License-Identifier: MIT
# A report of ten million events takes at most 3 s and 300 MiB beyond the pages of the trace's files, and at most a fifth
# of the time babeltrace2 needs to count them.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "$SANITIZED" ] || skip "a sanitizer decides how fast this is"
free=$(df -k --output=avail "$work" | tail -1)
[ "$free" -gt 1000000 ] || skip "$work has no room for a trace of ten million events"

"$UPMU" record --mode all -o "$work/many" -- "$SCENE" many 8 625000 >/dev/null 2>"$work/record" || {
    fail "recording ended with $?"; cat "$work/record" >&2
}
# The best of three, and of its memory the part that is no mapped file.
python3 - "$UPMU" "$work/many" <<'PYTHON' || fail "speed or memory"
import json, os, shutil, subprocess, sys, time
upmu, trace = sys.argv[1:]

def once():
    begin = time.monotonic()
    child = subprocess.Popen([upmu, "report", "--json", "--top", "1", trace], stdout=subprocess.PIPE)
    peak = 0
    while child.poll() is None:
        try:
            status = dict(line.split(":", 1) for line in open(f"/proc/{child.pid}/status"))
            peak = max(peak, int(status.get("RssAnon", "0 kB").split()[0]))
        except (OSError, ValueError):
            pass
        time.sleep(0.01)
    seconds = time.monotonic() - begin
    report = json.load(child.stdout)
    assert child.returncode == 0, child.returncode
    return seconds, peak / 1024, report["totals"]["events"]

runs = [once() for _ in range(4)]
seconds, memory, events = min(runs)
print(f"{events} events: {seconds:.2f} s, at most {max(r[1] for r in runs):.0f} MiB beyond mapped files")
assert events >= 10_000_000, events
assert max(r[1] for r in runs) <= 300
assert seconds <= 3.0, f"{seconds:.2f} s"
if shutil.which("babeltrace2"):
    # By turns, so that what slows the machine slows both; as often as one of ours needs to meet a quiet moment.
    theirs = float("inf")
    for _ in range(4):
        begin = time.monotonic()
        subprocess.run(["babeltrace2", trace, "--component=sink.utils.counter"], check=True, stdout=subprocess.DEVNULL)
        theirs = min(theirs, time.monotonic() - begin)
        seconds = min([seconds] + [once()[0] for _ in range(3)])
        if theirs >= 5 * seconds:
            break
    print(f"babeltrace2's counter: {theirs:.2f} s, {theirs / seconds:.1f} times as long")
    assert theirs >= 5 * seconds
PYTHON
finish
