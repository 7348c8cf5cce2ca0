#!/usr/bin/env bash
# examples/demo: the file it writes unpacks to its input, every block is a region, and it fails when writing fails.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=$1 report=$scratch/report.json
# 6 whole blocks of 900,000 bytes and a part of one: text that does not repeat, and some that does.
{ seq 1 600000; head -c 1411105 /dev/zero; } >"$scratch/input"

silent "$program" -j 3 input packed
grep -q '^7 blocks, 5.5 MB ' "$scratch/stdout" || fail "it printed: $(cat "$scratch/stdout")"
python3 - "$scratch/input" "$scratch/packed" <<'END' || fail "the packed file is not the input"
import bz2, sys
sys.exit(bz2.open(sys.argv[2]).read() != open(sys.argv[1], "rb").read())
END

UPMU_EVENTS=page-faults UPMU_REPORT=json UPMU_OUTPUT=$report "$program" -j 3 "$scratch/input" "$scratch/again" >/dev/null
cmp "$scratch/packed" "$scratch/again" || fail "with regions on it writes something else"
holds "$report" 'all(total[x]["count"] == 7 for x in ("block", "compress", "verify", "decompress", "write"))'
holds "$report" 'total["verify"]["wall_ns"]["sum"] >= total["decompress"]["wall_ns"]["sum"]'
holds "$report" 'r["health"]["marks"] == 1 and r["health"]["never_ended"] == 0'

: >"$scratch/empty"
silent "$program" empty none
[ "$(stat -c %s "$scratch/none")" -eq 0 ] || fail "an empty input does not give an empty output"
! "$program" "$scratch/input" /dev/full >/dev/null 2>"$scratch/stderr" || fail "a full disk was not noticed"
grep -q 'No space left' "$scratch/stderr" || fail "a full disk gave: $(cat "$scratch/stderr")"
! "$program" "$scratch/missing" "$scratch/x" >/dev/null 2>&1 || fail "a missing input was not noticed"
