# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The scripts that read this one set upmu.
# shellcheck disable=SC2154
# Samples of programs that report what they did: begin() goes to a folder of its own and builds ./subject there.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

skip()
{
    echo "skipped, because $*"
    exit 77
}

begin()
{
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 1
    export DEBUGINFOD_URLS=
    unset UPMU_TRACE UPMU_SYNC UPMU_EVENTS LD_PRELOAD
    command -v gcc >/dev/null || skip "gcc is not installed"
    # shellcheck disable=SC2086
    gcc -O2 -g -fno-omit-frame-pointer "$@" "$here/subject.c" -o subject -pthread ||
        fail "the subject cannot be built"
}

# sampled: whether perf_event samples this user's processes; else the test is skipped
sampled()
{
    "$upmu" record -p $$ -F 100 -o probe >probe.out 2>&1 &
    local recorder=$!
    for _ in $(seq 600); do
        [ -s probe/samples ] && break
        kill -0 "$recorder" 2>/dev/null || break
        sleep 0.05
    done
    kill -TERM "$recorder" 2>/dev/null || true # one that has ended reports why
    wait "$recorder" || skip "$(cat probe.out)"
}
