#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Threads that throw through patched functions of a plug-in at once run to their end under upmu record, and no call is missing.
#     throwers.sh SOURCES UPMU
set -euo pipefail
sources=$1 upmu=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "skipped, because patchable entries are recorded on x86-64 only"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >host.cpp <<'C'
#include <cstdio>
#include <dlfcn.h>
#include <thread>

int main()
{
    void *plugin = dlopen("./plugin.so", RTLD_NOW);
    auto run = plugin ? reinterpret_cast<int (*)(int)>(dlsym(plugin, "run_throwers")) : nullptr;
    if (!run)
        return 1;
    int other = 0;
    std::thread t([&] { other = run(2000); });
    int own = run(2000);
    t.join();
    printf("%d\n", own + other);
}
C
tried=0
while read -r cc cxx; do
    "$cxx" -g -O1 host.cpp -o host -pthread -ldl 2>/dev/null || continue
    "$cxx" -g -O1 -fpatchable-function-entry=5 -fPIC -shared "$sources/throwers.cpp" -o plugin.so
    tried=1
    for round in 1 2 3; do
        rm -rf recording
        timeout 100 "$upmu" record --functions -o recording -- ./host >out 2>err || fail "$cc: status $?, round $round: $(head -40 err)"
        [ "$(cat out)" = 4000 ] || fail "$cc: $(cat out) exceptions were caught instead of 4000"
        "$upmu" report --functions --json recording | python3 -c '
import json, sys
calls = {f["name"].split("(")[0]: f["calls"] for f in json.load(sys.stdin)["functions"]}
assert (calls["deep"], calls["catches"], calls["run_throwers"]) == (24000, 4000, 2), calls' || fail "$cc: calls are missing"
    done
done < <(compilers)
[ $tried = 1 ] || { echo "skipped, because there is no C++ compiler"; exit 77; }
