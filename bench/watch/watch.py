# SPDX-License-Identifier: MIT
"""What it costs to watch a program with a million lock events a second: for bench_watch.sh and scripts/qtcreator.sh.

    watch.py UPMU FOLDER                         records FOLDER/locks, and watches it by `upmu top` and `upmu serve`
    watch.py --ide PID PROGRAM FILE              an IDE that watches PROGRAM now; FILE: see locks.c

From the environment: ROUNDS, SECONDS_EACH; BARS, JSON, HEADING: 0 or 1. Exit status: 0 all bars met, 1 one missed.
"""
import contextlib, glob, json, mmap, os, signal, statistics, struct, subprocess, sys, time

bars, as_json, heading, rounds, seconds = (int(os.environ.get(k, usual)) for k, usual in
                                           (("BARS", 1), ("JSON", 0), ("HEADING", 1), ("ROUNDS", 16), ("SECONDS_EACH", 2)))


def cpu(pids):
    """Seconds that these processes have run, by their CPU-time clocks (clock_getcpuclockid())."""
    return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids) / 1e9


def children(pid):
    return [pid] + [p for f in glob.glob(f"/proc/{pid}/task/*/children") for c in open(f).read().split() for p in children(int(c))]


class Program:
    def __init__(self, pid, pairs):
        self.pid = pid
        while not os.path.exists(pairs) or not os.path.getsize(pairs):
            time.sleep(0.1)
        with open(pairs, "rb") as file:
            self.counter = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
        while self.done() == 0:
            time.sleep(0.1)

    def done(self):
        return struct.unpack("=Q", self.counter[:8])[0]

    def span(self, watchers=()):
        """CPU time and time of a pair, share of a CPU of those that watch, pairs a second."""
        pairs, at, own, theirs = self.done(), time.monotonic(), cpu([self.pid]), cpu(watchers)
        time.sleep(seconds)
        pairs, now, own, theirs = self.done() - pairs, time.monotonic(), cpu([self.pid]) - own, cpu(watchers) - theirs
        return own / pairs, (now - at) / pairs, theirs / (now - at), pairs / (now - at)

    def measured(self, name, watch):
        """Rows of a table; `watch` is a context that gives the processes of a watcher."""
        alone, watched = [self.span()], []
        for _ in range(rounds):
            with watch(self.pid) as watchers:
                watched.append(self.span(watchers))
            alone.append(self.span())
        yield f"events a second, {name}", 2 * statistics.median(w[3] for w in watched), 0, None, ""
        for k, what in enumerate(("CPU time", "time")):
            ratios = [2 * w[k] / (a[k] + b[k]) for a, w, b in zip(alone, watched, alone[1:])]
            error = statistics.stdev(ratios) / len(ratios) ** 0.5 if rounds > 1 else 0
            yield f"program, more {what}, {name}", 100 * statistics.mean(ratios) - 100, 100 * error, 1, "%"
        yield f"{name}, share of a CPU", 100 * statistics.median(w[2] for w in watched), 0, 10, "%"


@contextlib.contextmanager
def ended(watcher):
    try:
        yield watcher
    finally:
        watcher.send_signal(signal.SIGTERM)
        watcher.wait()


@contextlib.contextmanager
def top(target):
    with ended(subprocess.Popen([upmu, "top", "--json", "-p", str(target)], stdout=subprocess.PIPE, text=True)) as watcher:
        for _ in range(2):
            json.loads(watcher.stdout.readline())
        yield children(watcher.pid)


@contextlib.contextmanager
def serve(target):
    with ended(subprocess.Popen([upmu, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)) as watcher:

        def ask(method, **params):
            print(json.dumps({"id": 1, "method": method, "params": params}), file=watcher.stdin, flush=True)
            return json.loads(watcher.stdout.readline())["result"]

        ask("subscribe", target=ask("attach", pid=target)["target"])
        for _ in range(2):
            json.loads(watcher.stdout.readline())["params"]["top"]
        yield children(watcher.pid)


def of_ide(pid):
    """The server of an IDE and its children stop between two spans: then the IDE has nothing to show."""

    def send(number):
        for child in servers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)

    @contextlib.contextmanager
    def ide(_target):
        send(signal.SIGCONT)
        try:
            time.sleep(2)
            yield [p for p in children(pid) if p not in others]
        finally:
            send(signal.SIGSTOP)

    names = {p: open(f"/proc/{p}/cmdline").read().split("\0") for p in children(pid)}
    servers = [p for q, words in names.items() if words[1:2] == ["serve"] for p in children(q)]
    others = [p for q, words in names.items() if words[1:2] == ["record"] for p in children(q)]
    send(signal.SIGSTOP)
    try:
        yield ide
    finally:
        send(signal.SIGCONT)


def recorded(folder):
    """While the program is recorded, which ends with its input."""
    command = [upmu, "record", "-m", "all", "--ring", "16M", "-o", f"{folder}/recording", "--", f"{folder}/locks", f"{folder}/pairs"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as recorder:
        target = None
        while not target:
            time.sleep(0.1)
            target = next((p for p in children(recorder.pid) if os.readlink(f"/proc/{p}/exe") == f"{folder}/locks"), None)
        yield Program(target, f"{folder}/pairs")


if sys.argv[1] == "--ide":
    program = Program(int(sys.argv[3]), sys.argv[4])
    with contextlib.contextmanager(of_ide)(int(sys.argv[2])) as ide:
        rows = list(program.measured("IDE with its server", ide))
else:
    upmu, folder = sys.argv[1:]
    with contextlib.contextmanager(recorded)(folder) as program:
        rows = [row for name, watch in (("upmu top", top), ("upmu serve", serve)) for row in program.measured(name, watch)]
missed = 0
if heading and not as_json:
    print("%-40s %12s %-2s %7s %6s  %s" % ("a million lock events a second", "", "", "+-", "bar", "verdict"))
for name, value, error, bar, unit in rows:
    verdict = "-" if bar is None or not bars else "met" if value <= bar else "MISSED" if value - 2 * error > bar else "undecided"
    missed |= verdict == "MISSED"
    if as_json:
        print(json.dumps({"bench": "watch", "name": name, "value": value, "error": error, "bar": bar, "unit": unit, "verdict": verdict}))
    else:
        print("%-40s %12.2f %-2s %7s %6s  %s" % (name, value, unit, "%.2f" % error if error else "", "" if bar is None else bar, verdict))
sys.exit(missed)
