# shellcheck shell=bash
# What the tests of this folder share, beside what they share with those of sync. Sourced; the caller has set -euo
# pipefail, bin (programs) and lib (libraries).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../sync/common.sh"

server=0
port=0

# At the end of a test, however it ends: its server goes as well.
end_server()
{
    [ $server -eq 0 ] || kill -KILL $server 2>/dev/null || true
    server=0
}
trap 'end_server; rm -rf "$scratch"' EXIT

# needs PROGRAM...: else the test is skipped
needs()
{
    local program
    for program in "$@"; do
        if ! command -v "$program" >/dev/null; then
            echo "skipped, because $program is not installed"
            exit 77
        fi
    done
}

# start LOG READY COMMAND...: a server on a free port; the words PORT in the command become the port.
# READY is a function that returns whether the server that listens on $port is ours.
start()
{
    local log=$1 ready=$2
    shift 2
    for _ in $(seq 1 20); do
        port=$((20000 + RANDOM % 12000))
        "${@//PORT/$port}" >"$log" 2>&1 &
        server=$!
        for _ in $(seq 1 1200); do
            ! $ready || return 0
            kill -0 $server 2>/dev/null || break
            sleep 0.1
        done
        grep -qi "address already in use" "$log" || fail "no answer from the server: $(cat "$log")"
        end_server
    done
    fail "no port of twenty was free"
}

# stop_server SIGNAL: its exit status must be 0
stop_server()
{
    local status=0
    kill -"$1" $server
    wait $server || status=$?
    server=0
    [ $status -eq 0 ] || fail "the server ended with status $status"
}
