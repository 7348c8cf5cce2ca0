#!/usr/bin/env bash
# redis.sh BIN LIB: a server with threads for input and output gives the same replies, the same data and the same log
# traced and untraced, under a benchmark that is traced as well; and babeltrace2 reads both recordings.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

needs redis-server redis-cli redis-benchmark
requests=4000

# Replies that depend on nothing but the commands; lists and hashes long enough to be freed by another thread.
{
    echo "SET greeting hello"
    echo "APPEND greeting world"
    for i in $(seq 1 60); do echo "RPUSH list $(seq -s ' ' "$i" $((i + 40)))"; done
    for i in $(seq 1 60); do echo "HSET hash$((i % 7)) field$i value$((i * 7919))"; done
    echo "LRANGE list 0 -1"
    for i in $(seq 0 6); do echo "HGETALL hash$i"; done
    echo "MULTI"
    echo "INCRBY counter 41"
    echo "INCR counter"
    echo "EXEC"
    echo "EVAL \"return {redis.call('GET', 'counter'), redis.call('LLEN', 'list')}\" 0"
    echo "INCR greeting"
    echo "UNLINK list"
    echo "DBSIZE"
    echo "DEBUG DIGEST"
    echo "FLUSHALL ASYNC"
    echo "DBSIZE"
} >"$scratch/commands"

ask()
{
    redis-cli -h 127.0.0.1 -p "$port" "$@"
}

# Whether who answers on the port is ours, and not another test's.
is_ours()
{
    grep -q "^process_id:$server\$" < <(ask INFO server 2>/dev/null | tr -d '\r')
}

# serve NAME [VAR=VALUE...]
serve()
{
    start "$scratch/$1.log" is_ours env "${@:2}" redis-server --port PORT --bind 127.0.0.1 --dir "$scratch" --save '' \
        --appendonly no --io-threads 2 --io-threads-do-reads yes --always-show-logo no --enable-debug-command yes
}

# use NAME [VAR=VALUE...]: benchmark, commands and a clean end; leaves NAME.replies, NAME.tests and NAME.messages
use()
{
    local name=$1 status=0
    shift
    env "$@" redis-benchmark -h 127.0.0.1 -p "$port" --threads 2 -c 32 -P 8 -n $requests -t set,get,incr,lpush,lrange_100 \
        --csv >"$scratch/$name.csv" 2>"$scratch/$name.csv.err" || fail "$name: the benchmark ended with status $?"
    [ ! -s "$scratch/$name.csv.err" ] || fail "$name: the benchmark printed $(cat "$scratch/$name.csv.err")"
    cut -d, -f1 "$scratch/$name.csv" >"$scratch/$name.tests"
    {
        echo "DBSIZE"
        echo "GET counter:__rand_int__"
        echo "LLEN mylist"
        echo "DEBUG DIGEST"
    } | ask >"$scratch/$name.replies"
    ask <"$scratch/commands" >>"$scratch/$name.replies" || fail "$name: redis-cli ended with status $?"
    ask SHUTDOWN NOSAVE >/dev/null 2>&1 || true
    wait $server || status=$?
    server=0
    [ $status -eq 0 ] || fail "$name: the server ended with status $status: $(tail -30 "$scratch/$name.log")"
    # Without process ids, dates and the port.
    sed -E 's/^[0-9]+:([A-Z]) [0-9]+ [A-Z][a-z]+ [0-9]+ [0-9:.]+/\1/; s/p(id|ort)=[0-9]+/p\1=/' "$scratch/$name.log" \
        >"$scratch/$name.messages"
}

# readable DIR FILE: babeltrace2 reads as many events as our reader has written to FILE
readable()
{
    local theirs ours
    if ! command -v babeltrace2 >/dev/null; then
        echo "without babeltrace2, which is not installed"
        return 0
    fi
    babeltrace2 "$1" >"$2.theirs" || fail "babeltrace2 refuses $1"
    theirs=$(grep -c -v -E ' (stack|module|own_cost): ' "$2.theirs")
    ours=$(grep -c -v -E '^(module|process)' "$2")
    [ "$theirs" -eq "$ours" ] || fail "babeltrace2 reads $theirs events of $1, our reader $ours"
}

serve plain UPMU_SYNC=
use plain UPMU_SYNC=
grep -q "^$((requests / 16 * 16))\$" "$scratch/plain.replies" || fail "no benchmark: $(head -4 "$scratch/plain.replies")"
for mode in contended all; do
    serve $mode UPMU_TRACE="$scratch/$mode" UPMU_SYNC=$mode LD_PRELOAD="$preload"
    use $mode UPMU_TRACE="$scratch/bench-$mode" UPMU_SYNC=$mode LD_PRELOAD="$preload"
    for what in tests replies messages; do
        cmp -s "$scratch/plain.$what" "$scratch/$mode.$what" ||
            fail "$mode: other $what: $(diff "$scratch/plain.$what" "$scratch/$mode.$what" | head -20)"
    done
    for part in $mode bench-$mode; do
        events "$scratch/$part" "$scratch/$part.txt"
        expect "$scratch/$part.txt" 0 '^misuse'
        [ "$(count "$scratch/$part.txt" '^counts')" -gt 0 ] || fail "$part: no lock was counted"
        readable "$scratch/$part" "$scratch/$part.txt"
    done
    # One thread for input and output beside the main one, which waits for its lock at once; three for other work.
    expect "$scratch/$mode.txt" 4 '^start'
    [ "$(count "$scratch/$mode.txt" '^block')" -gt 0 ] || fail "$mode: no thread waited"
    [ "$(count "$scratch/$mode.txt" '^thread_name.* name=io_thd_1')" -gt 0 ] || fail "$mode: no threads for input"
    [ "$(count "$scratch/bench-$mode.txt" '^start')" -ge 2 ] || fail "$mode: the benchmark had no threads"
    echo "redis-server, $mode: $(wc -l <"$scratch/$mode.txt") lines of events, the same replies"
done
