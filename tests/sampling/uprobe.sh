#!/usr/bin/env bash
# uprobe.sh UPMU: calls of a function that was built without hooks are counted by the kernel, all of them, with their callers.
set -euo pipefail
upmu=$1
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2119
begin
cat >program.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) void leaf(int n)
{
    sink = n;
}

__attribute__((noinline)) void often(void)
{
    for (int i = 0; i < 300; i++)
        leaf(i);
    sink = 1;
}

__attribute__((noinline)) void seldom(void)
{
    for (int i = 0; i < 50; i++)
        leaf(i);
    sink = 2;
}

static void *thread(void *arg)
{
    often();
    return arg;
}

int main(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, thread, NULL) != 0)
        return 1;
    pthread_join(t, NULL);
    seldom();
    pid_t child = fork();
    if (child == 0) {
        seldom();
        _exit(0);
    }
    for (int i = 0; i < 70; i++)
        (void)getsid(0);
    return waitpid(child, NULL, 0) != child;
}
C
gcc -g -O1 -o program program.c -lpthread

# calls EVENT [ARG...]: the count of a recording of all calls; each is a sample, or counted as lost, into ./lost
calls()
{
    local event=$1
    shift
    rm -rf recording
    "$upmu" record -c 1 -e "$event" "$@" -o recording -- ./program 2>err || return 1
    "$upmu" report --samples --json recording |
        python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["lost"], file=open("lost", "w"))
print(d["count"] if d["samples"] == d["weight"] == d["count"] - d["lost"] else d)'
}

n=$(calls uprobe:./program:leaf) || {
    grep -qE 'this kernel has no uprobes|uprobes need root|a sandbox forbids|no perf_event_open' err || fail "$(cat err)"
    echo "skipped, because $(sed 's/^upmu: //' err | head -1)"
    exit 77
}
[ "$n" = 400 ] || fail "$n calls of leaf() instead of 400"
n=$(calls uprobe:libc.so.6:getsid)
[ "$n" = 70 ] || fail "$n calls of getsid(0) instead of 70"

# Who called it. Copies of the stack have the caller of a function that has not yet set up its frame.
n=$(calls uprobe:./program:leaf --call-graph dwarf)
[ "$n" = 400 ] || fail "$n calls with stacks instead of 400"
"$upmu" export -f folded --of samples -o folded recording
# by CALLER CALLS: a full ring may have lost some
by()
{
    local n
    n=$(awk -v caller="$1;leaf" 'index($0, caller) { n += $NF } END { print n + 0 }' folded)
    if [ "$n" -gt "$2" ] || [ "$n" -lt $(($2 - $(cat lost))) ]; then
        fail "$n calls by $1() instead of $2, $(cat lost) lost: $(cat folded)"
    fi
}
by often 300
by seldom 100

refused()
{
    local event=$1 message=$2
    ! calls "$event" >out || fail "$event is recorded"
    grep -qF "$message" err || fail "$event: $(cat err)"
}
for event in uprobe:./program:leaf uprobe-time:./program:leaf; do
    "$upmu" record -e $event -o more -- ./program >/dev/null 2>err && fail "$event was recorded without -c"
    grep -q -- "add -c 1 to -e $event" err || fail "$(cat err)"
done
refused uprobe:./program:nothing "program has no function nothing"
refused uprobe:libnothing.so:malloc "there is no file libnothing.so"
refused uprobe:malloc "is no uprobe. Use uprobe:FILE:FUNCTION"

# The kernel puts no probe on an instruction with the prefix "lock".
if [ "$(uname -m)" = x86_64 ]; then
    gcc -O2 -fcf-protection=none -o locked -x c - <<'C'
static int sum;
__attribute__((noinline)) void locked_add(int *p)
{
    __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST);
}
int main(void)
{
    locked_add(&sum);
    return sum - 1;
}
C
    for event in uprobe:./locked:locked_add uprobe-time:./locked:locked_add; do
        refused $event "locked: this kernel puts no probe on the first instruction of locked_add. Select a function that calls it"
    done
fi

# Code of another machine.
cp program foreign
number='\267' machine=AArch64
[ "$(uname -m)" != aarch64 ] || number='\363' machine=RISC-V
# shellcheck disable=SC2059 # a byte
printf "$number\\0" | dd of=foreign bs=1 seek=18 conv=notrunc status=none
for event in uprobe:./foreign:leaf uprobe-time:./foreign:leaf; do
    refused $event "foreign has code of $machine: on this machine the kernel puts probes on code of "
done
