#!/usr/bin/env bash
# nginx.sh BIN LIB: nginx, a master and a worker that reads files in a pool of threads, gives the same answers traced
# and untraced; both processes are recorded.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PATH=$PATH:/usr/sbin
needs nginx /usr/bin/python3
load=$(dirname "${BASH_SOURCE[0]}")/load.py

mkdir "$scratch/www"
for i in 1 2 3 4; do
    seq $i $((i * 60000)) >"$scratch/www/$i"
done

# Our file of this one run: another test's server does not have it.
is_ours()
{
    [ "$(/usr/bin/python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())' "http://127.0.0.1:$port/whose" 2>/dev/null)" = "$scratch" ]
}
printf '%s' "$scratch" >"$scratch/www/whose"

# serve NAME [VAR=VALUE...]: in the foreground, as `start` wants it
serve()
{
    local name=$1 listen=$2
    shift 2
    cat >"$scratch/$name.conf" <<END
daemon off;
pid $scratch/$name.pid;
error_log stderr notice;
worker_processes 1;
user $(id -un) $(id -gn);
thread_pool default threads=4;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path $scratch/tmp; proxy_temp_path $scratch/tmp; fastcgi_temp_path $scratch/tmp;
    uwsgi_temp_path $scratch/tmp; scgi_temp_path $scratch/tmp;
    server {
        listen 127.0.0.1:$listen;
        location / { root $scratch/www; aio threads; sendfile off; output_buffers 2 16k; }
    }
}
END
    exec env "$@" nginx -c "$scratch/$name.conf" -e stderr
}

# use NAME [VAR=VALUE...]
use()
{
    local name=$1
    start "$scratch/$name.log" is_ours serve "$name" PORT "${@:2}"
    /usr/bin/python3 "$load" http "$port" /1 /2 /3 /4 >"$scratch/$name.answers" || fail "$name: the load failed"
    stop_server QUIT
    # Without dates, numbers of processes, and what one run of the system has and another has not.
    sed -E 's/^[0-9/]+ [0-9:]+ \[([a-z]+)\] [0-9]+#[0-9]+: /\1 /; s/[0-9]+/N/g' "$scratch/$name.log" | sort -u >"$scratch/$name.messages"
}

use plain UPMU_SYNC=
for mode in contended all; do
    use $mode UPMU_TRACE="$scratch/$mode" UPMU_SYNC=$mode LD_PRELOAD="$preload"
    for what in answers messages; do
        cmp -s "$scratch/plain.$what" "$scratch/$mode.$what" ||
            fail "$mode: other $what: $(diff "$scratch/plain.$what" "$scratch/$mode.$what" | head -20)"
    done
    events "$scratch/$mode" "$scratch/$mode.txt"
    expect "$scratch/$mode.txt" 0 '^misuse'
    expect "$scratch/$mode.txt" 2 '^process'
    [ "$(count "$scratch/$mode.txt" '^start')" -ge 4 ] || fail "$mode: the pool was not seen"
    [ "$(count "$scratch/$mode.txt" '^cond_wait')" -gt 0 ] || fail "$mode: no thread waited for work"
    echo "nginx, $mode: $(wc -l <"$scratch/$mode.txt") lines of events, the same answers"
done
