#!/usr/bin/env bash
# Idle programs are neither deadlocked nor stalled, recorded or not.
#
#     idle.sh UPMU IDLING DIR
set -euo pipefail
upmu=$1 idling=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"

pids=() names=()
fail() {
    echo "FAILED: $1"
    end_all
    exit 1
}
end_all() {
    local pid
    for pid in "${pids[@]}"; do kill -9 -- "-$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    pids=() names=()
    sed -n 's/^queue //p' ./*.out | xargs -r -n 1 ipcrm -q 2>/dev/null || true
    sed -n 's/^semaphore //p' ./*.out | xargs -r -n 1 ipcrm -s 2>/dev/null || true
}

# start NAME COMMAND...: in the background, if the program is there
start() {
    local name=$1
    shift
    command -v "$1" >/dev/null || return 0
    local record=()
    if [ "$recorded" = 1 ]; then record=("$upmu" record -o "$dir/$name.recording" --); fi
    setsid "${record[@]}" "$@" </dev/null >"$dir/$name.out" 2>&1 &
    pids+=($!)
    names+=("$name")
}

# Threads without signal handlers, that all wait: for a queue, a timer, a descriptor, a child, another process.
cat >threads.py <<'END'
import queue, signal, sys, threading, time, subprocess, os
signal.signal(signal.SIGINT, signal.SIG_DFL)
def later(): time.sleep(1000)
def pipe(): os.read(os.pipe()[0], 1)
def child(): subprocess.run(["sleep", "1000"])
def timed(): queue.Queue().get(timeout=1000)
for what in sys.argv[1:]:
    threading.Thread(target=globals()[what]).start()
threading.Event().wait()
END
cat >nginx.conf <<END
pid $dir/nginx.pid;
error_log $dir/nginx.log;
daemon off;
master_process off;
events {}
http { access_log off; server { listen unix:$dir/nginx.socket; } }
END

mkfifo fifo
kinds=(sigwait signalfd pause nanosleep epoll accept futex_time waitpid mqueue inotify timerfd eventfd io_uring msgrcv semop
    flock fifo tty
    helper_lock helper_post)
start_all() {
    local kind
    for kind in "${kinds[@]}"; do start "in_$kind" "$idling" "$kind"; done
    start sleep sleep 1000
    start tail tail -f /dev/null
    start bash bash -c 'sleep 1000; true'
    start nginx nginx -p "$dir" -c "$dir/nginx.conf"
    start redis redis-server --port 0 --unixsocket "$dir/redis.socket" --save '' --dir "$dir"
    start memcached memcached -u nobody -s "$dir/memcached.socket"
    start dbus dbus-daemon --session --nofork --nopidfile --address="unix:path=$dir/bus"
    start http python3 -m http.server --bind 127.0.0.1 0
    start later python3 threads.py later
    start pipe python3 threads.py pipe
    start child python3 threads.py child
    start timed python3 threads.py timed later
    start perl perl -e 'sleep 1000'
    start pause perl -e 'use POSIX; pause'
    start watch python3 -c 'import select; select.select([], [], [])'
    start sigwait python3 -c 'import signal; signal.sigwait([signal.SIGUSR1])'
    start cron cron -f
    start sqlite sqlite3 -interactive :memory:
    start asyncio python3 -c 'import asyncio; asyncio.run(asyncio.sleep(1000))'
    start pool python3 -c 'import multiprocessing, time; p = multiprocessing.Pool(2); time.sleep(1000)'
    start futures python3 -c 'import concurrent.futures as c, time; e = c.ThreadPoolExecutor(4)
[e.submit(time.sleep, 0.01) for _ in range(8)]; time.sleep(1000)'
    start fifo cat "$dir/fifo"
    start timeout timeout --foreground 1000 sleep 999 # in one process group, which end_all() kills
    start agent ssh-agent -D -a "$dir/agent"
    start top "$upmu" top --json -i 5 -p $$
}

# judge WHAT SUBJECT...: judged while they are idle
judge() {
    local what=$1 n=0 subject rc
    shift
    for subject; do
        n=$((n + 1)) rc=0
        "$upmu" deadlock "$subject" >"$dir/out" 2>"$dir/err" || rc=$?
        [ $rc -eq 0 ] || fail "$what $subject: status $rc: $(cat "$dir/out" "$dir/err")"
        ! grep -E '^(deadlock|stalled) ' "$dir/out" || fail "$what $subject is idle: $(cat "$dir/out")"
    done
    [ "$n" -ge 20 ] || fail "only $n idle programs: $(tail -n 1 "$dir"/*.out)"
    echo "$n idle programs, $what: none reported"
}

# alive: the programs that have not ended; sets `left` to their ids and `names` to their names
alive() {
    local i
    left=() named=()
    for i in "${!pids[@]}"; do
        if ! kill -0 "${pids[$i]}" 2>/dev/null; then continue; fi
        left+=("${pids[$i]}")
        named+=("$dir/${names[$i]}.recording")
    done
}

recorded=0
start_all
sleep 2
alive
judge "not recorded" "${left[@]}"
end_all

# The recorder itself must not have reported one, either.
recorded=1
start_all
sleep 4
alive
judge recorded "${named[@]}"
for i in "${!names[@]}"; do
    ! grep -E '^(deadlock|stalled) ' "$dir/${names[$i]}.out" || fail "upmu record of ${names[$i]}"
done
end_all
rm -rf "$dir"
