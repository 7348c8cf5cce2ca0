#!/usr/bin/env bash
# How many times longer a given size of recording lasts in the default mode than in mode `all`, on five programs.
#
#     bench/bench_retention.sh UPMU [--short] [--no-bars] [--json] [--no-heading]
#
# Both modes record the same work: the ratio is that of the bytes on disk, with the heads of the files, which are the same in
# both. The last columns are the hours that a GiB holds at the rate of each run. Programs differ in what they do with locks: a
# database and a cache acquire them without waiting, the compressor mostly waits, and waits are events in both modes.
# Exit status: 0 all bars met, 1 one missed or a program failed, 77 skipped.
set -euo pipefail

upmu=${1:?usage: bench_retention.sh UPMU [--short] [--no-bars] [--json] [--no-heading]}
shift
size=10 slack=1 json=0 heading=1
for option; do
    case $option in
    --short) size=1 slack=5 ;; # small recordings are mostly heads: bars of less than that are shown, not judged
    --no-bars) slack=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_retention.sh: unknown option $option" >&2
        exit 2
        ;;
    esac
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
seq $((size * 700000)) >"$tmp/text"
cat >"$tmp/work.py" <<'EOF'
import queue, sys, threading

tasks = queue.Queue(64)

def worker():
    while (n := tasks.get()) is not None:
        sum(range(n % 200))

threads = [threading.Thread(target=worker) for _ in range(4)]
for thread in threads:
    thread.start()
for i in range(int(sys.argv[1])):
    tasks.put(i)
for _ in threads:
    tasks.put(None)
for thread in threads:
    thread.join()
EOF

# A program's name, the ratio that it must have, and its command.
program()
{
    case $1 in
    db_bench) work=(db_bench "--benchmarks=fillseq,readrandom" --num=$((size * 10000)) --threads=4 --db="$tmp/db") ;;
    cache_bench) work=(cache_bench --threads=4 --ops_per_thread=$((size * 5000)) --cache_size=8388608) ;;
    sqlite3) work=(sqlite3 "$tmp/sql" "drop table if exists t; create table t(a integer primary key, b text);
        with recursive c(x) as (select 1 union all select x + 1 from c where x < $((size * 20000)))
        insert into t select x, hex(x) from c; insert into t(b) select b from t; select count(*) from t") ;;
    python3) work=(python3 "$tmp/work.py" $((size * 5000))) ;;
    pbzip2) work=(pbzip2 -p4 -b1 -k -c "$tmp/text") ;;
    esac
}

# recorded MODE: run the program; sets `bytes` on disk and `ns`.
recorded()
{
    local begin
    rm -rf "$tmp/recording" "$tmp/db"
    begin=$(date +%s%N)
    "$upmu" record --mode "$1" -o "$tmp/recording" -- "${work[@]}" >"$tmp/out" 2>"$tmp/err" </dev/null || return 1
    ns=$(($(date +%s%N) - begin))
    bytes=$(du -s --block-size=1 "$tmp/recording" | cut -f 1)
}

status=0 measured=0
# row NAME BAR: one program
row()
{
    local name=$1 bar=$2 usual_bytes usual_ns ratio verdict
    if ! command -v "$name" >/dev/null; then
        if [ $json -eq 1 ]; then
            printf '{"bench":"retention","name":"%s","verdict":"skipped","because":"it is not installed"}\n' "$name"
        else
            printf '%-14s skipped, because it is not installed\n' "$name"
        fi
        return
    fi
    program "$name"
    if ! recorded holders || { usual_bytes=$bytes usual_ns=$ns; ! recorded all; }; then
        echo "bench_retention FAILED, because $name failed: $(tail -n 3 "$tmp/err")" >&2
        status=1
        return
    fi
    measured=1
    ratio=$(awk -v all="$bytes" -v usual="$usual_bytes" 'BEGIN { printf "%.2f", all / usual }')
    verdict=$(awk -v ratio="$ratio" -v bar="$bar" -v slack="$slack" 'BEGIN {
        judged = slack == 1 || (slack > 1 && bar >= slack)
        print(!judged ? "-" : ratio * slack >= bar ? "met" : "MISSED") }')
    [ "$verdict" != MISSED ] || status=1
    awk -v json=$json -v name="$name" -v usual="$usual_bytes" -v all="$bytes" -v usual_ns="$usual_ns" -v all_ns="$ns" \
        -v ratio="$ratio" -v bar="$bar" -v verdict="$verdict" 'BEGIN {
        gib = 1024 ^ 3; hour = 3600e9
        if (json)
            printf "{\"bench\":\"retention\",\"name\":\"%s\",\"default_bytes\":%d,\"all_bytes\":%d,\"ratio\":%s,\"bar\":%s,\"verdict\":\"%s\"}\n", name, usual, all, ratio, bar, verdict
        else
            printf "%-14s %10.0f %10.0f %8.2f x %7.1f x  %-7s %10.2f %10.2f\n", name, usual / 1024, all / 1024, ratio, bar, verdict,
                gib / usual * usual_ns / hour, gib / all * all_ns / hour
    }'
}

[ $heading -eq 0 ] || [ $json -eq 1 ] || printf '%-14s %10s %10s %10s %9s  %-7s %10s %10s\n' "mode all, a GiB" "default KiB" \
    "all KiB" "longer by" "bar" verdict "hours/GiB" "in all"
row db_bench 10
row cache_bench 10
row sqlite3 5
row python3 2
row pbzip2 1.1
[ $measured -eq 1 ] || [ $status -ne 0 ] || exit 77
exit $status
