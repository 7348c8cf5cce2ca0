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
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
gcc -g -O2 -pthread "$here/watch/locks.c" -o "$tmp/locks"
BARS=$bars JSON=$json HEADING=$heading ROUNDS=$rounds SECONDS_EACH=$seconds python3 "$here/watch/watch.py" "$upmu" "$tmp"
