# SPDX-License-Identifier: MIT
# upmu doctor: findings, remedies, exit status, colors on terminals only.
. "$(dirname "$0")/lib.sh"

run "$UPMU" doctor --json
doctor_status=$status
cp "$work/out" "$work/doctor.json"
empty err
json "$work/doctor.json" "
assert d['schema'] == 'upmu-doctor'
states = [f['state'] for f in d['findings']]
assert len(states) > 3 and set(states) <= {'ok', 'limited', 'missing', 'info'}, states
assert $doctor_status == (1 if 'missing' in states else 0), 'exit status $doctor_status'
topics = {f['topic'] for f in d['findings']}
assert {'cpu', 'identity', 'permission', 'clock'} <= topics, topics
assert all(f['text'] for f in d['findings'])
assert all(f['remedy'] is None or f['remedy'] for f in d['findings'])
"

run env TERM=xterm "$UPMU" doctor
[ "$status" -eq "$doctor_status" ] || fail "text and JSON end differently"
has_not out $'\033'
while read -r state topic; do
    grep -Eq "^$state +$topic( |$)" "$work/out" || fail "the text lacks $state $topic"
done < <(python3 -c '
import json, sys
for f in json.load(open(sys.argv[1]))["findings"]: print(f["state"], f["topic"])' "$work/doctor.json")

# A machine snapshot without PMUs.
mkdir -p "$work/bare/proc"
cp /proc/cpuinfo "$work/bare/proc/cpuinfo"
run env UPMU_FSROOT="$work/bare" "$UPMU" doctor
has out "/sys/bus/event_source/devices lists no PMU"

# on_terminal NAME=VALUE...: what a terminal of its own sees.
on_terminal() {
    python3 - "$UPMU" "$@" <<'PYTHON'
import os, pty, sys
env = dict(os.environ, **dict(a.split("=", 1) for a in sys.argv[2:]))
pid, fd = pty.fork()
if pid == 0:
    os.execve(sys.argv[1], [sys.argv[1], "doctor"], env)
seen = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    seen += part
os.waitpid(pid, 0)
sys.exit(0 if b"\033[3" in seen else 1)
PYTHON
}
on_terminal TERM=xterm || fail "no color on a terminal"
on_terminal TERM=xterm NO_COLOR= || fail "an empty NO_COLOR disables colors"
! on_terminal TERM=xterm NO_COLOR=1 || fail "color in spite of NO_COLOR"
! on_terminal TERM=dumb || fail "color on a dumb terminal"
finish
