# SPDX-License-Identifier: MIT
# Two million events are exported at two million per second, in memory that does not grow with them. The bar here is a
# fourth of that: a machine at work on other things must not fail it.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer decides how fast this is"
"$UPMU" record --mode all -o "$work/many" -- "$SCENE" many 2 500000 >/dev/null 2>"$work/record" || fail "recording ended with $?"
python3 - "$UPMU" "$work/many" $formats <<'PYTHON' || fail "speed or memory"
import os, sys, time
upmu, trace, *formats = sys.argv[1:]

def run(format):
    begin = time.monotonic()
    pid = os.posix_spawn(upmu, [upmu, "export", "-f", format, "-o", "/dev/null", trace], os.environ)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, (format, status)
    return time.monotonic() - begin, usage.ru_maxrss / 1024

for format in formats:
    seconds, megabytes = min(run(format) for _ in range(2))
    print(f"{format:11} {2.0 / seconds:5.1f} million events per second, {megabytes:.0f} MiB")
    assert seconds <= 4.0 and megabytes <= 200, format
PYTHON
finish
