#!/usr/bin/env bash
# mariadb.sh BIN LIB: MariaDB, a thread per connection and a dozen of its own, under concurrent transactions: same sums,
# a clean end, and its locks are recorded.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PATH=$PATH:/usr/sbin
needs mariadbd mariadb-install-db mariadb
clients=8 rounds=60

ask()
{
    mariadb --no-defaults -S "$scratch/socket" -u root -N "$@"
}

is_ours()
{
    ask -e "SELECT 1" >/dev/null 2>&1
}

# use NAME [VAR=VALUE...]
use()
{
    local name=$1 client clients_pids=() pid
    shift
    mariadb-install-db --no-defaults --datadir="$scratch/$name.data" --user="$(id -un)" --auth-root-authentication-method=normal \
        --skip-test-db >"$scratch/$name.init" 2>&1 || fail "install: $(tail -5 "$scratch/$name.init")"
    start "$scratch/$name.log" is_ours env "$@" mariadbd --no-defaults --datadir="$scratch/$name.data" --user="$(id -un)" \
        --socket="$scratch/socket" --port=PORT --bind-address=127.0.0.1 --pid-file="$scratch/$name.pid" --innodb-flush-log-at-trx-commit=0
    ask -e "CREATE DATABASE bank; USE bank; CREATE TABLE account(id INT PRIMARY KEY, v BIGINT) ENGINE=InnoDB;
        INSERT INTO account SELECT seq, 1000 FROM seq_1_to_50;" 2>"$scratch/err" ||
        fail "$name: $(cat "$scratch/err")"
    for client in $(seq 1 $clients); do
        for i in $(seq 1 $rounds); do
            echo "BEGIN; UPDATE account SET v = v - $i WHERE id = $(((client + i) % 7 + 1));
                UPDATE account SET v = v + $i WHERE id = $(((client * i) % 40 + 8)); COMMIT;"
        done >"$scratch/$client.sql"
        ask -D bank <"$scratch/$client.sql" &
        clients_pids+=($!)
    done
    for pid in "${clients_pids[@]}"; do
        wait "$pid" || fail "$name: a client failed"
    done
    ask -D bank -e "SELECT id, v FROM account ORDER BY id; SELECT sum(v) FROM account" >"$scratch/$name.answers"
    stop_server TERM
}

use plain UPMU_SYNC=
for mode in contended all; do
    use $mode UPMU_TRACE="$scratch/$mode" UPMU_SYNC=$mode LD_PRELOAD="$preload"
    cmp "$scratch/plain.answers" "$scratch/$mode.answers" || fail "$mode: other sums"
    events "$scratch/$mode" "$scratch/$mode.txt"
    expect "$scratch/$mode.txt" 0 '^misuse'
    [ "$(count "$scratch/$mode.txt" '^start')" -ge $clients ] || fail "$mode: its threads were not seen"
    [ "$(count "$scratch/$mode.txt" '^cond_wait')" -gt 0 ] || fail "$mode: no thread waited"
    echo "mariadb, $mode: $(wc -l <"$scratch/$mode.txt") lines of events, the same sums"
done
