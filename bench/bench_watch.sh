#!/usr/bin/env bash
# A program with a million lock events a second beside the same while `upmu top` or a subscription of `upmu serve` watches it, once a
# second: CPU time and time that the program takes more for its work, and CPU time that the watcher takes.
#
#     bench/bench_watch.sh UPMU [--short] [--no-bars] [--json] [--no-heading]
#
# The program has one thread, so that a machine of two processors has one for the watcher (bench/watch/locks.c). Spans with and without
# the watcher alternate; its first documents are not in them. The program keeps a ring, since growing files make its CPU time scatter.
# What it takes more has its standard error beside it: a bar is missed only if the difference is more than twice that.
# Exit status: 0 all bars met, 1 one missed or a program failed, 77 skipped.
set -euo pipefail

upmu=${1:?usage: bench_watch.sh UPMU [--short] [--no-bars] [--json] [--no-heading]}
shift
bars=1 json=0 heading=1 rounds=24 seconds=2
for option; do
    case $option in
    --short) bars=0 rounds=1 seconds=1 ;; # it only has to work
    --no-bars) bars=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_watch.sh: unknown option $option" >&2
        exit 2
        ;;
    esac
done
command -v gcc >/dev/null || { echo "skipped, because gcc is not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
gcc -g -O2 -pthread "$(dirname "${BASH_SOURCE[0]}")/watch/locks.c" -o "$tmp/locks"
BARS=$bars JSON=$json HEADING=$heading ROUNDS=$rounds SECONDS_EACH=$seconds python3 - "$upmu" "$tmp" <<'PY'
import glob, json, mmap, os, signal, statistics, struct, subprocess, sys, time
upmu, tmp = sys.argv[1:]
bars, as_json, heading, rounds, seconds = (int(os.environ[k]) for k in ("BARS", "JSON", "HEADING", "ROUNDS", "SECONDS_EACH"))


def cpu(pids):
    """Seconds that these processes have run, by their CPU-time clocks (clock_getcpuclockid())."""
    return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids) / 1e9


def children(pid):
    return [pid] + [p for f in glob.glob(f"/proc/{pid}/task/*/children") for c in open(f).read().split() for p in children(int(c))]


def span(target, watchers=()):
    """CPU time and time of a pair of the program, and what share of a CPU takes who watches it."""
    pairs, at, own, theirs = done(), time.monotonic(), cpu([target]), cpu(watchers)
    time.sleep(seconds)
    pairs, now, own, theirs = done() - pairs, time.monotonic(), cpu([target]) - own, cpu(watchers) - theirs
    return own / pairs, (now - at) / pairs, theirs / (now - at)


def top(target):
    watcher = subprocess.Popen([upmu, "top", "--json", "-p", str(target)], stdout=subprocess.PIPE, text=True)
    return watcher, lambda: json.loads(watcher.stdout.readline())


def serve(target):
    watcher = subprocess.Popen([upmu, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(method, **params):
        print(json.dumps({"id": 1, "method": method, "params": params}), file=watcher.stdin, flush=True)
        return json.loads(watcher.stdout.readline())["result"]

    ask("subscribe", target=ask("attach", pid=target)["target"])
    return watcher, lambda: json.loads(watcher.stdout.readline())["params"]["top"]


program = subprocess.Popen([upmu, "record", "-m", "all", "--ring", "16M", "-o", f"{tmp}/recording", "--", f"{tmp}/locks", f"{tmp}/pairs"], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
rows, missed = [], 0
try:
    target = None
    while not target or not os.path.getsize(f"{tmp}/pairs"):
        time.sleep(0.1)
        target = next((p for p in children(program.pid) if os.readlink(f"/proc/{p}/exe") == f"{tmp}/locks"), None)
    with open(f"{tmp}/pairs", "rb") as file:
        counter = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)

    def done():
        return struct.unpack("=Q", counter[:8])[0]

    while done() == 0:
        time.sleep(0.1)
    for name, watch in (("upmu top", top), ("upmu serve", serve)):
        alone, watched, rates = [span(target)], [], []
        for _ in range(rounds):
            watcher, update = watch(target)
            try:
                update()
                update()
                watched.append(span(target, children(watcher.pid)))
                document = update()
                rates.append(document["events"] / document["interval_ns"] * 1e9)
            finally:
                watcher.send_signal(signal.SIGTERM)
                watcher.wait()
            alone.append(span(target))
        rows.append((f"events a second, {name}", statistics.median(rates), 0, None, ""))
        for k, what in enumerate(("CPU time", "time")):
            ratios = [2 * w[k] / (a[k] + b[k]) for a, w, b in zip(alone, watched, alone[1:])]
            error = statistics.stdev(ratios) / len(ratios) ** 0.5 if rounds > 1 else 0
            rows.append((f"program, more {what}, {name}", 100 * statistics.mean(ratios) - 100, 100 * error, 1, "%"))
        rows.append((f"{name}, share of a CPU", 100 * statistics.median(w[2] for w in watched), 0, 10, "%"))
finally:
    program.stdin.close()
    program.wait()
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
PY
