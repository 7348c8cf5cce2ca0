#!/usr/bin/env bash
# A program with a million lock events a second beside the same while `upmu top` or a subscription of `upmu serve` watches it, once a
# second: CPU time that the program takes more, and that the watcher takes.
#
#     bench/bench_watch.sh UPMU [--short] [--no-bars] [--json] [--no-heading]
#
# Spans with and without the watcher alternate, and all numbers are CPU time; the first documents of a watcher are not in them. The
# program keeps a ring, since growing files make its CPU time scatter. What it takes more has its standard error beside it: a bar is
# missed only if the difference is more than twice that.
# Exit status: 0 all bars met, 1 one missed or a program failed, 77 skipped.
set -euo pipefail

upmu=${1:?usage: bench_watch.sh UPMU [--short] [--no-bars] [--json] [--no-heading]}
shift
bars=1 json=0 heading=1 rounds=16 seconds=2
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
cat >"$tmp/locks.c" <<'C'
/* Two threads take eight mutexes in turn, half a million times a second together, until the input ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 2, LOCKS = 8, PAIRS = 2500, STEP_NS = 10000000 };
static pthread_mutex_t locks[THREADS][LOCKS];
static atomic_bool ends;

static void *work(void *arg)
{
    pthread_mutex_t *mine = arg;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!ends) {
        for (int i = 0; i < PAIRS; i++) {
            pthread_mutex_lock(&mine[i % LOCKS]);
            pthread_mutex_unlock(&mine[i % LOCKS]);
        }
        next.tv_nsec += STEP_NS;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        for (int k = 0; k < LOCKS; k++)
            pthread_mutex_init(&locks[i][k], NULL);
        pthread_create(&threads[i], NULL, work, locks[i]);
    }
    while (getchar() != EOF)
        ;
    ends = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
C
gcc -g -O2 -pthread "$tmp/locks.c" -o "$tmp/locks"
BARS=$bars JSON=$json HEADING=$heading ROUNDS=$rounds SECONDS_EACH=$seconds python3 - "$upmu" "$tmp" <<'PY'
import glob, json, os, signal, statistics, subprocess, sys, time
upmu, tmp = sys.argv[1:]
bars, as_json, heading, rounds, seconds = (int(os.environ[k]) for k in ("BARS", "JSON", "HEADING", "ROUNDS", "SECONDS_EACH"))


def cpu(pids):
    """Seconds that these processes have run, by their CPU-time clocks (clock_getcpuclockid())."""
    return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids) / 1e9


def children(pid):
    return [pid] + [p for f in glob.glob(f"/proc/{pid}/task/*/children") for c in open(f).read().split() for p in children(int(c))]


def span(target, watchers=()):
    """CPU seconds a second of the program, and of what watches it."""
    at, own, theirs = time.monotonic(), cpu([target]), cpu(watchers)
    time.sleep(seconds)
    now, own, theirs = time.monotonic(), cpu([target]) - own, cpu(watchers) - theirs
    return own / (now - at), theirs / (now - at)


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


program = subprocess.Popen([upmu, "record", "-m", "all", "--ring", "16M", "-o", f"{tmp}/recording", "--", f"{tmp}/locks"], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
rows, missed = [], 0
try:
    target = None
    while not target:
        target = next((p for p in children(program.pid) if os.readlink(f"/proc/{p}/exe") == f"{tmp}/locks"), None)
        time.sleep(0.1)
    for name, watch in (("upmu top", top), ("upmu serve", serve)):
        alone, watched, shares, rates = [span(target)[0]], [], [], []
        for _ in range(rounds):
            watcher, update = watch(target)
            try:
                update()
                update()
                own, share = span(target, children(watcher.pid))
                document = update()
                rates.append(document["events"] / document["interval_ns"] * 1e9)
            finally:
                watcher.send_signal(signal.SIGTERM)
                watcher.wait()
            watched.append(own)
            shares.append(100 * share)
            alone.append(span(target)[0])
        ratios = [2 * w / (a + b) for a, w, b in zip(alone, watched, alone[1:])]
        error = statistics.stdev(ratios) / len(ratios) ** 0.5 if rounds > 1 else 0
        rows += [(f"events a second, {name}", statistics.median(rates), 0, None, ""),
                 (f"program, more CPU time, {name}", 100 * statistics.mean(ratios) - 100, 100 * error, 1, "%"),
                 (f"{name}, share of a CPU", statistics.median(shares), 0, 10, "%")]
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
