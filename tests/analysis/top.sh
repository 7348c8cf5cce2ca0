# SPDX-License-Identifier: MIT
# upmu top on programs with known waits: its JSON stream against the report, its screen in a pty.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

has_waiter() {
    python3 -c 'import json, sys
sys.exit(not any(t["waits_for"] and t["waits_for"]["name"] == "the till" for l in open(sys.argv[1]) for t in json.loads(l)["threads"]))' "$1"
}

# A command: the documents add up to the final report. A slow machine needs a longer run for enough documents, and for one that
# is written while a thread waits.
for ms in 1500 6000 24000; do
    rm -rf "$work/busy"
    expect 0 "$UPMU" top --json -i 0.1 -o "$work/busy" -- "$SCENE" busy $ms
    [ "$(wc -l <"$work/out")" -lt 8 ] || ! has_waiter "$work/out" || break
done
cp "$work/out" "$work/stream"
has err "command.out"
has err "; next: upmu report $work/busy"
expect 0 "$UPMU" report --json "$work/busy"
python3 - "$work/stream" "$work/out" <<'PYTHON' || fail "the stream of a command"
import json, sys
documents = [json.loads(line) for line in open(sys.argv[1])]
report = json.load(open(sys.argv[2]))
assert all(l["schema"] == "upmu-top" and l["schema_version"] == 1 for l in documents)
assert len(documents) >= 3 and not documents[-1]["running"] and all(l["running"] for l in documents[:-1])
for a, b in zip(documents, documents[1:]):
    assert b["time_ns"] == a["time_ns"] + b["interval_ns"], (a["time_ns"], b["time_ns"], b["interval_ns"])
    assert b["all_events"] == a["all_events"] + b["events"]
# Read in pieces or at once, the recording has the same events.
assert 0 < documents[-1]["all_events"] == report["totals"]["events"], (documents[-1]["all_events"], report["totals"])
till = [l for document in documents for l in document["locks"] if l["name"] == "the till"]
true = [o for o in report["objects"] if o["name"] == "the till"][0]
assert true["waits"]["count"] >= 5, true["waits"]
assert sum(l["waits"] for l in till) == true["waits"]["count"], (sum(l["waits"] for l in till), true["waits"])
assert sum(l["waited_ns"] for l in till) == till[-1]["total_ns"]
# The report's clock was measured anew at the end of the recording.
assert abs(till[-1]["total_ns"] - true["waits"]["total_ns"]) < true["waits"]["total_ns"] / 1000, (till[-1], true["waits"])
names = {t["tid"]: t["name"] for t in report["threads"]}
waiting = [t for document in documents for t in document["threads"] if t["waits_for"] and t["waits_for"]["name"] == "the till"]
assert waiting, "no document shows a waiting thread"
for t in waiting:
    w = t["waits_for"]
    assert {names[t["tid"]], names[w["holder"]]} == {"customer", "keeper"}, t
    assert w["kind"] == "mutex" and w["since_ns"] > 0, w
assert any("pay_at_till scene.c:" in t["waits_for"]["site"] for t in waiting), waiting[0]
# The main thread joins the keeper: the thread has a name and an id.
joined = [l for document in documents for l in document["locks"] if l["type"] == "thread"]
assert joined and all(l["name"] and names[l["holder"]] == l["name"] for l in joined), joined
w = next(t["waits_for"] for t in waiting if "scene.c:" in t["waits_for"]["site"])
assert w["file"].endswith("/scene.c") and w["site"].endswith(f"scene.c:{w['line']}"), w
scheduled = [t for document in documents for t in document["threads"] if t["running"] is not None]
assert scheduled and any(t["voluntary"] > 0 for t in scheduled if t["name"] == "customer")
for t in scheduled:
    assert 0.95 < t["running"] + t["preempted"] + t["blocked"] <= 2.01, t
assert not any(document["deadlocks"] for document in documents)
PYTHON

# A wait in progress is never longer than it was in the end, however long the update takes: each process writes 400,000 events at once.
cat >"$work/rush.sh" <<'END'
"$1" busy 2500 &
for _ in 1 2 3 4 5; do "$1" many 2 100000; sleep 0.1; done
wait
END
for _ in 1 2 3; do
    rm -rf "$work/rush"
    expect 0 "$UPMU" top --json -i 0.1 -m all -o "$work/rush" -- sh "$work/rush.sh" "$SCENE"
    ! has_waiter "$work/out" || break
done
cp "$work/out" "$work/stream"
expect 0 "$UPMU" report --json --view timeline --type wait "$work/rush"
python3 - "$work/stream" "$work/out" <<'PYTHON' || fail "a wait in progress is longer than it was"
import bisect, json, sys
documents = [json.loads(line) for line in open(sys.argv[1])]
waits = {}
for row in json.load(open(sys.argv[2]))["rows"]:
    if (row["object"] or {}).get("name") == "the till":
        waits.setdefault(row["thread"]["tid"], []).append((row["begin_ns"], row["end_ns"]))
seen = 0
for document in documents:
    for t in document["threads"]:
        w = t["waits_for"]
        if not w or w["name"] != "the till":
            continue
        assert w["since_ns"] <= document["time_ns"], (w, document["time_ns"])
        # The clock of the report was measured anew.
        begin, end = min(waits[t["tid"]], key=lambda x: abs(x[0] - w["since_ns"]))
        if w["since_ns"] < document["time_ns"]:
            assert document["time_ns"] - w["since_ns"] <= end - begin + 500000, (document["time_ns"] - w["since_ns"], end - begin)
            seen += 1
assert seen, "no document shows a waiting thread"
PYTHON

# A deadlock is reported in every document while it lasts, until SIGALRM ends the program.
"$UPMU" top --json -i 0.1 -o "$work/stuck" -- "$SCENE" stuck 600 >"$work/out" 2>"$work/err" &
watcher=$!
reported_twice() { [ "$(grep -c '2 threads wait for each other' "$work/out")" -ge 2 ]; }
wait_until 60 reported_twice || fail "deadlock not reported twice: $(tail -n 1 "$work/out")"
kill -ALRM "$(pgrep -P "$watcher")"
wait "$watcher"
status=$?
[ "$status" -eq 142 ] || fail "the status of a command ended by its alarm is $status"
python3 - "$work/out" <<'PYTHON' || fail "the stream of a deadlock"
import json, sys
documents = [json.loads(line) for line in open(sys.argv[1])]
found = [d for document in documents for d in document["deadlocks"]]
assert found and "2 threads wait for each other" in found[0]["headline"], documents[-1]
assert len(found[0]["threads"]) == 2 and all("held by thread" in t["text"] for t in found[0]["threads"]), found[0]
assert len(documents[-2]["deadlocks"]) == 1, "the deadlock still lasted"
PYTHON

# The end of the view does not wait for a deadlocked command, and prints its process id.
for n in 10 40 160; do
    rm -rf "$work/left"
    timeout 60 "$UPMU" top --json -i 0.1 -n $n -o "$work/left" -- "$SCENE" stuck 600 >"$work/out" 2>"$work/err" || fail "status $? at the end of the view"
    left=$(sed -n 's/.*deadlocked and continues as process \([0-9]*\).*/\1/p' "$work/err")
    [ -z "$left" ] || break
done
[ -n "$left" ] || fail "a deadlocked command is waited for: $(cat "$work/err")"
kill "$left" || fail "the deadlocked command does not run any more"

# A process that records already, with counters; the end after three documents. It lasts until it is ended below.
"$UPMU" record -o "$work/attached" -- "$SCENE" busy 600000 >/dev/null 2>&1 &
recorder=$!
target() { pgrep -P "$recorder" >"$work/pid" && "$UPMU" ctl "$(cat "$work/pid")" status >/dev/null 2>&1; }
wait_until 60 target || fail "the recorded process did not begin"
pid=$(cat "$work/pid")
expect 0 "$UPMU" top --json -i 0.1 -n 3 -e page-faults,task-clock -p "$pid"
python3 - "$work/out" "$pid" <<'PYTHON' || fail "the stream of a process"
import json, sys
documents = [json.loads(line) for line in open(sys.argv[1])]
assert len(documents) == 3 and all(l["running"] for l in documents)
assert [c["name"].split(":")[0] for c in documents[0]["counters"]] == ["page-faults", "task-clock"], documents[0]["counters"]
# A process that slept all the time between had nothing counted yet: then there is no number.
clock = [l["counters"][1]["total"] for l in documents]
assert all((c["value"] is None) == (c["status"] == "not counted") for c in clock), clock
clock = [c["value"] for c in clock if c["value"] is not None]
assert clock and clock == sorted(clock), clock
assert all(t["pid"] == int(sys.argv[2]) for l in documents for t in l["threads"])
PYTHON

# A ring that wraps between two documents: events that could not be read are reported.
"$UPMU" record --ring 64K --mode all -o "$work/ring" -- "$SCENE" many 1 200000000 >/dev/null 2>&1 &
ringing=$!
ring_target() { pgrep -P "$ringing" >"$work/ringpid" && "$UPMU" ctl "$(cat "$work/ringpid")" status >/dev/null 2>&1; }
wait_until 60 ring_target || fail "the ring did not begin"
expect 0 "$UPMU" top --json -i 1 -n 3 -p "$(cat "$work/ringpid")"
kill "$(cat "$work/ringpid")"
wait "$ringing" 2>/dev/null
python3 -c '
import json, sys
documents = [json.loads(line) for line in open(sys.argv[1])]
assert documents[-1]["missed_packets"] > 0 and documents[-1]["events"] > 0, documents[-1]
assert documents[-1]["damages"] == 0' "$work/out" || fail "the ring"

# The screen: what it shows of that process, and q; a deadlock in red, and the command's status.
python3 - "$UPMU" "$pid" "$SCENE" "$work/screen" <<'PYTHON' || fail "the screen"
import os, pty, select, signal, struct, fcntl, sys, termios, time
upmu, pid, scene, directory = sys.argv[1:]

class Terminal:
    def __init__(self, *command, columns=150):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
            os.execv(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    def read_until(self, *wanted, redrawn=False): # redrawn: whole screens, since curses sends differences only
        end = time.monotonic() + 60
        while not all(w in self.seen for w in wanted):
            if redrawn:
                os.write(self.fd, b"\x0c")
            assert time.monotonic() < end, (wanted, self.seen[-2000:])
            if select.select([self.fd], [], [], 0.2)[0]:
                self.seen += self.read()
    def read(self):
        try:
            return os.read(self.fd, 65536)
        except OSError: # the other side is gone
            time.sleep(0.05)
            return b""
    def status(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                self.seen += self.read()
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("it does not end")

top = Terminal(upmu, "top", "-i", "0.1", "-p", pid)
top.read_until(b"WAITS FOR", b"WAIT ms/s", b"customer", b"keeper", b"the till", b"held by", b"OTHER WAITS", b"at pay_at_till")
os.write(top.fd, b"s\x0c") # and the whole screen again: curses sends differences only
top.read_until(b"(by CPU)")
os.write(top.fd, b"p\x0c")
top.read_until(b"(paused)")
os.write(top.fd, b"\x1bOB\x0c") # the arrow down, while paused
top.read_until(b"2 to 3 of 3")
# A filter by what a thread waits for; then one that nothing matches, changed by Backspace and dropped by Escape.
top.seen = b""
os.write(top.fd, b"/HELD BYq\x7f\n\x0c")
top.read_until(b"filter: HELD BY", b"1 to 1 of 3", redrawn=True)
os.write(top.fd, b"/no such\x0c")
top.read_until(b"filter: HELD BYno such_", b"none of 3", redrawn=True)
top.seen = b""
os.write(top.fd, b"\x1b")
os.write(top.fd, b"p")
top.read_until(b"customer", b"keeper", b"waiting for locks:", redrawn=True)
# A bar of the history: a thread waits nearly always.
top.read_until("\u2588".encode(), redrawn=True)
os.write(top.fd, b"q")
assert top.status() == 0, top.seen
# On 80 columns the object that a thread waits for is still shown, and the keys.
narrow = Terminal(upmu, "top", "-i", "0.1", "-p", pid, columns=80)
narrow.read_until(b"WAITS FOR", b"mutex the till", b"held by", b"filter, arrows: scroll")
assert b"INVOL/s" not in narrow.seen, narrow.seen
os.write(narrow.fd, b"q")
assert narrow.status() == 0, narrow.seen
# A line that is cut ends in dots.
cut = Terminal(upmu, "top", "-i", "0.1", "-p", pid, columns=60)
cut.read_until(b"mutex the...", redrawn=True)
os.write(cut.fd, b"q")
assert cut.status() == 0, cut.seen
# A thread that another one joins is shown by its name.
def end_command(terminal):
    os.kill(int(open(f"/proc/{terminal.pid}/task/{terminal.pid}/children").read().split()[0]), signal.SIGALRM)
    assert terminal.status() == 142, terminal.seen[-500:]
joining = Terminal(upmu, "top", "-i", "0.1", "-o", directory + ".joining", "--", scene, "many", "1", "2000000000000")
joining.read_until(b"OTHER WAITS", b"thread pairs_of_one", redrawn=True)
end_command(joining)
stuck = Terminal(upmu, "top", "-i", "0.1", "-o", directory, "--", scene, "stuck", "600")
stuck.read_until(b"DEADLOCK", b"2 threads wait for each other", b"\x1b[41m")
end_command(stuck)
PYTHON
kill "$pid" 2>/dev/null
wait "$recorder" 2>/dev/null

# A process without a recorder: its threads as /proc shows them.
expect 0 "$UPMU" top --json -i 0.1 -n 2 -p $$
[ "$(wc -l <"$work/out")" -eq 2 ] || fail "documents of a process without a recorder: $(cat "$work/out")"

# What cannot be watched.
expect 2 "$UPMU" top
expect 2 "$UPMU" top -p 1 -- true
expect 2 "$UPMU" top -p 0
expect 2 "$UPMU" top -i 0 -p 1
expect 2 "$UPMU" top --mode some -- true
expect 1 "$UPMU" top --json -p "$recorder" # it has ended
empty out
has err "there is no process $recorder"
expect 127 "$UPMU" top --json -- "$work/no-such-program"
# Where nothing can be drawn, the command is not started.
expect 1 "$UPMU" top -o "$work/no-screen" -- touch "$work/started"
has err "json"
[ ! -e "$work/started" ] || fail "the command was started"
finish
