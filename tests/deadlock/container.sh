#!/usr/bin/env bash
# A program in a container: pid, user and mount namespaces of its own, where paths are other files than outside.
#
#     container.sh UPMU CORPUS DIR
set -euo pipefail
upmu=$1 corpus=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"/{program,app,recording,inside} "$dir/root$dir/app"
cp "$corpus" "$dir/program/subject"
cp "$corpus" "$dir/root$dir/app/subject"
unshare -Urfpm --mount-proc mount --bind "$dir/program" "$dir/app" 2>/dev/null ||
    { echo "skipped, because no container can be made here"; exit 77; }
container='' outer=''
fail() {
    echo "FAILED: $1"
    # shellcheck disable=SC2086
    kill -9 $outer $container 2>/dev/null || true
    exit 1
}

# start NAMESPACES VARIABLE...: `outer` becomes the program's process id here
start() {
    local namespaces=$1
    shift
    # shellcheck disable=SC2016,SC2086
    env "$@" unshare $namespaces --mount-proc bash -c 'mount --bind "$0/program" "$0/app"
        mount --bind "$0/recording" "$0/inside"
        exec "$0/app/subject" cross_normal "$0/pid"' "$dir" 2>"$dir/err" &
    container=$!
    outer=
    for _ in $(seq 600); do
        outer=$(pgrep -P "$container") || true
        # with status 3 there may be only the orders that lead to it, so far
        if [ -n "$outer" ] && ! "$upmu" deadlock "$outer" >"$dir/out" 2>&1 && grep -q '^deadlock' "$dir/out"; then return; fi
        sleep 0.1
    done
    fail "no deadlock of $outer: $(cat "$dir/out")"
}

# judged TEXT: the last output has a cycle with call stacks
judged() {
    grep -q '^deadlock \[cycle\]' "$dir/out" || fail "$1: $(cat "$dir/out")"
    grep -Eq '#[0-9]+ +take_both at ' "$dir/out" || fail "$1: no call stack: $(cat "$dir/out")"
}

end() {
    kill -9 "$outer"
    wait "$container" || true
}

for namespaces in -fpm -Urfpm; do
    start "$namespaces" LC_ALL=C
    judged "by process id, not recorded"
    end
    rm -rf "${dir:?}/recording"
    mkdir "$dir/recording"
    start "$namespaces" UPMU_SYNC=holders UPMU_TRACE="$dir/inside"
    judged "by process id"
    grep -q 'acquired at take_both' "$dir/out" || fail "it is not of the recording: $(cat "$dir/out")"
    "$upmu" ctl "$outer" status >"$dir/status" || fail "ctl by process id"
    grep -q '^process 1: running' "$dir/status" || fail "status: $(cat "$dir/status")"
    end
    UPMU_SYSROOT=$dir/root "$upmu" deadlock "$dir/recording" >"$dir/out" 2>&1 || [ $? -eq 3 ] || fail "status of the recording"
    judged "after it was killed"
done
rm -rf "$dir"
