# SPDX-License-Identifier: MIT
# Two million events are exported at two million per second, in memory that does not grow with them. The bar here is a
# fourth of that, in processor time: a machine at work on other things must not fail it, nor one that is slower as such.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer decides how fast this is"
"$UPMU" record --mode all -o "$work/many" -- "$SCENE" many 2 500000 >/dev/null 2>"$work/record" || fail "recording ended with $?"
PYTHONPATH=$HERE/.. PYTHONDONTWRITEBYTECODE=1 python3 - "$UPMU" "$work/many" $formats <<'PYTHON' || fail "speed or memory"
import os, sys
import pace
upmu, trace, *formats = sys.argv[1:]
SECONDS, MOST_RUNS = 4.0, 6

def run(format):
    pid = os.posix_spawn(upmu, [upmu, "export", "-f", format, "-o", "/dev/null", trace], os.environ)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, (format, status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

slower = pace.slower()
print(f"this machine is {slower:.2f} times as slow as the one of the bars")
for format in formats:
    runs = [run(format)]
    while min(runs)[0] > SECONDS * slower and len(runs) < MOST_RUNS:
        slower = max(slower, pace.slower()) # other programs on the machine slow both measurements
        runs.append(run(format))
    seconds, megabytes = min(runs)
    print(f"{format:11} {2.0 / seconds:5.1f} million events per second, {megabytes:.0f} MiB")
    assert seconds <= SECONDS * slower and megabytes <= 200, format
PYTHON
finish
