#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the holders of a lock executed while others waited, in the lock's details.
#     holders.sh UPMU
set -euo pipefail
upmu=$1
# shellcheck source=tests/sampling/lib.sh
. "$(dirname "$0")/lib.sh"
begin
sampled

"$upmu" record -F 1999 -o recording -- ./subject locks 400 2>err || fail "$(cat err)"
"$upmu" report recording >report
"$upmu" report --samples --json recording >samples
grep -q 'executed by holders while others waited: compute ' report || fail "no function of the holders: $(cat report)"
python3 - <<'PY'
import json, re
share, n = re.search(r"waited: compute .*? (\d+) %.*\((\d+) samples\)", open("report").read()).groups()
taken = json.load(open("samples"))["samples"]
assert int(share) > 80 and 50 < int(n) <= taken, (share, n, taken)
PY
"$upmu" record -o plain -- ./subject locks 20 2>err || fail "$(cat err)"
"$upmu" report plain >report
! grep -q 'executed by' report || fail "functions of holders without samples"
