#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A hundred threads, sampled by a user without rights and with little memory that may be locked: none is without samples.
#     many_threads.sh UPMU
set -euo pipefail
upmu=$1
# shellcheck source=tests/sampling/lib.sh
. "$(dirname "$0")/lib.sh"
begin
sampled
[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
command -v setpriv >/dev/null || skip "setpriv (util-linux) is not installed"

# The build folder may be closed to that user.
build=$(dirname "$(dirname "$(dirname "$upmu")")")
mkdir lib bin
cp "$build"/lib/libupmu.so.0 "$build"/lib/libupmu_analysis.so.0 "$build"/lib/libupmu_sync.so.0 lib
cp "$upmu" bin
chmod -R a+rX .
mkdir -m 777 out
as_nobody()
{
    LD_LIBRARY_PATH=$work/lib setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
as_nobody ./bin/upmu record -p $$ -o out/refused 2>err && fail "another user's process is sampled"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] && grep -q 'Set it to' err; then
    fail "the remedy is to set what is set: $(cat err)"
fi
ulimit -l 64
status=0
as_nobody ./bin/upmu record -F 999 -o out/recording -- ./subject shares 100 30 >truth 2>err || status=$?
if grep -q 'perf_event_paranoid' err; then
    skip "$(cat err)"
fi
[ "$status" -eq 0 ] || fail "record: $status, $(cat err)"
"$upmu" report --samples --json out/recording >json
python3 - <<'PY'
import json
d = json.load(open("json"))
workers = [t for t in d["thread_list"] if t["samples"] >= 3]
assert len(workers) >= 100, (len(workers), d["threads"])
assert d["lost"] == 0 or d["lost"] < d["samples"], d["lost"]
PY
