#!/usr/bin/env bash
# attack.sh BUILD TOPIC [short]: what is done to recorded programs beside running them. The last line has the numbers.
#
#   kills       SIGKILL at random moments; what was written is read              1,000 (short: 20)
#   limits      NOFILE, AS, FSIZE, NPROC, MEMLOCK, full and read-only disks, a working directory that is gone
#   threads     5,000 threads at once, 100,000 short ones (short: 200, 1,000)
#   locks       a million locks
#   preloads    faketime, jemalloc, tcmalloc, eatmydata, LTTng, before and after the recorder, as installed
#   commands    short programs of many kinds, as installed: same output and status
#   faults      each system call of a recording fails, with each error (short: some)
set -euo pipefail
build=$1 topic=$2 short=${3-}
bin=$build/tests/sync lib=$build/lib
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../sync/common.sh"
cases=0 lost=0 now=0 left_out='' losers=''

# number FULL SHORT
number()
{
    if [ "$short" = short ]; then echo "$2"; else echo "$1"; fi
}

# lost_in DIR: events lost; without a readable recording nothing was promised
lost_in()
{
    "$bin/sync_dump" "$1" 2>/dev/null | awk '/^process/ { sub(/.* lost=/, ""); sum += $0 } END { print sum + 0 }' || true
}

# same NAME SETUP COMMAND...: after SETUP the same output and status, bare and recorded in two modes, both with the libraries
# `before` and `after` ours
same()
{
    local name=$1 setup=$2 mode bare=0 status
    shift 2
    # shellcheck disable=SC2030,SC2031
    { (eval "$setup"; export LD_PRELOAD="${before-}${after-}"; exec timeout 120 "$@") >"$scratch/bare"; } 2>/dev/null || bare=$?
    for mode in contended all; do
        rm -rf "$scratch/recording"
        status=0
        # shellcheck disable=SC2030
        { (eval "$setup"; export UPMU_TRACE=${trace:-$scratch/recording} UPMU_SYNC=$mode
            export LD_PRELOAD="${before-}$preload${after-}"; exec timeout 240 "$@") >"$scratch/recorded"; } 2>/dev/null ||
            status=$?
        [ "$status" -eq "$bare" ] || fail "$name, $mode: status $status, bare $bare"
        cmp -s "$scratch/bare" "$scratch/recorded" ||
            fail "$name, $mode: $(diff "$scratch/bare" "$scratch/recorded" | head -3)"
        now=$(lost_in "${trace:-$scratch/recording}")
        [ "$now" -eq 0 ] || losers="$losers
$name, $mode: $now"
        lost=$((lost + now))
        cases=$((cases + 1))
    done
}

kills()
{
    "$build/tests/trace/trace_survive_kill" "$(number 1000 20)"
}

limits()
{
    local program=$bin/sync_standard n
    for n in 20 6 4; do
        same "NOFILE $n" "ulimit -n $n" "$program"
    done
    for n in 4000000 1000000 300000 150000; do
        same "AS $n KiB" "ulimit -v $n" "$program"
    done
    for n in 100000 100 1 0; do
        same "FSIZE $n" "ulimit -f $n" "$bin/sync_answers"
    done
    same "MEMLOCK 0" "ulimit -l 0" "$program"
    same "a working directory that is gone" "mkdir $scratch/gone; cd $scratch/gone; rmdir $scratch/gone" "$program"
    trace=/proc/upmu same "a directory that cannot be made" : "$program"
    if [ "$(id -u)" -eq 0 ]; then
        mkdir "$scratch/small" "$scratch/fixed"
        mount -t tmpfs -o size=300k none "$scratch/small"
        trace=$scratch/small/r same "a full disk" : "$program"
        umount "$scratch/small"
        mount -t tmpfs -o ro none "$scratch/fixed"
        trace=$scratch/fixed/r same "a read-only disk" : "$program"
        umount "$scratch/fixed"
        chmod 755 "$scratch"
        for n in 8 3; do
            same "NPROC $n" "ulimit -u $n; chmod 777 $scratch" setpriv --reuid=65534 --regid=65534 --clear-groups "$program"
        done
    else
        left_out="; full disks and NPROC need root"
    fi
    echo "$cases cases, $lost events lost and counted$left_out"
}

threads()
{
    local at_once total
    at_once=$(number 5000 200)
    total=$(number 100000 1000)
    same "$at_once threads at once" : "$bin/sync_many_threads" "$at_once" "$at_once"
    same "$total short threads" : "$bin/sync_many_threads" 1 "$total"
    [ "$lost" -eq 0 ] || fail "$lost events lost:$losers"
    echo "$at_once at once, $total short ones, none lost"
}

preloads()
{
    local name file
    # Otherwise libfaketime lets a program of its own wait for minutes: it computes no time for pthread_cond_clockwait().
    export FAKETIME_DONT_FAKE_MONOTONIC=1
    for name in faketime/libfaketime libjemalloc libtcmalloc libeatmydata liblttng-ust-pthread-wrapper liblttng-ust-libc-wrapper; do
        file=$(find /usr/lib -name "$(basename "$name")*.so*" 2>/dev/null | sort | head -1)
        if [ -z "$file" ]; then
            left_out="$left_out $(basename "$name")"
            continue
        fi
        before="$file:" after='' same "$name before" : "$bin/sync_standard"
        before='' after=":$file" same "$name after" : "$bin/sync_standard"
    done
    [ "$lost" -eq 0 ] || fail "$lost events lost:$losers"
    echo "$cases cases, none lost; not installed:${left_out:- none}"
}

# One command a line; each prints the same whenever it is run.
commands()
{
    local line data=$scratch/data
    seq 60000 | awk '{ print ($1 * 7919) % 60013, "line", $1 }' >"$data"
    while read -r line; do
        if ! command -v "${line%% *}" >/dev/null; then
            left_out="$left_out ${line%% *}"
            continue
        fi
        same "$line" "cd $scratch" bash -c "$line"
    done <<END
sort --parallel=4 -S 1M -n data
tar cf - --mtime=@0 data
gzip -nc data
bzip2 -c data
7z a -so -mmt=4 x.7z data
gcc -S -O2 -o - -x c $(dirname "${BASH_SOURCE[0]}")/../sync/programs/memory/many_threads.c
make --version
perl -e 'use threads; print map { \$_->join } map { my \$n = \$_; threads->create(sub { my \$s = 0; \$s += \$_ * \$n for 1 .. 2000; "\$s\n" }) } 1 .. 8'
python3 -c 'import concurrent.futures as f; print(list(f.ThreadPoolExecutor(4).map(lambda n: sum(range(n)), range(100))))'
python3 -c 'import multiprocessing as m; p = m.Pool(3); print(p.map(abs, range(-50, 0)))'
ruby -e 'puts 8.times.map { |n| Thread.new { (1..1000).sum * n } }.map(&:value)'
php -r 'echo md5(file_get_contents("data"));'
lua5.4 -e 'print(("x"):rep(1000):len())'
tclsh <<<'puts [expr 6 * 7]'
guile -c '(use-modules (ice-9 threads)) (display (par-map (lambda (n) (* n n)) (list 1 2 3 4 5)))'
node -e 'console.log(require("crypto").createHash("sha256").update("x").digest("hex"))'
openssl dgst -sha256 data
sqlite3 :memory: 'select sum(value) from generate_series(1, 1000)'
git hash-object data
bash -c 'for i in 1 2 3; do (echo \$i) ; done; wait'
find /usr/include/linux -name 'p*.h'
awk '{ s += \$1 } END { print s }' data
sed -n '1~1000p' data
xmllint --version
curl -s file://$data
gdb -batch -ex 'print 6 * 7'
cmake -E echo done
babeltrace2 --version
valgrind -q true
xsltproc --version
rustc --version
go version
java -version
mono --version
clang --version
END
    [ "$lost" -eq 0 ] || fail "$lost events lost:$losers"
    echo "$((cases / 2)) commands, none lost; not installed:${left_out:- none}"
}

case $topic in
commands) commands ;;
kills) kills ;;
limits) limits ;;
threads) threads ;;
locks) bash "$(dirname "${BASH_SOURCE[0]}")/../sync/programs/memory/many_locks.sh" "$bin" "$lib" ;;
preloads) preloads ;;
faults) "$build/tests/faults/faults_each_call" "$(number all some)" | tail -1 ;;
*) fail "there is no topic '$topic'" ;;
esac
