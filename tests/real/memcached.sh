#!/usr/bin/env bash
# memcached.sh BIN LIB: memcached with four workers gives the same answers traced and untraced, under six connections.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs memcached /usr/bin/python3
load=$(dirname "${BASH_SOURCE[0]}")/load.py

# Whether who answers on the port is ours, and not another test's.
is_ours()
{
    /usr/bin/python3 - "$port" "$server" <<'END' 2>/dev/null
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as c:
    c.sendall(b"stats\r\n")
    sys.exit(b"STAT pid " + sys.argv[2].encode() + b"\r" not in c.recv(4000))
END
}

# use NAME [VAR=VALUE...]
use()
{
    local name=$1
    shift
    start "$scratch/$name.log" is_ours env "$@" memcached -u "$(id -un)" -l 127.0.0.1 -p PORT -U 0 -t 4 -m 64
    /usr/bin/python3 "$load" memcached "$port" >"$scratch/$name.answers" || fail "$name: the load failed"
    stop_server TERM
}

use plain UPMU_SYNC=
for mode in contended all; do
    use $mode UPMU_TRACE="$scratch/$mode" UPMU_SYNC=$mode LD_PRELOAD="$preload"
    for what in answers log; do
        cmp -s "$scratch/plain.$what" "$scratch/$mode.$what" ||
            fail "$mode: other $what: $(diff "$scratch/plain.$what" "$scratch/$mode.$what" | head -20)"
    done
    events "$scratch/$mode" "$scratch/$mode.txt"
    expect "$scratch/$mode.txt" 0 '^misuse'
    [ "$(count "$scratch/$mode.txt" '^start')" -ge 4 ] || fail "$mode: the workers were not seen"
    [ "$(count "$scratch/$mode.txt" '^counts')" -gt 0 ] || fail "$mode: no lock was counted"
    echo "memcached, $mode: $(wc -l <"$scratch/$mode.txt") lines of events, the same answers"
done
