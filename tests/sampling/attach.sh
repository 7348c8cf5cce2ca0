#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A process that runs already, whose threads come and go; then damaged samples files.
#     attach.sh UPMU
set -euo pipefail
upmu=$1
# shellcheck source=tests/sampling/lib.sh
. "$(dirname "$0")/lib.sh"
begin
sampled

./subject serve end >out &
subject=$!
for _ in $(seq 1200); do
    grep -q ready out && break
    sleep 0.05
done
"$upmu" record -p "$subject" -F 999 -o recording 2>err &
recorder=$!
# Until there are enough samples: the file grows with them.
for _ in $(seq 2400); do
    [ "$(stat -c %s recording/samples 2>/dev/null || echo 0)" -gt 60000 ] && break
    kill -0 "$recorder" || fail "the recorder ended: $(cat err)"
    sleep 0.05
done
kill -TERM "$recorder"
wait "$recorder" || fail "the recorder ended with $?: $(cat err)"
kill -0 "$subject" || fail "the program ended"
"$upmu" report --samples --json recording >json
python3 - "$subject" <<'PY'
import json, sys
d = json.load(open("json"))
f = {x["name"]: x for x in d["functions"]}
assert f["seventy"]["samples"] > 0 and f["thirty"]["samples"] > 0, f.keys()
assert all(t["pid"] == int(sys.argv[1]) for t in d["thread_list"] if t["samples"]), d["thread_list"]
assert d["threads"] >= 3, d["threads"]
# Nothing is sampled twice: a thread has one event per CPU.
assert d["weight"] < 1.05 * d["count"], (d["weight"], d["count"])
names = [x["name"] for x in d["functions"]]
assert f["seventy"]["module"].endswith("/subject")
PY
"$upmu" export -f folded recording >folded
grep -q ';seventy[; ]' folded || fail "$(cat folded)"

# A process whose threads all wait has no samples.
sleep 1000 &
waits=$!
for _ in $(seq 1200); do
    grep -q '^State:.*sleeping' "/proc/$waits/status" && grep -q sleep "/proc/$waits/comm" && break
    sleep 0.05
done
"$upmu" record -p "$waits" -o of_none 2>err &
recorder=$!
for _ in $(seq 1200); do
    [ -s of_none/samples ] && break
    sleep 0.05
done
kill -TERM "$recorder"
wait "$recorder" || fail "the recorder ended with $?: $(cat err)"
kill "$waits"
grep -q "^upmu: no thread of process $waits ran. If it hangs: upmu deadlock $waits\$" err || fail "no hint: $(cat err)"

# The recorder ends with the process, too. The command that it names can be pasted into a shell, whatever the directory is called.
until_end='until it'\''s "$HOME" & `end`; *'
"$upmu" record -p "$subject" -o "$until_end" 2>err &
recorder=$!
for _ in $(seq 1200); do
    # Its first bytes are written before all threads are attached to.
    [ "$(stat -c %s "$until_end/samples" 2>/dev/null || echo 0)" -gt 20000 ] && break
    sleep 0.05
done
touch end
wait "$recorder" || fail "the recorder ended with $?: $(cat err)"
wait "$subject"
next=$(sed -n 's/^upmu: in .*; next: upmu //p' err)
sh -c "exec $(printf %q "$upmu") $next" >text || fail "the next command: $(cat err)"
grep -q '^Samples of until it.*: [0-9]* of ' text || fail "the next command's output: $(head -n 3 text)"
"$upmu" record -p 4194304 -o nothing 2>err && fail "a process that does not exist"
grep -q 'the process to be sampled does not exist' err && [ ! -e nothing ] || fail "$(cat err)"

# Damaged files: what is whole is shown, the rest counted, and nothing crashes.
mkdir damaged
bytes=$(stat -c %s recording/samples)
for part in 0 7 100 247 300 "$((bytes / 2 + 3))" "$((bytes - 5))"; do
    head -c "$part" recording/samples >damaged/samples
    status=0
    "$upmu" report --samples damaged >text 2>err || status=$?
    [ "$status" -eq 1 ] && grep -q 'samples' err || fail "$part bytes: status $status, $(cat err)"
done
for seed in 1 2 3 4 5 6 7 8; do
    python3 - "$seed" <<'PY'
import random, sys
random.seed(int(sys.argv[1]))
data = bytearray(open("recording/samples", "rb").read())
for _ in range(40):
    data[random.randrange(300, len(data))] = random.randrange(256)
open("damaged/samples", "wb").write(data)
PY
    status=0
    "$upmu" report --samples damaged >text 2>err || status=$?
    [ "$status" -le 1 ] || fail "seed $seed: status $status, $(tail -c 2000 err)"
done
