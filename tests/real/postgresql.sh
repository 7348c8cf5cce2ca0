#!/usr/bin/env bash
# postgresql.sh BIN LIB: PostgreSQL, a process per connection, under pgbench with threads: its books balance, every
# transaction is there, and all its processes are recorded, each apart.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1)
PATH=${programs:-/none}:$PATH
needs postgres initdb pgbench psql
clients=8 transactions=300

# PostgreSQL refuses to run as root: then as nobody.
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
[ "$(id -u)" -ne 0 ] || chmod 777 "$scratch"

ask()
{
    "${as[@]}" psql -h "$scratch" -p "$port" -U tester -d postgres -At -c "$1"
}

is_ours()
{
    ask "SELECT 1" >/dev/null 2>&1
}

# use NAME [VAR=VALUE...]: both, the server and pgbench, with the variables
use()
{
    local name=$1 answers
    shift
    "${as[@]}" initdb -D "$scratch/$name.data" -U tester --no-sync -A trust >"$scratch/$name.init" || fail "initdb: $(cat "$scratch/$name.init")"
    start "$scratch/$name.log" is_ours "${as[@]}" env "$@" postgres -D "$scratch/$name.data" -k "$scratch" -h '' -p PORT -F
    "${as[@]}" pgbench -q -i -s 1 -h "$scratch" -p "$port" -U tester postgres >"$scratch/$name.fill" 2>&1 || fail "$name: $(cat "$scratch/$name.fill")"
    "${as[@]}" env "$@" pgbench -n -c $clients -j 4 -t $transactions -h "$scratch" -p "$port" -U tester postgres >"$scratch/$name.bench" 2>&1 ||
        fail "$name: pgbench: $(tail -5 "$scratch/$name.bench")"
    answers=$(ask "SELECT (SELECT count(*) FROM pgbench_history), (SELECT sum(abalance) FROM pgbench_accounts)
        - (SELECT sum(delta) FROM pgbench_history), (SELECT sum(tbalance) FROM pgbench_tellers) -
        (SELECT sum(bbalance) FROM pgbench_branches)")
    [ "$answers" = "$((clients * transactions))|0|0" ] || fail "$name: the books do not balance: $answers"
    stop_server INT
    sed -n 's/^number of transactions actually processed: //p' "$scratch/$name.bench"
}

use plain UPMU_SYNC= >"$scratch/plain.out"
for mode in contended all; do
    use $mode UPMU_TRACE="$scratch/$mode" UPMU_SYNC=$mode LD_PRELOAD="$preload" >"$scratch/$mode.out"
    cmp "$scratch/plain.out" "$scratch/$mode.out" || fail "$mode: other numbers"
    events "$scratch/$mode" "$scratch/$mode.txt"
    expect "$scratch/$mode.txt" 0 '^misuse'
    # The server, pgbench, and of backends and helpers those that had to do with a semaphore or a lock.
    processes=$(count "$scratch/$mode.txt" '^process')
    [ "$processes" -ge 3 ] || fail "$mode: only $processes processes were recorded"
    [ "$(count "$scratch/$mode.txt" '^start')" -ge 3 ] || fail "$mode: pgbench's threads were not seen"
    echo "postgresql, $mode: $processes processes, $(wc -l <"$scratch/$mode.txt") lines of events, the books balance"
done
