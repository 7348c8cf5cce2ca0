#!/usr/bin/env bash
# Constructs of OpenMP, recorded in full by upmu record --openmp, beside the same program alone: nanoseconds added to each; and the
# recorded work and waits beside the program's own clock.
#
#     bench/bench_openmp.sh UPMU [--short] [--no-bars] [--json] [--no-heading]
#
# One thread, so that no construct waits; gcc with libgomp and, if it is installed, Clang with LLVM's libomp. The program runs
# alternately alone, recorded into a ring, with libupmu_omp preloaded but off, and with the least that a recorder of the same
# events does (openmp/floor.c: a tick and 16 bytes each). The median of the runs counts, each with its least: one run in eight is 20 ns
# below the others, by where its memory is. Bars are in nanoseconds, where one tick costs a few;
# where the floor alone is above its bar, which a slow tick makes it, the bar is 1.5 times the floor. Bars of the short form are three
# times as high.
#
# The programs of tests/openmp print how long each of two threads worked, and how long the region lasted. Each thread has its own CPU:
# one that is descheduled in the runtime is at work by its events. In a growing file the switch to a larger packet is, too: 0.2 ms. The best of the rounds counts, for the worst thread; no bar in the
# short form.
# Exit status: 0 all bars met, 1 one missed or a program failed, 77 skipped.
set -euo pipefail

upmu=${1:?usage: bench_openmp.sh UPMU [--short] [--no-bars] [--json] [--no-heading]}
shift
rounds=10 bars=1 json=0 heading=1 slack=1
for option; do
    case $option in
    --short) rounds=1 slack=3 ;;
    --no-bars) bars=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_openmp.sh: unknown option $option" >&2
        exit 2
        ;;
    esac
done
command -v gcc >/dev/null || { echo "skipped, because gcc is not installed"; exit 77; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset "${!UPMU_@}" "${!OMP_@}" LD_PRELOAD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/constructs.c" <<'C'
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { BATCHES = 200, N = 500 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static volatile int sink;
static omp_lock_t lock;

static void critical(int n)
{
    for (int i = 0; i < n; i++) {
#pragma omp critical
        sink = i;
    }
}

static void set_lock(int n)
{
    for (int i = 0; i < n; i++) {
        omp_set_lock(&lock);
        sink = i;
        omp_unset_lock(&lock);
    }
}

static void barrier(int n)
{
    for (int i = 0; i < n; i++) {
#pragma omp barrier
        sink = i;
    }
}

static void region(int n)
{
    for (int i = 0; i < n; i++) {
#pragma omp parallel num_threads(1)
        sink = i;
    }
}

/* The least of the batches. */
static void measure(const char *name, void (*loop)(int n))
{
    double least = 1e9;
    for (int b = 0; b < BATCHES; b++) {
        double begin = now();
        loop(N);
        double took = (now() - begin) / N;
        least = took < least ? took : least;
    }
    printf("%s %.2f\n", name, least);
}

int main(void)
{
    omp_init_lock(&lock);
#pragma omp parallel num_threads(1)
    {
        measure("critical", critical);
        measure("lock", set_lock);
        measure("barrier", barrier);
    }
    measure("region", region);
    return 0;
}
C
gcc -O2 -fopenmp "$tmp/constructs.c" -o "$tmp/libgomp" 2>"$tmp/err" || { echo "skipped, because gcc cannot link OpenMP: $(head -1 "$tmp/err")"; exit 77; }
! command -v clang >/dev/null || clang -O2 -fopenmp "$tmp/constructs.c" -o "$tmp/libomp" 2>/dev/null || true
for runtime in libgomp libomp; do
    gcc -O2 -D_GNU_SOURCE -fPIC -shared -ftls-model=initial-exec "-DFLOOR_${runtime^^}" -I"$here/../lib" "$here/openmp/floor.c" \
        -o "$tmp/$runtime.floor.so" -ldl
done
works=(imbalance barriers loops) # critical sections of libgomp wake the next thread after the event of their end
if [ "$(nproc)" -ge 2 ]; then
    gcc -O1 -g -fopenmp "$here/../tests/openmp/subject.c" -o "$tmp/libgomp.work"
    [ ! -x "$tmp/libomp" ] || clang -O1 -g -fopenmp "$here/../tests/openmp/subject.c" -o "$tmp/libomp.work"
fi
export OMP_NUM_THREADS=1
preloaded=$("$upmu" record --openmp -o "$tmp/where" -- sh -c "tr '\\0' '\\n' </proc/self/environ" 2>/dev/null | sed -n 's/^LD_PRELOAD=//p')
for round in $(seq "$rounds"); do
    for runtime in libgomp libomp; do
        [ -x "$tmp/$runtime" ] || continue
        "$tmp/$runtime" >>"$tmp/$runtime.bare"
        LD_PRELOAD=$preloaded "$tmp/$runtime" >>"$tmp/$runtime.off"
        LD_PRELOAD=$tmp/$runtime.floor.so "$tmp/$runtime" >>"$tmp/$runtime.floor"
        "$upmu" record --openmp --ring 1M -o "$tmp/$runtime.$round" -- "$tmp/$runtime" >>"$tmp/$runtime.on" 2>"$tmp/err" ||
            { echo "bench_openmp FAILED: $(cat "$tmp/err")" >&2; exit 1; }
        rm -rf "${tmp:?}/$runtime.$round"
        [ -x "$tmp/$runtime.work" ] || continue
        for what in "${works[@]}"; do
            OMP_WAIT_POLICY=passive OMP_PROC_BIND=true "$upmu" record --openmp --ring 1M -o "$tmp/work" -- "$tmp/$runtime.work" "$what" 2 40 \
                >"$tmp/$runtime.$what.$round.truth" 2>"$tmp/err" || { echo "bench_openmp FAILED: $(cat "$tmp/err")" >&2; exit 1; }
            DEBUGINFOD_URLS='' "$upmu" report --openmp --json "$tmp/work" >"$tmp/$runtime.$what.$round.json"
            rm -rf "${tmp:?}/work"
        done
    done
done
BARS=$bars JSON=$json HEADING=$heading SLACK=$slack python3 - "$tmp" "$rounds" "${works[@]}" <<'PY'
import json, os, statistics, sys
rounds, works = int(sys.argv[2]), sys.argv[3:]
bars, as_json, heading, slack = (int(os.environ[k]) for k in ("BARS", "JSON", "HEADING", "SLACK"))
most = {("libomp", "on"): {"critical": 15, "lock": 18, "barrier": 50, "region": 60}, ("libgomp", "on"): {"critical": 25, "lock": 25, "region": 40},
        ("libomp", "off"): {"critical": 1, "barrier": 1}}


def typical(path):
    runs = {}
    for line in open(path):
        name, ns = line.split()
        runs.setdefault(name, []).append(float(ns))
    return {name: statistics.median(all_ns) for name, all_ns in runs.items()}


def differences(path, what):
    """In percent: work of the worst thread against its own clock; its work and waits against the time that the program saw the region take,
    if there is nothing else in it."""
    words = [line.split() for line in open(path + ".truth")]
    elapsed = next(int(w[1]) for w in words if w[0] == "region")
    region = next(r for r in json.load(open(path + ".json"))["processes"][0]["regions"] if r["function"] == what)
    thread = {m["number"]: m for m in region["threads"]}
    work = max(abs(thread[int(w[1])]["work_ns"] - int(w[2])) / int(w[2]) for w in words if w[0] == "work")
    return 100 * work, None if what == "imbalance" else 100 * max(abs(m["time_ns"] - elapsed) for m in thread.values()) / elapsed


missed = 0
if heading and not as_json:
    print("%-44s %8s %8s %8s %8s %8s  %s" % ("construct of OpenMP, one thread", "ns", "bare ns", "floor", "added", "bar", "verdict"))
for runtime in "libgomp", "libomp":
    if not os.path.exists(f"{sys.argv[1]}/{runtime}.on"):
        print("%-44s skipped, because clang or %s is not installed" % (runtime, runtime), file=sys.stderr if as_json else sys.stdout)
        continue
    bare, floor = (typical(f"{sys.argv[1]}/{runtime}.{way}") for way in ("bare", "floor"))
    for way, title in ("on", "recorded"), ("off", "preloaded, off"):
        for name, ns in typical(f"{sys.argv[1]}/{runtime}.{way}").items():
            bar = most.get((runtime, way), {}).get(name)
            added, above = ns - bare[name], (floor[name] - bare[name] if way == "on" else 0.0)
            below = bar is not None and above > bar
            asked = bar
            if below:
                bar = round(1.5 * above, 1)
            verdict = "-" if bar is None or not bars else "met" if added <= bar * slack else "MISSED"
            missed |= verdict == "MISSED"
            verdict += f" ({asked} is below the floor)" if below else ""
            if as_json:
                print(json.dumps({"bench": "openmp", "name": f"{runtime} {name}, {title}", "ns": ns, "floor_ns": bare[name], "floor_added": above, "added": added,
                                  "bar": bar, "verdict": verdict}))
            else:
                print("%-44s %8.1f %8.1f %8.1f %8.1f %8s  %s" % (f"{runtime}: {name}, {title}", ns, bare[name], above, added,
                                                                 "" if bar is None else bar, verdict))
    for what in works if os.path.exists(f"{sys.argv[1]}/{runtime}.work") else ():
        found = zip(*(differences(f"{sys.argv[1]}/{runtime}.{what}.{r}", what) for r in range(1, rounds + 1)))
        for (title, bar), all_rounds in zip((("work", 0.1), ("work and waits", 1)), found):
            if all_rounds[0] is None:
                continue
            value = min(all_rounds)
            bar = bar if slack == 1 else None
            verdict = "-" if bar is None or not bars else "met" if value <= bar else "MISSED"
            missed |= verdict == "MISSED"
            if as_json:
                print(json.dumps({"bench": "openmp", "name": f"{runtime} {what}, {title} against the program's clock", "percent": value, "bar": bar,
                                  "verdict": verdict}))
            else:
                print("%-44s %33.3f %% %9s  %s" % (f"{runtime}: {what}, {title}, by its clock", value, "" if bar is None else bar, verdict))
sys.exit(missed)
PY
