#!/usr/bin/env bash
# program.sh BIN LIB NAME [PROGRAM]: a third-party program gives the same output traced and untraced, and its
# recording has what it did.
set -euo pipefail
bin=$1 lib=$2 name=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

data=$scratch/data threads=2 cond=yes locks=yes

# Five MB that compress neither well nor badly.
some_data()
{
    find /usr/include /usr/share/doc -maxdepth 2 -type f -size -60k -print0 2>/dev/null | sort -z >"$scratch/files"
    for i in $(seq 1 40); do
        head -z -n $((i * 7)) "$scratch/files" | xargs -0 cat 2>/dev/null || true
    done | head -c 5000000 >"$data"
}

# preloaded_with PATTERN: pbzip2 with an allocator of its own, loaded before us and behind us in turn
preloaded_with()
{
    local allocator
    needs pbzip2
    allocator=$(ldconfig -p | sed -n "s/.*$1.*=> //p" | head -1)
    if [ -z "$allocator" ]; then
        echo "skipped, because $name is not installed"
        exit 77
    fi
    some_data
    eval "work()
    {
        env LD_PRELOAD='$allocator' \"\$@\" LD_PRELOAD='$allocator $preload' pbzip2 -c -p4 -b1 '$data' | cksum
        \"\$@\" LD_PRELOAD='$preload $allocator' pbzip2 -c -p4 -b1 '$data'
    }"
}

# For each: what it needs, what it works on, and work(): `work env VAR=VALUE...` writes all that must not change.
case $name in
pbzip2)
    needs pbzip2
    some_data
    work() { "$@" pbzip2 -c -p4 -b1 "$data"; }
    ;;
xz)
    needs xz
    some_data
    work() { "$@" xz -T2 -1 --block-size=1MiB -c "$data"; }
    ;;
zstd)
    needs zstd
    some_data
    work() { "$@" zstd -q -T4 -3 -B1MB -c "$data"; }
    ;;
pigz)
    needs pigz
    some_data
    work() { "$@" pigz -p4 -1 -n -c "$data"; }
    ;;
sqlite3)
    needs sqlite3
    threads=0 cond=''
    work()
    {
        "$@" sqlite3 ":memory:" "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
            INSERT INTO t SELECT i, hex(i * 7919) FROM n; CREATE INDEX x ON t(b);
            SELECT count(*), sum(length(b)), max(b) FROM t;"
    }
    ;;
python3)
    needs /usr/bin/python3
    threads=8
    work() { "$@" /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/threads.py"; }
    ;;
git)
    needs git
    cond=''
    export HOME=$scratch GIT_CONFIG_NOSYSTEM=1
    git init -q "$scratch/repository"
    cd "$scratch/repository"
    # Files in a row of versions each, so that there are deltas to resolve.
    for version in 1 2 3; do
        for i in $(seq 1 120); do
            { seq "$i" $((i + 400)); echo "version $version of file $i"; seq $((i * version)) $((i * version + 300)); } >"$i"
        done
        git add .
        git -c user.name=tester -c user.email=tester@example.org commit -q -m "version $version"
    done
    git rev-list --objects --all | git pack-objects -q --threads=1 --stdout >"$scratch/pack"
    work()
    {
        rm -f "$scratch/index"
        "$@" git index-pack --threads=4 --strict -o "$scratch/index" "$scratch/pack"
        cat "$scratch/index"
    }
    ;;
rocksdb)
    needs db_bench ldb
    work()
    {
        rm -rf "$scratch/database"
        # Speeds and progress change with each run: what was found, and what is there, does not.
        "$@" db_bench --db="$scratch/database" --benchmarks=fillseq,overwrite,compact,readrandom --num=20000 --seed=7 \
            --threads=4 --max_background_jobs=4 2>&1 | grep -o '([0-9]* of [0-9]* found)'
        "$@" ldb --db="$scratch/database" scan --key_hex | cut -d' ' -f1
    }
    ;;
openmp)
    program=${4-}
    if [ -z "$program" ]; then
        echo "skipped, because this compiler comes without an OpenMP runtime"
        exit 77
    fi
    # The runtime's own locks wait in the kernel without a call that can be seen: only its threads are.
    threads=3 cond='' locks=''
    work() { "$@" "$program"; }
    ;;
ffmpeg)
    needs ffmpeg
    work()
    {
        "$@" ffmpeg -nostdin -loglevel error -f lavfi -i testsrc2=size=640x360:rate=25:duration=4 -threads 4 -c:v mpeg4 \
            -flags +bitexact -filter_threads 4 -vf hue=h=t*40,boxblur=3 -f framemd5 -
        "$@" ffmpeg -nostdin -loglevel error -f lavfi -i sine=frequency=440:duration=20 -c:a flac -f framemd5 -
    }
    ;;
java)
    needs java javac
    # Its parked threads wait through condition variables; at its end many of them still do.
    cp "$(dirname "${BASH_SOURCE[0]}")/Work.java" "$scratch"
    javac -d "$scratch" "$scratch/Work.java"
    work() { "$@" java -Xmx256m -cp "$scratch" Work; }
    ;;
node)
    needs node
    work() { "$@" node "$(dirname "${BASH_SOURCE[0]}")/work.js"; }
    ;;
jemalloc) preloaded_with 'libjemalloc\.so' ;;
tcmalloc) preloaded_with 'libtcmalloc_minimal\.so' ;;
*) fail "unknown program $name" ;;
esac

work env >"$scratch/plain" 2>"$scratch/plain.err" || fail "untraced: status $?: $(tail -5 "$scratch/plain.err")"
[ -s "$scratch/plain" ] || fail "untraced: it does nothing"
for mode in contended holders all; do
    work env UPMU_TRACE="$scratch/$mode" UPMU_SYNC=$mode LD_PRELOAD="$preload" >"$scratch/out" 2>"$scratch/err" ||
        fail "$mode: status $?: $(tail -5 "$scratch/err")"
    cmp "$scratch/plain" "$scratch/out" || fail "$mode: another output"
    cmp "$scratch/plain.err" "$scratch/err" || fail "$mode: other messages: $(cat "$scratch/err")"
    events "$scratch/$mode" "$scratch/events"
    [ -z "$locks" ] || [ "$(count "$scratch/events" '^counts')" -gt 0 ] || fail "$mode: no lock was counted"
    expect "$scratch/events" 0 '^misuse'
    [ "$(count "$scratch/events" '^start')" -ge $threads ] ||
        fail "$mode: $(count "$scratch/events" '^start') threads instead of $threads were seen"
    if [ -n "$cond" ]; then
        # A thread may still wait when the program ends.
        waits=$(count "$scratch/events" '^cond_wait') wakes=$(count "$scratch/events" '^cond_wake')
        created=$(count "$scratch/events" '^create')
        [ "$waits" -gt 0 ] || fail "$mode: no waits were seen"
        [ "$wakes" -le "$waits" ] && [ $((waits - wakes)) -le "$created" ] ||
            fail "$mode: $waits waits, $wakes of them ended, with $created threads"
    fi
    echo "$name, $mode: $(grep -c -v '^module' "$scratch/events") events, the same output"
done
