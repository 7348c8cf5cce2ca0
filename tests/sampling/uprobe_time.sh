#!/usr/bin/env bash
# uprobe_time.sh UPMU: calls of functions that were built without hooks are timed from entry to return; a program that throws or jumps
# through them runs on.
set -euo pipefail
upmu=$1
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2119
begin
g++ -g -O1 -fno-omit-frame-pointer -o program "$here/timed.cpp" -pthread || skip "there is no C++ compiler"

# timed FUNCTION [ARG...]: record its calls; what the program measured is in ./truth
timed()
{
    local function=$1
    shift
    rm -rf recording
    "$upmu" record -c 1 -e "uprobe-time:./program:$function" "$@" -o recording -- ./program >truth 2>err || return 1
    "$upmu" report --samples --json recording >report.json
}

timed 'timed_*' || {
    grep -qE 'this kernel has no uprobes|uprobes need root|a sandbox forbids|no perf_event_open' err || fail "$(cat err)"
    skip "$(sed 's/^upmu: //' err | head -1)"
}
cat truth
python3 "$here/timed.py" truth report.json "timed_*"
"$upmu" report --samples recording >text
grep -qE '^  [0-9]+ returned after .* each, from .*; [0-9]+ did not return and have no time$' text || fail "$(head -4 text)"
grep -qE "^  the probes' own time, .* per call, is subtracted$" text || fail "$(head -4 text)"
if "$upmu" export -f folded --of wall -o folded recording 2>err; then
    fail "the times of calls are exported as CPU time"
fi
"$upmu" export -f folded --of samples -o folded recording
awk '/;timed_work / { n += $NF } END { exit n < 1000000 }' folded || fail "$(grep work folded)"

timed timed_work --call-graph dwarf
python3 "$here/timed.py" truth report.json timed_work

# attach RUNS DIR OPTIONS...: sample process $pid, which runs once its output RUNS is there, by process $recorder
attach()
{
    local runs=$1 dir=$2
    shift 2
    for _ in $(seq 600); do
        [ -s "$runs" ] && break
        sleep 0.05
    done
    "$upmu" record -c 1 "$@" -p "$pid" -o "$dir" 2>"$dir.err" &
    recorder=$!
    for _ in $(seq 600); do
        [ -s "$dir/samples" ] && break
        kill -0 "$recorder" || fail "$(cat "$dir.err")"
        sleep 0.05
    done
    sleep 0.2
}

# A process that runs: calls that began before have no time.
./program wait >running &
pid=$!
attach running attached -e uprobe-time:./program:timed_work
kill -USR1 "$pid"
wait "$pid"
wait "$recorder" || fail "$(cat attached.err)"
"$upmu" report --samples --json attached >report.json
python3 "$here/timed.py" running report.json timed_work

if "$upmu" record -c 10 -e uprobe-time:./program:timed_work -o more -- ./program >out 2>err; then
    fail "one of ten calls is timed"
fi
grep -q "times each call: it needs a period of 1" err || fail "$(cat err)"
if "$upmu" record -c 1 -e uprobe-time:./program:timed_end -o more -- ./program >out 2>err; then
    fail "a function without a return is timed"
fi
grep -q "no instruction is known by which timed_end returns" err || fail "$(cat err)"

# A recorder that does not keep up: every call has a sample, or is counted as lost, the last ones too.
cat >many.c <<'C'
#include <signal.h>
#include <stdio.h>
volatile int sum;
__attribute__((noinline)) void many_work(int n)
{
    for (int i = 0; i < n; i++)
        sum += i;
}
int main(void)
{
    sigset_t s;
    int signal;
    sigemptyset(&s);
    sigaddset(&s, SIGUSR1);
    sigprocmask(SIG_BLOCK, &s, NULL);
    puts("ready");
    fflush(stdout);
    sigwait(&s, &signal);
    for (int i = 0; i < 30000; i++)
        many_work(3);
    return 0;
}
C
gcc -g -O1 many.c -o many
./many >ready &
pid=$!
attach ready behind -e uprobe-time:./many:many_work --call-graph dwarf
kill -STOP "$recorder"
kill -USR1 "$pid"
wait "$pid"
kill -CONT "$recorder"
wait "$recorder" || fail "$(cat behind.err)"
"$upmu" report --samples --json behind >behind.json
python3 -c 'import json
d = json.load(open("behind.json"))
assert d["count"] == 30000 and 0 < d["samples"] < 30000 and d["lost"] >= 30000 - d["samples"], (d["count"], d["samples"], d["lost"])'
"$upmu" report --samples behind >behind.text
grep -q 'samples lost, .*without copies of stacks (--call-graph fp) it needs less: ' behind.text || fail "$(head -8 behind.text)"
